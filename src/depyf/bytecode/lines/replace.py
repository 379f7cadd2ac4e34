"""Make a code object claim another origin: file, first line and line table, nothing else."""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, Mapping, Optional, Tuple

from depyf.bytecode.lines import lnotab, locations, ranges
from depyf.bytecode.lines.table import Entry
from depyf.bytecode.program import Position
from depyf.bytecode.versions import dialect_of, host_version


def with_positions(
    code: CodeType,
    filename: str,
    firstlineno: int,
    positions: Mapping[int, Tuple[int, int]],
    nested: Optional[Mapping[int, Any]] = None,
) -> CodeType:
    """A copy of `code` (of the running Python) with only co_filename, co_firstlineno and the line table replaced.

    `positions` says the (line, column) of instructions by byte offset. An instruction that it leaves out has the line
    of the one before it in the bytecode; before the first one that is `firstlineno`, as for the hidden instructions
    at a function's start. Columns are not written: no end is known, and half a range helps no traceback.

    `nested` does the same for code objects among the constants, by index: each value has `offsets` (as `positions`)
    and `nested`. Their first line is the lowest one that they map to.
    """
    dialect = dialect_of(host_version())
    entries = _entries(code, firstlineno, positions, dialect.names)
    changes: Dict[str, Any] = {"co_filename": filename, "co_firstlineno": firstlineno}
    if dialect.line_format == "lnotab":
        changes["co_lnotab"] = lnotab.encode(entries, firstlineno)
    elif dialect.line_format == "ranges":
        changes["co_linetable"] = ranges.encode(entries, firstlineno)
    else:
        changes["co_linetable"] = locations.encode(entries, firstlineno)
    if nested:
        constants = list(code.co_consts)
        for index, inner in nested.items():
            if isinstance(constants[index], CodeType):
                first = min((line for line, _ in inner.offsets.values()), default=firstlineno)
                constants[index] = with_positions(constants[index], filename, first, inner.offsets, inner.nested)
        changes["co_consts"] = tuple(constants)
    return code.replace(**changes)


def _entries(
    code: CodeType, firstlineno: int, positions: Mapping[int, Tuple[int, int]], names: Mapping[int, str]
) -> List[Entry]:
    raw = code.co_code
    entries: List[Entry] = []
    line = firstlineno
    start = 0  # of the run of instructions on `line`
    prefix: Optional[int] = None  # where the EXTENDED_ARGs of the next instruction begin: they share its line
    for offset in range(0, len(raw), 2):
        if names.get(raw[offset]) == "EXTENDED_ARG" and offset not in positions:
            prefix = offset if prefix is None else prefix
            continue
        found = positions.get(offset)
        if found is not None and found[0] != line:
            begin = offset if prefix is None else prefix
            entries.append((start, begin, Position(line, line)))
            line, start = found[0], begin
        prefix = None
    entries.append((start, len(raw), Position(line, line)))
    return entries
