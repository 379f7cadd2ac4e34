"""The line of each code unit, read in one quick pass (the decoder wants nothing else of a line table)."""

from __future__ import annotations

from typing import List, Optional

Lines = List[Optional[int]]


def lines_by_unit(table: bytes, line_format: str, first: int, units: int) -> Lines:
    """One line (or None) per code unit. A table that is cut short or malformed gives None from there on."""
    reader = {"lnotab": _lnotab, "ranges": _ranges, "locations": _locations}[line_format]
    try:
        lines = reader(table, first, units)
    except IndexError:
        lines = []
    if len(lines) < units:
        lines.extend([None] * (units - len(lines)))
    return lines


def _lnotab(table: bytes, first: int, units: int) -> Lines:
    lines: Lines = []
    line = first
    for at in range(0, len(table) - 1, 2):
        step, delta = table[at], table[at + 1]
        lines.extend([line] * (step // 2))
        line += delta - 256 if delta > 127 else delta
    lines.extend([line] * (units - len(lines)))
    return lines


def _ranges(table: bytes, first: int, units: int) -> Lines:
    lines: Lines = []
    line = first
    for at in range(0, len(table) - 1, 2):
        step, delta = table[at], table[at + 1]
        if delta == 128:  # -128: no line
            lines.extend([None] * (step // 2))
            continue
        line += delta - 256 if delta > 127 else delta
        lines.extend([line] * (step // 2))
    return lines


def _locations(table: bytes, first: int, units: int) -> Lines:
    lines: Lines = []
    line = first
    at = 0
    size = len(table)
    while at < size and len(lines) < units:
        head = table[at]
        kind = (head >> 3) & 15
        length = (head & 7) + 1
        if kind < 10:
            at += 2
        elif kind < 13:
            line += kind - 10
            at += 3
        elif kind == 15:
            at += 1
            lines.extend([None] * length)
            continue
        else:
            at += 1
            shift = value = 0
            while True:
                byte = table[at]
                at += 1
                value |= (byte & 63) << shift
                shift += 6
                if not byte & 64:
                    break
            line += -(value >> 1) if value & 1 else value >> 1
            if kind == 14:
                while at < size and not table[at] & 128:
                    at += 1
        if length == 1:
            lines.append(line)
        else:
            lines.extend([line] * length)
    return lines
