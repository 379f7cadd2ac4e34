"""Real models behave the same with and without `prepare_debug`, and everything that Dynamo compiled is shown.

Identical losses and gradients, the same exception, the same number of compilations; a transformed code for every
compiled frame, verified, in the structured form.
"""

from __future__ import annotations

from pathlib import Path
from types import CodeType
from typing import Any, Iterator, List, Tuple

import pytest

torch = pytest.importorskip("torch")

import depyf  # noqa: E402
from depyf.session import Session, load  # noqa: E402
from tests.models.programs import PROGRAMS, Program, Run  # noqa: E402

BACKENDS = ("eager", "aot_eager", "inductor")
pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled_run(program: Program, backend: str) -> Tuple[Run, List[CodeType]]:
    """The program's run, and the code that Dynamo replaced, once per compilation."""
    torch._dynamo.reset()
    frames: List[CodeType] = []

    def note(old: CodeType, new: CodeType) -> None:
        frames.append(old)

    handle = torch._dynamo.convert_frame.register_bytecode_hook(note)
    try:
        return program.run(lambda model: torch.compile(model, backend=backend)), frames
    finally:
        handle.remove()


def assert_same(one: Run, other: Run, exactly: bool) -> None:
    assert one.error == other.error
    tolerance = {"rtol": 0.0, "atol": 0.0} if exactly else {}
    torch.testing.assert_close(one.losses, other.losses, **tolerance)
    torch.testing.assert_close(one.gradients, other.gradients, **tolerance)


def session_in(folder: Path) -> Session:
    (file,) = folder.rglob("session.json")
    return load(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_observing_changes_nothing(program: Program, backend: str, tmp_path: Path, recwarn: Any) -> None:
    if program.name == "gpt2":
        pytest.importorskip("transformers")
    plain, frames = compiled_run(program, backend)
    with depyf.prepare_debug(str(tmp_path)):
        observed, observed_frames = compiled_run(program, backend)

    assert plain.losses, "the program did not get through its first step"
    assert_same(plain, observed, exactly=backend != "inductor")
    assert [code.co_name for code in observed_frames] == [code.co_name for code in frames]

    session = session_in(tmp_path)
    ours = [failure for failure in session.failures if failure.where != "torch"]
    assert not ours, ours
    entries = list(session.entries())
    assert len(entries) == len(frames)
    for entry in entries:
        assert entry.status in ("exact", "equivalent"), f"{entry.status}: {entry.difference}\n{entry.decompiled}"
        assert not entry.dispatch, entry.decompiled
        assert any("__transformed_code_" in name for name in entry.files.values()), entry.files
    for file in tmp_path.rglob("*.py"):
        compile(file.read_text(encoding="utf-8"), str(file), "exec")
    assert not [w for w in recwarn if "depyf" in str(w.filename)]


def test_the_raising_program_raises() -> None:
    (raising,) = (program for program in PROGRAMS if program.name == "raising")
    run, _ = compiled_run(raising, "eager")
    assert run.error is not None
    assert run.error.startswith("ValueError: mean of (4, 6)")
    assert len(run.losses) == 2
