"""CPython 3.14, as a difference from 3.13."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import FIXED, NUMBER, Plain, Row
from depyf.bytecode.meanings import calls, control, names, operators, stack, with_
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_14
from depyf.bytecode.versions import v3_13

ROWS: Dict[str, Row] = {
    **v3_13.ROWS,
    # constants without an entry in co_consts
    "LOAD_SMALL_INT": Plain(Op.LOAD_CONST, NUMBER, 0, "v"),
    "LOAD_COMMON_CONSTANT": names.load_common_constant,
    # borrowed references: the same values
    "LOAD_FAST_BORROW": names.load_fast,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": names.load_fast_load_fast,
    # a marker for branch statistics
    "NOT_TAKEN": stack.nothing,
    # a loop's end drops the iterator by an opcode of its own
    "POP_ITER": stack.pop,
    # with-statements look their two methods up by ordinary instructions; the exit method takes two slots
    "LOAD_SPECIAL": with_.load_special,
    "WITH_EXCEPT_START": control.with_except_start(2),
    # a call with ** has a slot for the keywords even without any
    "CALL_FUNCTION_EX": calls.call_function_ex_full,
    # t-strings
    "BUILD_TEMPLATE": Plain(Op.BUILD_TEMPLATE, FIXED, 2, "v"),
    "BUILD_INTERPOLATION": operators.build_interpolation,
}

DIALECT = replace(
    v3_13.DIALECT,
    version=(3, 14),
    opcodes=py3_14.OPCODES,
    rows=ROWS,
    operators=py3_14.OPERATORS,  # the last one is subscription
    comparisons=py3_14.COMPARISONS,
    intrinsics_1=py3_14.INTRINSICS_1,
    intrinsics_2=py3_14.INTRINSICS_2,
    common_constants=py3_14.COMMON_CONSTANTS,
    special_methods=py3_14.SPECIAL_METHODS,
)
