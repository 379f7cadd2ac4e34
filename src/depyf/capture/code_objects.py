"""Small questions about code objects that capture asks."""

from __future__ import annotations

from types import CodeType
from typing import List, Optional


def all_names(code: CodeType) -> List[str]:
    """Names of globals and attributes in a code object and those within it, in order, each once."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.extend(all_names(constant))
    return list(dict.fromkeys(found))


def same_interface(first: CodeType, second: CodeType) -> Optional[str]:
    """None if the second may run in place of the first, by Dynamo's own rules; else what differs."""
    if not isinstance(second, CodeType):
        return "not a code object but %s" % type(second).__name__
    arguments = first.co_argcount + first.co_kwonlyargcount + bool(first.co_flags & 4) + bool(first.co_flags & 8)
    if first.co_varnames[:arguments] != second.co_varnames[:arguments]:
        return "other argument names"
    for field in ("co_argcount", "co_kwonlyargcount", "co_posonlyargcount", "co_freevars", "co_cellvars", "co_flags"):
        if getattr(first, field) != getattr(second, field):
            return "other %s" % field
    return None
