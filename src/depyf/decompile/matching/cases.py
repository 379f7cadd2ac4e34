"""Finding the cases of match statements in a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Set

from ...bytecode.program import Op, Program
from .. import nodes as n
from .parse import NAMES, Matched, Reader
from .places import NoPattern, Place, pattern_of


@dataclass
class Case:
    """One pattern: it is matched from instruction `start` on, and a match goes on at `end`.

    `otherwise`: where it goes on without a match. `keeps`: the subject stays on the stack for the next case.
    """

    start: int
    end: int
    otherwise: Optional[int]
    keeps: bool
    pattern: n.Pattern


def find_cases(program: Program) -> List[Case]:
    """The cases of all match statements in `program`, in order of their instructions."""
    if not any(instr.op in _SIGNS for instr in program.instrs) and not _may_compare(program):
        return []
    reader = Reader(program)
    found: List[Case] = []
    taken: Set[int] = set()
    for index in range(len(program.instrs)):
        if index in taken or not _may_start(program, index):
            continue
        chain = _chain(reader, index)
        for case in chain:
            if case.start not in taken:
                taken.update(range(case.start, max(case.end, case.start + 1)))
                found.append(case)
    return sorted(found, key=lambda case: case.start)


_SIGNS = frozenset({Op.MATCH_CLASS, Op.MATCH_MAPPING, Op.MATCH_SEQUENCE})


def _may_compare(program: Program) -> bool:
    """Whether there may be cases of plain values: something is copied, and something compared."""
    ops = {(instr.op, instr.arg) for instr in program.instrs if instr.op in (Op.COPY, Op.COMPARE)}
    return (Op.COPY, 1) in ops and ((Op.COMPARE, "==") in ops or (Op.COMPARE, "is") in ops)


def _may_start(program: Program, index: int) -> bool:
    instr = program.instrs[index]
    if instr.op in (Op.MATCH_SEQUENCE, Op.MATCH_MAPPING):
        return True
    if instr.op is Op.COPY and instr.arg == 1:
        return True
    return instr.op in NAMES and _is_class_test(program, index)


def _is_class_test(program: Program, index: int) -> bool:
    """Whether a class is loaded at `index` that a class pattern tests for."""
    instrs = program.instrs
    index += 1
    while index < len(instrs) and instrs[index].op is Op.LOAD_ATTR:
        index += 1
    return index + 1 < len(instrs) and instrs[index].op is Op.LOAD_CONST and instrs[index + 1].op is Op.MATCH_CLASS


def _chain(reader: Reader, start: int) -> List[Case]:
    """The cases of the match statement whose first case starts at `start`, as far as they can be read."""
    cases: List[Case] = []
    index: Optional[int] = start
    seen: Set[int] = set()
    while index is not None and index not in seen and index < len(reader.instrs):
        seen.add(index)
        case = _case(reader, index)
        if case is None:
            break
        cases.append(case)
        index = case.otherwise if case.keeps else None
    return cases if any(map(_says_something, cases)) else []


def _says_something(case: Case) -> bool:
    """Whether the pattern tests anything; plain captures alone look like other code."""
    return not isinstance(case.pattern, n.MatchAs) or case.pattern.pattern is not None


def _case(reader: Reader, start: int) -> Optional[Case]:
    copies = reader.instrs[start].op is Op.COPY and reader.instrs[start].arg == 1
    if copies:
        subject = Place()
        matched = _whole_or(reader, start, subject)
        if matched is not None:
            return _made(reader, start, matched, subject, False)
        subject = Place()
        matched = _run(reader, start + 1, [None, subject], 1)
        if matched is not None and all(_stays(reader, fail) for fail in matched.fails):
            return _made(reader, start, matched, subject, True)
    subject = Place()
    matched = _run(reader, start, [subject], 0)
    return None if matched is None else _made(reader, start, matched, subject, False)


def _whole_or(reader: Reader, start: int, subject: Place) -> Optional[Matched]:
    """An or-pattern that uses up its subject: of the last case."""
    stack: List[object] = [subject]
    or_ = reader.alternatives(start, stack)
    if or_ is None:
        return None
    try:
        rest = reader.run(or_.end, stack, 0)
    except NoPattern:
        return None
    return Matched(rest.end, [*or_.fails, *rest.fails])


def _run(reader: Reader, start: int, stack: List[object], height: int) -> Optional[Matched]:
    try:
        return reader.run(start, stack, height)
    except NoPattern:
        return None


def _stays(reader: Reader, fail: tuple[int, int]) -> bool:
    """Whether the subject is still there after a failed test, for the next case."""
    landing = reader.landing(fail, 1)
    return landing is not None and landing < len(reader.instrs) and reader.instrs[landing].op is not Op.POP


def _made(reader: Reader, start: int, matched: Matched, subject: Place, keeps: bool) -> Optional[Case]:
    """The case, if all failed tests lead to one place."""
    landings = {reader.landing(fail, 1 if keeps else 0) for fail in matched.fails}
    if len(landings) > 1 or None in landings:
        return None
    otherwise = landings.pop() if landings else reader.guard_fails(matched.end) if keeps else None
    return Case(start, matched.end, otherwise, keeps, pattern_of(subject))
