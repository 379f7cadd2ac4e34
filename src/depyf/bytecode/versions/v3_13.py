"""CPython 3.13, as a difference from 3.12."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import Row
from depyf.bytecode.meanings import calls, control, functions, names, operators, stack
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_13
from depyf.bytecode.versions import v3_12

ROWS: Dict[str, Row] = {
    **v3_12.ROWS,
    # truth is tested before a jump; the canonical branches test it themselves
    "TO_BOOL": stack.nothing,
    "POP_JUMP_IF_TRUE": control.already_tested(control.branch(Op.BRANCH_TRUE)),
    "POP_JUMP_IF_FALSE": control.already_tested(control.branch(Op.BRANCH_FALSE)),
    "POP_JUMP_IF_NONE": control.already_tested(control.branch_none(Op.BRANCH_TRUE)),
    "POP_JUMP_IF_NOT_NONE": control.already_tested(control.branch_none(Op.BRANCH_FALSE)),
    # keyword names are a value on the stack
    "CALL_KW": calls.call_kw,
    # functions get their parts one by one after they are made
    "MAKE_FUNCTION": functions.make_function,
    "SET_FUNCTION_ATTRIBUTE": functions.set_function_attribute,
    # f-string fields: conversion and formatting apart
    "CONVERT_VALUE": operators.convert_value,
    "FORMAT_SIMPLE": operators.format_converted(False),
    "FORMAT_WITH_SPEC": operators.format_converted(True),
    # LOAD_CLOSURE went: loading a variable that is a cell loads the cell
    "LOAD_FAST": names.load_fast,
    # two in one
    "LOAD_FAST_LOAD_FAST": names.load_fast_load_fast,
    "STORE_FAST_LOAD_FAST": names.store_fast_load_fast,
    "STORE_FAST_STORE_FAST": names.store_fast_store_fast,
    # a loop's end drops the NULL; a POP_TOP follows for the iterator
    "END_FOR": stack.pop_phantoms(1),
}

DIALECT = replace(
    v3_12.DIALECT,
    version=(3, 13),
    opcodes=py3_13.OPCODES,
    rows=ROWS,
    operators=py3_13.OPERATORS,
    comparisons=py3_13.COMPARISONS,
    comparison_shift=5,  # one more low bit: the result is wanted as a bool
    intrinsics_1=py3_13.INTRINSICS_1,
    intrinsics_2=py3_13.INTRINSICS_2,
    null_above=True,  # PUSH_NULL comes after the callable
)
