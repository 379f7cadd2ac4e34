"""Leave out temporaries that nobody reads, and deletions of Dynamo's own variables.

Before:

    __temp_3 = __stack_0
    __temp_4
    x = (__temp_5 := y).z
    del graph_out_0

After:

    x = y.z

Requires: finished statements. Guarantees: every effect stays.

Sound because: reading a constant, a temporary or a local variable has no effect, and neither has a display of such. A
deleted variable of Dynamo's own (see `generated`) holds its value until the function returns instead: no code of the
user's can see the variable, and verification leaves it out of its comparison.
"""

from __future__ import annotations

from typing import List, Optional, Set

from .. import nodes as n
from ..tree import rewrite, statement_lists
from .reading import reads_of
from .scope import Scope


def drop_unused(body: List[n.Stmt], scope: Scope) -> List[n.Stmt]:
    """The statements without what nobody needs."""
    while _drop(body, scope):
        continue
    read = reads_of(body)

    def without_name(node: n.Node) -> Optional[n.Node]:
        return node.value if isinstance(node, n.NamedExpr) and _is_unread(node.target, read, scope) else None

    rewrite(body, without_name)
    return body


def _drop(body: List[n.Stmt], scope: Scope) -> bool:
    """Drop what nobody reads now; whether that may have left something else unread."""
    read = reads_of(body)
    changed = False
    for block in statement_lists(body):
        kept = [each for each in (_needed(statement, read, scope) for statement in block) if each is not None]
        changed = changed or len(kept) < len(block)
        if block and not kept and block is not body:
            kept = [n.Pass()]
            changed = changed and not isinstance(block[0], n.Pass)
        block[:] = kept
    return changed


def _needed(statement: n.Stmt, read: Set[str], scope: Scope) -> Optional[n.Stmt]:
    """What is left of a statement."""
    if isinstance(statement, n.Delete):
        statement.targets = [target for target in statement.targets if not _is_own(target, scope)]
        return statement if statement.targets else None
    if isinstance(statement, n.Assign):
        used = [target for target in statement.targets if not _is_unread(target, read, scope)]
        if used:
            statement.targets = used
            return statement
        if _is_silent(statement.value, scope):
            return None
        made = n.ExprStmt(statement.value)
        made.offset, made.owner = statement.offset, statement.owner
        return made
    if isinstance(statement, n.ExprStmt) and scope.generated and _is_silent(statement.value, scope):
        return None
    return statement


def _is_own(target: n.Expr, scope: Scope) -> bool:
    return isinstance(target, n.Name) and (target.id in scope.own or scope.is_temporary(target.id))


def _is_unread(target: n.Expr, read: Set[str], scope: Scope) -> bool:
    return isinstance(target, n.Name) and scope.is_temporary(target.id) and target.id not in read


def _is_silent(value: n.Expr, scope: Scope) -> bool:
    if isinstance(value, (n.List_, n.Tuple_)):
        return all(_is_silent(elt, scope) for elt in value.elts)
    return scope.is_timeless(value)
