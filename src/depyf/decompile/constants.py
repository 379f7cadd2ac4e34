"""Constants that have no literal (modules, classes, dtypes, code objects...) get names."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set

from . import nodes as n
from .literals import has_literal, name_for, set_literal
from .tree import rewrite


def name_constants(body: List[n.Stmt], taken: Set[str]) -> Dict[str, Any]:
    """Replace such constants in `body` by names that are not in `taken`; returns name -> value."""
    names: Dict[str, Any] = {}
    known: Dict[int, str] = {}

    def replace(node: Any) -> Optional[n.Node]:
        if not isinstance(node, n.Constant) or has_literal(node.value) or set_literal(node.value) is not None:
            return None
        if isinstance(node.value, tuple):
            parts: List[n.Expr] = [n.Constant(item) for item in node.value]
            return n.Tuple_([replace(part) or part for part in parts])  # type: ignore[misc]
        name = known.get(id(node.value))
        if name is None:
            name = name_for(node.value, taken)
            taken.add(name)
            known[id(node.value)] = name
            names[name] = node.value
        named = n.Name(name)
        named.offset, named.owner = node.offset, node.owner
        return named

    rewrite(body, replace)
    return names
