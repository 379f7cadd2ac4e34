"""What each canonical operation is in Python: the tables of `values`, `exceptions` and `matching` as one."""

from __future__ import annotations

from depyf.bytecode.program import Instr

from .builder import Builder, Table, UnknownOperation
from .exceptions import EXCEPTIONS
from .matching import MATCHING
from .values import VALUES

TABLE: Table = {**VALUES, **EXCEPTIONS, **MATCHING}


def apply(builder: Builder, instr: Instr) -> None:
    """Execute one instruction that is no jump, branch, end or change of the handled exception.

    Raises UnknownOperation for what cannot be written.
    """
    handler = TABLE.get(instr.op)
    if handler is None:
        raise UnknownOperation(f"{instr.op.name} {instr.arg!r}")
    builder.offset = instr.offset
    handler(builder, instr)
