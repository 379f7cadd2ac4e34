"""The profiler's calls are cut out only where they are exactly that."""

from __future__ import annotations

from typing import Any, Dict

import pytest

from depyf.bytecode import normalise
from depyf.decompile import Status, decompile_code
from depyf.decompile.passes import COMMENT, cut_profiling

ENTER = "tmp_2 = (tmp_1 := __import_torch_dot__dynamo_dot_utils.record_pregraph_bytecode_enter)()"
EXIT = "(tmp_3 := __import_torch_dot__dynamo_dot_utils.record_pregraph_bytecode_exit)(tmp_2)"
CALL = "graph_out_0 = __compiled_fn_1(a)"
DELETE = "del tmp_1\n del tmp_3"


def code_of(*lines: str) -> Any:
    scope: Dict[str, Any] = {}
    exec("def f(a):\n " + "\n ".join([*lines, "return graph_out_0[0]"]), scope)
    return scope["f"].__code__


def test_cut() -> None:
    result = decompile_code(code_of(ENTER, EXIT, CALL, DELETE))
    assert "record_pregraph" not in result.text
    assert COMMENT in result.text
    assert result.verdict.status in (Status.EXACT, Status.EQUIVALENT)


def test_the_faithful_view_keeps_it() -> None:
    result = decompile_code(code_of(ENTER, EXIT, CALL, DELETE), view="faithful")
    assert result.text.count("record_pregraph") == 2
    assert COMMENT not in result.text
    assert result.verdict.status in (Status.EXACT, Status.EQUIVALENT)


@pytest.mark.parametrize(
    "lines",
    [
        (ENTER, EXIT, CALL, "del tmp_1", "graph_out_0 = tmp_3"),  # used for something else
        (ENTER, EXIT.replace("(tmp_2)", "(tmp_2, a)"), CALL),
        (ENTER.replace("_enter", "_other"), EXIT.replace("_exit", "_other"), CALL),
        (CALL,),
    ],
)
def test_not_cut(lines: Any) -> None:
    program = normalise(code_of(*lines))
    assert cut_profiling(program) is program


def test_a_jump_into_it_keeps_it() -> None:
    program = normalise(code_of("while a:", f" {ENTER}", f" {EXIT}", f" {CALL}"))
    without = cut_profiling(program)
    assert not any(instr.arg == "tmp_2" for instr in without.instrs)
    targets = {instr.target for instr in without.instrs if instr.target is not None}
    assert all(0 <= target < len(without.instrs) for target in targets)
