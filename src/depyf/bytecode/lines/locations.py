"""co_linetable of 3.11 and later: for one to eight code units each, lines and columns of start and end.

An entry's first byte has bit 7 set, a kind in bits 3 to 6 and the number of units less one in bits 0 to 2. Kinds:
0-9 same line, columns below 80 in one more byte; 10-12 that many (less ten) lines on, two bytes of columns;
13 a line without columns; 14 everything, as variable-length numbers; 15 no position at all.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.lines.table import NOWHERE, Entry
from depyf.bytecode.program import Position

LONG, LINE_ONLY, NO_POSITION = 14, 13, 15
MOST_UNITS = 8


def decode(table: bytes, firstlineno: int, size: int) -> List[Entry]:
    """Entries of a table for `size` bytes of code."""
    entries: List[Entry] = []
    line = firstlineno
    at = start = 0
    try:
        while at < len(table):
            head = table[at]
            if not head & 128:
                raise BytecodeError("the line table has a byte %d where an entry should begin" % head)
            kind = (head >> 3) & 15
            end = start + 2 * ((head & 7) + 1)
            at += 1
            if kind < 10:
                columns = table[at]
                at += 1
                column = (kind << 3) | (columns >> 4)
                position = Position(line, line, column, column + (columns & 15))
            elif kind < 13:
                line += kind - 10
                position = Position(line, line, table[at], table[at + 1])
                at += 2
            elif kind == NO_POSITION:
                position = NOWHERE
            else:
                delta, at = _signed(table, at)
                line += delta
                if kind == LINE_ONLY:
                    position = Position(line, line)
                else:
                    end_delta, at = _number(table, at)
                    column, at = _number(table, at)
                    end_column, at = _number(table, at)
                    position = Position(line, line + end_delta, _column(column), _column(end_column))
            entries.append((start, min(end, size), position))
            start = end
    except IndexError:
        raise BytecodeError("the line table ends in the middle of an entry") from None
    if start < size:
        entries.append((start, size, NOWHERE))
    return [entry for entry in entries if entry[0] < entry[1]]


def _column(stored: int) -> Optional[int]:
    return stored - 1 if stored else None


def _number(table: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = table[at]
        at += 1
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            return value, at


def _signed(table: bytes, at: int) -> Tuple[int, int]:
    value, at = _number(table, at)
    return (-(value >> 1) if value & 1 else value >> 1), at


def encode(entries: Sequence[Entry], firstlineno: int) -> bytes:
    """A table, in the shortest form that holds each position."""
    table = bytearray()
    line = firstlineno
    at = 0
    for start, end, position in entries:
        _write(table, start - at, NO_POSITION, b"")
        first_end = min(end, start + 2 * MOST_UNITS)
        _write(table, first_end - start, *_form(position, line))
        if position.line is not None:
            line = position.line
        # a long entry is cut into parts; those after the first are no lines on from it
        _write(table, end - first_end, *_form(position, line))
        at = max(at, end)
    return bytes(table)


def _write(table: bytearray, size: int, kind: int, body: bytes) -> None:
    units = size // 2
    while units > 0:
        part = min(units, MOST_UNITS)
        table.append(128 | (kind << 3) | (part - 1))
        table += body
        units -= part


def _form(position: Position, line: int) -> Tuple[int, bytes]:
    """Kind and following bytes for a position, when the entry before was on `line`."""
    if position.line is None:
        return NO_POSITION, b""
    delta = position.line - line
    end_line = position.line if position.end_line is None else position.end_line
    column, end_column = position.column, position.end_column
    if column is None and end_column is None and end_line == position.line:
        return LINE_ONLY, _signed_bytes(delta)
    if column is not None and end_column is not None and end_line == position.line:
        if delta == 0 and column < 80 and 0 <= end_column - column < 16:
            return column >> 3, bytes((((column & 7) << 4) | (end_column - column),))
        if 0 <= delta <= 2 and column < 128 and end_column < 128:
            return 10 + delta, bytes((column, end_column))
    return LONG, (
        _signed_bytes(delta)
        + _number_bytes(end_line - position.line)
        + _number_bytes(0 if column is None else column + 1)
        + _number_bytes(0 if end_column is None else end_column + 1)
    )


def _number_bytes(value: int) -> bytes:
    if value < 0:
        raise ValueError("a position ends before it starts")
    out = bytearray()
    while value > 63:
        out.append(64 | (value & 63))
        value >>= 6
    out.append(value)
    return bytes(out)


def _signed_bytes(value: int) -> bytes:
    return _number_bytes((-value << 1) | 1 if value < 0 else value << 1)
