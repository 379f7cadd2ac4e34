"""Last pass over a structured body: what only simulation knows becomes ordinary Python.

Slots become variables `__stack_N`, values used twice get a name where they are first evaluated, and `assert` is
recognised.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Dict, List, Optional

from . import nodes as n
from .reduce import negate
from .simulate import Temporaries
from .transient import Chain, Dup, ExcMatch, GetIter, Inplace, Marker, PatternTest, StarBody, StarMatch, UnpackItem


class Unfinished(Exception):
    """A node that has no Python form is left."""


def finish(body: List[n.Stmt], temporaries: Temporaries, bare_returns: bool) -> List[n.Stmt]:
    """The finished statements. `bare_returns`: `return None` must be `return` (async generators). Raises Unfinished."""
    return _Finisher(body, temporaries, bare_returns).run()


class _Finisher:
    def __init__(self, body: List[n.Stmt], temporaries: Temporaries, bare_returns: bool) -> None:
        self.body = body
        self.bare_returns = bare_returns
        self.temporaries = temporaries
        self.uses: Dict[int, int] = {}
        self.names: Dict[int, n.Name] = {}

    def run(self) -> List[n.Stmt]:
        self._count(self.body)
        return self._stmts(self.body)

    def _count(self, root: object) -> None:
        todo: List[object] = [root]
        while todo:
            item = todo.pop()
            if isinstance(item, list):
                todo.extend(item)
            elif isinstance(item, n.Node):
                if isinstance(item, Dup):
                    self.uses[id(item)] = self.uses.get(id(item), 0) + 1
                    if self.uses[id(item)] > 1:
                        continue
                todo.extend(getattr(item, part.name) for part in fields(item))  # type: ignore[arg-type]

    def _stmts(self, stmts: List[n.Stmt]) -> List[n.Stmt]:
        result: List[n.Stmt] = []
        for stmt in stmts:
            if isinstance(stmt, n.Pass) and len(stmts) > 1:
                continue
            result.append(self._stmt(stmt))
        return result

    def _stmt(self, stmt: n.Stmt) -> n.Stmt:
        if isinstance(stmt, n.Assign):  # the value is evaluated before the targets
            stmt.value = self.expr(stmt.value)
            stmt.targets = [self.expr(target) for target in stmt.targets]
            return stmt
        if isinstance(stmt, n.For):
            stmt.iter = self.expr(stmt.iter)
            stmt.target = self.expr(stmt.target)
            stmt.body, stmt.orelse = self._stmts(stmt.body), self._stmts(stmt.orelse)
            return stmt
        for part in fields(stmt):  # type: ignore[arg-type]
            value = getattr(stmt, part.name)
            if isinstance(value, n.Expr):
                setattr(stmt, part.name, self.expr(value))
            elif isinstance(value, list):
                setattr(stmt, part.name, self._list(value))
        if isinstance(stmt, n.Return) and self.bare_returns:
            stmt.value = None
        if isinstance(stmt, n.If):
            return as_assert(stmt) or stmt
        if isinstance(stmt, n.Raise):
            return _failed_assert(stmt) or stmt
        return stmt

    def _list(self, values: List[object]) -> List[object]:
        if values and isinstance(values[0], n.Stmt):
            return list(self._stmts(values))  # type: ignore[arg-type]
        return [self._any(value) for value in values]

    def _any(self, value: object) -> object:
        if isinstance(value, n.Expr):
            return self.expr(value)
        if isinstance(value, n.Node):
            for part in fields(value):  # type: ignore[arg-type]
                item = getattr(value, part.name)
                if isinstance(item, n.Expr):
                    setattr(value, part.name, self.expr(item))
                elif isinstance(item, list):
                    setattr(value, part.name, self._list(item))
        return value

    def expr(self, value: n.Expr) -> n.Expr:
        """The expression with transient nodes replaced."""
        if isinstance(value, (n.Name, n.Constant)):
            return value
        if isinstance(value, n.Slot):
            return _at(n.Name("__stack_%d" % value.index), value)
        if isinstance(value, Dup):
            return self._dup(value)
        if isinstance(value, GetIter):
            inner = self.expr(value.value)
            if value.kind == "iter":
                return _at(n.Call(n.Name("iter"), [inner]), value)
            if value.kind == "aiter":
                return _at(n.Call(n.Name("aiter"), [inner]), value)
            raise Unfinished("iterator of kind %s" % value.kind)
        if isinstance(value, Chain):
            inner = self.expr(value.value)
            for target in value.targets:
                if not isinstance(target, n.Name):
                    raise Unfinished("assignment inside an expression")
                inner = n.NamedExpr(target, inner)
            return inner
        if isinstance(value, (Marker, UnpackItem, Inplace, ExcMatch, PatternTest, StarBody, StarMatch)):
            raise Unfinished("%s without its construct" % type(value).__name__)
        if isinstance(value, n.NamedExpr):
            value.value = self.expr(value.value)
            return value
        for part in fields(value):  # type: ignore[arg-type]
            item = getattr(value, part.name)
            if isinstance(item, n.Expr):
                setattr(value, part.name, self.expr(item))
            elif isinstance(item, list):
                setattr(value, part.name, self._list(item))
        return value

    def _dup(self, value: Dup) -> n.Expr:
        inner = value.value
        if isinstance(inner, (n.Slot, n.Constant)) or isinstance(inner, n.Name) and inner.id.startswith("__temp_"):
            return self.expr(inner)
        if self.uses.get(id(value), 0) < 2:
            return self.expr(inner)
        known = self.names.get(id(value))
        if known is not None:
            return n.Name(known.id)
        if isinstance(inner, Dup):
            return self.expr(inner)
        name = self.temporaries.fresh()
        self.names[id(value)] = name
        return n.NamedExpr(name, self.expr(inner))


def _at(node: n.Expr, source: n.Node) -> n.Expr:
    node.offset = source.offset
    return node


def as_assert(stmt: n.If) -> Optional[n.Assert]:
    """`if not test: assert False` is `assert test`."""
    if stmt.orelse or len(stmt.body) != 1:
        return None
    failed = stmt.body[0]
    if not isinstance(failed, n.Assert) or not isinstance(failed.test, n.Constant):
        return None
    result = n.Assert(negate(stmt.test), failed.msg)
    result.offset = stmt.offset
    return result


def _failed_assert(stmt: n.Raise) -> Optional[n.Assert]:
    """Raising the compiler's own AssertionError, which only an assert statement does: `assert False`."""
    exc = stmt.exc
    msg: Optional[n.Expr] = None
    if stmt.cause is not None:
        return None
    if isinstance(exc, n.Call) and len(exc.args) == 1 and not exc.keywords:
        msg, exc = exc.args[0], exc.func
    if not isinstance(exc, n.Intrinsic) or exc.name != "assertion_error":
        return None
    result = n.Assert(n.Constant(False), msg)
    result.offset = stmt.offset
    return result
