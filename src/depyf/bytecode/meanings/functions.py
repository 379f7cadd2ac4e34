"""MAKE_FUNCTION of 3.13 and the SET_FUNCTION_ATTRIBUTEs behind it: one canonical instruction."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.program import Op
from depyf.bytecode.shape import VALUE
from depyf.bytecode.walk import Walk

# part -> rank: the parts lie on the stack in the order of their ranks, and are set from the top down
PARTS = {1: ("defaults", 0), 2: ("kwdefaults", 1), 4: ("annotations", 2), 16: ("annotate", 2), 8: ("closure", 3)}


def make_function(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    parts = []
    last_rank = len(PARTS)
    at = walk.next_unit(unit)
    while walk.name_at(at) == "SET_FUNCTION_ATTRIBUTE":
        part, rank = PARTS.get(walk.arguments[at], ("", last_rank))
        if rank >= last_rank:
            raise walk.error(at, "sets a part of a function out of order")
        parts.append(part)
        walk.fused.add(at)
        last_rank = rank
        at = walk.next_unit(at)
    shape = walk.take(unit, shape, len(parts) + 1) + VALUE
    walk.emit(unit, Op.MAKE_FUNCTION, frozenset(parts))
    return shape


def set_function_attribute(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """Part of the MAKE_FUNCTION in front of it."""
    if unit not in walk.fused:
        raise walk.error(unit, "does not follow the making of a function")
    return shape
