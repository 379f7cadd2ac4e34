"""What decompiling gives: the text, how sure we are of it, and where each instruction went."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Dict, List, Optional, Sequence, Tuple


class DecompilationError(Exception):
    """The input cannot be decompiled: it is no code object, or no valid bytecode. The message says why."""


class Status(enum.Enum):
    """How the text compares with the original, after compiling it again."""

    EXACT = "exact"  # the same program, instruction by instruction along every path, exception edges included
    EQUIVALENT = "equivalent"  # the same but for differences that are proven harmless
    UNVERIFIED = "unverified"  # not compared (asked not to, or this Python cannot compile that version)
    REFUTED = "refuted"  # a difference was found (the product never returns such a text unmarked)


@dataclass(frozen=True)
class Verdict:
    """`difference` describes the first difference found, in words with both instructions, else None."""

    status: Status
    difference: Optional[str] = None


@dataclass(frozen=True)
class Part:
    """The verdict on one code object, without those inside it."""

    code: CodeType
    verdict: Verdict


def worst(parts: Sequence[Part]) -> Verdict:
    """The verdict on all of `parts` together: the first one of the worst status."""
    for status in (Status.REFUTED, Status.UNVERIFIED, Status.EQUIVALENT):
        for part in parts:
            if part.verdict.status is status:
                return part.verdict
    return Verdict(Status.EXACT)


@dataclass
class SourceMap:
    """Instruction byte offset -> (line, column) in the text; lines 1-based, columns 0-based characters.

    `offsets` is for the code object that was decompiled; `nested` for the code objects among its constants, by
    their index in `co_consts`, recursively.
    """

    offsets: Dict[int, Tuple[int, int]] = field(default_factory=dict)
    nested: Dict[int, SourceMap] = field(default_factory=dict)


@dataclass
class Decompiled:
    """`text` is a complete `def` (or module text) ending in a newline.

    `dispatch`: the text is in the dispatch form (correct, plainer; marked by a comment in the text).
    `names`: names that the text uses for constants that have no literal, with their values. `aliases`: short names of
    globals in the text, with their real names. `causes`: why something plainer was tried, for each time that it was.
    `parts`: the verdict on each code object, this one first (empty if nothing was compared).
    """

    text: str
    verdict: Verdict
    source_map: SourceMap
    dispatch: bool = False
    names: Dict[str, Any] = field(default_factory=dict)
    aliases: Dict[str, str] = field(default_factory=dict)
    causes: List[str] = field(default_factory=list)
    parts: List[Part] = field(default_factory=list)
