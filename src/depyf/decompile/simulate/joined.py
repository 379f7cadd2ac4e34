"""Displays with stars as 3.8 makes them: all parts first, then one instruction that joins them."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional

from .. import nodes as n

_SEQUENCES: Dict[str, Callable[[List[n.Expr]], n.Expr]] = {
    "unpack_tuple": n.Tuple_,
    "unpack_list": n.List_,
    "unpack_set": n.Set_,
}
_MAPPINGS = ("unpack_map", "unpack_map_call")


def joined_display(name: str, parts: List[n.Expr]) -> Optional[n.Expr]:
    """The display that the intrinsic `name` joins of `parts`; None if it is another intrinsic.

    Between two starred parts the compiler collects plain ones in a tuple or dict of their own (compile.c, 3.8), so of
    two such in a row the second was starred.
    """
    make = _SEQUENCES.get(name)
    if make is not None:
        return make(_sequence(parts))
    return _mapping(parts) if name in _MAPPINGS else None


def _sequence(parts: List[n.Expr]) -> List[n.Expr]:
    items: List[n.Expr] = []
    plain = False
    for part in parts:
        plain = not plain and _is_tuple(part)
        if not plain:
            items.append(n.Starred(part))
        elif isinstance(part, n.Tuple_):
            items.extend(part.elts)
        elif isinstance(part, n.Constant):
            items.extend(n.Constant(item) for item in part.value)
    return items


def _is_tuple(part: n.Expr) -> bool:
    return isinstance(part, n.Tuple_) or isinstance(part, n.Constant) and isinstance(part.value, tuple)


def _mapping(parts: List[n.Expr]) -> n.Dict_:
    whole = n.Dict_([], [])
    plain = False
    for part in parts:
        plain = not plain and isinstance(part, n.Dict_) and None not in part.keys
        if plain and isinstance(part, n.Dict_):
            whole.keys += part.keys
            whole.values += part.values
        else:
            whole.keys.append(None)
            whole.values.append(part)
    return whole
