"""Lets `depyf.decompile(function)` be a call although `depyf.decompile` is a package.

Importing any module of the package binds the name `depyf.decompile` to the package, whatever it was before. So
the package itself is made callable, and it doesn't matter who imported what first.
"""

from __future__ import annotations

import types
from types import CodeType
from typing import Any, Callable, Union


class CallablePackage(types.ModuleType):
    def __call__(self, code_or_callable: Union[CodeType, Callable[..., Any]]) -> str:
        """The source text of a function or code object: see `depyf.decompiler.decompile`."""
        from depyf.decompile.source import source_of

        return source_of(code_or_callable)
