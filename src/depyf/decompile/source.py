"""The source text of one function: what users call."""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Optional, Union

from depyf.bytecode.errors import BytecodeError
from depyf.decompile.result import DecompilationError
from depyf.decompile.target import code_and_function


def source_of(code_or_callable: Union[CodeType, Callable[..., Any]], name: Optional[str] = None) -> str:
    """The source text of a function or code object, as a complete `def` (named `name`, if given).

    A function's defaults are written as they are now.

    Raises DecompilationError, with one line that says why, for anything without valid bytecode.
    """
    from depyf.decompile import decompile_code
    from depyf.decompile.functions import live_defaults

    code, function = code_and_function(code_or_callable)
    try:
        return decompile_code(code, name=name, made=function and live_defaults(function)).text
    except BytecodeError as error:
        raise DecompilationError("not valid bytecode: %s" % error) from error
