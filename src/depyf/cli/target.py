"""From what the user names on the command line to a code object."""

from __future__ import annotations

import importlib
import os
import sys
from types import CodeType
from typing import Any, Optional, Tuple

from depyf.cli.errors import CommandError

Version = Tuple[int, int]


def load(target: str) -> Tuple[CodeType, Optional[Version]]:
    """The code object of a `.pyc` file or of `package.module:function`, and the Python version that it is for.

    The version is None for the running Python. Raises CommandError.
    """
    if target.endswith(".py"):
        raise CommandError(f"{target} is source already; name a .pyc file or package.module:function")
    if target.endswith((".pyc", ".pyo")) or os.path.sep in target or os.path.exists(target):
        return load_file(target)
    if ":" in target:
        return load_function(target), None
    raise CommandError(f"{target!r} is neither a file nor of the form package.module:function")


def load_file(path: str) -> Tuple[CodeType, Optional[Version]]:
    from depyf.bytecode.pyc import PycError, read_pyc_file

    try:
        return read_pyc_file(path)
    except PycError as error:
        raise CommandError(one_line(error)) from None


def load_function(target: str) -> CodeType:
    """Imports the module, with the current directory on the path as `python -m` has it."""
    module_name, _, path = target.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # importing runs the user's code: anything may come out of it
        raise CommandError(f"cannot import {module_name}: {type(error).__name__}: {one_line(error)}") from None
    for name in path.split(".") if path else []:
        try:
            found = getattr(found, name)
        except AttributeError:
            raise CommandError(f"{module_name} has no {path!r}") from None
    return code_of(found, target)


def code_of(found: Any, target: str) -> CodeType:
    """The code object behind functions, methods, decorated functions (`__wrapped__`) and properties."""
    while True:
        if isinstance(found, CodeType):
            return found
        for attribute in ("__wrapped__", "__func__", "fget", "__code__"):
            inner = getattr(found, attribute, None)
            if inner is not None:
                found = inner
                break
        else:
            raise CommandError(f"{target} has no Python bytecode: it is a {type(found).__name__}")


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
