"""What the surface syntax of each Python version allows, as far as writing text for that version depends on it.

This sits beside the bytecode tables because it is the other half of "what differs between versions": the writer
asks here and never compares version numbers itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Grammar:
    """The rules of one version."""

    fstring_any_quotes: bool  # replacement fields may hold backslashes, newlines and the quotes of the f-string (3.12)
    docstring_dedented: bool  # the compiler removes the common indentation of docstrings (3.13)
    percent_folded: bool  # "%s" % (x,) is compiled like the f-string (3.11)
    starred_index: bool  # a[*b] without parentheses (3.11)
    aiter: bool  # the builtin (3.10)


def grammar(version: Tuple[int, int]) -> Grammar:
    """The rules of `version`."""
    return Grammar(
        fstring_any_quotes=version >= (3, 12),
        docstring_dedented=version >= (3, 13),
        percent_folded=version >= (3, 11),
        starred_index=version >= (3, 11),
        aiter=version >= (3, 10),
    )
