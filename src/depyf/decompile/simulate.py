"""Symbolic execution of a basic block: instructions become statements, in order, and expressions left on the stack.

Evaluation order is never changed: before a statement is emitted, every value still on the stack that the statement
could affect (see `effects`) gets a temporary.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Set, Tuple

from ..bytecode.effects import effect
from ..bytecode.program import Instr, Op
from . import effects
from . import nodes as n
from .imports import fold_imports
from .transient import Chain, Dup, ExcMatch, GetIter, Inplace, Marker, UnpackGroup, UnpackItem

SIMPLE_STORES = frozenset({Op.STORE_FAST, Op.STORE_NAME, Op.STORE_GLOBAL, Op.STORE_DEREF})
STORES = SIMPLE_STORES | {Op.STORE_ATTR, Op.STORE_SUBSCR}
LOADS_OF_NAMES = frozenset(
    {Op.LOAD_FAST, Op.LOAD_DEREF, Op.LOAD_CLASSDEREF, Op.LOAD_GLOBAL, Op.LOAD_NAME, Op.LOAD_CLASSGLOBAL}
)


class SimulationError(Exception):
    """The stack does not hold what the instruction needs."""


class Temporaries:
    """Hands out names for temporaries of one code object."""

    def __init__(self, taken: Set[str]) -> None:
        self.taken = taken
        self.count = 0
        self.used: List[str] = []

    def fresh(self) -> n.Name:
        """A name that the code object does not use."""
        while True:
            name = "__temp_%d" % self.count
            self.count += 1
            if name not in self.taken:
                self.used.append(name)
                return n.Name(name)


class State:
    """Statements emitted so far and the symbolic stack (bottom first)."""

    def __init__(self, stack: List[n.Expr], temporaries: Temporaries) -> None:
        self.stack = stack
        self.stmts: List[n.Stmt] = []
        self.temporaries = temporaries
        self.instrs: List[Instr] = []
        self.index = 0
        self.low = len(stack)

    # ------------------------------------------------------------ stack

    def push(self, value: n.Expr) -> None:
        """Push a value."""
        self.stack.append(value)

    def pop_raw(self) -> n.Expr:
        """Pop whatever is on top."""
        if not self.stack:
            raise SimulationError("stack underflow")
        value = self.stack.pop()
        if len(self.stack) < self.low:
            self.low = len(self.stack)
        return value

    def pop(self) -> n.Expr:
        """Pop a value that is going to be used in an expression."""
        return self.as_value(self.pop_raw())

    def pop_many(self, count: int) -> List[n.Expr]:
        """Pop `count` values, first pushed first."""
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def as_value(self, value: n.Expr) -> n.Expr:
        """Turn a pending construct into an ordinary expression."""
        if isinstance(value, Chain):
            return self.end_chain(value)
        if isinstance(value, UnpackItem):
            self.flush_group(value.group)
            target = value.group.targets[value.index]
            assert target is not None
            return target
        if isinstance(value, Inplace):
            name = self.temporaries.fresh()
            self.spill()
            self.stmts.append(n.Assign([name], value.left))
            self.stmts.append(n.AugAssign(n.Name(name.id), value.op, value.right))
            return n.Name(name.id)
        return value

    def end_chain(self, chain: Chain) -> n.Expr:
        """`(a := v)`, or a temporary where that isn't possible."""
        value = chain.value
        if all(isinstance(target, n.Name) for target in chain.targets):
            for target in chain.targets:
                assert isinstance(target, n.Name)
                value = n.NamedExpr(target, value)
            return value
        name = self.temporaries.fresh()
        self.emit(n.Assign([*chain.targets, name], value))
        return n.Name(name.id)

    # ------------------------------------------------------------ statements

    def emit(self, stmt: n.Stmt, offset: int = -1) -> None:
        """Append a statement; values on the stack that must come before it get temporaries first."""
        if offset >= 0:
            stmt.offset = offset
        self.spill(stmt)
        self.stmts.append(stmt)

    def spill(self, stmt: Optional[n.Stmt] = None) -> None:
        """Give a temporary to each stack value that evaluating `stmt` later could change, or that has effects."""
        seen: Dict[int, n.Expr] = {}
        for index, value in enumerate(self.stack):
            if isinstance(value, UnpackItem):
                self.flush_group(value.group)
                continue
            if effects.stays(value, stmt):
                continue
            if isinstance(value, Dup):
                if id(value) in seen:
                    self.stack[index] = seen[id(value)]
                    continue
            name = self.temporaries.fresh()
            replacement: n.Expr = n.Name(name.id)
            if isinstance(value, Chain):
                self.stmts.append(n.Assign([*value.targets, name], value.value))
            elif isinstance(value, Inplace):
                self.stmts.append(n.Assign([name], value.left))
                self.stmts.append(n.AugAssign(n.Name(name.id), value.op, value.right))
            else:
                inner = value.value if isinstance(value, Dup) else value
                self.stmts.append(n.Assign([name], inner))
                if isinstance(value, Dup):
                    seen[id(value)] = replacement
                    value.value = replacement
            self.stack[index] = replacement

    def flush_group(self, group: UnpackGroup) -> None:
        """End an unpacking early: items without a target get temporaries."""
        if group.done:
            return
        for index, target in enumerate(group.targets):
            if target is None:
                group.targets[index] = self.temporaries.fresh()
        for index, value in enumerate(self.stack):
            if isinstance(value, UnpackItem) and value.group is group:
                target = group.targets[value.index]
                assert isinstance(target, n.Name)
                self.stack[index] = n.Name(target.id)
        self.finish_group(group)

    def finish_group(self, group: UnpackGroup) -> None:
        """All targets are known: assign."""
        group.done = True
        elts: List[n.Expr] = []
        for index, target in enumerate(group.targets):
            assert target is not None
            elts.append(n.Starred(target) if index == group.star else target)
        self.store(n.Tuple_(elts), group.value, -1)

    # ------------------------------------------------------------ stores

    def store(self, target: n.Expr, value: n.Expr, offset: int) -> None:
        """Assign `value`, just popped, to `target`."""
        if isinstance(value, UnpackItem):
            group = value.group
            if not group.done:
                group.targets[value.index] = target
                if all(item is not None for item in group.targets):
                    self.finish_group(group)
                return
            value = self.as_value(value)
        if isinstance(value, Dup) and self.stack and self.stack[-1] is value:
            inner = value.value
            if isinstance(inner, Chain):
                inner.targets.append(target)
                self.stack[-1] = inner
            else:
                self.stack[-1] = Chain([target], inner)
            return
        if isinstance(value, Chain):
            self.emit(n.Assign([*value.targets, target], value.value), offset)
            return
        if isinstance(value, Inplace):
            if _same_place(target, value.left):
                self.emit(n.AugAssign(_undup(target), value.op, value.right), offset)
                return
            value = self.as_value(value)
        self.emit(n.Assign([target], value), offset)


def _undup(target: n.Expr) -> n.Expr:
    """The target of an augmented assignment without the marks of duplication."""
    if isinstance(target, Dup):
        return target.value
    if isinstance(target, n.Attribute):
        return n.Attribute(_undup(target.value), target.attr)
    if isinstance(target, n.Subscript):
        index = target.slice
        if isinstance(index, n.Slice):
            parts = [None if part is None else _undup(part) for part in (index.lower, index.upper, index.step)]
            index = n.Slice(*parts)
        return n.Subscript(_undup(target.value), _undup(index))
    return target


def _same_place(target: n.Expr, source: n.Expr) -> bool:
    """Whether a store to `target` goes where `source` was loaded from, with each part evaluated once."""
    if isinstance(target, n.Name):
        return isinstance(source, n.Name) and source.id == target.id
    if isinstance(target, n.Attribute):
        return isinstance(source, n.Attribute) and source.attr == target.attr and _same_part(target.value, source.value)
    if isinstance(target, n.Subscript):
        return (
            isinstance(source, n.Subscript)
            and _same_part(target.value, source.value)
            and _same_part(target.slice, source.slice)
        )
    return False


def _same_part(one: Optional[n.Expr], two: Optional[n.Expr]) -> bool:
    if one is two:
        return one is None or isinstance(one, (Dup, n.Constant))
    if isinstance(one, n.Slice) and isinstance(two, n.Slice):
        return (
            _same_part(one.lower, two.lower) and _same_part(one.upper, two.upper) and _same_part(one.step, two.step)
        )
    if isinstance(one, n.Constant) and isinstance(two, n.Constant):
        return one.value is two.value
    return False


# ---------------------------------------------------------------- the table

Handler = Callable[[State, Instr], None]
TABLE: Dict[Op, Handler] = {}


def _for(*ops: Op) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for op in ops:
            TABLE[op] = handler
        return handler

    return register


def run(state: State, instrs: List[Instr]) -> None:
    """Execute `instrs` on `state`. Raises SimulationError when the stack doesn't hold what is needed."""
    state.instrs = instrs
    state.index = 0
    count = len(instrs)
    while state.index < count:
        instr = instrs[state.index]
        handler = TABLE.get(instr.op)
        if handler is None:
            raise SimulationError("no meaning for %s" % instr.op.name)
        state.index += 1
        before = len(state.stack)
        handler(state, instr)
        if state.stack and len(state.stack) >= before - 8:
            top = state.stack[-1]
            if top.offset < 0:
                top.offset = instr.offset


# ------------------------------------------------------------ stack


@_for(Op.POP)
def _pop(state: State, instr: Instr) -> None:
    value = state.pop_raw()
    if isinstance(value, Marker) or isinstance(value, n.Slot):
        return
    if isinstance(value, UnpackItem):
        state.as_value(value)
        return
    if isinstance(value, Dup) and any(_mentions(item, value) for item in state.stack):
        return
    if isinstance(value, Chain):
        state.emit(n.Assign(value.targets, value.value), instr.offset)
        return
    value = state.as_value(value)
    state.emit(n.ExprStmt(value), instr.offset)


def _mentions(expr: n.Expr, dup: Dup) -> bool:
    return any(node is dup for node in effects.walk(expr))


@_for(Op.COPY)
def _copy(state: State, instr: Instr) -> None:
    depth: int = instr.arg
    if depth > len(state.stack):
        raise SimulationError("copy of a value below the stack")
    value = state.stack[-depth]
    if isinstance(value, UnpackItem):
        value = state.as_value(value)
    if isinstance(value, Inplace):
        value = state.as_value(value)
        state.stack[-depth] = value
    if not isinstance(value, (n.Slot, Marker, Dup)):
        value = Dup(value)
        value.offset = instr.offset
        state.stack[-depth] = value
    state.push(value)


@_for(Op.SWAP)
def _swap(state: State, instr: Instr) -> None:
    depth: int = instr.arg
    stack = state.stack
    if depth > len(stack):
        raise SimulationError("swap below the stack")
    involved = stack[-depth:]
    if len([value for value in involved if not effects.is_timeless(value)]) > 1:
        if not _swap_is_harmless(state, depth):
            special = any(isinstance(value, (Dup, Chain, UnpackItem, Inplace)) for value in involved)
            if depth <= 3 and not special and _stores_follow(state):
                _unpack_swapped(state, depth, instr)
                return
            state.spill()
    stack[-1], stack[-depth] = stack[-depth], stack[-1]
    if len(stack) - depth < state.low:
        state.low = len(stack) - depth


def _swap_is_harmless(state: State, depth: int) -> bool:
    """The compiler's own uses of SWAP that keep the order: chained comparison, store of an augmented assignment."""
    rest = state.instrs[state.index :]
    if depth == 2 and len(rest) > 1 and rest[0].op is Op.COPY and rest[0].arg == 2 and rest[1].op is Op.COMPARE:
        return True
    position = 0
    while position < len(rest) and rest[position].op is Op.SWAP:
        position += 1
    if position < len(rest) and isinstance(state.stack[-1], (Inplace, Chain)):
        return rest[position].op in (Op.STORE_ATTR, Op.STORE_SUBSCR, Op.BUILD_SLICE)
    if isinstance(state.stack[-1], Dup) and any(isinstance(value, Inplace) for value in state.stack[-4:]):
        return True
    return False


def _stores_follow(state: State) -> bool:
    """Whether the next instruction to take what was swapped stores it."""
    height = 0
    for instr in state.instrs[state.index :]:
        if instr.op is Op.SWAP and height == 0:
            continue
        if instr.op in (Op.COPY, Op.SWAP):
            return False
        pops, pushes = effect(instr)
        if pops > height:
            return instr.op in STORES or instr.op in (Op.UNPACK_SEQUENCE, Op.UNPACK_EX)
        height += pushes - pops
    return False


def _unpack_swapped(state: State, depth: int, instr: Instr) -> None:
    """`a, b = b, a`: the compiler swaps instead of building a tuple and unpacking it."""
    values = state.pop_many(depth)
    group = UnpackGroup(n.Tuple_(values), [None] * depth)
    for index in reversed(range(depth)):
        state.push(UnpackItem(group, index))


# ------------------------------------------------------------ constants and names


@_for(Op.LOAD_CONST)
def _load_const(state: State, instr: Instr) -> None:
    folded = fold_imports(state.instrs, state.index - 1)
    if folded is not None:
        statement, following = folded
        state.emit(statement, instr.offset)
        state.index = following
        return
    state.push(n.Constant(instr.arg))


@_for(*LOADS_OF_NAMES)
def _load_name(state: State, instr: Instr) -> None:
    name = n.Name(instr.arg)
    name.offset = instr.offset
    name.local = instr.op is Op.LOAD_FAST  # type: ignore[attr-defined]
    state.stack.append(name)


@_for(*SIMPLE_STORES)
def _store_name(state: State, instr: Instr) -> None:
    value = state.pop_raw()
    if not isinstance(value, (Dup, Chain, UnpackItem, n.Slot, Marker)):
        if _tuple_of_stores(state, instr, value):
            return
    state.store(n.Name(instr.arg), value, instr.offset)


def _tuple_of_stores(state: State, instr: Instr, top: n.Expr) -> bool:
    """`a, b = x, y` without a swap: the compiler exchanges the stores instead (flowgraph.c, static swaps)."""
    plain = 1
    for value in reversed(state.stack):
        if isinstance(value, (n.Slot, Marker, Chain, UnpackItem, Dup, Inplace)):
            break
        plain += 1
    if not 2 <= plain <= 3 or isinstance(top, (Inplace, Marker)):
        return False
    following = state.instrs[state.index : state.index + plain - 1]
    if len(following) < plain - 1 or any(item.op not in SIMPLE_STORES for item in following):
        return False
    names = [instr.arg, *(item.arg for item in following)]
    if len(set(names)) < plain:
        return False
    values = [*state.pop_many(plain - 1), top]
    targets: List[n.Expr] = [n.Name(name) for name in reversed(names)]
    state.index += plain - 1
    state.emit(n.Assign([n.Tuple_(targets)], n.Tuple_(values)), instr.offset)
    return True


@_for(Op.DELETE_FAST, Op.DELETE_DEREF, Op.DELETE_GLOBAL, Op.DELETE_NAME)
def _delete_name(state: State, instr: Instr) -> None:
    state.emit(n.Delete([n.Name(instr.arg)]), instr.offset)


@_for(Op.LOAD_CLOSURE)
def _load_closure(state: State, instr: Instr) -> None:
    state.push(n.Intrinsic("cell", [n.Name(instr.arg)]))


@_for(Op.LOAD_FAST_AND_CLEAR)
def _load_and_clear(state: State, instr: Instr) -> None:
    state.push(Marker("saved:" + instr.arg))


def _intrinsic(name: str) -> Handler:
    def push(state: State, instr: Instr) -> None:
        state.push(n.Intrinsic(name))

    return push


TABLE[Op.LOAD_LOCALS] = _intrinsic("load_locals")
TABLE[Op.LOAD_BUILD_CLASS] = _intrinsic("load_build_class")
TABLE[Op.LOAD_ASSERTION_ERROR] = _intrinsic("assertion_error")


@_for(Op.LOAD_COMMON_CONST)
def _common(state: State, instr: Instr) -> None:
    state.push(n.Name(instr.arg))


# ------------------------------------------------------------ attributes and items


@_for(Op.LOAD_ATTR)
def _load_attr(state: State, instr: Instr) -> None:
    state.push(n.Attribute(state.pop(), instr.arg))


@_for(Op.STORE_ATTR)
def _store_attr(state: State, instr: Instr) -> None:
    owner = state.pop()
    value = state.pop_raw()
    state.store(n.Attribute(owner, instr.arg), value, instr.offset)


@_for(Op.DELETE_ATTR)
def _delete_attr(state: State, instr: Instr) -> None:
    state.emit(n.Delete([n.Attribute(state.pop(), instr.arg)]), instr.offset)


@_for(Op.LOAD_SUPER_ATTR)
def _super_attr(state: State, instr: Instr) -> None:
    name, two_args = instr.arg
    function, cls, this = state.pop_many(3)
    call = n.Call(function, [cls, this] if two_args else [])
    state.push(n.Attribute(call, name))


@_for(Op.LOAD_SUBSCR)
def _load_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    state.push(n.Subscript(owner, index))


@_for(Op.STORE_SUBSCR)
def _store_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    value = state.pop_raw()
    state.store(n.Subscript(owner, index), value, instr.offset)


@_for(Op.DELETE_SUBSCR)
def _delete_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    state.emit(n.Delete([n.Subscript(owner, index)]), instr.offset)


# ------------------------------------------------------------ operators


@_for(Op.UNARY)
def _unary(state: State, instr: Instr) -> None:
    state.push(n.UnaryOp(instr.arg, state.pop()))


@_for(Op.BINARY)
def _binary(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(n.BinOp(left, instr.arg, right))


@_for(Op.INPLACE)
def _inplace(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(Inplace(left, instr.arg, right))


@_for(Op.COMPARE)
def _compare(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(n.Compare(left, [instr.arg], [right]))


# ------------------------------------------------------------ displays


def _display(make: Callable[[List[n.Expr]], n.Expr]) -> Handler:
    def build(state: State, instr: Instr) -> None:
        state.push(make(state.pop_many(instr.arg)))

    return build


TABLE[Op.BUILD_TUPLE] = _display(lambda elts: n.Tuple_(elts))
TABLE[Op.BUILD_LIST] = _display(lambda elts: n.List_(elts))
TABLE[Op.BUILD_SET] = _display(lambda elts: n.Set_(elts))


@_for(Op.BUILD_MAP)
def _build_map(state: State, instr: Instr) -> None:
    items = state.pop_many(2 * instr.arg)
    keys: List[Optional[n.Expr]] = list(items[0::2])
    state.push(n.Dict_(keys, items[1::2]))


@_for(Op.BUILD_CONST_KEY_MAP)
def _const_key_map(state: State, instr: Instr) -> None:
    keys: List[Optional[n.Expr]] = [n.Constant(key) for key in instr.arg]
    state.push(n.Dict_(keys, state.pop_many(len(keys))))


@_for(Op.BUILD_SLICE)
def _build_slice(state: State, instr: Instr) -> None:
    parts: List[Optional[n.Expr]] = list(state.pop_many(instr.arg))
    shown = [None if isinstance(part, n.Constant) and part.value is None else part for part in parts]
    if len(shown) == 2:
        shown.append(None)
    elif shown[2] is None:
        shown[2] = parts[2]
    state.push(n.Slice(*shown))


@_for(Op.BUILD_STRING)
def _build_string(state: State, instr: Instr) -> None:
    values: List[n.Expr] = []
    for part in state.pop_many(instr.arg):
        if isinstance(part, n.JoinedStr) and len(part.values) == 1:
            values.extend(part.values)
        else:
            values.append(part)
    state.push(n.JoinedStr(values))


@_for(Op.FORMAT)
def _format(state: State, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = state.pop() if has_spec else None
    state.push(n.JoinedStr([n.FormattedValue(state.pop(), conversion, spec)]))


@_for(Op.BUILD_INTERPOLATION)
def _interpolation(state: State, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = state.pop() if has_spec else None
    text = state.pop()
    value = state.pop()
    if not isinstance(text, n.Constant):
        raise SimulationError("interpolation without its text")
    state.push(n.Interpolation(value, text.value, conversion, spec))


@_for(Op.BUILD_TEMPLATE)
def _template(state: State, instr: Instr) -> None:
    strings, interpolations = state.pop_many(2)
    if not isinstance(strings, n.Constant) or not isinstance(interpolations, (n.Tuple_, n.Constant)):
        raise SimulationError("template string of an unknown shape")
    parts = interpolations.elts if isinstance(interpolations, n.Tuple_) else []
    values: List[n.Expr] = []
    for index, string in enumerate(strings.value):
        if string:
            values.append(n.Constant(string))
        if index < len(parts):
            values.append(parts[index])
    state.push(n.TemplateStr(values))


def _grow(kind: str, into: Tuple[type, ...], starred: bool) -> Handler:
    def grow(state: State, instr: Instr) -> None:
        value = state.pop()
        if instr.arg > len(state.stack):
            raise SimulationError("append below the stack")
        owner = state.stack[-instr.arg]
        if instr.arg == 1 and isinstance(owner, into):
            elts: List[n.Expr] = owner.elts  # type: ignore[attr-defined]
            if not starred:
                elts.append(value)
            elif isinstance(value, n.Constant) and isinstance(value.value, (tuple, frozenset)) and not elts:
                elts.extend(n.Constant(item) for item in value.value)
                owner.from_constant = True  # type: ignore[attr-defined]
            else:
                elts.append(n.Starred(value))
            return
        state.emit(n.ExprStmt(n.Intrinsic(kind, [owner, value])), instr.offset)

    return grow


TABLE[Op.LIST_APPEND] = _grow("list_append", (n.List_,), False)
TABLE[Op.SET_ADD] = _grow("set_add", (n.Set_,), False)
TABLE[Op.LIST_EXTEND] = _grow("list_extend", (n.List_,), True)
TABLE[Op.SET_UPDATE] = _grow("set_update", (n.Set_,), True)


@_for(Op.MAP_ADD)
def _map_add(state: State, instr: Instr) -> None:
    key, value = state.pop_many(2)
    if instr.arg > len(state.stack):
        raise SimulationError("append below the stack")
    owner = state.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_):
        owner.keys.append(key)
        owner.values.append(value)
        return
    state.emit(n.ExprStmt(n.Intrinsic("map_add", [owner, key, value])), instr.offset)


@_for(Op.DICT_UPDATE, Op.DICT_MERGE)
def _dict_update(state: State, instr: Instr) -> None:
    value = state.pop()
    if instr.arg > len(state.stack):
        raise SimulationError("update below the stack")
    owner = state.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_):
        if isinstance(value, n.Dict_) and instr.op is Op.DICT_UPDATE and value.values and None not in value.keys:
            if not getattr(value, "merged", False) and not _source_of_star(value):
                owner.keys.extend(value.keys)
                owner.values.extend(value.values)
                return
        owner.keys.append(None)
        owner.values.append(value)
        if instr.op is Op.DICT_MERGE:
            owner.merged = True  # type: ignore[attr-defined]
        return
    state.emit(n.ExprStmt(n.Intrinsic(instr.op.name.lower(), [owner, value])), instr.offset)


def _source_of_star(value: n.Dict_) -> bool:
    """Large displays are built in parts that are merged; a part of more than 17 pairs can't be told from `**{...}`."""
    return False


@_for(Op.LIST_TO_TUPLE)
def _list_to_tuple(state: State, instr: Instr) -> None:
    value = state.pop()
    if isinstance(value, n.List_):
        state.push(n.Tuple_(value.elts))
    else:
        state.push(n.Intrinsic("list_to_tuple", [value]))


@_for(Op.UNPACK_SEQUENCE)
def _unpack(state: State, instr: Instr) -> None:
    count: int = instr.arg
    value = state.pop_raw()
    if isinstance(value, Inplace):
        value = state.as_value(value)
    group = UnpackGroup(value, [None] * count)
    if not count:
        state.finish_group(group)
    for index in reversed(range(count)):
        state.push(UnpackItem(group, index))


@_for(Op.UNPACK_EX)
def _unpack_ex(state: State, instr: Instr) -> None:
    before, after = instr.arg
    count = before + 1 + after
    value = state.pop_raw()
    if isinstance(value, Inplace):
        value = state.as_value(value)
    group = UnpackGroup(value, [None] * count, star=before)
    for index in reversed(range(count)):
        state.push(UnpackItem(group, index))


# ------------------------------------------------------------ calls, functions, imports


@_for(Op.CALL)
def _call(state: State, instr: Instr) -> None:
    count, names = instr.arg
    values = state.pop_many(count)
    function = state.pop()
    split = count - len(names)
    keywords = [n.Keyword(name, value) for name, value in zip(names, values[split:])]
    state.push(n.Call(function, values[:split], keywords))


@_for(Op.CALL_EX)
def _call_ex(state: State, instr: Instr) -> None:
    keywords: List[n.Keyword] = []
    if instr.arg:
        mapping = state.pop()
        if isinstance(mapping, n.Dict_) and all(_is_keyword(key) for key in mapping.keys):
            for key, value in zip(mapping.keys, mapping.values):
                keywords.append(n.Keyword(key.value if isinstance(key, n.Constant) else None, value))
        else:
            keywords.append(n.Keyword(None, mapping))
    arguments = state.pop()
    function = state.pop()
    if isinstance(arguments, n.Tuple_):
        args = arguments.elts
    elif isinstance(arguments, n.Constant) and isinstance(arguments.value, tuple):
        args = [n.Constant(item) for item in arguments.value]
    else:
        args = [n.Starred(arguments)]
    call = n.Call(function, args, keywords)
    call.ex = True  # type: ignore[attr-defined]
    state.push(call)


def _is_keyword(key: Optional[n.Expr]) -> bool:
    return key is None or (isinstance(key, n.Constant) and isinstance(key.value, str) and key.value.isidentifier())


@_for(Op.MAKE_FUNCTION)
def _make_function(state: State, instr: Instr) -> None:
    code = state.pop()
    if not isinstance(code, n.Constant):
        raise SimulationError("function made of no constant code")
    node = n.MakeFunction(code.value)
    for part in ("closure", "annotate", "annotations", "kwdefaults", "defaults"):
        if part in instr.arg:
            setattr(node, part, state.pop())
    state.push(node)


@_for(Op.IMPORT_NAME)
def _import_name(state: State, instr: Instr) -> None:
    name = instr.arg[0]
    level, names = state.pop_many(2)
    arguments = [n.Constant(name), n.Call(n.Name("globals"), []), n.Constant(None), names, level]
    state.push(n.Call(n.Name("__import__"), arguments))


@_for(Op.IMPORT_FROM)
def _import_from(state: State, instr: Instr) -> None:
    module = state.pop_raw()
    if not isinstance(module, (Dup, n.Slot)):
        module = Dup(module)
    state.push(module)
    state.push(n.Attribute(module, instr.arg))


# ------------------------------------------------------------ iteration and generators


def _iterate(kind: str) -> Handler:
    def make(state: State, instr: Instr) -> None:
        value = state.pop()
        if isinstance(value, Marker):
            state.push(value)
        else:
            state.push(GetIter(kind, value))

    return make


TABLE[Op.GET_ITER] = _iterate("iter")
TABLE[Op.GET_AITER] = _iterate("aiter")
TABLE[Op.GET_YIELD_FROM_ITER] = _iterate("yield_from")
TABLE[Op.GET_AWAITABLE] = _iterate("awaitable")


@_for(Op.YIELD_FROM)
def _yield_from(state: State, instr: Instr) -> None:
    state.pop()
    source = state.pop()
    if isinstance(source, Marker):
        state.push(source)
    elif isinstance(source, GetIter) and source.kind == "awaitable":
        state.push(n.Await(source.value))
    elif isinstance(source, GetIter) and source.kind == "yield_from":
        state.push(n.YieldFrom(source.value))
    else:
        state.push(n.YieldFrom(source))


@_for(Op.YIELD)
def _yield(state: State, instr: Instr) -> None:
    value = state.pop()
    state.push(n.Yield(value))


# ------------------------------------------------------------ ends and exceptions


@_for(Op.RETURN)
def _return(state: State, instr: Instr) -> None:
    value = state.pop()
    state.emit(n.Return(value), instr.offset)


@_for(Op.RAISE)
def _raise(state: State, instr: Instr) -> None:
    values: List[Optional[n.Expr]] = list(state.pop_many(instr.arg))
    values += [None] * (2 - len(values))
    state.emit(n.Raise(values[0], values[1]), instr.offset)


@_for(Op.RERAISE)
def _reraise(state: State, instr: Instr) -> None:
    state.pop_raw()
    state.emit(n.ExprStmt(n.Intrinsic("reraise")), instr.offset)


@_for(Op.PUSH_EXC_INFO)
def _push_exc(state: State, instr: Instr) -> None:
    exc = state.pop_raw()
    state.push(Marker("previous"))
    state.push(exc)


@_for(Op.POP_EXCEPT)
def _pop_except(state: State, instr: Instr) -> None:
    state.pop_raw()


@_for(Op.CHECK_EXC_MATCH)
def _exc_match(state: State, instr: Instr) -> None:
    state.push(ExcMatch(state.pop()))


# ------------------------------------------------------------ with


@_for(Op.BEFORE_WITH, Op.BEFORE_ASYNC_WITH)
def _before_with(state: State, instr: Instr) -> None:
    manager = state.pop()
    state.spill()
    enter = n.ExprStmt(n.Intrinsic("enter" if instr.op is Op.BEFORE_WITH else "async_enter", [manager]))
    enter.offset = instr.offset
    state.stmts.append(enter)
    state.push(Marker("exit"))
    state.push(Marker("entered"))


@_for(Op.WITH_EXCEPT_START)
def _with_except_start(state: State, instr: Instr) -> None:
    state.push(n.Intrinsic("with_except_start"))


@_for(Op.WITH_EXIT)
def _with_exit(state: State, instr: Instr) -> None:
    state.pop_raw()
    state.push(Marker("exit_result"))


# ------------------------------------------------------------ scopes and the rest


@_for(Op.SETUP_ANNOTATIONS)
def _setup_annotations(state: State, instr: Instr) -> None:
    state.emit(n.ExprStmt(n.Intrinsic("setup_annotations")), instr.offset)


@_for(Op.IMPORT_STAR)
def _import_star(state: State, instr: Instr) -> None:
    raise SimulationError("import * of no import")


@_for(Op.INTRINSIC)
def _other(state: State, instr: Instr) -> None:
    name, count = instr.arg
    state.push(n.Intrinsic(name, state.pop_many(count)))

