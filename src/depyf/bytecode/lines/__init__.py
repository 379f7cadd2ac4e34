"""Line tables: which source position each instruction came from, in the three formats of 3.8 to 3.15.

`decode` and `encode` work for every version under every Python; `with_positions` makes a code object of the running
Python that claims to come from another file.
"""

from __future__ import annotations

from types import CodeType
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from depyf.bytecode.lines import lnotab, locations, ranges
from depyf.bytecode.lines.replace import with_positions
from depyf.bytecode.lines.table import Entry
from depyf.bytecode.versions import dialect_of, host_version

Decoder = Callable[[bytes, int, int], List[Entry]]
Encoder = Callable[[Sequence[Entry], int], bytes]
FORMATS: Dict[str, Tuple[Decoder, Encoder]] = {
    "lnotab": (lnotab.decode, lnotab.encode),
    "ranges": (ranges.decode, ranges.encode),
    "locations": (locations.decode, locations.encode),
}

__all__ = ["Entry", "decode", "encode", "with_positions"]


def decode(code: CodeType, version: Optional[Tuple[int, int]] = None) -> List[Entry]:
    """The line table of `code` as (start, end, position), start and end being byte offsets; in order, without gaps.

    Raises BytecodeError when the table is cut short.
    """
    if version is None:
        version = getattr(code, "version", None) or host_version()
    line_format = dialect_of(version).line_format
    table = code.co_lnotab if line_format == "lnotab" else code.co_linetable
    return FORMATS[line_format][0](table, code.co_firstlineno, len(code.co_code))


def encode(entries: Sequence[Entry], firstlineno: int, version: Optional[Tuple[int, int]] = None) -> bytes:
    """The inverse of `decode`. Columns are lost in the formats that have none (to 3.10), gaps in lnotab (to 3.9).

    Entries must be in order; a gap between them is written as instructions without a line.
    """
    return FORMATS[dialect_of(version or host_version()).line_format][1](entries, firstlineno)
