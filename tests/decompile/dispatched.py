"""Test helper: a function in the dispatch form, nested functions too, compiled and ready to call."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, Callable

from depyf.bytecode import normalise
from depyf.decompile import nodes as n
from depyf.decompile.constants import name_constants
from depyf.decompile.dispatch import dispatch_body
from depyf.decompile.functions import Structured, function_statement
from depyf.decompile.writer import write

NAME = "f"


def text_of(code: CodeType) -> tuple[str, dict[str, Any]]:
    """The text of a function's code in the dispatch form, and the constants that it reads by name."""

    def structure(nested: CodeType) -> Structured:
        program = normalise(nested)
        return Structured(program, dispatch_body(program))

    statements = [function_statement(structure(code), structure, NAME)]
    names = name_constants(statements, set(code.co_names) | set(code.co_varnames))
    text, _ = write(n.Module(statements), normalise(code).version)
    return text, names


def dispatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` again, by way of its dispatch form. It must not have free variables."""
    text, names = text_of(function.__code__)
    scope = {**function.__globals__, **names}
    exec(compile(text, "<dispatched>", "exec", dont_inherit=True), scope)
    again = scope[NAME]
    result = FunctionType(again.__code__, scope, NAME, function.__defaults__)
    result.__kwdefaults__ = function.__kwdefaults__
    return result
