"""Which names statements read, and where control leaves a block."""

from __future__ import annotations

from typing import AbstractSet, Dict, List, Optional, Sequence, Set

from .. import nodes as n
from ..effects import stored_names
from ..tree import walk


def reads_of(roots: Sequence[n.Node]) -> Set[str]:
    """The names that are read below `roots`; a name that is bound by plain assignment only does not count."""
    bound: Set[int] = set()
    names: Set[str] = set()
    for node in walk(roots):
        if isinstance(node, n.Assign):
            bound.update(id(target) for target in node.targets if isinstance(target, n.Name))
            for target in node.targets:
                if isinstance(target, n.Tuple_):
                    bound.update(id(elt) for elt in target.elts if isinstance(elt, n.Name))
        elif isinstance(node, (n.For, n.NamedExpr)):
            bound.add(id(node.target))
        elif isinstance(node, n.Name) and id(node) not in bound:
            names.add(node.id)
        elif isinstance(node, n.Intrinsic) and node.name == "cell":
            names.update(arg.value for arg in node.args if isinstance(arg, n.Constant) and isinstance(arg.value, str))
    return names


def bound_inside(statement: n.Stmt) -> Set[str]:
    """The variables that a statement and those inside it bind or delete."""
    names = stored_names(statement)
    for node in walk([statement]):
        targets: List[Optional[n.Node]] = []
        if isinstance(node, n.For):
            targets = [node.target]
        elif isinstance(node, n.WithItem):
            targets = [node.optional_vars]
        elif isinstance(node, (n.ExceptHandler, n.MatchAs, n.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, n.MatchMapping) and node.rest:
            names.add(node.rest)
        for target in targets:
            if target is not None:
                names.update(part.id for part in walk([target]) if isinstance(part, n.Name))
    return names


class Later:
    """For the statements of one block: is a name read after statement number `index`, or after the block?"""

    def __init__(self, block: Sequence[n.Stmt], after: AbstractSet[str]) -> None:
        self._last: Dict[str, int] = {}
        self._after = after
        for index, statement in enumerate(block):
            for name in reads_of([statement]):
                self._last[name] = index

    def reads(self, name: str, index: int) -> bool:
        """Whether `name` may be read after statement `index` of the block."""
        return self._last.get(name, -1) > index or name in self._after

    def names(self, index: int) -> Set[str]:
        """All names that may be read after statement `index`."""
        return {name for name, last in self._last.items() if last > index} | set(self._after)


def leaves(block: List[n.Stmt]) -> bool:
    """Whether control never gets to the end of `block`."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (n.Return, n.Raise, n.Break, n.Continue)):
        return True
    return isinstance(last, n.If) and leaves(last.body) and leaves(last.orelse)
