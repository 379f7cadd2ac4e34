"""From whatever the user hands over to a code object."""

from __future__ import annotations

import functools
import inspect
import types
from types import CodeType
from typing import Any, Optional, Tuple

from depyf.decompile.result import DecompilationError


def code_of(target: Any) -> CodeType:
    """The code object behind a function, method, partial, class with `__call__`... or the code object itself.

    Raises DecompilationError, with one line that says why, if there is none.
    """
    return code_and_function(target)[0]


def code_and_function(target: Any) -> Tuple[CodeType, Optional[types.FunctionType]]:
    """As `code_of`, and the function that holds the code object, if there is one."""
    found, function = target, None
    for _ in range(100):  # wrappers around wrappers; more are a loop
        if isinstance(found, CodeType):
            return found, function
        function = found if isinstance(found, types.FunctionType) else None
        found = _inside(found)
        if found is None:
            break
    raise DecompilationError(_why_not(target))


def _inside(target: Any) -> Any:
    """What the target runs, one step further in, or None."""
    if isinstance(target, functools.partial):
        return target.func
    if isinstance(target, (staticmethod, classmethod, types.MethodType)):
        return target.__func__
    if isinstance(target, property):
        return target.fget
    if inspect.isfunction(target):
        return target.__code__
    for attribute in ("gi_code", "cr_code", "ag_code", "f_code"):
        code = inspect.getattr_static(target, attribute, None)
        if code is not None and not isinstance(target, type):
            return getattr(target, attribute)
    if isinstance(target, type) or not callable(target):
        return None
    call = inspect.getattr_static(type(target), "__call__", None)
    return call if isinstance(call, (types.FunctionType, staticmethod, classmethod)) else None


def _why_not(target: Any) -> str:
    if isinstance(target, types.BuiltinFunctionType):
        return "%s is written in C: it has no bytecode to decompile" % _described(target)
    if isinstance(target, type):
        return "%s is a class: decompile one of its methods" % _described(target)
    if isinstance(target, types.ModuleType):
        return "%s is a module: decompile a function of it, or its file with `depyf decompile`" % _described(target)
    return "cannot decompile %s: it is neither a Python function nor a code object" % _described(target)


def _described(target: Any) -> str:
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    kind = type(target).__name__
    return "%s %r" % (kind, name) if isinstance(name, str) else "an object of type %r" % kind
