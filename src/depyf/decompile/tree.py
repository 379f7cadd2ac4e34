"""Walking and rewriting trees of `nodes`, without recursion (sums of thousands of terms are deep trees)."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

from . import nodes as n

# Where a node hangs: an attribute of its parent, or an index of a list.
Slot = Tuple[Any, Union[str, int]]


def get(slot: Slot) -> Any:
    """What hangs in `slot`."""
    holder, key = slot
    return holder[key] if isinstance(key, int) else getattr(holder, key)


def put(slot: Slot, node: Any) -> None:
    """Hang `node` into `slot`."""
    holder, key = slot
    if isinstance(key, int):
        holder[key] = node
    else:
        setattr(holder, key, node)


def slots(roots: List[Any]) -> List[Slot]:
    """The slots of all nodes below `roots` (a list of nodes), parents before their children, in source order."""
    found: List[Slot] = []
    stack: List[Slot] = [(roots, index) for index in reversed(range(len(roots)))]
    while stack:
        slot = stack.pop()
        node = get(slot)
        found.append(slot)
        below: List[Slot] = []
        for key, value in vars(node).items():
            if isinstance(value, n.Node):
                below.append((node, key))
            elif isinstance(value, list):
                below.extend((value, index) for index, each in enumerate(value) if isinstance(each, n.Node))
        stack.extend(reversed(below))
    return found


def walk(roots: Sequence[Any]) -> Iterator[n.Node]:
    """All nodes below `roots`, parents first."""
    for slot in slots(list(roots)):
        yield get(slot)


def walk_scope(roots: Sequence[Any]) -> Iterator[n.Node]:
    """The nodes that belong to the scope of `roots`: bodies of nested functions, lambdas, classes are left out."""
    stack: List[Any] = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (n.FunctionDef, n.ClassDef)):
            stack.extend(node.decorators)
            if isinstance(node, n.ClassDef):
                stack.extend(node.bases)
                stack.extend(node.keywords)
            else:
                stack.extend(_outside(node.args))
        elif isinstance(node, n.Lambda):
            stack.extend(_outside(node.args))
        elif isinstance(node, n.GeneratorExp):
            stack.append(node.generators[0].iter)
        else:
            for value in vars(node).values():
                if isinstance(value, n.Node):
                    stack.append(value)
                elif isinstance(value, list):
                    stack.extend(each for each in value if isinstance(each, n.Node))


def _outside(args: n.Arguments) -> List[n.Expr]:
    return [*args.defaults, *(default for default in args.kw_defaults if default is not None)]


def rewrite(roots: List[Any], function: Callable[[Any], Optional[n.Node]]) -> None:
    """Replace nodes below `roots`, children before parents: `function(node)` gives the new node, or None to keep it."""
    for slot in reversed(slots(roots)):
        replacement = function(get(slot))
        if replacement is not None:
            put(slot, replacement)


def statement_lists(roots: List[n.Stmt]) -> List[List[n.Stmt]]:
    """`roots` and every block below it that belongs to the same scope, outer ones first."""
    found: List[List[n.Stmt]] = []
    stack: List[List[n.Stmt]] = [roots]
    while stack:
        block = stack.pop()
        found.append(block)
        for statement in block:
            if not isinstance(statement, (n.FunctionDef, n.ClassDef)):
                stack.extend(blocks_of(statement))
    return found


def blocks_of(statement: n.Stmt) -> List[List[n.Stmt]]:
    """The blocks directly inside `statement`."""
    blocks = [
        value
        for key in ("body", "orelse", "finalbody")
        for value in [getattr(statement, key, None)]
        if isinstance(value, list)
    ]
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        blocks.append(part.body)
    return blocks
