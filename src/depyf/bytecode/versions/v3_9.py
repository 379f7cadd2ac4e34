"""CPython 3.9, as a difference from 3.8."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import FIXED, Plain, Row
from depyf.bytecode.meanings import blocks, operators
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_9
from depyf.bytecode.versions import v3_8

ROWS: Dict[str, Row] = {
    **v3_8.ROWS,
    "COMPARE_OP": operators.compare_op,
    # comparisons by identity and membership got opcodes of their own
    "IS_OP": operators.choice("is", "is not"),
    "CONTAINS_OP": operators.choice("in", "not in"),
    # displays with * and ** build a list, set or dict step by step, instead of the BUILD_*_UNPACK of 3.8
    "LIST_EXTEND": operators.add_to(Op.LIST_EXTEND),
    "SET_UPDATE": operators.add_to(Op.SET_UPDATE),
    "DICT_UPDATE": operators.add_to(Op.DICT_UPDATE),
    "DICT_MERGE": operators.add_to(Op.DICT_MERGE),
    "LIST_TO_TUPLE": Plain(Op.LIST_TO_TUPLE, FIXED, 1, "v"),
    # assert no longer looks a global up
    "LOAD_ASSERTION_ERROR": Plain(Op.LOAD_ASSERTION_ERROR, FIXED, 0, "v"),
    # handlers: the test has an opcode of its own, finally bodies are copied and end with a re-raise
    "JUMP_IF_NOT_EXC_MATCH": blocks.jump_if_not_exc_match,
    "RERAISE": blocks.reraise,
    "WITH_EXCEPT_START": blocks.with_except_start,
}

DIALECT = replace(
    v3_8.DIALECT,
    version=(3, 9),
    opcodes=py3_9.OPCODES,
    rows=ROWS,
    comparisons=py3_9.COMPARISONS,
    finally_calls=False,
)
