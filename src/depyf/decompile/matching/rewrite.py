"""Putting one instruction in place of those that match a pattern.

Before, for `case [x]:` with more cases behind it:

    COPY 1; MATCH_SEQUENCE; BRANCH_FALSE a; GET_LEN; LOAD_CONST 1; ...; STORE_FAST x; POP; <body>; a: ...

After:

    COPY 1; MATCH_PATTERN [x]; BRANCH_FALSE a; POP; <body>; a: ...

From there on a case is a test like any other, until `statements` makes match statements of the tests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List

from ...bytecode.edit import reachable, without
from ...bytecode.program import Instr, Op, Program
from .cases import Case, find_cases


def match_patterns(program: Program) -> Program:
    """`program` with its patterns as single instructions; `program` itself if it has none."""
    cases = find_cases(program)
    if not cases:
        return program
    by_start = {case.start: case for case in cases}
    moved: List[int] = []
    kept: List[Instr] = []
    for index, instr in enumerate(program.instrs):
        moved.append(len(kept))
        case = by_start.get(index)
        if case is None:
            kept.append(replace(instr))
        else:
            kept.extend(_instructions(case, instr))
    moved.append(len(kept))
    for instr in kept:
        if instr.target is not None:
            instr.target = moved[instr.target]
    regions = [
        replace(region, start=moved[region.start], end=moved[region.end], handler=moved[region.handler])
        for region in program.regions
    ]
    whole = replace(program, instrs=kept, regions=regions)
    return without(whole, set(range(len(kept))) - reachable(whole))


def _instructions(case: Case, first: Instr) -> List[Instr]:
    """The instructions of a case; targets are still indices of the old program."""
    made = [Instr(Op.COPY, 1)] if case.keeps else []
    made.append(Instr(Op.MATCH_PATTERN, case.pattern))
    if case.otherwise is None:  # it always matches
        made.append(Instr(Op.POP))
    else:
        made.append(Instr(Op.BRANCH_FALSE, None, case.otherwise))
    made.append(Instr(Op.JUMP, None, case.end))
    return [replace(instr, offset=first.offset, line=first.line) for instr in made]
