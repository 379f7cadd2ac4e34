"""Reading the instructions of one case of a match statement back into its pattern.

The instructions are run on symbolic places along the way on which every test succeeds; what is done with a place tells
its pattern (`places`). Where the value of a name is finally stored does not matter, so the compiler's shuffling of
captures (`pattern_helper_rotate` in CPython's compile.c, and the peephole passes over its SWAPs) needs no mirror here.

An or-pattern copies its subject for each alternative, and all alternatives that succeed meet with the subject still
below what they captured; nothing else has ways that meet inside a pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Set, Tuple

from ...bytecode.effects import effect
from ...bytecode.program import Instr, Op, Program
from .. import nodes as n
from .places import Found, Length, Merged, NoPattern, Place, Rest, Test, Value

NAMES = frozenset({Op.LOAD_FAST, Op.LOAD_DEREF, Op.LOAD_GLOBAL, Op.LOAD_NAME, Op.LOAD_CLASSDEREF, Op.LOAD_CLASSGLOBAL})
STORES = frozenset({Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME})
BRANCHES = (Op.BRANCH_TRUE, Op.BRANCH_FALSE)
LEAVES = (Op.RETURN, Op.RAISE, Op.RERAISE, Op.JUMP)
MOST_STEPS = 100_000  # per program, against damaged bytecode

Fail = Tuple[int, int]  # (index of an instruction, height of the stack there)


@dataclass
class Matched:
    """Where a pattern ends, with its captures stored, and where its failed tests lead."""

    end: int
    fails: List[Fail]


class Reader:
    """Reads patterns in one program."""

    def __init__(self, program: Program) -> None:
        self.instrs = program.instrs
        self._places: Dict[int, int] = {}
        self._joins = self._find_joins()
        self._steps = 0

    def place(self, index: int) -> int:
        """The first instruction at or after `index` that is no jump, jumps followed."""
        seen: Set[int] = set()
        while index < len(self.instrs) and self.instrs[index].op is Op.JUMP and index not in seen:
            seen.add(index)
            target = self.instrs[index].target
            assert target is not None
            index = target
        return index

    def _find_joins(self) -> Set[int]:
        ways: Dict[int, int] = {}
        for index, instr in enumerate(self.instrs):
            after = [] if instr.op in LEAVES else [index + 1]
            if instr.target is not None and instr.op is not Op.JUMP:
                after.append(instr.target)
            for each in after:
                at = self.place(each)
                ways[at] = ways.get(at, 0) + 1
        return {index for index, count in ways.items() if count > 1}

    def landing(self, fail: Fail, height: int) -> Optional[int]:
        """Where a failed test comes out when the stack is cut down to `height`; None if it is not cut down to that."""
        index, depth = fail
        index = self.place(index)
        while depth > height and index < len(self.instrs) and self.instrs[index].op is Op.POP:
            depth -= 1
            index = self.place(index + 1)
        return index if depth == height else None

    def guard_fails(self, start: int) -> Optional[int]:
        """Where the guard that begins at `start` leads when it is false, with a kept subject below.

        Behind the guard the subject is dropped; the branch before that is the guard's last test.
        """
        height, fails = 0, None
        for instr in self.instrs[start:]:
            if instr.op is Op.POP and height == 0:
                return fails
            pops, pushes = effect(instr)
            height += pushes - pops
            if height < 0 or instr.op in LEAVES and instr.op is not Op.JUMP:
                return None
            if instr.op in BRANCHES and instr.target is not None:
                fails = self.place(instr.target)
        return None

    # ------------------------------------------------------------ the way on which all succeeds

    def run(self, start: int, stack: List[object], height: int) -> Matched:
        """Match from `start` on until the stack is down to `height`. Raises NoPattern."""
        path = _Path(self, stack)
        index = self.place(start)
        while len(stack) != height:
            index = path.step(index)
        return Matched(index, path.fails)

    def alternatives(self, start: int, stack: List[object]) -> Optional[Matched]:
        """An or-pattern whose subject is on top of `stack` and whose first COPY is at `start`; None if it is none."""
        subject = stack[-1]
        height = len(stack)
        if not isinstance(subject, Place):
            return None
        found: List[Tuple[Place, List[object]]] = []
        end: Optional[int] = None
        fails: List[Fail] = []
        index: Optional[int] = start
        while index is not None:
            alternative = Place()
            inside = [*stack, alternative]
            path = _Path(self, inside)
            try:
                at = path.until_join(self.place(index + 1), height, subject)
            except NoPattern:
                return None
            if end is not None and at != end:
                return None
            end = at
            found.append((alternative, inside[height:]))
            landings = {self.landing(fail, height) for fail in path.fails}
            index = landings.pop() if len(landings) == 1 else None
            if index is None or index >= len(self.instrs) or not self._is_copy(index):
                index, fails = None, path.fails
        if end is None or len(found) < 2 or len({len(captures) for _, captures in found}) != 1:
            return None
        subject.become("or")
        subject.parts = [alternative for alternative, _ in found]
        stack.extend(Merged(list(same)) for same in zip(*(captures for _, captures in found)))
        return Matched(end, fails)

    def _is_copy(self, index: int) -> bool:
        return self.instrs[index].op is Op.COPY and self.instrs[index].arg == 1

    def is_join(self, index: int) -> bool:
        """Whether several ways lead to the instruction at `index`."""
        return index in self._joins

    def count_step(self) -> None:
        """Raises NoPattern when the work gets too much."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NoPattern("too long")


class _Path:
    """Executes instructions on `stack`, along success; `fails` collects where failed tests lead."""

    def __init__(self, reader: Reader, stack: List[object]) -> None:
        self.reader = reader
        self.stack = stack
        self.fails: List[Fail] = []
        self.or_end: Optional[int] = None  # where the alternatives of the last or-pattern inside met

    def until_join(self, index: int, height: int, subject: Place) -> int:
        """Run to the place where alternatives meet, with `subject` still at `height - 1`."""
        first = True
        while first or index == self.or_end or not self.reader.is_join(index):
            if len(self.stack) == height:
                raise NoPattern("the subject is used otherwise")
            index = self.step(index)
            first = False
            if len(self.stack) < height or self.stack[height - 1] is not subject:
                raise NoPattern("the subject is gone")
        return index

    def step(self, index: int) -> int:
        """Execute one instruction; where it goes on."""
        reader = self.reader
        reader.count_step()
        if index >= len(reader.instrs):
            raise NoPattern("the code ends")
        instr = reader.instrs[index]
        if instr.op is Op.COPY and instr.arg == 1 and self.stack and isinstance(self.stack[-1], Place):
            matched = reader.alternatives(index, self.stack)
            if matched is not None:
                self.fails.extend(matched.fails)
                self.or_end = matched.end
                return matched.end
        if instr.op in BRANCHES:
            return self._branch(index, instr)
        handler = _HANDLERS.get(instr.op)
        if handler is None:
            raise NoPattern("%s in a pattern" % instr.op.name)
        try:
            handler(self.stack, instr)
        except IndexError:
            raise NoPattern("the stack ends") from None
        return reader.place(index + 1)

    def _branch(self, index: int, instr: Instr) -> int:
        test = self.stack.pop() if self.stack else None
        if not isinstance(test, Test) or instr.target is None:
            raise NoPattern("a branch on something else")
        jumps_on_success = test.success is (instr.op is Op.BRANCH_TRUE)
        succeed, fail = (instr.target, index + 1) if jumps_on_success else (index + 1, instr.target)
        self.fails.append((fail, len(self.stack)))
        return self.reader.place(succeed)


# ---------------------------------------------------------------- the instructions

Handler = Callable[[List[object], Instr], None]
_HANDLERS: Dict[Op, Handler] = {}


def _on(*ops: Op) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for op in ops:
            _HANDLERS[op] = handler
        return handler

    return register


def _pop_place(stack: List[object]) -> Place:
    place = stack.pop()
    if not isinstance(place, Place):
        raise NoPattern("a test of something else")
    return place


def _pop_value(stack: List[object]) -> n.Expr:
    value = stack.pop()
    if not isinstance(value, Value):
        raise NoPattern("something else than a value")
    return value.expr


def _top_place(stack: List[object]) -> Place:
    place = stack[-1]
    if not isinstance(place, Place):
        raise NoPattern("a test of something else")
    return place


@_on(Op.POP)
def _pop(stack: List[object], instr: Instr) -> None:
    stack.pop()


@_on(Op.COPY)
def _copy(stack: List[object], instr: Instr) -> None:
    stack.append(stack[-instr.arg])


@_on(Op.SWAP)
def _swap(stack: List[object], instr: Instr) -> None:
    stack[-1], stack[-instr.arg] = stack[-instr.arg], stack[-1]


@_on(Op.LOAD_CONST)
def _load_const(stack: List[object], instr: Instr) -> None:
    stack.append(Value(n.Constant(instr.arg)))


@_on(*NAMES)
def _load_name(stack: List[object], instr: Instr) -> None:
    name = n.Name(instr.arg)
    name.offset = instr.offset
    stack.append(Value(name))


@_on(Op.LOAD_ATTR)
def _load_attr(stack: List[object], instr: Instr) -> None:
    made = n.Attribute(_pop_value(stack), instr.arg)
    made.offset = instr.offset
    stack.append(Value(made))


@_on(Op.BUILD_TUPLE)
def _build_tuple(stack: List[object], instr: Instr) -> None:
    values = [_pop_value(stack) for _ in range(instr.arg)]
    stack.append(Value(n.Tuple_(values[::-1])))


@_on(*STORES)
def _store(stack: List[object], instr: Instr) -> None:
    value = stack.pop()
    if not isinstance(value, (Place, Rest, Merged)):
        raise NoPattern("a capture of something else")
    value.store(instr.arg)


@_on(Op.MATCH_SEQUENCE)
def _match_sequence(stack: List[object], instr: Instr) -> None:
    _top_place(stack).become("sequence")
    stack.append(Test())


@_on(Op.MATCH_MAPPING)
def _match_mapping(stack: List[object], instr: Instr) -> None:
    _top_place(stack).become("mapping")
    stack.append(Test())


@_on(Op.GET_LEN)
def _get_len(stack: List[object], instr: Instr) -> None:
    stack.append(Length(_top_place(stack)))


@_on(Op.COMPARE)
def _compare(stack: List[object], instr: Instr) -> None:
    right = _pop_value(stack)
    left = stack.pop()
    if isinstance(left, Length) and isinstance(right, n.Constant) and instr.arg in ("==", ">="):
        left.place.length, left.place.exactly = right.value, instr.arg == "=="
        stack.append(Test())
    elif isinstance(left, Found) and isinstance(right, n.Constant) and right.value is None and instr.arg == "is":
        stack.append(Test(success=False))
    elif isinstance(left, Place) and instr.arg in ("==", "is"):
        left.become("value" if instr.arg == "==" else "singleton")
        left.test = right
        if left.kind == "singleton" and not isinstance(right, n.Constant):
            raise NoPattern("`is` with something else")
        stack.append(Test())
    else:
        raise NoPattern("another comparison")


@_on(Op.MATCH_CLASS)
def _match_class(stack: List[object], instr: Instr) -> None:
    names = _pop_value(stack)
    test = _pop_value(stack)
    place = _pop_place(stack)
    if not isinstance(names, n.Constant) or not isinstance(names.value, tuple):
        raise NoPattern("attribute names made elsewhere")
    place.become("class")
    place.test, place.names = test, names.value
    place.parts = [Place() for _ in range(instr.arg + len(names.value))]
    stack.append(Found(place, len(place.parts)))


@_on(Op.MATCH_KEYS)
def _match_keys(stack: List[object], instr: Instr) -> None:
    keys, place = stack[-1], stack[-2]
    if not isinstance(keys, Value) or not isinstance(place, Place) or place.kind != "mapping":
        raise NoPattern("keys of something else")
    if isinstance(keys.expr, n.Constant) and isinstance(keys.expr.value, tuple):
        place.keys = [n.Constant(key) for key in keys.expr.value]
    elif isinstance(keys.expr, n.Tuple_):
        place.keys = list(keys.expr.elts)
    else:
        raise NoPattern("keys made elsewhere")
    place.parts = [Place() for _ in place.keys]
    stack.append(Found(place, len(place.parts)))


@_on(Op.UNPACK_SEQUENCE)
def _unpack(stack: List[object], instr: Instr) -> None:
    top = stack.pop()
    if isinstance(top, Found) and top.count == instr.arg:
        stack.extend(reversed(top.owner.parts))
    elif isinstance(top, Value):  # the keys of a mapping, to be left out of the rest
        stack.extend(Value(n.Constant(None)) for _ in range(instr.arg))
    elif isinstance(top, Place) and top.kind == "sequence" and top.exactly and top.length == instr.arg:
        top.parts = [Place() for _ in range(instr.arg)]
        stack.extend(reversed(top.parts))
    else:
        raise NoPattern("unpacking something else")


@_on(Op.UNPACK_EX)
def _unpack_ex(stack: List[object], instr: Instr) -> None:
    before, after = instr.arg
    place = _pop_place(stack)
    if place.kind != "sequence" or place.exactly or (place.length or 0) != before + after:
        raise NoPattern("unpacking something else")
    place.parts = [Place() for _ in range(before + 1 + after)]
    place.star = before
    stack.extend(reversed(place.parts))


@_on(Op.BINARY)
def _binary(stack: List[object], instr: Instr) -> None:
    right = _pop_value(stack)
    left = stack.pop()
    if instr.arg != "-" or not isinstance(left, Length) or not isinstance(right, n.Constant):
        raise NoPattern("an operator")
    stack.append(Length(left.place, right.value))


@_on(Op.LOAD_SUBSCR)
def _subscript(stack: List[object], instr: Instr) -> None:
    index, owner = stack.pop(), stack.pop()
    if isinstance(owner, Found):
        if not isinstance(index, Value) or not isinstance(index.expr, n.Constant):
            raise NoPattern("an item of something else")
        stack.append(owner.part(index.expr.value))
        return
    if not isinstance(owner, Place) or owner.kind != "sequence" or owner.exactly:
        raise NoPattern("an item of something else")
    count = owner.length or 0
    if not owner.parts:  # `[a, *_]`: single items are taken out, the star is not
        owner.parts = [Place() for _ in range(count + 1)]
        owner.star = count
    if isinstance(index, Value) and isinstance(index.expr, n.Constant) and type(index.expr.value) is int:
        position = index.expr.value
        if owner.star is None or position >= count:
            raise NoPattern("an item of something else")
        if position >= owner.star:
            _move_star(owner, position + 1)
    elif isinstance(index, Length) and index.place is owner and 0 < index.minus <= count:
        position = count + 1 - index.minus
        if owner.star is None or position <= owner.star:
            _move_star(owner, position - 1)
    else:
        raise NoPattern("an item of something else")
    stack.append(owner.parts[position])


def _move_star(place: Place, star: int) -> None:
    """Items counted from the end come behind the star, those counted from the start before it."""
    assert place.star is not None
    moved = place.parts.pop(place.star)
    place.parts.insert(star, moved)
    place.star = star


@_on(Op.BUILD_MAP)
def _build_map(stack: List[object], instr: Instr) -> None:
    if instr.arg:
        raise NoPattern("a dict display")
    stack.append(Rest())


@_on(Op.DICT_UPDATE)
def _dict_update(stack: List[object], instr: Instr) -> None:
    source = _pop_place(stack)
    target = stack[-instr.arg]
    if not isinstance(target, Rest) or source.kind != "mapping":
        raise NoPattern("a dict of something else")
    source.rest = target


@_on(Op.DELETE_SUBSCR)
def _delete_subscr(stack: List[object], instr: Instr) -> None:
    if not isinstance(stack.pop(), Value) or not isinstance(stack.pop(), Rest):
        raise NoPattern("a deletion")


@_on(Op.INTRINSIC)
def _intrinsic(stack: List[object], instr: Instr) -> None:
    if instr.arg != ("dict_without_keys", 2):  # 3.10 puts the rest of a mapping together in one instruction
        raise NoPattern("something else")
    _pop_value(stack)
    place = _pop_place(stack)
    if place.kind != "mapping":
        raise NoPattern("a dict of something else")
    place.rest = Rest()
    stack.append(place.rest)
