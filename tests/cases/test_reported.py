"""Programs on which decompilers were publicly reported wrong: the decompiled function, alone and as part of its module
decompiled whole, does what the original does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

from tests.cases.outcome import assert_trusted, decompiled_function, decompiled_module, outcome

HERE = Path(__file__).parent
Case = Tuple[Any, Tuple[Any, ...]]


def runs_here(path: Path) -> bool:
    wanted = re.search(r"^# min: 3\.(\d+)", path.read_text(), re.MULTILINE)
    return wanted is None or sys.version_info >= (3, int(wanted.group(1)))


FILES = [p for p in [*sorted((HERE / "reported").glob("*.py")), HERE / "reported_control_flow.py"] if runs_here(p)]


def load(path: Path) -> Tuple[Any, Dict[str, Any]]:
    """The module's code object and namespace."""
    code = compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
    namespace: Dict[str, Any] = {"__name__": path.stem}
    exec(code, namespace)
    return code, namespace


def cases(namespace: Dict[str, Any]) -> List[Tuple[str, Tuple[Any, ...]]]:
    """(function name, arguments) from either way of writing CASES."""
    found = []
    for function, arguments in namespace["CASES"]:
        if isinstance(function, str):
            found.append((function, arguments))
        else:
            found += [(function.__name__, one) for one in arguments]
    return found


def test_there_are_cases() -> None:
    assert len(FILES) > 20


@pytest.mark.timeout(60)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_function_alone(path: Path) -> None:
    _, namespace = load(path)
    again = {}
    for name, arguments in cases(namespace):
        if name not in again:
            again[name], result = decompiled_function(namespace[name])
            assert_trusted(result)
        assert outcome(again[name], arguments) == outcome(namespace[name], arguments), (name, arguments)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_helper_alone(path: Path) -> None:
    """The functions that the cases call, each replaced by its decompiled self in turn."""
    _, namespace = load(path)
    helpers = [n for n, v in namespace.items() if hasattr(v, "__code__") and n != "CASES"]
    for helper in helpers:
        again, _ = decompiled_function(namespace[helper])
        for name, arguments in cases(namespace):
            expected = outcome(namespace[name], arguments)
            original, namespace[helper] = namespace[helper], again
            try:
                assert outcome(namespace[name], arguments) == expected, (helper, name, arguments)
            finally:
                namespace[helper] = original


@pytest.mark.timeout(60)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_module_whole(path: Path) -> None:
    code, namespace = load(path)
    again, result = decompiled_module(code, path.stem)
    assert_trusted(result)
    assert [name for name, _ in cases(again)] == [name for name, _ in cases(namespace)]
    for (name, arguments), (_, same) in zip(cases(namespace), cases(again)):
        assert outcome(again[name], same) == outcome(namespace[name], arguments), (name, arguments)
