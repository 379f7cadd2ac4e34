"""Changes to a canonical program, and which of its instructions can be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Dict, List, Mapping, Optional, Set, Tuple

from depyf.bytecode.program import Instr, Op, Program, Region

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


def edited(
    program: Program,
    dropped: Collection[int],
    replaced: Mapping[int, List[Instr]],
    protection: Optional[Callable[[int], Optional[Tuple[int, int]]]] = None,
) -> Program:
    """`program` without the instructions `dropped` and with others for those `replaced`.

    Targets in what is put in are indices of the old program, as everywhere else. `protection` says for an index of the
    old program which handler protects what stands there now, and at which depth (by default the same as before). What
    can no longer be reached goes.
    """
    if protection is None:
        before = {at: (each.handler, each.depth) for each in program.regions for at in range(each.start, each.end)}
        protection = before.get
    moved: List[int] = []
    kept: List[Instr] = []
    protected: List[Optional[Tuple[int, int]]] = []
    for index, instr in enumerate(program.instrs):
        moved.append(len(kept))
        if index in replaced or index not in dropped:
            made = replaced.get(index, [replace(instr)])
            kept.extend(made)
            protected.extend([protection(index)] * len(made))
    moved.append(len(kept))
    for instr in kept:
        if instr.target is not None:
            instr.target = moved[instr.target]
    regions: List[Region] = []
    for index, found in enumerate(protected):
        if found is None:
            continue
        handler, depth = moved[found[0]], found[1]
        last = regions[-1] if regions else None
        if last is not None and last.end == index and (last.handler, last.depth) == (handler, depth):
            last.end = index + 1
        else:
            regions.append(Region(index, index + 1, handler, depth))
    whole = replace(program, instrs=kept, regions=regions)
    return without(whole, set(range(len(kept))) - reachable(whole))


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
