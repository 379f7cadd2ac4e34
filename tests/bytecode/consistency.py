"""An independent check of canonical programs: walk them by `effect` alone and see that the stack always fits."""

from __future__ import annotations

from depyf.bytecode import Op, can_raise, effect

LEAVES = frozenset({Op.JUMP, Op.RETURN, Op.RAISE, Op.RERAISE})


def stack_depths(program):
    """The depth in front of each instruction, by index (None where no path leads). AssertionError: a fault."""
    instrs = program.instrs
    depths = [None] * len(instrs)
    region_at = [None] * len(instrs)
    last_end = 0
    for region in program.regions:
        assert last_end <= region.start < region.end <= len(instrs), region
        assert 0 <= region.handler < len(instrs), region
        last_end = region.end
        for index in range(region.start, region.end):
            region_at[index] = region
    pending = [(0, 0)]
    while pending:
        index, depth = pending.pop()
        while True:
            assert 0 <= index < len(instrs), "a path leaves the program at %d" % index
            if depths[index] is not None:
                assert depths[index] == depth, "depths %d and %d at %d" % (depths[index], depth, index)
                break
            depths[index] = depth
            instr = instrs[index]
            pops, pushes = effect(instr)
            assert depth >= pops, "too few values at %d: %s" % (index, instr)
            region = region_at[index]
            if region is not None and can_raise(instr):
                assert depth >= region.depth, "region %s is deeper than the stack at %d" % (region, index)
                pending.append((region.handler, region.depth + 1))
            if instr.target is not None:
                taken = depth - 1 if instr.op is Op.FOR_ITER else depth - pops + pushes
                pending.append((instr.target, taken))
            if instr.op in LEAVES:
                break
            depth += pushes - pops
            index += 1
    return depths
