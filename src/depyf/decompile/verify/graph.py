"""A canonical program with its jumps resolved and its handlers looked up: what both comparisons walk over."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Mapping, Optional, Tuple

from depyf.bytecode.program import Instr, Op, Program, Region

from .place import Place

FOREVER = -1  # the place of a loop of jumps only: it never does anything again


class Graph:
    """Read-only view of a program for walking along its paths.

    `place`: where the code was taken from, so that qualified names in it are compared without what lies around.
    `renamed`: local variables that are called differently on the other side, with their name there. `globals_`: the
    same for globals.
    """

    def __init__(
        self,
        program: Program,
        place: Optional[Place] = None,
        renamed: Optional[Mapping[str, str]] = None,
        globals_: Optional[Mapping[str, str]] = None,
    ):
        self.program = program
        self.instrs = program.instrs
        if renamed:
            self.instrs = [_renamed(instr, renamed) for instr in self.instrs]
        if globals_:
            self.instrs = [_global_renamed(instr, globals_) for instr in self.instrs]
        if place is not None and "__qualname__" in program.code.co_names:
            self.instrs = _without_surroundings(self.instrs, place)
        if "__firstlineno__" in program.code.co_names:
            self.instrs = _without_lines(self.instrs, program.code.co_firstlineno)
        self._places = _resolve_jumps(program.instrs)
        self._regions: List[Optional[Region]] = [None] * len(program.instrs)
        for region in program.regions:
            for index in range(region.start, min(region.end, len(self._regions))):
                self._regions[index] = region

    def place(self, index: int) -> int:
        """The first instruction at or after `index` that is no jump, jumps followed; FOREVER for a loop of jumps."""
        return self._places[index]

    def region(self, index: int) -> Optional[Region]:
        """The region that protects the instruction at `index`."""
        return self._regions[index]

    def arms(self, index: int) -> tuple[int, int]:
        """Where a branch goes when the value is true, and when it is false."""
        instr = self.instrs[index]
        assert instr.target is not None
        taken, fallthrough = self.place(instr.target), self.place(index + 1)
        return (taken, fallthrough) if instr.op is Op.BRANCH_TRUE else (fallthrough, taken)

    def describe(self, index: int) -> str:
        """The instruction in words, for messages."""
        if index == FOREVER:
            return "an endless loop of jumps"
        if index >= len(self.instrs):
            return "the end of the code"
        return describe(self.instrs[index])


def _global_renamed(instr: Instr, globals_: Mapping[str, str]) -> Instr:
    if instr.op is Op.LOAD_GLOBAL and instr.arg in globals_:
        return replace(instr, arg=globals_[instr.arg])
    return instr


def describe(instr: Instr) -> str:
    """`LOAD_FAST 'x' at offset 12, line 3`."""
    text = instr.op.name
    if instr.arg is not None or instr.op is Op.LOAD_CONST:
        argument = repr(instr.arg)
        text += " " + (argument if len(argument) <= 80 else argument[:77] + "...")
    text += f" at offset {instr.offset}"
    return text if instr.line is None else f"{text}, line {instr.line}"


def _renamed(instr: Instr, renamed: Mapping[str, str]) -> Instr:
    if isinstance(instr.arg, str) and instr.arg in renamed and instr.op is not Op.LOAD_CONST:
        return replace(instr, arg=renamed[instr.arg])
    return instr


def _without_surroundings(instrs: List[Instr], place: Place) -> List[Instr]:
    """`__qualname__ = "f.<locals>.C"` at the start of class bodies, as seen from where the code was taken."""
    result = list(instrs)
    for index in range(len(instrs) - 1):
        load, store = instrs[index], instrs[index + 1]
        if load.op is Op.LOAD_CONST and isinstance(load.arg, str) and store.op is Op.STORE_NAME:
            if store.arg == "__qualname__":
                result[index] = replace(load, arg=place.inside(load.arg))
    return result


def _without_lines(instrs: List[Instr], line: int) -> List[Instr]:
    """Class bodies without what 3.13 notes about their source: the first line, and an order of `self.x` names.

    The line of a text is its own; and the names come out of a set (Python/codegen.c), so in any order.
    """
    result = list(instrs)
    first = True
    for index in range(len(instrs) - 1):
        load, store = instrs[index], instrs[index + 1]
        if load.op is not Op.LOAD_CONST or store.op is not Op.STORE_NAME:
            continue
        if store.arg == "__firstlineno__" and first and load.arg == line:
            result[index] = replace(load, arg=0)
            first = False
        elif store.arg == "__static_attributes__" and isinstance(load.arg, tuple) and _strings(load.arg):
            result[index] = replace(load, arg=tuple(sorted(load.arg)))
    return result


def _strings(values: Tuple[object, ...]) -> bool:
    return all(isinstance(value, str) for value in values)


def _resolve_jumps(instrs: List[Instr]) -> List[int]:
    places: List[Optional[int]] = [None] * (len(instrs) + 1)
    places[len(instrs)] = len(instrs)
    for start in range(len(instrs)):
        chain: List[int] = []
        on_chain = set()
        index = start
        while places[index] is None and index not in on_chain and instrs[index].op is Op.JUMP:
            chain.append(index)
            on_chain.add(index)
            target = instrs[index].target
            assert target is not None
            index = target
        known = places[index]
        if known is None:
            known = FOREVER if index in on_chain else index
            if known == index:
                places[index] = index
        for jump in chain:
            places[jump] = known
    return [place for place in places if place is not None]
