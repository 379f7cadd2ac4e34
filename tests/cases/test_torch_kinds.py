"""Each program gives the same plain, compiled, and compiled under `prepare_debug`; all that runs is shown, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, List

import pytest

torch = pytest.importorskip("torch")

import depyf  # noqa: E402
from depyf.session import load  # noqa: E402
from tests.cases import torch_kinds  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(120)]


def outcome(function: Callable[[Any], Any]) -> List[Any]:
    """What two calls give, and the side effects."""
    torch.manual_seed(0)
    torch_kinds.CALLS.clear()
    torch_kinds.COUNT["calls"] = 0
    torch_kinds.LAYER.__dict__.pop("calls", None)
    found: List[Any] = []
    for sign in (1, -1):
        try:
            found.append(function(sign * torch.arange(1.0, 5.0)))
        except Exception as error:
            found.append((type(error), str(error)))
    return [*found, list(torch_kinds.CALLS), dict(torch_kinds.COUNT)]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("program", torch_kinds.PROGRAMS, ids=lambda program: program.__name__)
def test_same(program: Callable[[Any], Any], tmp_path: Path) -> None:
    plain = outcome(program)
    torch._dynamo.reset()
    frames: List[str] = []
    handle = torch._dynamo.convert_frame.register_bytecode_hook(lambda old, new: frames.append(old.co_name))
    try:
        compiled = outcome(torch.compile(program, backend="eager"))
    finally:
        handle.remove()
    assert same(plain, compiled), "torch.compile itself changes this program"
    torch._dynamo.reset()
    with depyf.prepare_debug(str(tmp_path)):
        observed = outcome(torch.compile(program, backend="eager"))
    torch._dynamo.reset()
    assert same(plain, observed)
    (file,) = tmp_path.rglob("session.json")
    session = load(file.read_text(encoding="utf-8"))
    assert not [failure for failure in session.failures if failure.where != "torch"], session.failures
    entries = list(session.entries())
    assert len(entries) == len(frames), "not everything that Dynamo compiled is shown, or it compiled something else"
    for entry in entries:
        assert entry.status in ("exact", "equivalent"), f"{entry.status}: {entry.difference}\n{entry.decompiled}"
        assert not entry.dispatch, entry.decompiled
    for path in tmp_path.rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
