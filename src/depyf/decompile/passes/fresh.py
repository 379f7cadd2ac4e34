"""Containers that nobody has seen yet: what temporaries hold while `containers` evaluates them."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional

from .. import nodes as n


@dataclass(eq=False)
class Fresh:
    """A list or tuple. Its items are constants, names and `Ref`s. `name`: the variable that holds it once made."""

    kind: str  # "list", "tuple"
    items: List[n.Expr]
    offset: int = -1
    name: Optional[str] = None


@dataclass(eq=False)
class Ref(n.Expr):
    """A place where a fresh container is used; gone when the pass is done."""

    fresh: Fresh


@dataclass
class Heap:
    """What temporaries hold that is not written down as an assignment: names, constants, `Ref`s."""

    held: Dict[str, n.Expr] = field(default_factory=dict)

    def copy(self) -> Heap:
        """A copy with containers of its own, shared in the same way."""
        return Heap(_Copier().held(self.held))

    def reachable(self, names: List[str]) -> Dict[int, Fresh]:
        """The containers, by id, that can be reached from what `names` hold."""
        return {id(fresh): fresh for name in names for fresh in freshes(self.held[name])}

    def rename(self, old: str, new: str) -> None:
        """Let every mention of the variable `old` be one of `new`."""
        for name, value in self.held.items():
            self.held[name] = _renamed(value, old, new)
        for fresh in self.reachable(list(self.held)).values():
            fresh.items = [_renamed(item, old, new) for item in fresh.items]
            if fresh.name == old:
                fresh.name = new

    def mentions(self, name: str) -> bool:
        """Whether the variable `name` is needed for what is held."""
        roots = list(self.held.values())
        for fresh in self.reachable(list(self.held)).values():
            if fresh.name == name:
                return True
            roots.extend(fresh.items)
        return any(isinstance(value, n.Name) and value.id == name for value in roots)


def _renamed(value: n.Expr, old: str, new: str) -> n.Expr:
    if isinstance(value, n.Name) and value.id == old:
        return n.Name(new)
    return value


def freshes(value: n.Expr) -> Iterator[Fresh]:
    """The container that `value` is, if any, and those inside it, each once, outer ones first."""
    seen = set()
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, Ref) and id(item.fresh) not in seen:
            seen.add(id(item.fresh))
            yield item.fresh
            todo.extend(item.fresh.items)


class _Copier:
    def __init__(self) -> None:
        self._made: Dict[int, Fresh] = {}

    def held(self, held: Dict[str, n.Expr]) -> Dict[str, n.Expr]:
        return {name: self._value(value) for name, value in held.items()}

    def _value(self, value: n.Expr) -> n.Expr:
        if not isinstance(value, Ref):
            return value
        known = self._made.get(id(value.fresh))
        if known is None:
            known = self._made[id(value.fresh)] = copy.copy(value.fresh)
            known.items = [self._value(item) for item in value.fresh.items]
        return Ref(known)


def position(index: n.Expr, count: int) -> Any:
    """A constant index or slice of a container of `count` items, as int or slice; None if unknown or out of range."""
    if isinstance(index, n.Constant) and type(index.value) is int:
        return index.value if -count <= index.value < count else None
    if isinstance(index, n.Constant) and isinstance(index.value, slice):
        parts = [index.value.start, index.value.stop, index.value.step]
    elif isinstance(index, n.Slice):
        if any(
            part is not None and not isinstance(part, n.Constant) for part in (index.lower, index.upper, index.step)
        ):
            return None
        parts = [
            part.value if isinstance(part, n.Constant) else None for part in (index.lower, index.upper, index.step)
        ]
    else:
        return None
    if any(part is not None and type(part) is not int for part in parts) or parts[2] == 0:
        return None
    return slice(*parts)
