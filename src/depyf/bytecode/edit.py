"""Taking instructions out of a canonical program, and which can be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Dict, List, Set

from depyf.bytecode.program import Instr, Op, Program

ENDS = (Op.RETURN, Op.RAISE, Op.RERAISE, Op.JUMP)


def without(program: Program, gone: Collection[int]) -> Program:
    """A copy of `program` without the instructions at the indices `gone`; jumps to them go to the next one left."""
    if not gone:
        return program
    moved: List[int] = []
    kept: List[Instr] = []
    for index, instr in enumerate(program.instrs):
        moved.append(len(kept))
        if index not in gone:
            kept.append(replace(instr))
    moved.append(len(kept))
    for instr in kept:
        if instr.target is not None:
            instr.target = moved[instr.target]
    regions = [
        replace(region, start=moved[region.start], end=moved[region.end], handler=moved[region.handler])
        for region in program.regions
    ]
    return replace(program, instrs=kept, regions=[region for region in regions if region.start < region.end])


def reachable(program: Program) -> Set[int]:
    """The indices of instructions that can be reached from the first, along exception edges too."""
    handlers: Dict[int, int] = {}
    for region in program.regions:
        for index in range(region.start, region.end):
            handlers[index] = region.handler
    seen: Set[int] = set()
    todo = [0]
    while todo:
        index = todo.pop()
        if index in seen or index >= len(program.instrs):
            continue
        seen.add(index)
        instr = program.instrs[index]
        if instr.op not in ENDS:
            todo.append(index + 1)
        if instr.target is not None:
            todo.append(instr.target)
        if index in handlers:
            todo.append(handlers[index])
    return seen
