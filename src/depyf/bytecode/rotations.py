"""Stack shuffling in one canonical form, where CPython's versions have several for the same source."""

from __future__ import annotations

from depyf.bytecode.edit import without
from depyf.bytecode.program import Op, Program


def gather_rotations(program: Program) -> None:
    """Rewrite `program` in place.

    To keep the right operand of a comparison in a chain, 3.8 to 3.10 have DUP_TOP; ROT_THREE, which are COPY 1; SWAP 3;
    SWAP 2, and later versions SWAP 2; COPY 2 (`compile.c`, compiler_compare). Both leave [b, a, b] of [a, b].
    """
    instrs = program.instrs
    targets = {instr.target for instr in instrs if instr.target is not None}
    gone = set()
    for index in range(len(instrs) - 2):
        first, second, third = instrs[index : index + 3]
        if first.op is not Op.COPY or second.op is not Op.SWAP or third.op is not Op.SWAP:
            continue
        if (first.arg, second.arg, third.arg) == (1, 3, 2) and not targets & {index + 1, index + 2}:
            first.op, first.arg = Op.SWAP, 2
            second.op, second.arg = Op.COPY, 2
            gone.add(index + 2)
    edited = without(program, gone)
    program.instrs, program.regions = edited.instrs, edited.regions
