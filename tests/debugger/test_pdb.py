"""pdb, in a process of its own, stops in dumped files while torch's own bytecode runs."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any, List, Tuple

import pytest

torch = pytest.importorskip("torch")

import depyf  # noqa: E402
from tests.debugger.driver import Driver  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(300)]
PROGRAM = Path(__file__).with_name("program.py")
BACKENDS = ("eager", "aot_eager")


def numbered(path: Path) -> List[Tuple[int, str]]:
    return list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))


def first_statement(path: Path, function: str) -> int:
    """The line of the first statement of a `def` in a file."""
    lines = numbered(path)
    start = next(number for number, line in lines if re.match(rf"\s*def {function}\(", line))
    while not lines[start - 1][1].rstrip().endswith(":"):
        start += 1
    return next(number for number, line in lines[start:] if line.strip() and not line.strip().startswith("#"))


def stop_at(driver: Driver, path: Path, line: int) -> str:
    """Break there and go on; what pdb says when it stops."""
    answer = driver.do(f"break {path}:{line}")
    assert answer.startswith("Breakpoint"), answer
    said = driver.do("continue")
    assert driver.place()[:2] == (path.name, line), said
    return said


@pytest.mark.parametrize("backend", BACKENDS)
def test_transformed_code(backend: str, tmp_path: Path) -> None:
    driver = Driver(PROGRAM, backend, str(tmp_path))
    transformed = tmp_path / "__transformed_code_0_for_function.py"
    text = dict(numbered(transformed))
    first = first_statement(transformed, "function")
    stop_at(driver, transformed, first)

    assert driver.do("p b.tolist()").strip() == "[-2.0, -2.0, -2.0]"
    assert text[first].strip() in driver.do("list")
    driver.do("next")
    file, line, function = driver.place()
    assert (file, function) == (transformed.name, "function")
    assert line > first
    assert text[line].strip() in driver.do("list .")

    returns = [number for number, each in text.items() if each.strip().startswith("return __resume_at")]
    for number in returns:
        driver.do(f"break {transformed}:{number}")
    driver.do("continue")
    assert driver.place()[1] in returns
    for _ in range(50):
        if "_resume_in_function" in driver.place()[2]:
            break
        driver.do("step")
    file, line, function = driver.place()
    assert re.fullmatch(r"__transformed_code_\d_for_torch_dynamo_resume_in_function_at_\d+\.py", file)
    where = driver.do("where")
    assert str(transformed) in where, "the caller is not shown in its dumped file"
    assert str(PROGRAM) in where
    driver.do("next")
    file, line, function = driver.place()
    assert dict(numbered(tmp_path / file))[line].strip() in driver.do("where")
    assert driver.do("p x.tolist()").strip() == "[0.5, 0.5, 0.5]"
    assert driver.do("p b.tolist()").strip() == "[-2.0, -2.0, -2.0]"
    driver.do("clear 1")
    for number in range(len(returns)):
        driver.do(f"clear {number + 2}")
    assert "same" in driver.end("continue")


@pytest.mark.parametrize("backend, stage", [("eager", "Captured_Graph"), ("aot_eager", "Forward_graph")])
def test_graph(backend: str, stage: str, tmp_path: Path) -> None:
    driver = Driver(PROGRAM, backend, str(tmp_path))
    graph = min(tmp_path.glob(f"__compiled_fn_*.{stage}.*.py"), key=lambda path: int(re.findall(r"\d+", path.name)[0]))
    text = dict(numbered(graph))
    first = first_statement(graph, "forward")
    stop_at(driver, graph, first)
    assert text[first].strip() in driver.do("list")
    assert str(tmp_path / "__transformed_code_0_for_function.py") in driver.do("where")
    argument = re.findall(r"\b(L_a_|arg0_1|primals_1)\b", "\n".join(text.values()))[0]
    driver.do("next")
    assert driver.place()[0] == graph.name
    assert driver.do(f"p {argument}.shape").strip() == "torch.Size([3])"
    driver.do("clear 1")
    assert "same" in driver.end("continue")


def raising(a: Any) -> Any:
    b = a + 1
    torch._dynamo.graph_break()
    if b.sum() > 0:
        raise ValueError("too much")
    return b * 2


@pytest.mark.parametrize("backend", [*BACKENDS, "inductor"])
def test_traceback_shows_dumped_lines(backend: str, tmp_path: Path) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(raising, backend=backend)
    with depyf.prepare_debug(str(tmp_path)), pytest.raises(ValueError, match="too much"):
        compiled(torch.ones(3))
    try:
        compiled(torch.ones(3))
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    dumped = [frame for frame in frames if Path(frame.filename).parent == tmp_path]
    assert dumped, [frame.filename for frame in frames]
    for frame in dumped:
        line = dict(numbered(Path(frame.filename)))[frame.lineno or 0].strip()
        assert frame.line == line
        assert not line.startswith("#") and line
    assert "__resume_at_" in (dumped[0].line or "")
    torch._dynamo.reset()
