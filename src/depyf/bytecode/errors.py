"""The one error of this package."""

from __future__ import annotations


class BytecodeError(ValueError):
    """The code object does not hold valid bytecode of its version. The message says what is wrong, and where."""
