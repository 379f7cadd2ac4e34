"""The order in which a statement evaluates its parts."""

from __future__ import annotations

from typing import AbstractSet, Any, Dict, Optional, Tuple, Type

from .. import nodes as n
from ..tree import Slot
from .scope import Scope

# What is evaluated first of a statement, in order; nothing of other statements is looked at.
_FIRST: Dict[Type[n.Stmt], Tuple[str, ...]] = {
    n.Return: ("value",),
    n.ExprStmt: ("value",),
    n.Assign: ("value", "targets"),
    n.If: ("test",),
    n.For: ("iter",),
    n.Raise: ("exc", "cause"),
    n.Assert: ("test",),
    n.Match: ("subject",),
}
# Expressions whose parts are evaluated one after the other before anything else happens.
_IN_ORDER: Dict[Type[n.Node], Tuple[str, ...]] = {
    n.Attribute: ("value",),
    n.Subscript: ("value", "slice"),
    n.Slice: ("lower", "upper", "step"),
    n.UnaryOp: ("operand",),
    n.BinOp: ("left", "right"),
    n.Call: ("func", "args", "keywords"),
    n.Starred: ("value",),
    n.Keyword: ("value",),
    n.Tuple_: ("elts",),
    n.List_: ("elts",),
    n.Set_: ("elts",),
    n.NamedExpr: ("value",),
    n.FormattedValue: ("value",),
    n.JoinedStr: ("values",),
    n.Await: ("value",),
    n.Yield: ("value",),
    n.YieldFrom: ("value",),
    n.Intrinsic: ("args",),
}


class _Effect(Exception):
    """Something that may have an effect, or be changed by one, is evaluated."""


def first_read(statement: n.Stmt, name: str, scope: Scope, changed: AbstractSet[str]) -> Optional[Slot]:
    """Where `statement` reads the variable `name`, if all that it evaluates before is timeless; else None.

    `changed`: variables that evaluating the value of `name` binds: reading those counts as an effect, too.
    """
    search = _Search(name, scope, changed)
    try:
        for key in _FIRST.get(type(statement), ()):
            search.part(statement, key, is_target=key == "targets")
    except _Effect:
        return None
    except _Found as found:
        return found.slot
    return None


class _Found(Exception):
    def __init__(self, slot: Slot) -> None:
        super().__init__()
        self.slot = slot


class _Search:
    def __init__(self, name: str, scope: Scope, changed: AbstractSet[str]) -> None:
        self.name = name
        self.scope = scope
        self.changed = changed

    def part(self, holder: Any, key: Any, is_target: bool = False) -> None:
        """Evaluate what hangs in a slot. Raises _Found at the variable, _Effect at an effect before it."""
        value = holder[key] if isinstance(key, int) else getattr(holder, key)
        if isinstance(value, list):
            for index in range(len(value)):
                self.part(value, index, is_target)
        elif isinstance(value, n.Name):
            if is_target:
                raise _Effect  # bound: the value has been evaluated
            if value.id == self.name:
                raise _Found((holder, key))
            if not self.scope.is_timeless(value) or value.id in self.changed:
                raise _Effect
        elif isinstance(value, n.Node) and not isinstance(value, n.Constant):
            self._inside(value, is_target)

    def _inside(self, node: n.Node, is_target: bool) -> None:
        """Evaluate a node that is no name and no constant."""
        if isinstance(node, n.Expr) and self.scope.is_timeless(node):
            return
        if isinstance(node, n.Compare):
            self.part(node, "left")
            self.part(node.comparators, 0)
            raise _Effect
        if isinstance(node, (n.BoolOp, n.IfExp)):
            self.part(*((node.values, 0) if isinstance(node, n.BoolOp) else (node, "test")))
            raise _Effect
        if isinstance(node, n.Dict_):
            for index in range(len(node.values)):
                if node.keys[index] is not None:
                    self.part(node.keys, index)
                self.part(node.values, index)
        for key in _IN_ORDER.get(type(node), ()):
            self.part(node, key)
        if is_target or not isinstance(node, (n.Tuple_, n.List_, n.Keyword, n.Slice, n.JoinedStr)):
            raise _Effect
