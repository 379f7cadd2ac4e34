"""Taking instructions out of a canonical program."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, List

from depyf.bytecode.program import Instr, Program


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
