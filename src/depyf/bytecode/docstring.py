"""Which docstring a function gets from its code object."""

from __future__ import annotations

import inspect
import sys
from types import CodeType
from typing import Optional, Tuple

# Set from 3.14 on (see the docs of its inspect); before, a first constant that is a string is the docstring.
CO_HAS_DOCSTRING = 0x4000000


def docstring(code: CodeType, version: Optional[Tuple[int, int]] = None) -> Optional[str]:
    """The docstring of a function made from `code`, or None. `version`: of the bytecode, None for this Python."""
    if not code.co_flags & inspect.CO_OPTIMIZED or not code.co_consts:
        return None
    if (version or sys.version_info[:2]) >= (3, 14) and not code.co_flags & CO_HAS_DOCSTRING:
        return None
    first = code.co_consts[0]
    return first if isinstance(first, str) else None
