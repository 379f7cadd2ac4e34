"""Comprehensions that the compiler wrote into the function around them (3.12, PEP 709), taken out again.

Before, for `[<elt> for x in <iterable>]`:

    <iterable>; GET_ITER; LOAD_FAST_AND_CLEAR x; SWAP 2; BUILD_LIST 0; SWAP 2
    a: FOR_ITER b; STORE x; <elt>; LIST_APPEND 2; JUMP a                              protected by c
    b: SWAP 2; STORE_FAST x; <what uses the list>
    c: SWAP 2; POP; SWAP 2; STORE_FAST x; RERAISE

After:

    <iterable>; GET_ITER; COMPREHENSION; <what uses the list>

The argument of COMPREHENSION is a program like that of the code object that the comprehension was before 3.12:
`BUILD_LIST 0; LOAD_FAST .0; <the loop>; RETURN`. The compiler may have mixed the stores that put the variables back
with those of the list itself (`SWAP` is done away with between stores), so they are followed value by value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Set, Tuple

from ..bytecode.edit import edited
from ..bytecode.effects import effect
from ..bytecode.program import Instr, Op, Program, Region
from .cfg import handler_of_each

NAMES = {Op.BUILD_LIST: "<listcomp>", Op.BUILD_SET: "<setcomp>", Op.BUILD_MAP: "<dictcomp>"}
STORES = (Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME)
LOCALS = (Op.LOAD_FAST, Op.STORE_FAST, Op.DELETE_FAST, Op.LOAD_DEREF, Op.STORE_DEREF, Op.DELETE_DEREF, Op.LOAD_CLOSURE)
ENDS = (Op.RETURN, Op.RAISE, Op.RERAISE, Op.JUMP)
RESULT, ITERATOR = "result", "iterator"


class _Different(Exception):
    """Not what the compiler writes for a comprehension."""


@dataclass
class _Comprehension:
    """`start` to `head`: what comes before the loop; `inside`: the loop; `tail`: what comes behind it, up to `after`.

    `handler`: what puts the variables back after an exception, None if there are none. `end`: the instructions that
    take the place of the tail.
    """

    start: int
    build: int
    head: int
    saved: List[str]
    inside: Set[int]
    handler: Optional[int]
    shift: int
    tail: Set[int]
    end: List[Instr]
    after: int


def plain_comprehensions(program: Program) -> Program:
    """`program` with its inlined comprehensions as single instructions; `program` itself if it has none."""
    reader = _Reader(program)
    found: List[_Comprehension] = []
    taken: Set[int] = set()
    for index in reader.heads():
        if index in taken:
            continue
        try:
            one = reader.read(index)
        except (_Different, IndexError):
            continue
        found.append(one)
        taken |= one.inside
    return _edited(program, reader, found) if found else program


def own_instrs(program: Program) -> List[Instr]:
    """The instructions of `program` without what inlined comprehensions do with their own variables."""
    found: List[Instr] = []
    for instr in plain_comprehensions(program).instrs:
        if instr.op is Op.COMPREHENSION:
            _, part, saved = instr.arg
            theirs = {*saved, ".0"}
            found.extend(i for i in own_instrs(part) if i.op not in LOCALS or i.arg not in theirs)
        else:
            found.append(instr)
    return found


class _Reader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.instrs = program.instrs
        self.region_of = handler_of_each(program)
        self._depths: Dict[int, int] = {}

    def region(self, index: int) -> Optional[Region]:
        """The region that protects an instruction."""
        number = self.region_of[index]
        return None if number < 0 else self.program.regions[number]

    def heads(self) -> List[int]:
        """Where a loop begins behind `BUILD 0; SWAP 2`."""
        found = []
        for index in range(2, len(self.instrs)):
            build, swap, head = self.instrs[index - 2 : index + 1]
            if build.op in NAMES and build.arg == 0 and swap.op is Op.SWAP and swap.arg == 2:
                if head.op in (Op.GET_ITER, Op.GET_AITER):  # 3.15 does this last
                    index, head = index + 1, self.instrs[index + 1]
                if head.op in (Op.FOR_ITER, Op.GET_ANEXT):
                    found.append(index)
        return found

    def read(self, head: int) -> _Comprehension:
        """The comprehension whose loop begins at `head`. Raises _Different."""
        build = head - 2 if self.instrs[head - 2].op in NAMES else head - 3
        start, saved = self._saved(build)
        handler: Optional[int] = None
        if saved:
            region = self.region(head) if self.instrs[head].op is Op.FOR_ITER else self.region(build)
            if region is None:
                raise _Different
            handler = region.handler
            self._restores(handler, saved)
            shift = region.depth - 1
        else:
            shift = self._depth(start) - 1
        exit_ = self._exit(head)
        inside = self._inside(head, exit_, handler)
        tail, end, after = self._tail(exit_, saved)
        return _Comprehension(start, build, head, saved, inside, handler, shift, tail, end, after)

    def _saved(self, build: int) -> Tuple[int, List[str]]:
        """Where the saving of variables before `build` starts, and the saved ones, the last on top."""
        start = build
        while self.instrs[start - 1].op in (Op.LOAD_FAST_AND_CLEAR, Op.SWAP):
            start -= 1
        stack: List[str] = [ITERATOR]
        for instr in self.instrs[start:build]:
            if instr.op is Op.LOAD_FAST_AND_CLEAR:
                stack.append(instr.arg)
            elif instr.arg > len(stack):
                raise _Different
            else:
                stack[-instr.arg], stack[-1] = stack[-1], stack[-instr.arg]
        if stack.pop() is not ITERATOR:
            raise _Different
        return start, stack

    def _restores(self, handler: int, saved: List[str]) -> None:
        """Check that `handler` puts the variables back and raises again."""
        opcodes = self.instrs[handler : handler + 2]
        if [instr.op for instr in opcodes] != [Op.SWAP, Op.POP] or opcodes[0].arg != 2:
            raise _Different
        stack = [*saved, RESULT]
        for instr in self.instrs[handler + 2 :]:
            if instr.op is Op.SWAP and instr.arg <= len(stack):
                stack[-instr.arg], stack[-1] = stack[-1], stack[-instr.arg]
            elif instr.op is Op.STORE_FAST and stack and stack[-1] == instr.arg:
                stack.pop()
            elif instr.op is Op.RERAISE and stack == [RESULT]:
                return
            else:
                raise _Different

    def _exit(self, head: int) -> int:
        """Where the outermost loop goes on when it is done."""
        instr = self.instrs[head]
        if instr.op is Op.FOR_ITER:
            assert instr.target is not None
            return instr.target
        region = self.region(head)
        if region is None or self.instrs[region.handler].op is not Op.END_ASYNC_FOR:
            raise _Different
        return region.handler + 1

    def _inside(self, head: int, exit_: int, handler: Optional[int]) -> Set[int]:
        """The instructions of the loop."""
        inside: Set[int] = set()
        todo = [head]
        while todo:
            index = todo.pop()
            if index == exit_ or index in inside:
                continue
            inside.add(index)
            instr = self.instrs[index]
            if instr.op is Op.RETURN:
                raise _Different
            if instr.op not in ENDS:
                todo.append(index + 1)
            if instr.target is not None:
                todo.append(instr.target)
            region = self.region(index)
            if region is not None and region.handler != handler:
                if handler is not None or self.instrs[region.handler].op is Op.END_ASYNC_FOR:
                    todo.append(region.handler)
        return inside

    def _tail(self, exit_: int, saved: List[str]) -> Tuple[Set[int], List[Instr], int]:
        """What stands from `exit_` until all variables are put back; what it does besides; where it goes on."""
        stack: List[object] = [*(("saved", name) for name in saved), RESULT]
        tail: Set[int] = set()
        done: List[Instr] = []
        index = exit_
        below = 0
        while any(isinstance(value, tuple) for value in stack):
            instr = self.instrs[index]
            if index in tail:
                raise _Different
            tail.add(index)
            if instr.op is Op.JUMP:
                assert instr.target is not None
                index = instr.target
                continue
            if instr.op is Op.SWAP:
                while instr.arg > len(stack):
                    below += 1
                    stack.insert(0, below)
                stack[-instr.arg], stack[-1] = stack[-1], stack[-instr.arg]
            elif instr.op is Op.STORE_FAST and stack and stack[-1] == ("saved", instr.arg):
                stack.pop()
            elif instr.op in STORES or instr.op is Op.POP:
                if not stack or isinstance(stack[-1], tuple):
                    raise _Different
                self._use(stack.pop(), stack, done, instr)
            else:
                raise _Different
            index += 1
        rest = [value for value in stack if isinstance(value, int)]
        if rest != sorted(rest, reverse=True) or (RESULT in stack and stack[-1] != RESULT):
            raise _Different
        return tail, done, index

    @staticmethod
    def _use(value: object, stack: List[object], done: List[Instr], instr: Instr) -> None:
        """Note that `value`, taken off `stack`, is stored or dropped by `instr`: it must be on top, or next to it."""
        if value is not RESULT and RESULT in stack:
            done.append(replace(instr, op=Op.SWAP, arg=2))
        done.append(replace(instr))

    def _depth(self, index: int) -> int:
        """How many values lie on the stack before the instruction at `index`."""
        if not self._depths:
            self._depths = _depths(self.program)
        if index not in self._depths:
            raise _Different
        return self._depths[index]

    def part(self, one: _Comprehension) -> Program:
        """The comprehension as a program of its own."""
        order = sorted(one.inside, key=lambda index: (index < one.head, index))
        moved = {index: number + 2 for number, index in enumerate(order)}
        exit_ = len(order) + 2
        first = self.instrs[one.build]
        made = [replace(first), replace(first, op=Op.LOAD_FAST, arg=".0")]
        regions: List[Region] = []
        for index in order:
            instr = self.instrs[index]
            target = None if instr.target is None else moved.get(instr.target, exit_)
            made.append(replace(instr, target=target))
            region = self.region(index)
            if region is not None and region.handler in one.inside:
                at = moved[index]
                regions.append(Region(at, at + 1, moved[region.handler], region.depth - one.shift))
        made.append(replace(first, op=Op.RETURN, arg=None))
        return replace(self.program, instrs=made, regions=_joined(regions))


def _joined(regions: List[Region]) -> List[Region]:
    result: List[Region] = []
    for region in regions:
        last = result[-1] if result else None
        if last is not None and (last.end, last.handler, last.depth) == (region.start, region.handler, region.depth):
            last.end = region.end
        else:
            result.append(region)
    return result


def _depths(program: Program) -> Dict[int, int]:
    found: Dict[int, int] = {}
    handlers = handler_of_each(program)
    todo = [(0, 0)]
    while todo:
        index, depth = todo.pop()
        if index in found or index >= len(program.instrs):
            continue
        found[index] = depth
        instr = program.instrs[index]
        pops, pushes = effect(instr)
        if instr.op not in ENDS:
            todo.append((index + 1, depth - pops + pushes))
        if instr.target is not None:
            todo.append((instr.target, depth - (1 if instr.op is Op.FOR_ITER else pops - pushes)))
        if handlers[index] >= 0:
            region = program.regions[handlers[index]]
            todo.append((region.handler, region.depth + 1))
    return found


def _edited(program: Program, reader: _Reader, found: List[_Comprehension]) -> Program:
    dropped: Set[int] = set()
    replaced: Dict[int, List[Instr]] = {}
    places: Dict[int, Optional[Region]] = {}
    for one in found:
        dropped |= {*range(one.start, one.head), *one.inside}
        first = program.instrs[one.build]
        name = NAMES[first.op]
        made = replace(first, op=Op.COMPREHENSION, arg=(name, reader.part(one), tuple(one.saved)), target=None)
        jump = replace(first, op=Op.JUMP, arg=None, target=one.after)
        last = program.instrs[one.head - 1]
        iterates = [replace(last)] if last.op in (Op.GET_ITER, Op.GET_AITER) else []
        replaced[one.start] = [*iterates, made, *(replace(instr, target=None) for instr in one.end), jump]
        places[one.start] = _outer(one, reader)

    def protection(index: int) -> Optional[Tuple[int, int]]:
        region = places[index] if index in places else reader.region(index)
        return None if region is None else (region.handler, region.depth)

    return edited(program, dropped, replaced, protection)


def _outer(one: _Comprehension, reader: _Reader) -> Optional[Region]:
    """The region around the comprehension as a whole."""
    if one.handler is None:
        return reader.region(one.build)
    index = one.handler
    while reader.instrs[index].op is not Op.RERAISE:
        index += 1
    return reader.region(index)
