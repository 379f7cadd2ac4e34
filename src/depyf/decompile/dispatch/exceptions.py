"""What the operations of with statements, handlers and async loops are in Python."""

from __future__ import annotations

from typing import List

from depyf.bytecode.program import Instr, Op

from .. import nodes as n
from .builder import Builder, Names, Table, registrar

EXCEPTIONS: Table = {}
on = registrar(EXCEPTIONS)


@on(Op.END_ASYNC_FOR)
def _end_async_for(b: Builder, instr: Instr) -> None:
    b.settle()
    _, exc = b.pop_many(2)
    ended = n.Call(b.names.builtin("isinstance"), [exc, b.names.builtin("StopAsyncIteration")])
    b.append(n.If(n.UnaryOp("not", ended), raise_again(b.names, exc)))


@on(Op.BEFORE_WITH, Op.BEFORE_ASYNC_WITH)
def _before_with(b: Builder, instr: Instr) -> None:
    is_async = instr.op is Op.BEFORE_ASYNC_WITH
    enter_name, exit_name = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
    value = b.pop()
    b.settle()
    manager = b.assign(value)
    cls = b.assign(n.Call(b.names.builtin("type"), [manager]))
    has = [n.Call(b.names.builtin("hasattr"), [cls, n.Constant(name)]) for name in (enter_name, exit_name)]
    # Not a context manager: a with statement raises the error, in the words of the running version.
    failing = n.With([n.WithItem(manager, None)], [n.Pass()], is_async)
    b.append(n.If(n.UnaryOp("not", n.BoolOp("and", list(has))), [failing]))
    enter = b.assign(n.Attribute(cls, enter_name))
    leave = b.assign(n.Call(n.Attribute(n.Attribute(cls, exit_name), "__get__"), [manager, cls]))
    b.stack.append(leave)
    b.push_now(n.Call(enter, [manager]))


@on(Op.WITH_EXIT)
def _with_exit(b: Builder, instr: Instr) -> None:
    b.push(n.Call(b.pop(), [n.Constant(None), n.Constant(None), n.Constant(None)]))


@on(Op.WITH_EXCEPT_START)
def _with_except_start(b: Builder, instr: Instr) -> None:
    b.settle()
    leave, exc = b.stack[-3], b.stack[-1]
    kind = n.Call(b.names.builtin("type"), [exc])
    b.push(n.Call(leave, [kind, exc, n.Attribute(exc, "__traceback__")]))


def match_exception(b: Builder, exc: n.Expr, kind: n.Expr) -> n.Name:
    """A temporary that tells whether `exc` matches `kind`, by the rules of an except clause."""
    result = b.fresh()
    yes: List[n.Stmt] = [n.Assign([result], n.Constant(True))]
    no: List[n.Stmt] = [n.Assign([n.Name(result.id)], n.Constant(False))]
    handlers = [n.ExceptHandler(kind, None, yes), n.ExceptHandler(None, None, no)]
    handled = isinstance(exc, n.Name) and isinstance(b.handled, n.Name) and exc.id == b.handled.id
    b.append(n.Try([n.Raise(None if handled else exc, None)], handlers))
    return n.Name(result.id)


@on(Op.CHECK_EXC_MATCH)
def _check_exc_match(b: Builder, instr: Instr) -> None:
    kind = b.pop_settled()
    b.stack.append(match_exception(b, b.stack[-1], kind))


@on(Op.CHECK_EG_MATCH)
def _check_eg_match(b: Builder, instr: Instr) -> None:
    """Split the exception into what matches and the rest.

    Not done: in the interpreter the matching part also becomes the exception being handled.
    """
    b.settle()
    exc, kind = b.pop_many(2)
    match, rest = b.fresh(), b.fresh()

    def both(matching: n.Expr, other: n.Expr) -> List[n.Stmt]:
        return [n.Assign([n.Tuple_([match, rest])], n.Tuple_([matching, other]))]

    outer, b.stmts = b.stmts, []
    found = match_exception(b, exc, kind)
    inner, b.stmts = b.stmts, outer
    group = b.names.builtin("BaseExceptionGroup")
    is_group = n.Call(b.names.builtin("isinstance"), [exc, group])
    whole = n.IfExp(is_group, exc, n.Call(group, [n.Constant(""), n.Tuple_([exc])]))
    split = n.Assign([n.Tuple_([match, rest])], n.Call(n.Attribute(exc, "split"), [kind]))
    inner.append(n.If(found, both(whole, n.Constant(None)), [n.If(is_group, [split], both(n.Constant(None), exc))]))
    nothing_left = n.Compare(exc, ["is"], [n.Constant(None)])
    b.append(n.If(nothing_left, both(n.Constant(None), n.Constant(None)), inner))
    b.stack += [n.Name(rest.id), n.Name(match.id)]


@on(Op.PREP_RERAISE_STAR)
def _prepare_reraise(b: Builder, instr: Instr) -> None:
    """What to raise after the clauses of a `try ... except*`: new exceptions, and the parts that were not caught."""
    b.settle()
    orig, parts = b.pop_many(2)
    new, again, part, todo, leaves = (b.fresh() for _ in range(5))
    group, isinstance_ = b.names.builtin("BaseExceptionGroup"), b.names.builtin("isinstance")
    same: List[n.Expr] = [n.Call(isinstance_, [orig, group])]
    for name in ("__traceback__", "__cause__", "__context__"):
        same.append(n.Compare(n.Attribute(part, name), ["is"], [n.Attribute(orig, name)]))

    def add(target: n.Expr, value: n.Expr, method: str = "append") -> n.Stmt:
        return n.ExprStmt(n.Call(n.Attribute(target, method), [value]))

    sort = n.If(n.BoolOp("and", same), [add(again, part)], [add(new, part)])
    b.append(n.Assign([new], n.List_([])))
    b.append(n.Assign([again], n.List_([])))
    b.append(n.For(part, parts, [n.If(n.Compare(part, ["is not"], [n.Constant(None)]), [sort])]))
    # The part of the original group that holds exactly the exceptions not caught.
    identity = n.Call(b.names.builtin("id"), [part])
    walk = n.If(
        n.Call(isinstance_, [part, group]),
        [add(todo, n.Attribute(part, "exceptions"), "extend")],
        [add(leaves, identity)],
    )
    each, kept = n.Arg(b.names.own("__each")), n.Arg(b.names.own("__kept"))
    inside = n.Compare(n.Call(b.names.builtin("id"), [n.Name(each.arg)]), ["in"], [n.Name(kept.arg)])
    choose = n.Lambda(n.Arguments(args=[each, kept], defaults=[leaves]), inside)
    rest = n.Subscript(n.Call(n.Attribute(orig, "split"), [choose]), n.Constant(0))
    project: List[n.Stmt] = [
        n.Assign([todo], n.List_([n.Starred(again)])),
        n.Assign([leaves], n.List_([])),
        n.For(part, todo, [walk]),
        add(new, rest),
    ]
    b.append(n.If(again, project))
    length = n.Call(b.names.builtin("len"), [new])
    several = n.Compare(length, [">"], [n.Constant(1)])
    one = n.IfExp(new, n.Subscript(new, n.Constant(0)), n.Constant(None))
    b.push_now(n.IfExp(several, n.Call(group, [n.Constant(""), new]), one))


def raise_again(names: Names, exc: n.Expr) -> List[n.Stmt]:
    """Raise an exception that is not the one being handled, and leave its `__context__` alone."""
    context = n.Name(names.own("__context"))
    attribute = n.Attribute(exc, "__context__")
    return [
        n.Assign([context], attribute),
        n.Try([n.Raise(exc, None)], finalbody=[n.Assign([attribute], n.Name(context.id))]),
    ]
