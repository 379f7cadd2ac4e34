"""The source map: from the nodes' offsets and the writer's positions."""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import nodes as n
from .result import SourceMap
from .tree import walk


def source_map(body: Sequence[Any], positions: Dict[int, n.Position], code: CodeType) -> SourceMap:
    """Where the instructions of `code` and of the code objects in it are written.

    `body` is the written tree; its nodes' `owner` is None (or `code` itself) for `code`.
    """
    result = SourceMap()
    maps = _maps(code, result)
    for node in walk(body):
        place = positions.get(id(node))
        if place is None or node.offset < 0:
            continue
        owner: Optional[CodeType] = node.owner
        target = result if owner is None else maps.get(id(owner))
        if target is not None:
            target.offsets.setdefault(node.offset, place)
    _prune(result)
    return result


def _maps(code: CodeType, top: SourceMap) -> Dict[int, SourceMap]:
    """id of each code object in `code`, itself included, -> its map, hung into its parent's."""
    found: Dict[int, SourceMap] = {id(code): top}
    pending: List[Tuple[CodeType, SourceMap]] = [(code, top)]
    while pending:
        outer, outer_map = pending.pop()
        for index, constant in enumerate(outer.co_consts):
            if isinstance(constant, CodeType):
                inner = found.setdefault(id(constant), SourceMap())
                outer_map.nested[index] = inner
                pending.append((constant, inner))
    return found


def _prune(top: SourceMap) -> None:
    """Drop the maps of code objects that are not in the text."""
    order = [top]
    for each in order:
        order.extend(each.nested.values())
    for each in reversed(order):
        each.nested = {index: inner for index, inner in each.nested.items() if inner.offsets or inner.nested}
