"""With-statements of 3.14, entered by a sequence of ordinary instructions."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.program import Op
from depyf.bytecode.shape import EXIT, PHANTOM, VALUE
from depyf.bytecode.walk import Walk

KINDS = {"__exit__": ("__enter__", Op.BEFORE_WITH), "__aexit__": ("__aenter__", Op.BEFORE_ASYNC_WITH)}


def load_special(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """COPY 1; LOAD_SPECIAL exit; SWAP 2; SWAP 3; LOAD_SPECIAL enter; CALL 0: entering a with-statement.

    [manager] -> [exit method, its self, value]: the self counts as a phantom here.
    """
    before = walk.previous[unit]
    made = walk.out[before] if before >= 0 else None
    enter, op = KINDS.get(_method(walk, argument), ("", Op.BEFORE_WITH))
    swap_2 = walk.next_unit(unit)
    swap_3 = swap_2 + 1
    load = swap_3 + 1
    call = load + 1
    if not (
        enter
        and made
        and len(made) == 1
        and made[0].op is Op.COPY
        and made[0].arg == 1
        and walk.name_at(swap_2) == "SWAP"
        and walk.arguments[swap_2] == 2
        and walk.name_at(swap_3) == "SWAP"
        and walk.arguments[swap_3] == 3
        and walk.name_at(load) == "LOAD_SPECIAL"
        and _method(walk, walk.arguments[load]) == enter
        and walk.name_at(call) == "CALL"
        and walk.arguments[call] == 0
    ):
        raise walk.error(unit, "is not part of entering a with-statement")
    walk.absorb(unit, [before])
    walk.emit(unit, op)
    below = walk.take(unit, shape, 2)
    walk.skip_to(walk.next_unit(call), below + EXIT + PHANTOM + VALUE)
    return None


def _method(walk: Walk, argument: int) -> str:
    methods = walk.dialect.special_methods
    return methods[argument] if argument < len(methods) else ""
