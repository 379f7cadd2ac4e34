"""Decompile a function: the module that programs written for older versions import from."""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Union

from depyf.decompile.result import DecompilationError
from depyf.decompile.source import source_of
from depyf.decompile.target import code_of

__all__ = ["DecompilationError", "Decompiler", "decompile"]


def decompile(code_or_callable: Union[CodeType, Callable[..., Any]]) -> str:
    """The source text of a function or code object, as a complete `def`.

    The text does what the bytecode does. Raises DecompilationError, with one line that says why, for anything
    without valid bytecode: numbers, builtins, classes, damaged code objects.
    """
    return source_of(code_or_callable)


class Decompiler:
    """The decompiler of one function or code object."""

    def __init__(self, code: Union[CodeType, Callable[..., Any]]) -> None:
        """Raises DecompilationError if there is no bytecode behind `code`."""
        self.code = code_of(code)

    def decompile(self) -> str:
        """The source text; errors as `decompile`."""
        return source_of(self.code)
