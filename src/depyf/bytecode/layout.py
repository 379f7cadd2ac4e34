"""From a finished walk to a Program: put the instructions in order, resolve targets, build regions."""

from __future__ import annotations

from typing import Dict, List, Set

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.program import Instr, Op, Program, Region
from depyf.bytecode.shape import real_depth
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
    _turn_tests_positive(instrs)
    _thread_kept_values(instrs)
    return Program(walk.code, walk.dialect.version, instrs, _regions(walk, first, entries))


def _remove(program: Program, gone: Set[int]) -> None:
    """Take the instructions at `gone` out; jumps to them go to the next one that is left."""
    if not gone:
        return
    moved = []
    kept: List[Instr] = []
    for index, instr in enumerate(program.instrs):
        moved.append(len(kept))
        if index not in gone:
            kept.append(instr)
    moved.append(len(kept))
    for instr in kept:
        if instr.target is not None:
            instr.target = moved[instr.target]
    for region in program.regions:
        region.start, region.end, region.handler = moved[region.start], moved[region.end], moved[region.handler]
    program.regions = [region for region in program.regions if region.start < region.end]
    program.instrs = kept


def _thread_kept_values(instrs: List[Instr]) -> Set[int]:
    """A kept value whose truth was just tested is not tested again.

    `a and b or c` is compiled so that a false `a` jumps to the test of `(a and b)`, which is `a`. The compiler threads that
    jump past the second test only if both are on one line of source (`flowgraph.c`, jump threading), so the same
    expression compiles to either. Returns the instructions that are needless then: those that keep a value which both
    ways drop.
    """
    gone: Set[int] = set()
    targets = {instr.target for instr in instrs if instr.target is not None}
    tests = (Op.BRANCH_TRUE, Op.BRANCH_FALSE)
    for index in range(len(instrs) - 1, 0, -1):
        branch = instrs[index]
        kept = instrs[index - 1]
        if branch.op not in tests or kept.op is not Op.COPY or kept.arg != 1:
            continue
        target = branch.target
        while target is not None and target > index and target + 1 < len(instrs):
            again, second = instrs[target], instrs[target + 1]
            if again.op is not Op.COPY or again.arg != 1 or second.op not in tests:
                break
            target = second.target if second.op is branch.op else target + 2
        if target is not None and target != branch.target:
            branch.target = target
            if instrs[target].op is Op.POP and instrs[index + 1].op is Op.POP and index + 1 not in targets:
                gone |= {index - 1, index + 1}
                branch.target = target + 1
    return gone


_POSITIVE = {"is not": "is", "not in": "in"}


def _turn_tests_positive(instrs: List[Instr]) -> None:
    """`a is not b` tested for truth is `a is b` tested for falsehood: both give exactly True or False.

    The compiler's optimiser itself rewrites one into the other (`ast_opt.c`, `not` before `is` and `in`), so source that
    means the same compiles to either.
    """
    targets = {instr.target for instr in instrs if instr.target is not None}
    for index, instr in enumerate(instrs[:-1]):
        branch = instrs[index + 1]
        if instr.op is Op.COMPARE and instr.arg in _POSITIVE and branch.op in (Op.BRANCH_TRUE, Op.BRANCH_FALSE):
            if index + 1 not in targets:
                instr.arg = _POSITIVE[instr.arg]
                branch.op = Op.BRANCH_FALSE if branch.op is Op.BRANCH_TRUE else Op.BRANCH_TRUE


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
        if guard is None or not walk.out[unit]:
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
