"""co_lnotab of 3.8 and 3.9: pairs (bytes forward, lines forward as a signed byte). Every instruction has a line."""

from __future__ import annotations

from typing import List, Sequence

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.lines.table import Entry, merged_lines
from depyf.bytecode.program import Position


def decode(table: bytes, firstlineno: int, size: int) -> List[Entry]:
    """Entries of a table for `size` bytes of code."""
    if len(table) % 2:
        raise BytecodeError("the line table ends in the middle of an entry")
    entries: List[Entry] = []
    line = firstlineno
    start = at = 0
    for index in range(0, len(table), 2):
        step, delta = table[index], table[index + 1]
        at += step
        if delta > 127:
            delta -= 256
        if delta:
            if at > start:
                entries.append((start, min(at, size), Position(line)))
                start = at
            line += delta
    if start < size:
        entries.append((start, size, Position(line)))
    return [entry for entry in entries if entry[0] < entry[1]]


def encode(entries: Sequence[Entry], firstlineno: int) -> bytes:
    """A table; instructions without a line get the one before them."""
    table = bytearray()
    line = firstlineno
    at = 0
    for start, _, wanted in merged_lines(entries):
        if wanted is None or wanted == line:
            continue
        step, delta = start - at, wanted - line
        at, line = start, wanted
        while step > 255:
            table += b"\xff\x00"
            step -= 255
        while not -128 <= delta <= 127:
            part = 127 if delta > 0 else -128
            table += bytes((step, part & 255))
            step = 0
            delta -= part
        table += bytes((step, delta & 255))
    return bytes(table)
