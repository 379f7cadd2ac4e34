"""The function that Dynamo is compiling, as found on the stack while torch calls us.

Names used, there from torch 2.2 to 2.14: the function `_compile` and its variable `locals`. Without them the answer
is None; what is lost is told where it is asked.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Mapping, Optional

_FUNCTION, _VARIABLE = "_compile", "locals"


def locals_being_compiled() -> Optional[Mapping[str, Any]]:
    """The arguments and other local variables with which the function was called that is now being compiled."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _FUNCTION and isinstance(frame.f_locals.get(_VARIABLE), dict):
            found: Mapping[str, Any] = frame.f_locals[_VARIABLE]
            return found
        frame = frame.f_back
    return None
