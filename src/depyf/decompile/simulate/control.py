"""Iteration, generators, exceptions, `with`, and what is left."""

from __future__ import annotations

from typing import List, Optional

from ...bytecode.program import Instr, Op
from .. import nodes as n
from ..comprehensions import comprehension
from ..transient import ExcMatch, GetIter, Marker, PatternTest, StarBody, StarMatch
from .joined import joined_display
from .state import SimulationError, State
from .table import TABLE, Handler, handles


@handles(Op.ANNOTATED)
def _annotated(state: State, instr: Instr) -> None:
    state.emit(n.ExprStmt(n.Intrinsic("annotated", [n.Constant(instr.arg)])), instr.offset)


@handles(Op.COMPREHENSION)
def _comprehension(state: State, instr: Instr) -> None:
    name, body = instr.arg
    iterator = state.pop_raw()
    made = comprehension(name, body, iterator.value) if isinstance(iterator, GetIter) else None
    if made is None:
        raise SimulationError("a comprehension that is no nest of loops")
    made.offset = instr.offset
    state.push(made)


def _iterate(kind: str) -> Handler:
    def make(state: State, instr: Instr) -> None:
        value = state.pop()
        if isinstance(value, Marker):
            state.push(value)
        else:
            state.push(GetIter(kind, value))

    return make


TABLE[Op.GET_ITER] = _iterate("iter")
TABLE[Op.GET_AITER] = _iterate("aiter")
TABLE[Op.GET_YIELD_FROM_ITER] = _iterate("yield_from")
TABLE[Op.GET_AWAITABLE] = _iterate("awaitable")


@handles(Op.YIELD_FROM)
def _yield_from(state: State, instr: Instr) -> None:
    state.pop()
    source = state.pop()
    if isinstance(source, Marker):
        state.push(source)
    elif isinstance(source, GetIter) and source.kind == "awaitable":
        state.push(n.Await(source.value))
    elif isinstance(source, GetIter) and source.kind == "yield_from":
        state.push(n.YieldFrom(source.value))
    else:
        state.push(n.YieldFrom(source))


@handles(Op.YIELD)
def _yield(state: State, instr: Instr) -> None:
    value = state.pop()
    state.push(n.Yield(value))


@handles(Op.RETURN)
def _return(state: State, instr: Instr) -> None:
    value = state.pop()
    state.emit(n.Return(value), instr.offset)


@handles(Op.RAISE)
def _raise(state: State, instr: Instr) -> None:
    values: List[Optional[n.Expr]] = list(state.pop_many(instr.arg))
    values += [None] * (2 - len(values))
    state.emit(n.Raise(values[0], values[1]), instr.offset)


@handles(Op.RERAISE)
def _reraise(state: State, instr: Instr) -> None:
    state.pop_raw()
    state.emit(n.ExprStmt(n.Intrinsic("reraise")), instr.offset)


@handles(Op.PUSH_EXC_INFO)
def _push_exc(state: State, instr: Instr) -> None:
    exc = state.pop_raw()
    state.push(Marker("previous"))
    state.push(exc)


@handles(Op.POP_EXCEPT)
def _pop_except(state: State, instr: Instr) -> None:
    state.pop_raw()


@handles(Op.CHECK_EXC_MATCH)
def _exc_match(state: State, instr: Instr) -> None:
    state.push(ExcMatch(state.pop()))


@handles(Op.STAR_MATCH)
def _star_match(state: State, instr: Instr) -> None:
    state.push(StarMatch(state.pop()))


@handles(Op.STAR_BODY)
def _star_body(state: State, instr: Instr) -> None:
    state.emit(n.ExprStmt(StarBody(instr.arg)), instr.offset)
    state.push(Marker("exc"))


@handles(Op.BEFORE_WITH, Op.BEFORE_ASYNC_WITH)
def _before_with(state: State, instr: Instr) -> None:
    manager = state.pop()
    state.spill()
    enter = n.ExprStmt(n.Intrinsic("enter" if instr.op is Op.BEFORE_WITH else "async_enter", [manager]))
    enter.offset = instr.offset
    state.stmts.append(enter)
    state.push(Marker("exit"))
    state.push(Marker("entered"))


@handles(Op.WITH_EXCEPT_START)
def _with_except_start(state: State, instr: Instr) -> None:
    state.push(n.Intrinsic("with_except_start"))


@handles(Op.MATCH_PATTERN)
def _match_pattern(state: State, instr: Instr) -> None:
    state.push(PatternTest(state.pop(), instr.arg))


@handles(Op.WITH_EXIT)
def _with_exit(state: State, instr: Instr) -> None:
    state.pop_raw()
    state.push(Marker("exit_result"))
    _close_with(state.stmts)


def _close_with(stmts: List[n.Stmt]) -> None:
    """Put a with statement together whose body is all in this block: nothing in it can raise, so it has no region."""
    for index in range(len(stmts) - 1, -1, -1):
        enter = stmts[index]
        if isinstance(enter, n.ExprStmt) and isinstance(enter.value, n.Intrinsic):
            if enter.value.name in ("enter", "async_enter"):
                break
    else:
        return
    body = stmts[index + 1 :]
    target: Optional[n.Expr] = None
    first = body[0] if body else None
    if isinstance(first, n.Assign) and len(first.targets) == 1:
        if isinstance(first.value, Marker) and first.value.kind == "entered":
            target, body = first.targets[0], body[1:]
    item = n.WithItem(enter.value.args[0], target)
    statement = n.With([item], body or [n.Pass()], enter.value.name == "async_enter")
    statement.offset = enter.offset
    stmts[index:] = [statement]


@handles(Op.SETUP_ANNOTATIONS)
def _setup_annotations(state: State, instr: Instr) -> None:
    state.emit(n.ExprStmt(n.Intrinsic("setup_annotations")), instr.offset)


@handles(Op.IMPORT_STAR)
def _import_star(state: State, instr: Instr) -> None:
    raise SimulationError("import * of no import")


@handles(Op.INTRINSIC)
def _other(state: State, instr: Instr) -> None:
    name, count = instr.arg
    args = state.pop_many(count)
    state.push(joined_display(name, args) or n.Intrinsic(name, args))
