"""Runs passes on statements that are written as source, and programs before and after."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Sequence

from depyf.decompile import nodes as n
from depyf.decompile import passes
from depyf.decompile.plain import spell_out
from depyf.decompile.tree import rewrite, walk
from depyf.decompile.writer import write
from tests.decompile.from_ast import parse

VERSION = sys.version_info[:2]
ARGUMENTS = ("a", "b", "c", "d")


def _instruction(node: Any) -> Optional[n.Node]:
    """`t.extend(v)` of a temporary as what the instruction that does it becomes."""
    if isinstance(node, n.Call) and isinstance(node.func, n.Attribute) and isinstance(node.func.value, n.Name):
        kind = {"extend": "list_extend", "append": "list_append"}.get(node.func.attr)
        if kind is not None and node.func.value.id.startswith("__temp_"):
            return n.Intrinsic(kind, [node.func.value, *node.args])
    return None


def statements(source: str) -> List[n.Stmt]:
    """The statements of `source`; `a` to `d` and `graph_out_0` are local variables."""
    body: List[n.Stmt] = list(parse(source).body)
    rewrite(body, _instruction)
    for node in walk(body):
        if isinstance(node, n.Name) and node.id in (*ARGUMENTS, "graph_out_0", "x", "y"):
            node.local = True  # type: ignore[attr-defined]
    return body


def code_of(source: str, generated: bool) -> Any:
    scope: Dict[str, Any] = {}
    names = "graph_out_0 = tmp_1 = tmp_2 = x = y = __compiled_fn_1" if generated else "x = y = 0"
    exec(f"def f({', '.join(ARGUMENTS)}):\n {names}", scope)
    return scope["f"].__code__


def rewritten(source: str, chosen: Sequence[passes.Pass], generated: bool = False) -> str:
    """The text of `source` after the passes."""
    body = statements(source)
    body = passes.run(body, passes.Scope(code_of(source, generated), body), chosen)
    spell_out(body)
    return write(n.Module(body), VERSION)[0].strip()


def only(name: str) -> List[passes.Pass]:
    """The pass of that name."""
    return [each for each in passes.PASSES if each.name == name]


def outcome(text: str, **given: Any) -> Any:
    """What a function with this body returns or raises, and what it logged on the way."""
    log: List[Any] = []

    def note(value: Any) -> Any:
        log.append(repr(value))
        return value

    scope: Dict[str, Any] = {"note": note, **given}
    indented = "\n".join(" " + line for line in text.splitlines())
    exec(f"def f({', '.join(ARGUMENTS)}):\n{indented or ' pass'}", scope)
    try:
        return repr(scope["f"](1, 0, [3], (4, 5))), log
    except Exception as error:
        return repr(error), log
