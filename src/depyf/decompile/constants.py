"""Names for constants that no literal can give: modules, classes, dtypes, code objects, frozensets in odd places.

Compilers make none of these; Dynamo does. The text uses a name, and whoever shows the text says what it stands for.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterable, List, Optional, Set, Tuple

from . import nodes as n
from .literals import has_literal, name_for, set_literal
from .tree import rewrite, walk


def name_constants(body: List[Any], taken: Collection[str] = ()) -> Dict[str, Any]:
    """Replace each constant without a literal below `body` by a name; gives name -> value.

    The same object gets the same name. Names in `taken`, and all names that the tree uses, are left alone. A tuple
    is written as a display of its elements.
    """
    used: Set[str] = {*taken, *_names(body)}
    in_place = _kept(body)
    found: Dict[int, Tuple[str, Any]] = {}

    def named(node: n.Constant) -> n.Expr:
        value = node.value
        if has_literal(value):
            return node
        made: n.Expr
        if type(value) is tuple:
            made = n.Tuple_([named(n.Constant(element)) for element in value])
        else:
            if id(value) not in found:
                name = name_for(value, used)
                used.add(name)
                found[id(value)] = (name, value)
            made = n.Name(found[id(value)][0])
        made.offset, made.owner = node.offset, node.owner
        return made

    def replace(node: n.Node) -> Optional[n.Node]:
        return named(node) if isinstance(node, n.Constant) and id(node) not in in_place else None

    rewrite(body, replace)
    return dict(found.values())


def _names(body: List[Any]) -> Iterable[str]:
    for node in walk(body):
        if isinstance(node, n.Name):
            yield node.id
        elif isinstance(node, n.Arg):
            yield node.arg
        elif isinstance(node, (n.FunctionDef, n.ClassDef)):
            yield node.name


def _kept(body: List[Any]) -> Set[int]:
    """Constants whose place lets the writer spell them: frozensets after `in` and in loops, folded slices in brackets."""  # noqa: E501
    kept: Set[int] = set()
    for node in walk(body):
        places: List[n.Expr] = []
        if isinstance(node, n.Compare):
            places = [each for op, each in zip(node.ops, node.comparators) if op in ("in", "not in")]
        elif isinstance(node, (n.For, n.Comprehension)):
            places = [node.iter]
        kept.update(id(each) for each in places if isinstance(each, n.Constant) and set_literal(each.value) is not None)
        if isinstance(node, n.Subscript) and isinstance(node.slice, n.Constant) and _sliceable(node.slice.value):
            kept.add(id(node.slice))
    return kept


def _sliceable(value: Any) -> bool:
    if type(value) is slice:
        return all(has_literal(bound) for bound in (value.start, value.stop, value.step))
    if type(value) is tuple:
        return all(_sliceable(element) or has_literal(element) for element in value)
    return False
