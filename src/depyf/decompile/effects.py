"""The only judge of what may move past what.

Nothing is assumed about user types: every attribute load, call, operator or truth test may run user code.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Iterator, Optional, Set

from . import nodes as n
from .transient import Chain, Dup, Inplace, Marker, UnpackItem


def walk(node: object) -> Iterator[n.Node]:
    """`node` and all nodes below it."""
    todo = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, n.Node):
            yield item
            if is_dataclass(item):
                todo.extend(getattr(item, part.name) for part in fields(item))


def is_plain(value: n.Expr) -> bool:
    """A constant or a temporary: evaluating it later, or twice, makes no difference."""
    if isinstance(value, n.Constant):
        return True
    return isinstance(value, n.Name) and value.id.startswith("__temp_")


def is_timeless(value: n.Expr) -> bool:
    """May be evaluated at any later moment."""
    if isinstance(value, Dup):
        return is_timeless(value.value)
    if isinstance(value, n.MakeFunction) and value.code.co_name.startswith("<generic parameters of "):
        return value.defaults is value.kwdefaults is value.annotations is None
    return isinstance(value, (n.Slot, Marker)) or is_plain(value)


def stays(value: n.Expr, stmt: Optional[n.Stmt]) -> bool:
    """Whether `value`, waiting on the stack, may be evaluated after `stmt` instead of before."""
    if is_timeless(value) or isinstance(value, n.Intrinsic) and value.name in ("cell", "load_build_class"):
        return True
    if isinstance(value, n.Name) and getattr(value, "local", False):
        return stmt is not None and value.id not in stored_names(stmt)
    if isinstance(value, (Chain, Inplace, UnpackItem)):
        return False
    if isinstance(value, Dup):
        return False
    if isinstance(value, n.Tuple_):
        return all(stays(elt, stmt) for elt in value.elts)
    return False


def stored_names(stmt: n.Stmt) -> Set[str]:
    """Names that a simple statement binds or deletes."""
    names: Set[str] = set()
    for node in walk(stmt):
        if isinstance(node, n.NamedExpr):
            names.add(node.target.id)
        elif isinstance(node, n.Assign):
            for target in node.targets:
                names |= _names_of_target(target)
        elif isinstance(node, (n.MatchAs, n.MatchStar)):
            names |= {node.name} if node.name else set()
        elif isinstance(node, n.MatchMapping):
            names |= {node.rest} if node.rest else set()
        elif isinstance(node, (n.AugAssign, n.AnnAssign)):
            names |= _names_of_target(node.target)
        elif isinstance(node, n.Delete):
            for target in node.targets:
                names |= _names_of_target(target)
        elif isinstance(node, (n.Import, n.ImportFrom)):
            for alias in node.names:
                names.add((alias.asname or alias.name).split(".")[0])
    return names


def _names_of_target(target: n.Expr) -> Set[str]:
    if isinstance(target, n.Name):
        return {target.id}
    if isinstance(target, (n.Tuple_, n.List_)):
        return set().union(*map(_names_of_target, target.elts))
    if isinstance(target, n.Starred):
        return _names_of_target(target.value)
    return set()
