"""The table of what each canonical instruction does to a `State`; the modules beside this one fill it."""

from __future__ import annotations

from typing import Callable, Dict

from ...bytecode.program import Instr, Op
from .state import State

SIMPLE_STORES = frozenset({Op.STORE_FAST, Op.STORE_NAME, Op.STORE_GLOBAL, Op.STORE_DEREF})
STORES = SIMPLE_STORES | {Op.STORE_ATTR, Op.STORE_SUBSCR}
LOADS_OF_NAMES = frozenset(
    {Op.LOAD_FAST, Op.LOAD_DEREF, Op.LOAD_CLASSDEREF, Op.LOAD_GLOBAL, Op.LOAD_NAME, Op.LOAD_CLASSGLOBAL}
)

Handler = Callable[[State, Instr], None]
TABLE: Dict[Op, Handler] = {}


def handles(*ops: Op) -> Callable[[Handler], Handler]:
    """Register a function as what `ops` do."""

    def register(handler: Handler) -> Handler:
        for op in ops:
            TABLE[op] = handler
        return handler

    return register
