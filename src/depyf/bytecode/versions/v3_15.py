"""CPython 3.15, as a difference from 3.14."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from depyf.bytecode.dialect import Row
from depyf.bytecode.meanings import calls, control, names, stack
from depyf.bytecode.tables import py3_15
from depyf.bytecode.versions import v3_14

ROWS: Dict[str, Row] = {
    **v3_14.ROWS,
    # an iterator has a second slot (an index, for sequences); so has the receiver of an await
    "GET_ITER": control.get_iter_with_index,
    "FOR_ITER": control.for_iter("nnn", 2),
    "POP_ITER": stack.pop_with_phantom,
    "SEND": control.send(True, 2),
    "END_SEND": control.end_send(3),
    # None, True, False, "" and -1 need no entry in co_consts
    "LOAD_COMMON_CONSTANT": names.load_common_constant_or_value,
    # imports may be lazy
    "IMPORT_NAME": calls.import_name_lazily,
}

DIALECT = replace(
    v3_14.DIALECT,
    version=(3, 15),
    opcodes=py3_15.OPCODES,
    rows=ROWS,
    operators=py3_15.OPERATORS,
    comparisons=py3_15.COMPARISONS,
    intrinsics_1=py3_15.INTRINSICS_1,
    intrinsics_2=py3_15.INTRINSICS_2,
    common_constants=py3_15.COMMON_CONSTANTS,
    special_methods=py3_15.SPECIAL_METHODS,
)
