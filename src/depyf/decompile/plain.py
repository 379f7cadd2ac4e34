"""Plain twins: statements that say the same as instructions which fill a container, where no display was found.

The containers are fresh ones of the exact built-in type, so calling the method is what the instruction does.
"""

from __future__ import annotations

from typing import List, Optional

from . import nodes as n
from .tree import rewrite

_METHODS = {
    "list_append": "append",
    "set_add": "add",
    "list_extend": "extend",
    "set_update": "update",
    "dict_update": "update",
}


def spell_out(body: List[n.Stmt]) -> None:
    """Replace the container intrinsics below `body`."""
    rewrite(body, _plain)


def _plain(node: n.Node) -> Optional[n.Node]:
    if isinstance(node, n.ExprStmt) and isinstance(node.value, n.Intrinsic):
        intrinsic = node.value
        if intrinsic.name == "map_add" and len(intrinsic.args) == 3:
            owner, key, value = intrinsic.args
            return _at(n.Assign([n.Subscript(owner, key)], value), intrinsic)
    if not isinstance(node, n.Intrinsic):
        return None
    if node.name in _METHODS and len(node.args) == 2:
        return _at(n.Call(n.Attribute(node.args[0], _METHODS[node.name]), [node.args[1]]), node)
    if node.name == "cell" and len(node.args) == 1:
        # Dynamo passes the cells of closures around; the closure of a function that reads the variable holds its cell.
        closure = n.Attribute(n.Lambda(n.Arguments(), node.args[0]), "__closure__")
        return _at(n.Subscript(closure, n.Constant(0)), node)
    if node.name == "list_to_tuple" and len(node.args) == 1:
        return _at(n.Tuple_([n.Starred(node.args[0])]), node)
    return None


def _at(made: n.Node, source: n.Node) -> n.Node:
    made.offset, made.owner = source.offset, source.owner
    return made
