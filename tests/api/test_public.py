"""The public interface, the same as that of the earlier releases; bad input; what importing costs nobody."""

from __future__ import annotations

import inspect
import marshal
import time
from pathlib import Path
from types import CodeType
from typing import Any, Callable

import pytest

import depyf
from depyf.decompiler import DecompilationError, Decompiler, decompile


def sample(a: int, b: int = 2, *rest: int, key: bool = False) -> int:
    return a + b + sum(rest) if key else a


def test_decompile_gives_a_def_that_does_the_same() -> None:
    text = depyf.decompile(sample)
    scope: dict = {}
    exec(text, scope)
    assert scope["sample"](1, 2, 3, key=True) == sample(1, 2, 3, key=True) == 6
    assert scope["sample"](4) == sample(4) == 4
    assert depyf.decompile(sample.__code__).startswith("def sample(a, b, *rest, key):")
    assert decompile(sample) == text
    assert Decompiler(sample).decompile() == Decompiler(sample.__code__).decompile()


def test_names_and_signatures() -> None:
    assert depyf.__version__
    assert depyf.DecompilationError is DecompilationError is depyf.decompiler.DecompilationError
    parameters = inspect.signature(depyf.prepare_debug).parameters
    assert list(parameters) == ["dump_src_dir", "clean_wild_fx_code", "log_bytecode"]
    assert (parameters["clean_wild_fx_code"].default, parameters["log_bytecode"].default) == (True, False)
    assert callable(depyf.debug) and callable(depyf.install) and callable(depyf.uninstall)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        depyf.nothing  # noqa: B018
    assert set(depyf.__all__) <= set(dir(depyf))


def damaged(code: CodeType) -> CodeType:
    return code.replace(co_code=bytes(255 - byte for byte in code.co_code))


def truncated(code: CodeType) -> CodeType:
    return code.replace(co_code=code.co_code[:-2])


@pytest.mark.parametrize(
    "value",
    [3, "text", None, len, int, [].append, damaged(sample.__code__), truncated(sample.__code__), object()],
    ids=["int", "str", "None", "builtin", "class", "method", "damaged", "truncated", "object"],
)
def test_bad_input_is_one_clear_line(value: Any) -> None:
    start = time.perf_counter()
    with pytest.raises(DecompilationError) as raised:
        depyf.decompile(value)
    assert time.perf_counter() - start < 1
    message = str(raised.value)
    assert message and "\n" not in message


def test_truncated_pyc(tmp_path: Path) -> None:
    from importlib.util import MAGIC_NUMBER

    from depyf.bytecode.errors import BytecodeError
    from depyf.bytecode.pyc import read_pyc

    whole = MAGIC_NUMBER + bytes(12) + marshal.dumps(sample.__code__)
    for size in (0, 3, 10, 16, 30, len(whole) - 1):
        file = tmp_path / f"{size}.pyc"
        file.write_bytes(whole[:size])
        with pytest.raises(BytecodeError):
            read_pyc(file.read_bytes())


def test_methods_and_wrapped_functions() -> None:
    class Thing:
        def method(self) -> int:
            return 1

        @property
        def value(self) -> int:
            return 2

    assert "return 1" in depyf.decompile(Thing().method)
    assert "return 1" in depyf.decompile(Thing.method)
    adds: Callable[[int], int] = lambda x: x + 1  # noqa: E731
    assert "return x + 1" in depyf.decompile(adds)
