"""Stores that the compiler left out because the next instruction stores to the same variable (since 3.12).

`a, _, _ = x` becomes `UNPACK_SEQUENCE 3; STORE a; POP; STORE _` (Python/flowgraph.c). The first `_` is put back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List

from ..bytecode.program import Instr, Op, Program

SINCE = (3, 12)


def with_overwritten(program: Program) -> Program:
    """`program` with the stores of unpackings that were left out; `program` itself if there are none."""
    if program.version < SINCE:
        return program
    instrs = program.instrs
    changed: List[Instr] = list(instrs)
    for index, instr in enumerate(instrs):
        count = 0
        if instr.op is Op.UNPACK_SEQUENCE:
            count = instr.arg
        elif instr.op is Op.UNPACK_EX:
            count = instr.arg[0] + 1 + instr.arg[1]
        targets = instrs[index + 1 : index + 1 + count]
        name = None
        for place in reversed(range(len(targets))):
            target = targets[place]
            if target.op is Op.STORE_FAST:
                name = target.arg
            elif target.op is Op.POP and name is not None and not any(t.op not in _PLAIN for t in targets[:place]):
                changed[index + 1 + place] = replace(target, op=Op.STORE_FAST, arg=name)
            else:
                name = None
    return replace(program, instrs=changed)


_PLAIN = (Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME, Op.POP)
