"""CPython 3.8: the base that every later version is a difference from.

Row by row: what each opcode becomes. The exception opcodes of the block stack are in `meanings/blocks.py`.
"""

from __future__ import annotations

from typing import Dict

from depyf.bytecode.dialect import CELL, CONSTANT, FIXED, LOCAL, NAME, Dialect, Plain, Row
from depyf.bytecode.finally_calls import ADDED_OPCODES
from depyf.bytecode.meanings import blocks, calls, control, finally_, operators, stack
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_8

BINARY_OPERATORS = {
    "ADD": "+",
    "SUBTRACT": "-",
    "MULTIPLY": "*",
    "MATRIX_MULTIPLY": "@",
    "TRUE_DIVIDE": "/",
    "FLOOR_DIVIDE": "//",
    "MODULO": "%",
    "POWER": "**",
    "LSHIFT": "<<",
    "RSHIFT": ">>",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
}


def _operator_rows() -> Dict[str, Row]:
    rows: Dict[str, Row] = {}
    for name, spelling in BINARY_OPERATORS.items():
        rows["BINARY_" + name] = Plain(Op.BINARY, FIXED, 2, "v", spelling)
        rows["INPLACE_" + name] = Plain(Op.INPLACE, FIXED, 2, "v", spelling)
    for name, spelling in (("POSITIVE", "+"), ("NEGATIVE", "-"), ("NOT", "not"), ("INVERT", "~")):
        rows["UNARY_" + name] = Plain(Op.UNARY, FIXED, 1, "v", spelling)
    return rows


ROWS: Dict[str, Row] = {
    **_operator_rows(),
    "NOP": stack.nothing,
    "POP_TOP": stack.pop,
    "ROT_TWO": stack.rotation(2),
    "ROT_THREE": stack.rotation(3),
    "ROT_FOUR": stack.rotation(4),
    "DUP_TOP": stack.copies(1, 1),
    "DUP_TOP_TWO": stack.copies(2, 2),
    # names
    "LOAD_CONST": Plain(Op.LOAD_CONST, CONSTANT, 0, "v"),
    "LOAD_FAST": Plain(Op.LOAD_FAST, LOCAL, 0, "v"),
    "STORE_FAST": Plain(Op.STORE_FAST, LOCAL, 1),
    "DELETE_FAST": Plain(Op.DELETE_FAST, LOCAL),
    "LOAD_DEREF": Plain(Op.LOAD_DEREF, CELL, 0, "v"),
    "STORE_DEREF": Plain(Op.STORE_DEREF, CELL, 1),
    "DELETE_DEREF": Plain(Op.DELETE_DEREF, CELL),
    "LOAD_CLASSDEREF": Plain(Op.LOAD_CLASSDEREF, CELL, 0, "v"),
    "LOAD_CLOSURE": Plain(Op.LOAD_CLOSURE, CELL, 0, "v"),
    "LOAD_GLOBAL": Plain(Op.LOAD_GLOBAL, NAME, 0, "v"),
    "STORE_GLOBAL": Plain(Op.STORE_GLOBAL, NAME, 1),
    "DELETE_GLOBAL": Plain(Op.DELETE_GLOBAL, NAME),
    "LOAD_NAME": Plain(Op.LOAD_NAME, NAME, 0, "v"),
    "STORE_NAME": Plain(Op.STORE_NAME, NAME, 1),
    "DELETE_NAME": Plain(Op.DELETE_NAME, NAME),
    "LOAD_BUILD_CLASS": Plain(Op.LOAD_BUILD_CLASS, FIXED, 0, "v"),
    "SETUP_ANNOTATIONS": Plain(Op.SETUP_ANNOTATIONS),
    # attributes and items
    "LOAD_ATTR": Plain(Op.LOAD_ATTR, NAME, 1, "v"),
    "STORE_ATTR": Plain(Op.STORE_ATTR, NAME, 2),
    "DELETE_ATTR": Plain(Op.DELETE_ATTR, NAME, 1),
    "BINARY_SUBSCR": Plain(Op.LOAD_SUBSCR, FIXED, 2, "v"),
    "STORE_SUBSCR": Plain(Op.STORE_SUBSCR, FIXED, 3),
    "DELETE_SUBSCR": Plain(Op.DELETE_SUBSCR, FIXED, 2),
    # operators and displays
    "COMPARE_OP": finally_.compare,
    "BUILD_TUPLE_UNPACK": operators.build_unpacked("unpack_tuple"),
    "BUILD_TUPLE_UNPACK_WITH_CALL": operators.build_unpacked("unpack_tuple"),
    "BUILD_LIST_UNPACK": operators.build_unpacked("unpack_list"),
    "BUILD_SET_UNPACK": operators.build_unpacked("unpack_set"),
    "BUILD_MAP_UNPACK": operators.build_unpacked("unpack_map"),
    "BUILD_MAP_UNPACK_WITH_CALL": operators.build_unpacked("unpack_map_call"),
    "BUILD_TUPLE": operators.build(Op.BUILD_TUPLE),
    "BUILD_LIST": operators.build(Op.BUILD_LIST),
    "BUILD_SET": operators.build(Op.BUILD_SET),
    "BUILD_STRING": operators.build(Op.BUILD_STRING),
    "BUILD_MAP": operators.build(Op.BUILD_MAP, 2),
    "BUILD_CONST_KEY_MAP": operators.build_const_key_map,
    "BUILD_SLICE": operators.build_slice,
    "FORMAT_VALUE": operators.format_value,
    "LIST_APPEND": operators.add_to(Op.LIST_APPEND),
    "SET_ADD": operators.add_to(Op.SET_ADD),
    "MAP_ADD": operators.add_to(Op.MAP_ADD, 2),
    "UNPACK_SEQUENCE": operators.unpack_sequence,
    "UNPACK_EX": operators.unpack_ex,
    # functions and imports
    "LOAD_METHOD": calls.load_method,
    "CALL_FUNCTION": calls.call_function,
    "CALL_METHOD": calls.call_method,
    "CALL_FUNCTION_KW": calls.call_function_kw,
    "CALL_FUNCTION_EX": calls.call_function_ex_plain,
    "MAKE_FUNCTION": calls.make_function(True),
    "IMPORT_NAME": calls.import_name,
    "IMPORT_FROM": Plain(Op.IMPORT_FROM, NAME, 1, "vv"),
    "IMPORT_STAR": Plain(Op.IMPORT_STAR, FIXED, 1),
    # iteration and generators
    "GET_ITER": Plain(Op.GET_ITER, FIXED, 1, "v"),
    "GET_AITER": Plain(Op.GET_AITER, FIXED, 1, "v"),
    "GET_ANEXT": Plain(Op.GET_ANEXT, FIXED, 1, "vv"),
    "GET_YIELD_FROM_ITER": Plain(Op.GET_YIELD_FROM_ITER, FIXED, 1, "v"),
    "GET_AWAITABLE": Plain(Op.GET_AWAITABLE, FIXED, 1, "v"),
    "FOR_ITER": control.for_iter(""),
    "YIELD_FROM": Plain(Op.YIELD_FROM, FIXED, 2, "v"),
    "YIELD_VALUE": Plain(Op.YIELD, FIXED, 1, "v"),
    # control
    "JUMP_FORWARD": control.jump,
    "JUMP_ABSOLUTE": control.jump,
    "POP_JUMP_IF_TRUE": control.branch(Op.BRANCH_TRUE),
    "POP_JUMP_IF_FALSE": control.branch(Op.BRANCH_FALSE),
    "JUMP_IF_TRUE_OR_POP": control.branch_or_pop(Op.BRANCH_TRUE),
    "JUMP_IF_FALSE_OR_POP": control.branch_or_pop(Op.BRANCH_FALSE),
    "RETURN_VALUE": control.leave(Op.RETURN, 1),
    "RAISE_VARARGS": control.raise_,
    # exceptions and with-statements
    "SETUP_FINALLY": blocks.setup_finally,
    "SETUP_WITH": blocks.setup_with,
    "BEFORE_ASYNC_WITH": Plain(Op.BEFORE_ASYNC_WITH, FIXED, 1, "xv"),
    "SETUP_ASYNC_WITH": blocks.setup_async_with,
    "POP_BLOCK": blocks.pop_block,
    "POP_EXCEPT": blocks.pop_except,
    "BEGIN_FINALLY": stack.push_phantom,
    "CALL_FINALLY": stack.push_phantom,
    "END_FINALLY": blocks.reraise,
    "POP_FINALLY": finally_.pop_finally,
    "WITH_CLEANUP_START": finally_.with_cleanup_start,
    "WITH_CLEANUP_FINISH": finally_.with_cleanup_finish,
    "ADDED_JUMP": finally_.added_jump,
    "RETURN_FROM_FINALLY": finally_.return_from_finally,
    "SUPPRESSED": finally_.suppressed,
    "END_ASYNC_FOR": Plain(Op.END_ASYNC_FOR, FIXED, 2),
    "PRINT_EXPR": control.print_expression,
}

DIALECT = Dialect(
    version=(3, 8),
    opcodes=py3_8.OPCODES + ADDED_OPCODES,
    rows=ROWS,
    comparisons=py3_8.COMPARISONS,
    jump_in_bytes=True,
    block_stack=True,
    finally_calls=True,
    line_format="lnotab",
)
