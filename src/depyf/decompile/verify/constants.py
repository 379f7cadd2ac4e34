"""Are two constants the same, by type and value?

`==` is too generous (`1 == True == 1.0`, `0.0 == -0.0`) and too strict (`nan != nan`), so constants are compared by
type first, floats by their bits, and containers element by element. Values that the compiler cannot make (a
constant of Dynamo's, such as a module or a dtype) are the same only when they are the same object.
"""

from __future__ import annotations

import struct
from types import CodeType
from typing import Any, Hashable, List, Tuple

CodePair = Tuple[CodeType, CodeType]


def same_constant(left: Any, right: Any, codes: List[CodePair]) -> bool:
    """Whether two constants are the same; pairs of code objects met go to `codes`, to be compared later."""
    work = [(left, right)]
    while work:
        a, b = work.pop()
        if a is b and type(a) is not CodeType:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, CodeType):
            codes.append((a, b))
        elif type(a) is tuple:
            if len(a) != len(b):
                return False
            work.extend(zip(a, b))
        elif type(a) is slice:
            work.extend([(a.start, b.start), (a.stop, b.stop), (a.step, b.step)])
        elif constant_key(a) != constant_key(b):
            return False
    return True


def constant_key(value: Any) -> Hashable:
    """A hashable stand-in that is equal for the same constants only (code objects and unknown types: by identity)."""
    kind = type(value)
    if kind is float:
        return (kind, struct.pack("<d", value))
    if kind is complex:
        return (kind, struct.pack("<dd", value.real, value.imag))
    if kind is tuple:
        return (kind, tuple(constant_key(item) for item in value))
    if kind is frozenset:
        return (kind, frozenset(constant_key(item) for item in value))
    if kind is slice:
        return (kind, constant_key(value.start), constant_key(value.stop), constant_key(value.step))
    if kind in (int, bool, str, bytes, type(None), type(Ellipsis)):
        return (kind, value)
    return (kind, "object", id(value))
