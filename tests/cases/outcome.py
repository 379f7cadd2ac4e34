"""What calling a function gives, in a form that two runs of it can be compared by."""

from __future__ import annotations

import copy
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, Tuple

from depyf.decompile import decompile_code
from depyf.decompile.result import Decompiled, Status


class TooLong(Exception):
    """Raised by `Log` so that a loop which does not end, ends."""


class Log(list):
    """Called in generated functions: notes its argument and returns it. The notes show the order of evaluation."""

    def __call__(self, value: Any) -> Any:
        self.append(value)
        if len(self) > 60:
            raise TooLong
        return value


def outcome(function: Callable[..., Any], arguments: Tuple[Any, ...]) -> Tuple[str, Any, Any]:
    """(how it ended, value or exception, the arguments afterwards). The arguments are copied first."""
    arguments = copy.deepcopy(arguments)
    try:
        value = function(*arguments)
    except Exception as error:
        chain = (type(error).__name__, str(error), type(error.__cause__).__name__, type(error.__context__).__name__)
        return "raised", chain, repr(arguments)
    return "returned", repr(value), repr(arguments)


def decompiled_function(function: FunctionType) -> Tuple[FunctionType, Decompiled]:
    """`function` again, from its decompiled text, with the same globals and defaults."""
    result = decompile_code(function.__code__)
    namespace: Dict[str, Any] = {**function.__globals__, **result.names}
    exec(compile(result.text, "<decompiled>", "exec", dont_inherit=True), namespace)
    again = namespace[function.__name__]
    again.__defaults__, again.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return again, result


def decompiled_module(code: CodeType, name: str) -> Tuple[Dict[str, Any], Decompiled]:
    """The namespace of a module run from its decompiled text."""
    result = decompile_code(code)
    namespace: Dict[str, Any] = {"__name__": name, **result.names}
    exec(compile(result.text, "<decompiled>", "exec", dont_inherit=True), namespace)
    return namespace, result


def assert_trusted(result: Decompiled) -> None:
    """The verdict is a positive one, or the text is in the dispatch form, which running it has to show right."""
    good = (Status.EXACT, Status.EQUIVALENT)
    assert result.dispatch or result.verdict.status in good, f"{result.verdict}\n{result.text}"
