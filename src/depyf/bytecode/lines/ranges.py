"""co_linetable of 3.10: pairs (bytes covered, lines forward as a signed byte, -128 for "no line")."""

from __future__ import annotations

from typing import List, Sequence

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.lines.table import NOWHERE, Entry, merged_lines
from depyf.bytecode.program import Position

NO_LINE = 128
LONGEST = 254  # a range's bytes: an even number that fits


def decode(table: bytes, firstlineno: int, size: int) -> List[Entry]:
    """Entries of a table for `size` bytes of code."""
    if len(table) % 2:
        raise BytecodeError("the line table ends in the middle of an entry")
    entries: List[Entry] = []
    line = firstlineno
    start = 0
    for index in range(0, len(table), 2):
        step, delta = table[index], table[index + 1]
        if delta == NO_LINE:
            position = NOWHERE
        else:
            line += delta - 256 if delta > 127 else delta
            position = Position(line)
        end = min(start + step, size)
        if end > start:
            if entries and entries[-1][2] == position:
                entries[-1] = (entries[-1][0], end, position)
            else:
                entries.append((start, end, position))
            start = end
    if start < size:
        entries.append((start, size, NOWHERE))
    return entries


def encode(entries: Sequence[Entry], firstlineno: int) -> bytes:
    """A table."""
    table = bytearray()
    line = firstlineno
    for start, end, wanted in merged_lines(entries):
        size = end - start
        if wanted is None:
            while size > 0:
                step = min(size, LONGEST)
                table += bytes((step, NO_LINE))
                size -= step
            continue
        delta = wanted - line
        line = wanted
        while not -127 <= delta <= 127:
            part = 127 if delta > 0 else -127
            table += bytes((0, part & 255))
            delta -= part
        while size > 0:
            step = min(size, LONGEST)
            table += bytes((step, delta & 255))
            delta = 0
            size -= step
    return bytes(table)
