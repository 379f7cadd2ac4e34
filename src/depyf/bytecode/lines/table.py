"""What the three formats have in common."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from depyf.bytecode.program import Position

Entry = Tuple[int, int, Position]
LineRange = Tuple[int, int, Optional[int]]

NOWHERE = Position(None)


def merged_lines(entries: Sequence[Entry]) -> List[LineRange]:
    """Entries as ranges of one line each: without gaps (those have no line), empty ones left out, neighbours merged."""
    merged: List[LineRange] = []
    at = 0
    for start, end, position in entries:
        if start > at:
            _append(merged, at, start, None)
        if end > start:
            _append(merged, start, end, position.line)
        at = max(at, end)
    return merged


def _append(merged: List[LineRange], start: int, end: int, line: Optional[int]) -> None:
    if merged and merged[-1][2] == line and merged[-1][1] == start:
        merged[-1] = (merged[-1][0], end, line)
    else:
        merged.append((start, end, line))
