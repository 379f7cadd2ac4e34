"""CPython 3.10, as a difference from 3.9."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import FIXED, Plain, Row
from depyf.bytecode.meanings import match, stack
from depyf.bytecode.program import Op
from depyf.bytecode.tables import py3_10
from depyf.bytecode.versions import v3_9

ROWS: Dict[str, Row] = {
    **v3_9.ROWS,
    # match statements
    "GET_LEN": Plain(Op.GET_LEN, FIXED, 1, "vv"),
    "MATCH_MAPPING": Plain(Op.MATCH_MAPPING, FIXED, 1, "vv"),
    "MATCH_SEQUENCE": Plain(Op.MATCH_SEQUENCE, FIXED, 1, "vv"),
    "MATCH_KEYS": match.match_keys,
    "MATCH_CLASS": match.match_class,
    "POP_JUMP_IF_FALSE": match.branch_false,
    "COPY_DICT_WITHOUT_KEYS": match.copy_dict_without_keys,
    # pops what a generator is first sent: our stack starts without it
    "GEN_START": stack.nothing,
    "ROT_N": stack.rotation(0),
}

DIALECT = replace(
    v3_9.DIALECT,
    version=(3, 10),
    opcodes=py3_10.OPCODES,
    rows=ROWS,
    comparisons=py3_10.COMPARISONS,
    jump_in_bytes=False,  # jump arguments count code units now
    line_format="ranges",
)
