"""CALL_INTRINSIC_1 and _2 (3.12): helpers of the compiler by number."""

from __future__ import annotations

from typing import Optional, Tuple

from depyf.bytecode.program import Op
from depyf.bytecode.shape import PHANTOM, VALUE
from depyf.bytecode.walk import Walk

PREFIX = "INTRINSIC_"


def _name(walk: Walk, unit: int, names: Tuple[str, ...], argument: int) -> str:
    if not 0 < argument < len(names):
        raise walk.error(unit, "calls intrinsic %d, which does not exist" % argument)
    return names[argument][len(PREFIX) :]


def call_intrinsic_1(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    name = _name(walk, unit, walk.dialect.intrinsics_1, argument)
    below = walk.take(unit, shape, 1)
    if name == "ASYNC_GEN_WRAP":
        return shape
    if name == "IMPORT_STAR":
        walk.emit(unit, Op.IMPORT_STAR)
        return below + PHANTOM  # its None is popped next
    if name == "UNARY_POSITIVE":
        walk.emit(unit, Op.UNARY, "+")
    elif name == "LIST_TO_TUPLE":
        walk.emit(unit, Op.LIST_TO_TUPLE)
    else:
        walk.emit(unit, Op.INTRINSIC, (name.lower(), 1))
    return below + VALUE


def call_intrinsic_2(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    name = _name(walk, unit, walk.dialect.intrinsics_2, argument)
    shape = walk.take(unit, shape, 2) + VALUE
    if name == "PREP_RERAISE_STAR":
        walk.emit(unit, Op.PREP_RERAISE_STAR)
    else:
        walk.emit(unit, Op.INTRINSIC, (name.lower(), 2))
    return shape
