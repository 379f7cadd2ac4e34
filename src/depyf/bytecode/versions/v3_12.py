"""CPython 3.12, as a difference from 3.11."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import CELL, FIXED, LOCAL, Plain, Row
from depyf.bytecode.meanings import calls, control, intrinsics, names, operators, stack
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_12
from depyf.bytecode.versions import v3_11

ROWS: Dict[str, Row] = {
    **v3_11.ROWS,
    # small helpers of the compiler became intrinsics
    "CALL_INTRINSIC_1": intrinsics.call_intrinsic_1,
    "CALL_INTRINSIC_2": intrinsics.call_intrinsic_2,
    "RETURN_CONST": control.return_const,
    # slices without step skip the slice object
    "BINARY_SLICE": operators.binary_slice,
    "STORE_SLICE": operators.store_slice,
    # LOAD_METHOD is a bit of LOAD_ATTR; super().name has an opcode of its own
    "LOAD_ATTR": calls.load_attr,
    "LOAD_SUPER_ATTR": calls.load_super_attr,
    # inlined comprehensions save the outer variable; other loads say whether they must check
    "LOAD_FAST_AND_CLEAR": Plain(Op.LOAD_FAST_AND_CLEAR, LOCAL, 0, "v"),
    "LOAD_FAST_CHECK": Plain(Op.LOAD_FAST, LOCAL, 0, "v"),
    # class namespaces are pushed first, then asked
    "LOAD_LOCALS": Plain(Op.LOAD_LOCALS, FIXED, 0, "v"),
    "LOAD_FROM_DICT_OR_DEREF": names.load_from_dict(Op.LOAD_CLASSDEREF, CELL),
    "LOAD_FROM_DICT_OR_GLOBALS": names.load_from_dict_or_globals,
    # the compiler sees an iterator and a NULL at a loop's end, and drops both there
    "FOR_ITER": control.for_iter("nn"),
    "END_FOR": stack.pop_phantoms(2),
    # await keeps the receiver below the result
    "SEND": control.send(True),
    "END_SEND": control.end_send(2),
    # jumps on a condition only go forward
    "POP_JUMP_IF_TRUE": control.branch(Op.BRANCH_TRUE),
    "POP_JUMP_IF_FALSE": control.branch(Op.BRANCH_FALSE),
    "POP_JUMP_IF_NONE": control.branch_none(Op.BRANCH_TRUE),
    "POP_JUMP_IF_NOT_NONE": control.branch_none(Op.BRANCH_FALSE),
}

DIALECT = replace(
    v3_11.DIALECT,
    version=(3, 12),
    opcodes=py3_12.OPCODES,
    rows=ROWS,
    operators=py3_12.OPERATORS,
    comparisons=py3_12.COMPARISONS,
    comparison_shift=4,  # low bits are hints for the specialiser
    intrinsics_1=py3_12.INTRINSICS_1,
    intrinsics_2=py3_12.INTRINSICS_2,
)
