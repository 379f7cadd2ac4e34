"""The judge of a decompiled text, the same for every decompiler: compile it and compare the two code objects."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Collection, Mapping, Optional, Tuple

from depyf.bytecode.docstring import docstring
from depyf.decompile.verify import compare

FUTURES = 0x1FF0000  # the bits of co_flags that stand for `from __future__ import ...`


def judge(
    original: CodeType,
    text: str,
    names: Optional[Mapping[str, Any]] = None,
    droppable: Collection[str] = (),
) -> Tuple[str, Optional[str]]:
    """(status, first difference): status is "exact", "equivalent", "refuted" or "no compile"."""
    try:
        again = function_in(text, original)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "no compile", f"{type(error).__name__}: {error}"
    if again is None:
        return "refuted", f"the text defines no function {original.co_name!r}"
    verdict = compare(original, again, names=names or {}, droppable=droppable)
    return verdict.status.value, verdict.difference


def function_in(text: str, original: CodeType) -> Optional[CodeType]:
    """The code object of the function named as `original` in `text`.

    A function with free variables is put inside another one that defines them, unless the text has already done so.
    A docstring that the text leaves out is put back: that is not held against a decompiler that shows code alone.
    Raises SyntaxError (or ValueError, RecursionError) when the text is not Python.
    """
    flags = original.co_flags & FUTURES
    module = _with_docstring(ast.parse(text), original)
    found = _find(compile(module, "<decompiled>", "exec", flags, dont_inherit=True), original.co_name)
    if found is None or set(found.co_freevars) >= set(original.co_freevars):
        return found
    names = ", ".join(original.co_freevars)
    outer = ast.parse(f"def outer({names}): pass")
    outer.body[0].body = module.body  # type: ignore[attr-defined]
    ast.fix_missing_locations(outer)
    return _find(compile(outer, "<decompiled>", "exec", flags, dont_inherit=True), original.co_name)


def _with_docstring(module: ast.Module, original: CodeType) -> ast.Module:
    text = docstring(original)
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == original.co_name:
            if text is not None and ast.get_docstring(node, clean=False) is None:
                node.body.insert(0, ast.Expr(ast.Constant(text)))
            break
    return ast.fix_missing_locations(module)


def _find(code: CodeType, name: str) -> Optional[CodeType]:
    """The outermost code object named `name` inside `code`, the last one where several have it."""
    level = [code]
    while level:
        inner = [c for outer in level for c in outer.co_consts if isinstance(c, CodeType)]
        named = [c for c in inner if c.co_name == name]
        if named:
            return named[-1]
        level = inner
    return None
