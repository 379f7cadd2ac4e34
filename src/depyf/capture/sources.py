"""The user's source text of a code object, without importing or touching any module."""

from __future__ import annotations

import inspect
import linecache
import re
import textwrap
from types import CodeType
from typing import Optional


def source_of(code: CodeType) -> Optional[str]:
    """The text of the function that this code object was compiled from, dedented; None where there is none.

    `inspect.getsource` would look through every loaded module, which is slow and may run code of lazy modules.
    """
    if code.co_name == "<module>":
        lines = linecache.getlines(code.co_filename)
        return "".join(lines) or None
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines:
        return None
    try:
        block = inspect.getblock(lines)
    except (SyntaxError, IndentationError, ValueError):
        return None
    return textwrap.dedent("".join(block)) or None


def signature_of(source: Optional[str]) -> Optional[str]:
    """The `def` line of a function's source, for a heading; None for lambdas and unknown sources."""
    match = re.search(r"^(?:async )?def [^\n]*", source or "", re.MULTILINE)
    return match.group(0).rstrip() if match else None
