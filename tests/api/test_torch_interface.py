"""What the public interface does with torch."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any, List

import pytest

torch = pytest.importorskip("torch")

import depyf  # noqa: E402
from depyf.optimization import TorchCompileWrapperWithCustomDispatcher  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def double(a: Any) -> Any:
    return a * 2


def compiled() -> Any:
    return torch.compile(double, backend="eager")


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: List[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def logged_bytecode() -> str:
    """What torch's bytecode log says while a function is compiled."""
    torch._dynamo.reset()
    handler = _Lines()
    logger = logging.getLogger("torch._dynamo")
    torch._logging.set_logs(bytecode=True)
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("torch._dynamo")]
    for each in (logger, *loggers):
        each.addHandler(handler)
    try:
        assert torch.equal(compiled()(torch.ones(2)), torch.full((2,), 2.0))
    finally:
        for each in (logger, *loggers):
            each.removeHandler(handler)
        torch._logging.set_logs()
    return "\n".join(handler.lines)


def test_install_and_uninstall() -> None:
    assert "MODIFIED BYTECODE" in logged_bytecode()
    depyf.install()
    depyf.install()
    try:
        with_source = logged_bytecode()
    finally:
        depyf.uninstall()
    assert with_source.count("DECOMPILED BYTECODE") >= 1
    assert "def double(a):" in with_source
    assert "DECOMPILED BYTECODE" not in logged_bytecode()
    depyf.uninstall()


class Model(TorchCompileWrapperWithCustomDispatcher):
    def __init__(self) -> None:
        self.factor = 3
        super().__init__(torch.compile(self.forward, backend="eager"))

    def forward(self, a: Any) -> Any:
        return a * self.factor


def test_dispatcher_runs_a_compiled_version_without_guards() -> None:
    model = Model()
    assert not model.use_custom_dispatcher
    assert torch.equal(model(torch.ones(2)), torch.full((2,), 3.0))
    assert len(model.compiled_codes) == 1 and model.use_custom_dispatcher
    model.factor = 4
    with model.dispatch_to_code(0):
        assert torch.equal(model.forward(torch.ones(2)), torch.full((2,), 3.0)), "the version for 3 runs, unguarded"
    assert torch.equal(model.forward(torch.ones(2)), torch.full((2,), 4.0)), "afterwards all is as before"
    with pytest.raises(IndexError), model.dispatch_to_code(7):
        raise AssertionError


def test_entered_without_a_with_statement(tmp_path: Path) -> None:
    context = depyf.prepare_debug(str(tmp_path))
    directory = context.__enter__()
    try:
        assert torch.equal(compiled()(torch.ones(2)), torch.full((2,), 2.0))
    finally:
        context.__exit__(None, None, None)
    names = os.listdir(directory)
    assert any(name.startswith("__transformed_code_") and name.endswith("_for_double.py") for name in names)
    assert "full_code_for_double_0.py" in names


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_a_directory_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for place in (file, file / "inside", Path("/proc/nothing")):
        start = time.perf_counter()
        with pytest.raises(OSError) as raised, depyf.prepare_debug(str(place)):
            raise AssertionError
        assert time.perf_counter() - start < 1
        assert "\n" not in str(raised.value) and place.name in str(raised.value)
    assert file.read_text() == "mine"
    assert torch.equal(compiled()(torch.ones(2)), torch.full((2,), 2.0)), "the program goes on unharmed"


def test_an_exception_inside_leaves_by_itself(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="mine"), depyf.prepare_debug(str(tmp_path)):
        compiled()(torch.ones(2))
        raise KeyError("mine")
    assert (tmp_path / "full_code_for_double_0.py").exists()


def test_what_an_earlier_run_wrote_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    mine = tmp_path / "notes.py"
    mine.write_text("# mine")
    for _ in range(2):
        torch._dynamo.reset()
        with depyf.prepare_debug(str(tmp_path)):
            compiled()(torch.ones(2))
    assert mine.read_text() == "# mine"
    assert len(list(tmp_path.glob("full_code_for_double_*.py"))) == 1


def test_log_bytecode_writes_the_code_objects(tmp_path: Path) -> None:
    with depyf.prepare_debug(str(tmp_path), log_bytecode=True):
        compiled()(torch.ones(2))
    assert list(tmp_path.glob("*.pyc"))


def test_nested(tmp_path: Path) -> None:
    with depyf.prepare_debug(str(tmp_path / "outer")), depyf.prepare_debug(str(tmp_path / "inner")):
        assert torch.equal(compiled()(torch.ones(2)), torch.full((2,), 2.0))
    for folder in ("outer", "inner"):
        assert list((tmp_path / folder).glob("__transformed_code_*_for_double.py")), folder
