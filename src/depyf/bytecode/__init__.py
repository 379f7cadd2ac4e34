"""CPython bytecode of every supported version as one canonical instruction set. The only part that knows versions."""

from __future__ import annotations

from depyf.bytecode.effects import can_raise, effect
from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.normalise import normalise
from depyf.bytecode.program import Instr, Op, Position, Program, Region

__all__ = ["BytecodeError", "Instr", "Op", "Position", "Program", "Region", "can_raise", "effect", "normalise"]
