"""From a finished walk to a Program: put the instructions in order, resolve targets, build regions."""

from __future__ import annotations

from typing import Dict, List

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.program import Instr, Op, Program, Region
from depyf.bytecode.rotations import gather_rotations
from depyf.bytecode.shape import real_depth
from depyf.bytecode.truth import settle_tests
from depyf.bytecode.walk import Walk

LEAVES = frozenset({Op.JUMP, Op.RETURN, Op.RAISE, Op.RERAISE})


def lay_out(walk: Walk) -> Program:
    """The canonical program of a walk that has run."""
    _drop_absorbed(walk)
    out = walk.out
    for unit in walk.shortcuts:
        _drop_needless_jump(walk, unit)
    instrs: List[Instr] = []
    first = [0] * (len(out) + 1)
    entries: Dict[int, int] = {}
    for unit, made in enumerate(out):
        if unit in walk.handler_entries:
            if instrs and instrs[-1].op not in LEAVES:
                raise walk.error(unit, "begins a handler and is also reached without an exception")
            entries[unit] = len(instrs)
            instrs.append(Instr(Op.PUSH_EXC_INFO, None, None, walk.offsets[unit], walk.lines[unit]))
        first[unit] = len(instrs)
        if made:
            instrs.extend(made)
    first[len(out)] = len(instrs)
    count = len(instrs)
    for instr in instrs:
        if instr.target is not None:
            instr.target = first[instr.target]
            if instr.target >= count:
                raise BytecodeError("the code of %s runs past its end" % walk.code.co_name)
    program = Program(walk.code, walk.dialect.version, instrs, _regions(walk, first, entries))
    gather_rotations(program)
    settle_tests(program)
    return program


def _drop_absorbed(walk: Walk) -> None:
    for unit, units in walk.absorbed.items():
        for absorbed in units:
            walk.out[absorbed] = []
        # a path that skips some of them would have another stack; the first (the last listed) may be jumped to
        if unit in walk.jumped_to or not walk.jumped_to.isdisjoint(units[:-1]):
            raise walk.error(unit, "is jumped to past the constants that it uses")


def _drop_needless_jump(walk: Walk, unit: int) -> None:
    """Remove a jump that the walk added when nothing is left between it and its target."""
    made = walk.out[unit]
    if not made or made[-1].op is not Op.JUMP:
        return
    target = made[-1].target
    if target is not None and target > unit and not any(walk.out[unit + 1 : target]):
        made.pop()


def _regions(walk: Walk, first: List[int], entries: Dict[int, int]) -> List[Region]:
    regions: List[Region] = []
    depths: Dict[str, int] = {}
    for unit, guard in enumerate(walk.guards):
        if guard is None or not walk.out[unit] and unit not in entries:
            continue
        kept = walk.guard_shapes.get(guard)
        if kept is None:
            continue  # nothing under this guard can raise
        depth = depths.get(kept)
        if depth is None:
            depth = depths[kept] = real_depth(kept)
        start, end = entries.get(unit, first[unit]), entries.get(unit + 1, first[unit + 1])
        handler = entries.get(guard.handler, first[guard.handler])
        last = regions[-1] if regions else None
        if last is not None and last.end == start and last.handler == handler and last.depth == depth:
            last.end = end
        else:
            regions.append(Region(start, end, handler, depth))
    return regions
