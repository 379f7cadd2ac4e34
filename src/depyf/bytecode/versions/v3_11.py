"""CPython 3.11, as a difference from 3.10."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import FIXED, NUMBER, Plain, Row
from depyf.bytecode.meanings import calls, control, operators, stack
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_11
from depyf.bytecode.versions import v3_10

ROWS: Dict[str, Row] = {
    **v3_10.ROWS,
    # stack moves are general instead of ROT_* and DUP_*
    "COPY": stack.copy,
    "SWAP": stack.exchange,
    # bookkeeping of the interpreter
    "RESUME": stack.nothing,
    "MAKE_CELL": stack.nothing,
    "COPY_FREE_VARS": stack.nothing,
    "PRECALL": stack.nothing,
    # a generator starts by returning itself; what it is first sent is popped
    "RETURN_GENERATOR": stack.push_phantom,
    "ASYNC_GEN_WRAP": stack.nothing,
    # one opcode for all operators
    "BINARY_OP": operators.binary_op,
    # calls: NULLs beside callables, keyword names in an instruction of their own
    "PUSH_NULL": stack.push_phantom,
    "LOAD_GLOBAL": calls.load_global,
    "KW_NAMES": calls.keyword_names,
    "CALL": calls.call,
    "CALL_FUNCTION_EX": calls.call_function_ex,
    # the code object knows its qualified name: no constant for it on the stack
    "MAKE_FUNCTION": calls.make_function(False),
    # exceptions: a table instead of blocks, one value instead of three
    "PUSH_EXC_INFO": Plain(Op.PUSH_EXC_INFO, FIXED, 1, "vv"),
    "POP_EXCEPT": Plain(Op.POP_EXCEPT, FIXED, 1),
    "CHECK_EXC_MATCH": Plain(Op.CHECK_EXC_MATCH, FIXED, 2, "vv"),
    "CHECK_EG_MATCH": Plain(Op.CHECK_EG_MATCH, FIXED, 2, "vv"),
    "PREP_RERAISE_STAR": Plain(Op.PREP_RERAISE_STAR, FIXED, 2, "v"),
    "RERAISE": control.leave(Op.RERAISE, 1),
    # with-statements: the exit method stays on the stack, its call is an ordinary one
    "BEFORE_WITH": Plain(Op.BEFORE_WITH, FIXED, 1, "xv"),
    "BEFORE_ASYNC_WITH": Plain(Op.BEFORE_ASYNC_WITH, FIXED, 1, "xv"),
    "WITH_EXCEPT_START": control.with_except_start(1),
    "END_ASYNC_FOR": Plain(Op.END_ASYNC_FOR, FIXED, 2),
    # await and yield from are loops of instructions
    "SEND": control.send(False),
    # match: one result, None for no match
    "MATCH_KEYS": Plain(Op.MATCH_KEYS, FIXED, 2, "vvv"),
    "MATCH_CLASS": Plain(Op.MATCH_CLASS, NUMBER, 3, "v"),
    # jumps are relative, their direction is in the name
    "JUMP_BACKWARD": control.jump,
    "JUMP_BACKWARD_NO_INTERRUPT": control.jump,
    "POP_JUMP_FORWARD_IF_TRUE": control.branch(Op.BRANCH_TRUE),
    "POP_JUMP_BACKWARD_IF_TRUE": control.branch(Op.BRANCH_TRUE),
    "POP_JUMP_FORWARD_IF_FALSE": control.branch(Op.BRANCH_FALSE),
    "POP_JUMP_BACKWARD_IF_FALSE": control.branch(Op.BRANCH_FALSE),
    "POP_JUMP_FORWARD_IF_NONE": control.branch_none(Op.BRANCH_TRUE),
    "POP_JUMP_BACKWARD_IF_NONE": control.branch_none(Op.BRANCH_TRUE),
    "POP_JUMP_FORWARD_IF_NOT_NONE": control.branch_none(Op.BRANCH_FALSE),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": control.branch_none(Op.BRANCH_FALSE),
}

DIALECT = replace(
    v3_10.DIALECT,
    version=(3, 11),
    opcodes=py3_11.OPCODES,
    rows=ROWS,
    comparisons=py3_11.COMPARISONS,
    operators=py3_11.OPERATORS,
    shared_locals=True,  # one array for locals, cells and free variables
    block_stack=False,
    line_format="locations",
)
