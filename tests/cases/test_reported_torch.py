"""Programs whose value must be the same plain, compiled, and compiled under `prepare_debug`."""

from __future__ import annotations

from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch")

import depyf  # noqa: E402
from tests.cases import reported_torch  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def plain(program: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program's value with torch.compile made to do nothing."""

    def do_nothing(model: Any = None, **options: Any) -> Any:
        return model if model is not None else lambda function: function

    with monkeypatch.context() as patch:
        patch.setattr(torch, "compile", do_nothing)
        return program()


PROGRAMS = [
    reported_torch.assert_print_and_comprehension,
    reported_torch.closure_inside_forward,
    reported_torch.branch_on_data,
]


def check(program: Callable[[], Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plain(program, monkeypatch)
    torch._dynamo.reset()
    assert program() == expected
    torch._dynamo.reset()
    with depyf.prepare_debug(str(tmp_path)):
        assert program() == expected
    assert list(tmp_path.rglob("full_code_for_*.py"))
    assert list(tmp_path.rglob("__transformed_code_*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_value(program: Callable[[], Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check(program, tmp_path, monkeypatch)


@pytest.mark.slow
def test_gpt2_training_step(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    check(reported_torch.gpt2_training_step, tmp_path, monkeypatch)


def test_compiled_before_the_context(tmp_path: Any) -> None:
    function, arguments = reported_torch.compiled_before_the_context()
    expected = function(*arguments)
    with depyf.prepare_debug(str(tmp_path)):
        assert torch.equal(function(*arguments), expected)
    assert list(tmp_path.rglob("full_code_for_f_*.py")), "what was compiled before the context is not shown"
