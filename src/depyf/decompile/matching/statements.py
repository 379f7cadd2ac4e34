"""Match statements of tests: chains of `if` whose conditions ask whether the same subject matches a pattern.

Before:

    if matches(Slot 0 := s, [x]) and x > 0:
        <one>
    elif matches(Slot 0, 1):
        <two>
    else:
        <three>

After:

    match s:
        case [x] if x > 0:
            <one>
        case 1:
            <two>
        case _:
            <three>

A condition that matches no chain stays; nothing but a match statement can hold it, so there is then no structured form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

from .. import nodes as n
from ..reduce import negate
from ..transient import Dup, PatternTest
from ..tree import statement_lists


def match_statements(body: List[n.Stmt]) -> List[n.Stmt]:
    """`body` with match statements."""
    for block in statement_lists(body):
        _rewrite(block)
    return body


@dataclass
class _Tested:
    """An `if` that tests a pattern."""

    test: PatternTest
    guard: Optional[n.Expr]
    body: List[n.Stmt]
    orelse: List[n.Stmt]


def _rewrite(block: List[n.Stmt]) -> None:
    index = 0
    while index < len(block):
        statement = block[index]
        if isinstance(statement, n.ExprStmt) and isinstance(statement.value, PatternTest):
            alone = n.Match(_subject(statement.value.subject), [_case(statement.value, None, [])])
            alone.offset = statement.offset
            block[index] = alone
        tested = _tested(statement)
        if tested is not None:
            cases, end = _cases(block, index, _slot(tested.test.subject))
            subject = _subject(tested.test.subject)
            first = index
            if index and isinstance(subject, n.Slot) and _stores(block[index - 1], subject.index):
                stored = block[index - 1]
                assert isinstance(stored, n.Assign)
                subject, first = stored.value, index - 1
            made = n.Match(subject, cases)
            made.offset = statement.offset
            block[first:end] = [made]
            index = first
        index += 1


def _cases(block: List[n.Stmt], index: int, slot: Optional[int]) -> Tuple[List[n.MatchCase], int]:
    """The cases that begin at `block[index]`, and the index of the first statement behind them."""
    cases: List[n.MatchCase] = []
    while True:
        tested = _tested(block[index])
        assert tested is not None
        cases.append(_case(tested.test, tested.guard, tested.body))
        index += 1
        if tested.orelse:
            cases.extend(_rest(tested.orelse, slot))
            return cases, index
        if index == len(block) or not _leaves(tested.body) or slot is None:
            return cases, index
        capture = block[index]
        if isinstance(capture, n.ExprStmt) and isinstance(capture.value, PatternTest):
            if _slot(capture.value.subject) == slot:
                return [*cases, _case(capture.value, None, block[index + 1 :])], len(block)
        following = _tested(block[index])
        if following is None or _slot(following.test.subject) != slot:
            return cases, index


def _rest(block: List[n.Stmt], slot: Optional[int]) -> List[n.MatchCase]:
    """The cases for what is done when the ones before do not match."""
    first = _tested(block[0])
    if first is not None and slot is not None and _slot(first.test.subject) == slot:
        cases, end = _cases(block, 0, slot)
        if end == len(block):
            return cases
        if _leaves(cases[-1].body):  # otherwise what follows is run after the cases, too
            return [*cases, *_rest(block[end:], slot)]
    capture = block[0]
    if isinstance(capture, n.ExprStmt) and isinstance(capture.value, PatternTest):
        return [_case(capture.value, None, block[1:])]
    return [n.MatchCase(n.MatchAs(None, None), None, block)]


def _case(test: PatternTest, guard: Optional[n.Expr], body: List[n.Stmt]) -> n.MatchCase:
    case = n.MatchCase(test.pattern, guard, body or [n.Pass()])
    case.offset = test.pattern.offset = test.offset
    return case


def _tested(statement: n.Stmt) -> Optional[_Tested]:
    if not isinstance(statement, n.If):
        return None
    found = _condition(statement.test)
    if found is not None:
        return _Tested(*found, statement.body, statement.orelse)
    found = _condition(_turned(statement.test))
    if found is not None:
        return _Tested(*found, statement.orelse, statement.body)
    return None


def _turned(test: n.Expr) -> n.Expr:
    """`p and g` of `not p or not g`, in whichever way it is written."""
    if isinstance(test, n.BoolOp) and test.op == "or" and _is_not_pattern(test.values[0]):
        return n.BoolOp("and", [negate(value) for value in test.values])
    return negate(test)


def _is_not_pattern(test: n.Expr) -> bool:
    return isinstance(test, n.UnaryOp) and test.op == "not" and isinstance(test.operand, PatternTest)


def _condition(test: n.Expr) -> Optional[Tuple[PatternTest, Optional[n.Expr]]]:
    """The pattern and the guard of a condition."""
    if isinstance(test, PatternTest):
        return test, None
    if isinstance(test, n.BoolOp) and test.op == "and" and isinstance(test.values[0], PatternTest):
        guards = test.values[1:]
        return test.values[0], guards[0] if len(guards) == 1 else n.BoolOp("and", guards)
    return None


def _subject(subject: n.Expr) -> n.Expr:
    """The subject without the variable that keeps it for later cases."""
    while isinstance(subject, (Dup, n.NamedExpr)):
        if isinstance(subject, n.NamedExpr) and not subject.target.id.startswith("__stack_"):
            break
        subject = subject.value
    return subject


def _slot(subject: n.Expr) -> Optional[int]:
    """The stack slot that keeps the subject, if it is kept."""
    while isinstance(subject, Dup):
        subject = subject.value
    if isinstance(subject, n.Slot):
        return subject.index
    if isinstance(subject, n.NamedExpr) and subject.target.id.startswith("__stack_"):
        return int(subject.target.id[len("__stack_") :])
    return None


def _stores(statement: n.Stmt, slot: int) -> bool:
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, n.Slot) and target.index == slot


def _leaves(body: List[n.Stmt]) -> bool:
    """Whether the last statement never completes."""
    last = body[-1] if body else None
    if isinstance(last, (n.Return, n.Raise, n.Continue, n.Break)):
        return True
    return isinstance(last, n.If) and bool(last.orelse) and _leaves(last.body) and _leaves(last.orelse)
