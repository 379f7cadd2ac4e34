"""Leave out the calls by which PyTorch tells its profiler that a compiled graph is about to be called.

Before:

    tmp_2 = (tmp_1 := __import_torch_dot__dynamo_dot_utils.record_pregraph_bytecode_enter)()
    (tmp_3 := __import_torch_dot__dynamo_dot_utils.record_pregraph_bytecode_exit)(tmp_2)
    graph_out_0 = __compiled_fn_1(a, b)
    del tmp_1, tmp_3

After:

    graph_out_0 = __compiled_fn_1(a, b)

Sound because: the two functions (`torch/_dynamo/utils.py`) open and close a range of `torch.profiler` around nothing
but loads of arguments, and return nothing else that the program uses; the variables that hold them are written for
these calls alone. This is the one fold that leaves out a call, so the text says so; verification compares with the
program after it.

Requires: canonical instructions. Guarantees: the program is otherwise the same, no jump leads into what is cut.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Set, Tuple

from ...bytecode.edit import without
from ...bytecode.program import Instr, Op, Program
from .generated import own_variables

COMMENT = "not shown: calls that tell torch.profiler when a graph is about to be called"
_MODULE = "__import_torch_dot__dynamo_dot_utils"
_ENTER, _EXIT = "record_pregraph_bytecode_enter", "record_pregraph_bytecode_exit"
_Shape = Sequence[Tuple[Op, Any]]  # a string argument that begins with "$" stands for a variable's name


def _call_of(function: str, variable: str, arguments: _Shape) -> List[Tuple[Op, Any]]:
    start = [(Op.LOAD_GLOBAL, _MODULE), (Op.LOAD_ATTR, function), (Op.COPY, 1), (Op.STORE_FAST, variable)]
    return [*start, *arguments, (Op.CALL, (len(arguments), ()))]


_OPENING = [*_call_of(_ENTER, "$enter", []), (Op.STORE_FAST, "$range")]
_CLOSING = [*_call_of(_EXIT, "$exit", [(Op.LOAD_FAST, "$range")]), (Op.POP, None)]


def cut_profiling(program: Program) -> Program:
    """`program` without the profiler's calls; `program` itself where there are none."""
    if _MODULE not in program.code.co_names:
        return program
    own = own_variables(program.code)
    gone: Set[int] = set()
    variables: Set[str] = set()
    targets = {instr.target for instr in program.instrs}
    for index in range(len(program.instrs)):
        for shape in (_OPENING, _CLOSING):
            names = _match(program.instrs, index, shape)
            inside = range(index, index + len(shape))
            if names is not None and names <= own and not targets.intersection(inside[1:]):
                gone.update(inside)
                variables |= names
    mentioned = {index for index, instr in enumerate(program.instrs) if _is_local(instr) and instr.arg in variables}
    rest = mentioned - gone
    if any(program.instrs[index].op is not Op.DELETE_FAST for index in rest):
        return program  # something else uses the variables
    return without(program, gone | rest)


def _is_local(instr: Instr) -> bool:
    return instr.op in (Op.LOAD_FAST, Op.STORE_FAST, Op.DELETE_FAST, Op.LOAD_FAST_AND_CLEAR)


def _match(instrs: Sequence[Instr], start: int, shape: _Shape) -> Optional[Set[str]]:
    """The names of the variables if the instructions from `start` on have this shape, else None."""
    if start + len(shape) > len(instrs) or instrs[start].op is not shape[0][0] or instrs[start].arg != shape[0][1]:
        return None
    names: Set[str] = set()
    for instr, (op, arg) in zip(instrs[start:], shape):
        if instr.op is not op:
            return None
        if isinstance(arg, str) and arg.startswith("$"):
            names.add(instr.arg)
        elif instr.arg != arg:
            return None
    return names
