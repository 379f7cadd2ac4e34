"""Raw instructions: what the walk goes over, one entry per code unit (two bytes)."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import List, Optional, Sequence

from depyf.bytecode.errors import BytecodeError


@dataclass
class RawCode:
    """`targets`, if given, are the jumps' targets as units; else they follow from the arguments.

    `offsets` are byte offsets in the code object: what an instruction is known by outside.
    """

    numbers: Sequence[int]
    arguments: Sequence[int]
    offsets: Sequence[int]
    lines: Sequence[Optional[int]]
    targets: Optional[List[Optional[int]]] = None


def raw_code(code: CodeType, lines: Sequence[Optional[int]]) -> RawCode:
    """The units of a code object as they are. Raises BytecodeError if there is no whole number of them, or none."""
    raw = code.co_code
    if len(raw) % 2 or not raw:
        raise BytecodeError(
            "the bytecode of %s is %d bytes long: not a whole number of instructions" % (code.co_name, len(raw))
        )
    return RawCode(raw[0::2], raw[1::2], range(0, len(raw), 2), lines)
