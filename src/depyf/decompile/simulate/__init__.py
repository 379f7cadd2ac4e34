"""Symbolic execution of a basic block: instructions become statements, in order, and expressions left on the stack.

Evaluation order is never changed: before a statement is emitted, every value still on the stack that the statement
could affect (see `effects`) gets a temporary.
"""

from __future__ import annotations

from typing import List

from ...bytecode.program import Instr
from . import calls, control, displays, parts, stack, variables  # noqa: F401 (they fill the table)
from .state import SimulationError, State, Temporaries
from .table import TABLE

__all__ = ["SimulationError", "State", "Temporaries", "run"]


def run(state: State, instrs: List[Instr]) -> None:
    """Execute `instrs` on `state`. Raises SimulationError when the stack doesn't hold what is needed."""
    state.instrs = instrs
    state.index = 0
    count = len(instrs)
    while state.index < count:
        instr = instrs[state.index]
        handler = TABLE.get(instr.op)
        if handler is None:
            raise SimulationError("no meaning for %s" % instr.op.name)
        state.index += 1
        before = len(state.stack)
        handler(state, instr)
        if state.stack and len(state.stack) >= before - 8:
            top = state.stack[-1]
            if top.offset < 0:
                top.offset = instr.offset
