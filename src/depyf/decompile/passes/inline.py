"""Write a value that is used once, in the next statement, where it is used.

Before:

    __temp_0 = __compiled_fn_1(a, b)
    graph_out_0 = __temp_0

After:

    graph_out_0 = __compiled_fn_1(a, b)

Requires: finished statements. Guarantees: the order of all effects.

Sound because: the temporary is bound once and read once in the whole code object, and what the next statement evaluates
before reading it is constants, temporaries and local variables only; those give the same before and after.
"""

from __future__ import annotations

from typing import Dict, List, Optional

from .. import nodes as n
from ..effects import stored_names
from ..tree import put, statement_lists, walk
from .order import first_read
from .scope import Scope


def inline_temporaries(body: List[n.Stmt], scope: Scope) -> List[n.Stmt]:
    """The statements with temporaries replaced by their values."""
    uses = _uses(body, scope)
    for block in statement_lists(body):
        _inline(block, uses, scope)
    return body


def _uses(body: List[n.Stmt], scope: Scope) -> Dict[str, int]:
    """How often each temporary is mentioned, bindings included."""
    uses: Dict[str, int] = {}
    for node in walk(body):
        if isinstance(node, n.Name) and scope.is_temporary(node.id):
            uses[node.id] = uses.get(node.id, 0) + 1
    return uses


def _inline(block: List[n.Stmt], uses: Dict[str, int], scope: Scope) -> None:
    index = len(block) - 2
    while index >= 0:
        statement = block[index]
        name = _temporary(statement, scope)
        if name is not None and uses.get(name) == 2:
            assert isinstance(statement, n.Assign)
            place = first_read(block[index + 1], name, scope, stored_names(statement))
            if place is not None:
                put(place, statement.value)
                del block[index]
                index = min(index + 1, len(block) - 1)  # what came before may follow
        index -= 1


def _temporary(statement: n.Stmt, scope: Scope) -> Optional[str]:
    """The temporary that a statement assigns to, and nothing else."""
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if isinstance(target, n.Name) and scope.is_temporary(target.id) and not isinstance(statement.value, n.Starred):
        return target.id
    return None
