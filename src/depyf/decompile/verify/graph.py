"""A canonical program with its jumps resolved and its handlers looked up: what both comparisons walk over."""

from __future__ import annotations

from typing import List, Optional

from depyf.bytecode.program import Instr, Op, Program, Region

FOREVER = -1  # the place of a loop of jumps only: it never does anything again


class Graph:
    """Read-only view of a program for walking along its paths."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.instrs = program.instrs
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


def describe(instr: Instr) -> str:
    """`LOAD_FAST 'x' at offset 12, line 3`."""
    text = instr.op.name
    if instr.arg is not None or instr.op is Op.LOAD_CONST:
        argument = repr(instr.arg)
        text += " " + (argument if len(argument) <= 80 else argument[:77] + "...")
    text += f" at offset {instr.offset}"
    return text if instr.line is None else f"{text}, line {instr.line}"


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
