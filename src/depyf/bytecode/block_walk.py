"""The walk for 3.8 to 3.10, where a stack of blocks says where exceptions go.

What the table of 3.11 says outright is implied there, and made explicit here:

- A handler is entered with six slots pushed (the exception that was being handled as traceback, value, type; then
  the new one likewise) and a block that undoes that. Here: PUSH_EXC_INFO in front of the handler, with
  `previous` and the exception as the only values among the six.
- An exception that leaves a handler makes the interpreter restore `previous`. Here: a clean-up handler
  `COPY 2; POP_EXCEPT; RERAISE` at the end of the program, as the compiler of 3.11 writes it.
"""

from __future__ import annotations

from types import CodeType
from typing import Dict, Tuple

from depyf.bytecode.dialect import Dialect
from depyf.bytecode.exception_table import Guard
from depyf.bytecode.program import Instr, Op
from depyf.bytecode.raw import RawCode
from depyf.bytecode.shape import PHANTOM, VALUE
from depyf.bytecode.walk import Walk

PREVIOUS = PHANTOM + PHANTOM + VALUE  # traceback, value, type: the type's slot stands for the exception
CAUGHT = PHANTOM + VALUE + PHANTOM  # here the value's does, as that is the one that `as name` stores


class BlockWalk(Walk):
    """A walk that keeps the block stack. `start_handler` may add units past the end of the code for clean-ups."""

    def __init__(self, code: CodeType, dialect: Dialect, raw: RawCode) -> None:
        super().__init__(code, dialect, raw)
        self._cleanups: Dict[Tuple[Guard, ...], Guard] = {}

    def start_handler(self, unit: int, guard: Guard, kept: str, blocks: Tuple[Guard, ...]) -> None:
        if guard.handler >= self.units:
            self._start_cleanup(guard, kept, blocks)
        elif self.name_at(guard.handler) == "END_ASYNC_FOR":
            # it ends the loop or re-raises by itself, so nothing is ever being handled
            self._continue_at(guard.handler, kept + VALUE, blocks)
        else:
            self.handler_entries.add(guard.handler)
            cleanup = self._cleanup(guard, kept, blocks)
            self._continue_at(guard.handler, kept + PREVIOUS + CAUGHT, blocks + (cleanup,))

    def _continue_at(self, unit: int, shape: str, blocks: Tuple[Guard, ...]) -> None:
        self.pending.append((unit, shape, blocks))

    def _cleanup(self, guard: Guard, kept: str, blocks: Tuple[Guard, ...]) -> Guard:
        """The block that is set up while the handler of `guard` runs."""
        key = blocks + (guard,)
        found = self._cleanups.get(key)
        if found is None:
            found = self._cleanups[key] = Guard(len(self.out), len(kept + PREVIOUS), False)
            self.out.append(None)
            self.guards.append(blocks[-1] if blocks else None)
        return found

    def _start_cleanup(self, guard: Guard, kept: str, blocks: Tuple[Guard, ...]) -> None:
        self.out[guard.handler] = [Instr(Op.COPY, 2), Instr(Op.POP_EXCEPT), Instr(Op.RERAISE)]
        if blocks:
            self.enter_handler(guard.handler, blocks[-1], kept, blocks[:-1])
