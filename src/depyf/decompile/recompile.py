"""Compiling decompiled text again, in the surroundings that the original had."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any, Dict

from . import enclosing
from .enclosing import written_outside

_CO_OPTIMIZED = 1  # functions, as opposed to modules and class bodies


def recompile(code: CodeType, text: str) -> CodeType:
    """The code object that `text`, decompiled from `code`, compiles to. Raises what `compile` raises."""
    flags = code.co_flags & _FUTURES
    if not code.co_flags & _CO_OPTIMIZED:
        module: CodeType = compile(text, "<decompiled>", "exec", flags, True)
        return module
    if written_outside(code):
        around = _inside(compile(text, "<decompiled>", "exec", flags, True), enclosing.NAME)
        return next(item for item in around.co_consts if isinstance(item, CodeType))
    tree: ast.Module = compile(text, "<decompiled>", "exec", flags | ast.PyCF_ONLY_AST, True)
    function = next(item for item in tree.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)))
    depth = 1
    if "__class__" in code.co_freevars:  # a class called `_` mangles no private names
        tree.body = [ast.ClassDef("_", [], [], tree.body, [], **_EXTRA)]
        depth += 1
    free = [item for item in code.co_freevars if item != "__class__"]
    if free:
        outer = ast.parse("def outer(%s): pass" % ", ".join(free)).body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = tree.body
        tree.body = [outer]
        depth += 1
    compiled: CodeType = compile(ast.fix_missing_locations(tree), "<decompiled>", "exec", flags, True)
    for _ in range(depth - 1):
        compiled = next(item for item in compiled.co_consts if isinstance(item, CodeType))
    return _inside(compiled, function.name)


def _inside(code: CodeType, name: str) -> CodeType:
    """The code object called `name` among the constants of `code`."""
    return next(item for item in code.co_consts if isinstance(item, CodeType) and item.co_name == name)


_EXTRA: Dict[str, Any] = {"type_params": []} if "type_params" in ast.ClassDef._fields else {}
_FUTURES = 0x1FF0000  # CO_FUTURE_* bits that compile() takes (Include/cpython/code.h)
