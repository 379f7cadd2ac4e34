"""Returns at the end of a body: `return None` that the compiler adds, and bodies that are one expression (lambdas)."""

from __future__ import annotations

from typing import List, Optional, Tuple

from . import nodes as n
from .reduce import negate


def drop_tail_returns(body: List[n.Stmt], everywhere: bool) -> None:
    """Remove `return None` where falling off the end of `body` does the same.

    With `everywhere` (modules and classes, where `return` is no statement) a block may become empty; else a
    `return` that is all of its block stays.
    """
    pending: List[Tuple[List[n.Stmt], bool]] = [(body, True)]
    while pending:
        block, outermost = pending.pop()
        if everywhere:
            _nest_rest(block)
        if not block:
            continue
        last = block[-1]
        if _returns_none(last):
            if len(block) > 1 or everywhere or outermost:
                block.pop()
                if not block or not _is_compound_end(block[-1]):
                    continue
                last = block[-1]
            else:
                continue
        if isinstance(last, n.If):
            pending += [(last.body, False), (last.orelse, False)]
        elif isinstance(last, n.With):
            pending.append((last.body, False))
        elif isinstance(last, n.Try) and everywhere:
            pending += [(handler.body, False) for handler in last.handlers]
            pending.append((last.orelse or last.body, False))
        elif isinstance(last, n.Match):
            pending += [(case.body, False) for case in last.cases]


def _nest_rest(block: List[n.Stmt]) -> None:
    """`if a: x; return` + rest -> `if a: x` + `else: rest`, for a block at whose end the body ends."""
    for index, statement in enumerate(block):
        if _returns_none(statement):
            del block[index + 1 :]
            return
        rest = block[index + 1 :]
        if not rest:
            return
        if isinstance(statement, n.If):
            if statement.body and _returns_none(statement.body[-1]):
                if len(statement.body) == 1 and not statement.orelse:
                    statement.test, statement.body = negate(statement.test), rest
                else:
                    statement.body.pop()
                    statement.orelse = statement.orelse + rest
            elif statement.orelse and _returns_none(statement.orelse[-1]):
                statement.orelse.pop()
                statement.body = statement.body + rest
            else:
                continue
        elif isinstance(statement, n.Try) and not statement.finalbody and not statement.orelse:
            if not all(handler.body and _leaves(handler.body[-1]) for handler in statement.handlers):
                continue
            if not any(_returns_none(handler.body[-1]) for handler in statement.handlers):
                continue
            statement.orelse = rest
        else:
            continue
        del block[index + 1 :]
        return


def _leaves(statement: n.Stmt) -> bool:
    return isinstance(statement, n.Raise) or _returns_none(statement)


def _is_compound_end(statement: n.Stmt) -> bool:
    return isinstance(statement, (n.If, n.With, n.Try, n.Match))


def _returns_none(statement: n.Stmt) -> bool:
    if not isinstance(statement, n.Return):
        return False
    value = statement.value
    return value is None or isinstance(value, n.Constant) and value.value is None


def expression_of(body: List[n.Stmt]) -> Optional[n.Expr]:
    """The expression that a lambda with this body returns; None if the body is not one expression."""
    if not body:
        return n.Constant(None)  # `return None` at the end is dropped before
    first = body[0]
    if isinstance(first, n.Return):
        return first.value if first.value is not None else n.Constant(None)
    if isinstance(first, n.If):
        yes = expression_of(first.body)
        no = expression_of(first.orelse or body[1:])
        if yes is not None and no is not None:
            made = n.IfExp(first.test, yes, no)
            made.offset = first.offset
            return made
    return None
