"""What each canonical operation is in Python: the table behind the dispatch form.

A `Builder` holds the statements written so far and a stack of expressions. An expression on the stack may still
be *pending*: not evaluated by any statement yet. Pending expressions lie in the order in which they are to be
evaluated, and every statement is preceded by assignments of all pending ones to temporaries, so the order of
evaluation is that of the bytecode, always. Only what is *settled* (a constant, a temporary) may be copied, moved or
dropped as it is.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Optional, Sequence, Set

from depyf.bytecode.program import Instr, Op

from . import nodes as n
from .scopes import COMPREHENSIONS

LARGEST = 60  # nodes in a pending expression before it gets a temporary, so that no expression nests too deeply


class UnknownOperation(Exception):
    """An operation that this version of depyf cannot write."""


class Names:
    """Names of one function's dispatch form: its temporaries, and builtins, which its module may hide.

    `taken`: names that the code object uses. `hidden_globals`: globals whose name is a local variable's too (no
    compiler makes such code). `made`: all names handed out so far.
    """

    def __init__(self, taken: Set[str], hidden_globals: Set[str]) -> None:
        self.taken = taken
        self.hidden_globals = hidden_globals
        self.made: Set[str] = set()
        self.imported: Dict[str, str] = {}
        self.needs_null = False

    def own(self, name: str) -> str:
        """`name`, or a variant of it that the code object does not use."""
        while name in self.taken:
            name += "_"
        self.made.add(name)
        return name

    def slot(self, depth: int) -> n.Name:
        """The variable that holds stack entry `depth` between blocks."""
        return n.Name(self.own(f"__stack_{depth}"))

    def builtin(self, name: str) -> n.Name:
        """A builtin, imported under a name that nothing else uses."""
        alias = self.imported.setdefault(name, self.own(f"__{name}"))
        return n.Name(alias)

    def null(self) -> n.Name:
        """The object that stands for "no value"."""
        self.needs_null = True
        return n.Name(self.own("__null"))


def identifier(name: str) -> str:
    """A variable's name as it can be written: a comprehension's argument is called `.0`."""
    return name if name.isidentifier() else re.sub(r"\W", "_", name)


class Builder:
    """Statements and the stack of one block."""

    def __init__(self, names: Names, stack: List[n.Expr], is_async: bool) -> None:
        self.names = names
        self.stack = stack
        self.is_async = is_async
        self.stmts: List[n.Stmt] = []
        self._settled: Set[str] = {item.id for item in stack if isinstance(item, n.Name)}
        self._count = 0
        self.offset = -1
        self.handled: Optional[n.Expr] = None  # the exception that the enclosing except clause handles
        self.saved: Set[int] = set()  # ids of expressions that may hold the null object (LOAD_FAST_AND_CLEAR)

    # ------------------------------------------------------------ stack

    def fresh(self) -> n.Name:
        """A new temporary."""
        name = self.names.own(f"__temp_{self._count}")
        self._count += 1
        self._settled.add(name)
        return n.Name(name)

    def settle_name(self, name: str) -> n.Name:
        """A name that is a temporary although this builder didn't make it."""
        self._settled.add(name)
        return n.Name(name)

    def is_settled(self, value: n.Expr) -> bool:
        """Whether evaluating `value` has no effect and gives the same at any time in this block."""
        if isinstance(value, n.Name):
            return value.id in self._settled
        if isinstance(value, n.Tuple_):
            return bool(value.elts) and all(isinstance(e, n.Intrinsic) and e.name == "cell" for e in value.elts)
        if isinstance(value, n.Intrinsic):
            return value.name in ("cell", "load_build_class")
        return isinstance(value, n.Constant)

    def settle(self, count: int = 0) -> None:
        """Evaluate all pending expressions but those of the `count` topmost entries."""
        for position in range(len(self.stack) - count):
            value = self.stack[position]
            if not self.is_settled(value):
                self.stack[position] = self.assign(value)

    def assign(self, value: n.Expr) -> n.Name:
        """Evaluate `value` now, into a temporary."""
        target = self.fresh()
        self.append(n.Assign([target], as_value(value, self.names)))
        return n.Name(target.id)

    def append(self, stmt: n.Stmt) -> None:
        """Add a statement as it is."""
        stmt.offset = self.offset
        self.stmts.append(stmt)

    def emit(self, stmt: n.Stmt) -> None:
        """Add a statement; everything pending on the stack comes before it."""
        self.settle()
        self.append(stmt)

    def push(self, value: n.Expr) -> None:
        """Push a pending expression, or evaluate it right away if it has grown large."""
        if value.offset < 0:
            value.offset = self.offset
        self.stack.append(value)
        size = 1 + sum(getattr(child, "size", 1) for child in _children(value))
        value.size = size  # type: ignore[attr-defined]
        if size > LARGEST and not self.is_settled(value):
            self.settle()

    def push_now(self, value: n.Expr) -> None:
        """Evaluate `value` in a statement of its own and push the result."""
        self.settle()
        self.stack.append(self.assign(value))

    def pop(self) -> n.Expr:
        """Pop a value for use in an expression."""
        return as_value(self.pop_raw(), self.names)

    def pop_raw(self) -> n.Expr:
        """Pop what is there, perhaps a slice."""
        if not self.stack:
            raise UnknownOperation("the stack is empty")
        return self.stack.pop()

    def pop_many(self, count: int) -> List[n.Expr]:
        """Pop `count` values, first pushed first."""
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def pop_settled(self) -> n.Expr:
        """Pop a value, evaluated."""
        self.settle()
        return self.pop()


def as_value(value: n.Expr, names: Names) -> n.Expr:
    """`value` as an expression that may stand anywhere: a slice outside of brackets is a call of `slice`."""
    if isinstance(value, n.Slice):
        parts = [n.Constant(None) if part is None else part for part in (value.lower, value.upper)]
        if value.step is not None:
            parts.append(value.step)
        return n.Call(names.builtin("slice"), parts)
    if isinstance(value, n.Dict_) and getattr(value, "merged", False):
        keywords = [_keyword(key, item) for key, item in zip(value.keys, value.values)]
        return n.Call(names.builtin("dict"), [], keywords)
    return value


def _keyword(key: Optional[n.Expr], value: n.Expr) -> n.Keyword:
    if isinstance(key, n.Constant) and isinstance(key.value, str) and key.value.isidentifier():
        return n.Keyword(key.value, value)
    return n.Keyword(None, value if key is None else n.Dict_([key], [value]))


def _children(value: n.Expr) -> List[n.Node]:
    children: List[n.Node] = []
    for part in vars(value).values():
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, n.Keyword):
                item = item.value
            if isinstance(item, n.Node):
                children.append(item)
    return children


Handler = Callable[[Builder, Instr], None]
TABLE: Dict[Op, Handler] = {}


def _on(*ops: Op) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for op in ops:
            TABLE[op] = handler
        return handler

    return register


def apply(builder: Builder, instr: Instr) -> None:
    """Execute one instruction that is no jump, branch, end or change of the handled exception.

    Raises UnknownOperation for what cannot be written.
    """
    handler = TABLE.get(instr.op)
    if handler is None:
        raise UnknownOperation(f"{instr.op.name} {instr.arg!r}")
    builder.offset = instr.offset
    handler(builder, instr)


# ---------------------------------------------------------------- stack, names


@_on(Op.POP)
def _pop(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if not b.is_settled(value):
        b.emit(n.ExprStmt(value))


@_on(Op.COPY)
def _copy(b: Builder, instr: Instr) -> None:
    b.settle(instr.arg - 1)
    value = b.stack[-instr.arg]
    b.stack.append(n.Name(value.id) if isinstance(value, n.Name) else value)
    if id(value) in b.saved:
        b.saved.add(id(b.stack[-1]))


@_on(Op.SWAP)
def _swap(b: Builder, instr: Instr) -> None:
    involved = b.stack[-instr.arg :]
    if sum(not b.is_settled(value) for value in involved) > 1:
        b.settle()
    b.stack[-1], b.stack[-instr.arg] = b.stack[-instr.arg], b.stack[-1]


@_on(Op.LOAD_CONST)
def _load_const(b: Builder, instr: Instr) -> None:
    b.push(n.Constant(instr.arg))


@_on(Op.LOAD_FAST, Op.LOAD_DEREF, Op.LOAD_CLASSDEREF, Op.LOAD_GLOBAL, Op.LOAD_NAME, Op.LOAD_CLASSGLOBAL)
def _load_name(b: Builder, instr: Instr) -> None:
    if instr.op is Op.LOAD_GLOBAL and instr.arg in b.names.hidden_globals:
        b.push(n.Subscript(n.Call(b.names.builtin("globals"), []), n.Constant(instr.arg)))
    else:
        b.push(n.Name(identifier(instr.arg)))


@_on(Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME)
def _store_name(b: Builder, instr: Instr) -> None:
    target = n.Name(identifier(instr.arg))
    raw = b.stack[-1]
    value = b.pop()
    if isinstance(raw, n.Intrinsic) and raw.name == "cell":
        return  # `__classcell__`: the compiler stores it by itself
    if id(raw) in b.saved:
        unset: List[n.Stmt] = [n.Assign([target], n.Constant(None)), n.Delete([n.Name(target.id)])]
        test = n.Compare(value, ["is"], [b.names.null()])
        b.emit(n.If(test, unset, [n.Assign([n.Name(target.id)], value)]))
        return
    b.emit(n.Assign([target], value))


@_on(Op.DELETE_FAST, Op.DELETE_DEREF, Op.DELETE_GLOBAL, Op.DELETE_NAME)
def _delete_name(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([n.Name(identifier(instr.arg))]))


@_on(Op.LOAD_FAST_AND_CLEAR)
def _load_and_clear(b: Builder, instr: Instr) -> None:
    name, saved = identifier(instr.arg), b.fresh()
    load: List[n.Stmt] = [n.Assign([saved], n.Name(name))]
    missing: List[n.Stmt] = [n.Assign([n.Name(saved.id)], b.names.null())]
    b.emit(n.Try(load, [n.ExceptHandler(b.names.builtin("NameError"), None, missing)]))
    b.append(n.Assign([n.Name(name)], n.Constant(None)))
    b.append(n.Delete([n.Name(name)]))
    value = n.Name(saved.id)
    b.saved.add(id(value))
    b.stack.append(value)


@_on(Op.LOAD_CLOSURE)
def _load_closure(b: Builder, instr: Instr) -> None:
    b.push(n.Intrinsic("cell", [n.Name(instr.arg)]))


@_on(Op.LOAD_LOCALS)
def _load_locals(b: Builder, instr: Instr) -> None:
    b.push(n.Call(b.names.builtin("locals"), []))


@_on(Op.LOAD_BUILD_CLASS)
def _load_build_class(b: Builder, instr: Instr) -> None:
    b.push(n.Intrinsic("load_build_class"))


@_on(Op.LOAD_ASSERTION_ERROR)
def _load_assertion_error(b: Builder, instr: Instr) -> None:
    b.push(b.names.builtin("AssertionError"))


@_on(Op.LOAD_COMMON_CONST)
def _load_common(b: Builder, instr: Instr) -> None:
    b.push(b.names.builtin(instr.arg))


# ---------------------------------------------------------------- attributes, items, operators


@_on(Op.LOAD_ATTR)
def _load_attr(b: Builder, instr: Instr) -> None:
    b.push(n.Attribute(b.pop(), instr.arg))


@_on(Op.STORE_ATTR)
def _store_attr(b: Builder, instr: Instr) -> None:
    value, owner = b.pop_many(2)
    b.emit(n.Assign([n.Attribute(owner, instr.arg)], value))


@_on(Op.DELETE_ATTR)
def _delete_attr(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([n.Attribute(b.pop(), instr.arg)]))


@_on(Op.LOAD_SUPER_ATTR)
def _load_super_attr(b: Builder, instr: Instr) -> None:
    function, cls, this = b.pop_many(3)
    b.push(n.Attribute(n.Call(function, [cls, this]), instr.arg[0]))


def _subscript(b: Builder) -> n.Subscript:
    index = b.pop_raw()
    return n.Subscript(b.pop(), index)


@_on(Op.LOAD_SUBSCR)
def _load_subscr(b: Builder, instr: Instr) -> None:
    b.push(_subscript(b))


@_on(Op.STORE_SUBSCR)
def _store_subscr(b: Builder, instr: Instr) -> None:
    target = _subscript(b)
    b.emit(n.Assign([target], b.pop()))


@_on(Op.DELETE_SUBSCR)
def _delete_subscr(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([_subscript(b)]))


@_on(Op.UNARY)
def _unary(b: Builder, instr: Instr) -> None:
    b.push(n.UnaryOp(instr.arg, b.pop()))


@_on(Op.BINARY)
def _binary(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    b.push(n.BinOp(left, instr.arg, right))


@_on(Op.INPLACE)
def _inplace(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    # The left operand must be a variable of its own: the operator may or may not give a new object.
    target = b.fresh()
    if not b.is_settled(right):
        b.settle()
        left_now = b.assign(left)
        right = b.assign(right)
        left = left_now
    b.emit(n.Assign([target], left))
    b.append(n.AugAssign(n.Name(target.id), instr.arg, right))
    b.stack.append(n.Name(target.id))


@_on(Op.COMPARE)
def _compare(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    b.push(n.Compare(left, [instr.arg], [right]))


# ---------------------------------------------------------------- displays


@_on(Op.BUILD_TUPLE)
def _build_tuple(b: Builder, instr: Instr) -> None:
    b.push(n.Tuple_(b.pop_many(instr.arg)))


@_on(Op.BUILD_LIST)
def _build_list(b: Builder, instr: Instr) -> None:
    b.push(n.List_(b.pop_many(instr.arg)))


@_on(Op.BUILD_SET)
def _build_set(b: Builder, instr: Instr) -> None:
    elts = b.pop_many(instr.arg)
    b.push(n.Set_(elts) if elts else n.Call(b.names.builtin("set"), []))


@_on(Op.BUILD_MAP)
def _build_map(b: Builder, instr: Instr) -> None:
    items = b.pop_many(2 * instr.arg)
    keys: List[Optional[n.Expr]] = list(items[0::2])
    b.push(n.Dict_(keys, items[1::2]))


@_on(Op.BUILD_CONST_KEY_MAP)
def _build_const_key_map(b: Builder, instr: Instr) -> None:
    keys: List[Optional[n.Expr]] = [n.Constant(key) for key in instr.arg]
    b.push(n.Dict_(keys, b.pop_many(len(keys))))


@_on(Op.BUILD_SLICE)
def _build_slice(b: Builder, instr: Instr) -> None:
    parts = b.pop_many(instr.arg)
    lower, upper = (None if isinstance(p, n.Constant) and p.value is None else p for p in parts[:2])
    b.push(n.Slice(lower, upper, parts[2] if len(parts) == 3 else None))


@_on(Op.BUILD_STRING)
def _build_string(b: Builder, instr: Instr) -> None:
    values: List[n.Expr] = []
    for part in b.pop_many(instr.arg):
        if isinstance(part, n.JoinedStr):
            values.extend(part.values)
        elif isinstance(part, n.Constant) and isinstance(part.value, str):
            values.append(part)
        else:
            values.append(n.FormattedValue(part, "", None))
    b.push(n.JoinedStr(values))


@_on(Op.FORMAT)
def _format(b: Builder, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = b.pop() if has_spec else None
    if spec is not None and not isinstance(spec, (n.JoinedStr, n.Constant)):
        spec = n.JoinedStr([n.FormattedValue(spec, "", None)])
    b.push(n.JoinedStr([n.FormattedValue(b.pop(), conversion, spec)]))


@_on(Op.BUILD_INTERPOLATION)
def _interpolation(b: Builder, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = b.pop() if has_spec else n.Constant("")
    value, text = b.pop_many(2)
    arguments = [value, text, n.Constant(conversion or None), spec]
    b.push(n.Call(_template_class(b, "Interpolation"), arguments))


@_on(Op.BUILD_TEMPLATE)
def _template(b: Builder, instr: Instr) -> None:
    strings, interpolations = b.pop_many(2)
    if not isinstance(strings, n.Constant) or not isinstance(interpolations, (n.Tuple_, n.Constant)):
        raise UnknownOperation("a template string of an unknown shape")
    parts = interpolations.elts if isinstance(interpolations, n.Tuple_) else []
    arguments: List[n.Expr] = []
    for index, string in enumerate(strings.value):
        arguments.append(n.Constant(string))
        arguments.extend(parts[index : index + 1])
    b.push(n.Call(_template_class(b, "Template"), arguments))


def _template_class(b: Builder, name: str) -> n.Expr:
    arguments = [n.Constant("string.templatelib"), n.Constant(None), n.Constant(None), n.Constant((name,))]
    return n.Attribute(n.Call(b.names.builtin("__import__"), list(arguments)), name)


def _owner(b: Builder, depth: int) -> n.Expr:
    """The container at `depth`, evaluated; everything else on the stack and just popped stays as it is."""
    b.settle()
    return b.stack[-depth]


@_on(Op.LIST_APPEND, Op.SET_ADD)
def _add_one(b: Builder, instr: Instr) -> None:
    value = b.pop()
    owner = b.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.List_ if instr.op is Op.LIST_APPEND else n.Set_):
        owner.elts.append(value)
        return
    method = "append" if instr.op is Op.LIST_APPEND else "add"
    owner = _owner(b, instr.arg)
    b.append(n.ExprStmt(n.Call(n.Attribute(owner, method), [value])))


@_on(Op.MAP_ADD)
def _map_add(b: Builder, instr: Instr) -> None:
    key, value = b.pop_many(2)
    owner = b.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_) and not getattr(owner, "merged", False):
        owner.keys.append(key)
        owner.values.append(value)
        return
    owner = _owner(b, instr.arg)
    b.append(n.ExprStmt(n.Call(n.Attribute(owner, "__setitem__"), [key, value])))


@_on(Op.LIST_EXTEND, Op.SET_UPDATE)
def _add_many(b: Builder, instr: Instr) -> None:
    # A new display replaces the old: only the stack holds it, and the messages of errors stay those of displays.
    value = b.pop()
    display = n.List_ if instr.op is Op.LIST_EXTEND else n.Set_
    owner = b.stack[-instr.arg]
    if instr.arg == 1:
        elts = owner.elts if isinstance(owner, display) else [n.Starred(owner)]
        b.stack.pop()
        b.push(display([*elts, n.Starred(value)]))
        return
    owner = _owner(b, instr.arg)
    b.stack[-instr.arg] = b.assign(display([n.Starred(owner), n.Starred(value)]))


@_on(Op.DICT_UPDATE, Op.DICT_MERGE)
def _dict_update(b: Builder, instr: Instr) -> None:
    value = b.pop()
    merged = instr.op is Op.DICT_MERGE
    owner = b.stack[-instr.arg]
    if instr.arg != 1:
        owner = _owner(b, instr.arg)
    if isinstance(owner, n.Dict_) and (merged or not getattr(owner, "merged", False)):
        result = n.Dict_([*owner.keys, None], [*owner.values, value])
    else:
        result = n.Dict_([None, None], [as_value(owner, b.names), value])
    result.merged = merged  # type: ignore[attr-defined]
    if instr.arg == 1:
        b.stack.pop()
        b.push(result)
    else:
        b.stack[-instr.arg] = b.assign(result)


@_on(Op.LIST_TO_TUPLE)
def _list_to_tuple(b: Builder, instr: Instr) -> None:
    value = b.pop()
    b.push(n.Tuple_(value.elts if isinstance(value, n.List_) else [n.Starred(value)]))


@_on(Op.UNPACK_SEQUENCE, Op.UNPACK_EX)
def _unpack(b: Builder, instr: Instr) -> None:
    value = b.pop()
    star = -1
    if instr.op is Op.UNPACK_SEQUENCE:
        count = instr.arg
    else:
        star, after = instr.arg
        count = star + 1 + after
    items = [b.fresh() for _ in range(count)]
    targets: List[n.Expr] = [n.Starred(item) if i == star else item for i, item in enumerate(items)]
    b.emit(n.Assign([n.Tuple_(targets) if targets else n.List_([])], value))
    b.stack.extend(n.Name(item.id) for item in reversed(items))


# ---------------------------------------------------------------- calls, functions, imports


@_on(Op.CALL)
def _call(b: Builder, instr: Instr) -> None:
    count, names = instr.arg
    values = b.pop_many(count)
    function = b.pop()
    split = count - len(names)
    keywords: List[n.Keyword] = []
    for name, value in zip(names, values[split:]):
        keywords.append(_keyword(n.Constant(name), value))
    b.push(n.Call(function, values[:split], keywords))


@_on(Op.CALL_EX)
def _call_ex(b: Builder, instr: Instr) -> None:
    keywords: List[n.Keyword] = []
    if instr.arg:
        mapping = b.pop_raw()
        if isinstance(mapping, n.Dict_) and getattr(mapping, "merged", False):
            keywords = [_keyword(key, value) for key, value in zip(mapping.keys, mapping.values)]
        else:
            keywords = [n.Keyword(None, as_value(mapping, b.names))]
    arguments = b.pop()
    function = b.pop()
    args: List[n.Expr] = list(arguments.elts) if isinstance(arguments, n.Tuple_) else [n.Starred(arguments)]
    b.push(n.Call(function, args, keywords))


@_on(Op.MAKE_FUNCTION)
def _make_function(b: Builder, instr: Instr) -> None:
    code = b.pop()
    if not isinstance(code, n.Constant):
        raise UnknownOperation("a function of code that is no constant")
    node = n.MakeFunction(code.value)
    for part in ("closure", "annotate", "annotations", "kwdefaults", "defaults"):
        if part in instr.arg:
            setattr(node, part, b.pop())
    b.push(node)


@_on(Op.IMPORT_NAME)
def _import_name(b: Builder, instr: Instr) -> None:
    level, names = b.pop_many(2)
    if not b.is_settled(level) or not b.is_settled(names):
        b.settle()
        level, names = b.assign(level), b.assign(names)
    globals_ = n.Call(b.names.builtin("globals"), [])
    arguments = [n.Constant(instr.arg[0]), globals_, n.Constant(None), names, level]
    b.push(n.Call(b.names.builtin("__import__"), arguments))


@_on(Op.IMPORT_FROM)
def _import_from(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(n.Attribute(b.stack[-1], instr.arg))


# ---------------------------------------------------------------- iteration, generators


def _type_method(b: Builder, value: n.Expr, name: str) -> n.Call:
    """`type(value).name(value)`: special methods are looked up on the type."""
    return n.Call(n.Attribute(n.Call(b.names.builtin("type"), [value]), name), [value])


def _calls_comprehension(b: Builder) -> bool:
    """Whether the value just popped is the argument of a comprehension's function."""
    return bool(b.stack) and isinstance(b.stack[-1], n.MakeFunction) and b.stack[-1].code.co_name in COMPREHENSIONS


@_on(Op.GET_ITER)
def _get_iter(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if _calls_comprehension(b):
        b.push(n.Call(n.Name("iter"), [value]))  # becomes part of the comprehension
    else:
        b.push(n.Call(b.names.builtin("iter"), [value]))


@_on(Op.GET_AITER)
def _get_aiter(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if _calls_comprehension(b):
        b.push(n.Call(n.Name("aiter"), [value]))  # becomes part of the comprehension
        return
    b.stack.append(value)
    b.push(_type_method(b, b.pop_settled(), "__aiter__"))


@_on(Op.GET_ANEXT)
def _get_anext(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(_type_method(b, b.stack[-1], "__anext__"))


@_on(Op.GET_YIELD_FROM_ITER, Op.GET_AWAITABLE)
def _no_step_of_its_own(b: Builder, instr: Instr) -> None:
    pass  # `yield from` and `await` do it


@_on(Op.YIELD_FROM)
def _yield_from(b: Builder, instr: Instr) -> None:
    b.pop()
    value = b.pop()
    b.push_now(n.Await(value) if b.is_async else n.YieldFrom(value))


@_on(Op.YIELD)
def _yield(b: Builder, instr: Instr) -> None:
    b.push_now(n.Yield(b.pop()))


@_on(Op.INTRINSIC)
def _intrinsic(b: Builder, instr: Instr) -> None:
    name, count = instr.arg
    b.push(n.Intrinsic(name, b.pop_many(count)))


# ---------------------------------------------------------------- with, exceptions, match


@_on(Op.BEFORE_WITH, Op.BEFORE_ASYNC_WITH)
def _before_with(b: Builder, instr: Instr) -> None:
    is_async = instr.op is Op.BEFORE_ASYNC_WITH
    enter_name, exit_name = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
    value = b.pop()
    b.settle()
    manager = b.assign(value)
    cls = b.assign(n.Call(b.names.builtin("type"), [manager]))
    has = [n.Call(b.names.builtin("hasattr"), [cls, n.Constant(name)]) for name in (enter_name, exit_name)]
    # Not a context manager: a with statement raises the error, in the words of the running version.
    failing = n.With([n.WithItem(manager, None)], [n.Pass()], is_async)
    b.append(n.If(n.UnaryOp("not", n.BoolOp("and", list(has))), [failing]))
    enter = b.assign(n.Attribute(cls, enter_name))
    leave = b.assign(n.Call(n.Attribute(n.Attribute(cls, exit_name), "__get__"), [manager, cls]))
    b.stack.append(leave)
    b.push_now(n.Call(enter, [manager]))


@_on(Op.WITH_EXIT)
def _with_exit(b: Builder, instr: Instr) -> None:
    b.push(n.Call(b.pop(), [n.Constant(None), n.Constant(None), n.Constant(None)]))


@_on(Op.WITH_EXCEPT_START)
def _with_except_start(b: Builder, instr: Instr) -> None:
    b.settle()
    leave, exc = b.stack[-3], b.stack[-1]
    kind = n.Call(b.names.builtin("type"), [exc])
    b.push(n.Call(leave, [kind, exc, n.Attribute(exc, "__traceback__")]))


def match_exception(b: Builder, exc: n.Expr, kind: n.Expr) -> n.Name:
    """A temporary that tells whether `exc` matches `kind`, by the rules of an except clause."""
    result = b.fresh()
    yes: List[n.Stmt] = [n.Assign([result], n.Constant(True))]
    no: List[n.Stmt] = [n.Assign([n.Name(result.id)], n.Constant(False))]
    handlers = [n.ExceptHandler(kind, None, yes), n.ExceptHandler(None, None, no)]
    handled = isinstance(exc, n.Name) and isinstance(b.handled, n.Name) and exc.id == b.handled.id
    b.append(n.Try([n.Raise(None if handled else exc, None)], handlers))
    return n.Name(result.id)


@_on(Op.CHECK_EXC_MATCH)
def _check_exc_match(b: Builder, instr: Instr) -> None:
    kind = b.pop_settled()
    b.stack.append(match_exception(b, b.stack[-1], kind))


@_on(Op.CHECK_EG_MATCH)
def _check_eg_match(b: Builder, instr: Instr) -> None:
    b.settle()
    exc, kind = b.pop_many(2)
    found = match_exception(b, exc, kind)
    group = b.names.builtin("BaseExceptionGroup")
    match, rest = b.fresh(), b.fresh()
    is_group = n.Call(b.names.builtin("isinstance"), [exc, group])
    whole = n.IfExp(is_group, exc, n.Call(group, [n.Constant(""), n.List_([exc])]))
    split = n.Assign([n.Tuple_([match, rest])], n.Call(n.Attribute(exc, "split"), [kind]))
    none = n.Assign([n.Tuple_([match, rest])], n.Tuple_([n.Constant(None), exc]))
    all_of_it = n.Assign([n.Tuple_([match, rest])], n.Tuple_([whole, n.Constant(None)]))
    b.append(n.If(found, [all_of_it], [n.If(is_group, [split], [none])]))
    b.stack += [n.Name(rest.id), n.Name(match.id)]


@_on(Op.GET_LEN)
def _get_len(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(n.Call(b.names.builtin("len"), [b.stack[-1]]))


def _try_pattern(b: Builder, subject: n.Expr, pattern: n.Pattern, yes: n.Expr, no: n.Expr) -> None:
    result = b.fresh()
    cases = [
        n.MatchCase(pattern, None, [n.Assign([result], yes)]),
        n.MatchCase(n.MatchAs(None, None), None, [n.Assign([n.Name(result.id)], no)]),
    ]
    b.append(n.Match(subject, cases))
    b.stack.append(n.Name(result.id))


@_on(Op.MATCH_MAPPING, Op.MATCH_SEQUENCE)
def _match_kind(b: Builder, instr: Instr) -> None:
    b.settle()
    mapping = instr.op is Op.MATCH_MAPPING
    pattern = n.MatchMapping([], [], None) if mapping else n.MatchSequence([n.MatchStar(None)])
    _try_pattern(b, b.stack[-1], pattern, n.Constant(True), n.Constant(False))


@_on(Op.MATCH_KEYS)
def _match_keys(b: Builder, instr: Instr) -> None:
    if isinstance(b.stack[-1], n.Constant):
        count = len(b.stack[-1].value)
        keys: List[n.Expr] = [n.Constant(key) for key in b.stack[-1].value]
        b.settle()
    else:
        if not isinstance(b.stack[-1], n.Tuple_):
            raise UnknownOperation("a mapping pattern with keys made elsewhere")
        count = len(b.stack[-1].elts)
        b.settle()
        # A pattern takes literals and dotted names: the keys become attributes of a namespace.
        namespace = n.Call(b.names.builtin("__import__"), [n.Constant("types")])
        holder = b.assign(n.Call(n.Attribute(namespace, "SimpleNamespace"), []))
        for i in range(count):
            b.append(n.Assign([n.Attribute(holder, f"k{i}")], n.Subscript(b.stack[-1], n.Constant(i))))
        keys = [n.Attribute(n.Name(holder.id), f"k{i}") for i in range(count)]
    values = [b.fresh() for _ in range(count)]
    pattern = n.MatchMapping(keys, [n.MatchAs(None, value.id) for value in values], None)
    found = n.Tuple_([n.Name(value.id) for value in values])
    _try_pattern(b, b.stack[-2], pattern, found, n.Constant(None))


@_on(Op.MATCH_CLASS)
def _match_class(b: Builder, instr: Instr) -> None:
    b.settle()
    subject, cls, names = b.pop_many(3)
    if not isinstance(names, n.Constant):
        raise UnknownOperation("a class pattern with names made elsewhere")
    if not isinstance(cls, n.Name):
        cls = b.assign(cls)
    values = [b.fresh() for _ in range(instr.arg + len(names.value))]
    patterns: Sequence[n.Pattern] = [n.MatchAs(None, value.id) for value in values]
    pattern = n.MatchClass(cls, list(patterns[: instr.arg]), list(names.value), list(patterns[instr.arg :]))
    found = n.Tuple_([n.Name(value.id) for value in values])
    _try_pattern(b, subject, pattern, found, n.Constant(None))


@_on(Op.SETUP_ANNOTATIONS)
def _setup_annotations(b: Builder, instr: Instr) -> None:
    names = n.Call(b.names.builtin("locals"), [])
    missing = n.Compare(n.Constant("__annotations__"), ["not in"], [names])
    b.emit(n.If(missing, [n.Assign([n.Name("__annotations__")], n.Dict_([], []))]))
