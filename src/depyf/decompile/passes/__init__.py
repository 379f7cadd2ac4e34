"""The readable view: small rewrites of finished statements, one idiom each, in this order.

Each takes the statements of one code object and its `Scope`, and gives the new statements; each says what it requires,
what it guarantees and why it is sound. Correctness does not depend on them: without any the text is as right, and the
pipeline leaves one out when verification refutes what it made.
"""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Sequence

from .. import nodes as n
from ..tree import walk
from .containers import evaluate_containers
from .expressions import PassFailed
from .inline import inline_temporaries
from .profiling import COMMENT, cut_profiling
from .scope import Scope
from .shorten import shorten_names
from .unused import drop_unused

__all__ = ["PASSES", "Pass", "PassFailed", "Scope", "cut_profiling", "COMMENT", "needs_passes", "run"]


class Pass(NamedTuple):
    """One rewrite. `name` is what `--after-pass` and verdicts call it."""

    name: str
    rewrite: Callable[[List[n.Stmt], Scope], List[n.Stmt]]


PASSES = (
    Pass("containers", evaluate_containers),
    Pass("unused", drop_unused),
    Pass("inline", inline_temporaries),
    Pass("shorten", shorten_names),
)


def needs_passes(body: List[n.Stmt], scope: Scope) -> bool:
    """Whether there is anything for passes to do: temporaries, or code that Dynamo generated."""
    return scope.generated or any(isinstance(node, n.Name) and scope.is_temporary(node.id) for node in walk(body))


def run(body: List[n.Stmt], scope: Scope, passes: Sequence[Pass] = PASSES) -> List[n.Stmt]:
    """The statements after `passes`. Raises PassFailed where one does not understand them."""
    if needs_passes(body, scope):
        for each in passes:
            body = each.rewrite(body, scope)
    return body
