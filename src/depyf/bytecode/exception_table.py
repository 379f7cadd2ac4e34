"""Read the exception table of 3.11 and later."""

from __future__ import annotations

from typing import List, NamedTuple

from depyf.bytecode.errors import BytecodeError


class Guard(NamedTuple):
    """Where an exception goes: code unit of the handler, raw stack slots kept, whether the index is saved too."""

    handler: int
    depth: int
    saves_index: bool


class TableEntry(NamedTuple):
    """Code units `start <= unit < end` are under `guard`."""

    start: int
    end: int
    guard: Guard


def read_exception_table(table: bytes) -> List[TableEntry]:
    """Decode `co_exceptiontable`. Raises BytecodeError when it is cut short.

    Each number is big-endian in groups of six bits; bit 6 says that more follows, bit 7 marks an entry's start.
    """
    numbers = []
    value = 0
    open_number = False
    for byte in table:
        value = (value << 6) | (byte & 63)
        open_number = bool(byte & 64)
        if not open_number:
            numbers.append(value)
            value = 0
    if open_number or len(numbers) % 4:
        raise BytecodeError("the exception table ends in the middle of an entry")
    entries = []
    for at in range(0, len(numbers), 4):
        start, length, handler, last = numbers[at : at + 4]
        entries.append(TableEntry(start, start + length, Guard(handler, last >> 1, bool(last & 1))))
    return entries
