"""`any`, `all` and `tuple` of a generator expression, which 3.14 also writes as a loop (Python/codegen.c).

Before: LOAD any; COPY 1; LOAD_COMMON_CONST any; COMPARE is; BRANCH_FALSE a; <the loop>; JUMP b; a: <the call>; b:
After:  LOAD any; JUMP a; a: <the call>; b:

Whether the name still means the builtin is asked when the call runs, so both do the same.
"""

from __future__ import annotations

from typing import Dict, List, Set

from ..bytecode.edit import edited
from ..bytecode.program import Instr, Op, Program

SINCE = (3, 14)


def plain_calls(program: Program) -> Program:
    """`program` without the loops; `program` itself if it has none."""
    if program.version < SINCE:
        return program
    instrs = program.instrs
    dropped: Set[int] = set()
    replaced: Dict[int, List[Instr]] = {}
    for index in range(len(instrs) - 4):
        load, copy, builtin, compare, branch = instrs[index : index + 5]
        if builtin.op is not Op.LOAD_COMMON_CONST or copy.op is not Op.COPY or copy.arg != 1:
            continue
        if load.arg == builtin.arg and (compare.op, compare.arg, branch.op) == (Op.COMPARE, "is", Op.BRANCH_FALSE):
            dropped |= {index + 2, index + 3, index + 4}
            replaced[index + 1] = [Instr(Op.JUMP, None, branch.target, copy.offset, copy.line)]
    if not replaced:
        return program
    return edited(program, dropped, replaced)
