"""Tests of truth in one canonical form, where the compiler has several for the same source."""

from __future__ import annotations

from typing import List, Set

from depyf.bytecode.edit import without
from depyf.bytecode.program import Instr, Op, Program


def settle_tests(program: Program) -> None:
    """Rewrite the tests of `program` in place."""
    _turn_tests_positive(program.instrs)
    settled = without(program, _thread_kept_values(program.instrs))
    program.instrs, program.regions = settled.instrs, settled.regions


def _thread_kept_values(instrs: List[Instr]) -> Set[int]:
    """A kept value whose truth was just tested is not tested again.

    `a and b or c` is compiled so that a false `a` jumps to the test of `(a and b)`, which is `a`. The compiler threads
    that jump past the second test only if both are on one line of source (`flowgraph.c`, jump threading), so the same
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
            after = second.target if second.op is branch.op else target + 2
            if after is None or after <= target:  # no compiler makes that; it could go round forever
                break
            target = after
        if target is not None and target != branch.target:
            branch.target = target
            if instrs[target].op is Op.POP and instrs[index + 1].op is Op.POP and index + 1 not in targets:
                gone |= {index - 1, index + 1}
                branch.target = target + 1
    return gone


_POSITIVE = {"is not": "is", "not in": "in"}


def _turn_tests_positive(instrs: List[Instr]) -> None:
    """`a is not b` tested for truth is `a is b` tested for falsehood: both give exactly True or False.

    The compiler's optimiser itself rewrites one into the other (`ast_opt.c`, `not` before `is` and `in`), so source
    that means the same compiles to either.
    """
    targets = {instr.target for instr in instrs if instr.target is not None}
    for index, instr in enumerate(instrs[:-1]):
        branch = instrs[index + 1]
        if instr.op is Op.COMPARE and instr.arg in _POSITIVE and branch.op in (Op.BRANCH_TRUE, Op.BRANCH_FALSE):
            if index + 1 not in targets:
                instr.arg = _POSITIVE[instr.arg]
                branch.op = Op.BRANCH_FALSE if branch.op is Op.BRANCH_TRUE else Op.BRANCH_TRUE
