"""A code object of any Python version, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any, Tuple


@dataclass(frozen=True)
class ForeignCode:
    """The `co_*` attributes that a code object of `version` has. Nested code objects among `co_consts` are such too.

    `co_qualname` is that of the code object from 3.11 on; before, code objects had none, and it repeats `co_name`.
    `co_lnotab` is set to 3.9, `co_linetable` from 3.10 on, `co_exceptiontable` from 3.11 on; the others are empty.
    """

    version: Tuple[int, int]
    co_argcount: int
    co_posonlyargcount: int
    co_kwonlyargcount: int
    co_stacksize: int
    co_flags: int
    co_code: bytes
    co_consts: Tuple[Any, ...]
    co_names: Tuple[str, ...]
    co_varnames: Tuple[str, ...]
    co_cellvars: Tuple[str, ...]
    co_freevars: Tuple[str, ...]
    co_filename: str
    co_name: str
    co_qualname: str
    co_firstlineno: int
    co_lnotab: bytes = b""
    co_linetable: bytes = b""
    co_exceptiontable: bytes = b""

    @property
    def co_nlocals(self) -> int:
        return len(self.co_varnames)


def is_code(value: object) -> bool:
    """Whether `value` is a code object, of this Python or another."""
    return isinstance(value, (CodeType, ForeignCode))
