"""One module per CPython version, each the difference from the one before. Adding a version = adding one module."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from typing import Tuple

from depyf.bytecode.dialect import Dialect
from depyf.bytecode.errors import BytecodeError

OLDEST, NEWEST = (3, 8), (3, 15)


def host_version() -> Tuple[int, int]:
    """The version of the Python that runs us."""
    return sys.version_info[0], sys.version_info[1]


@lru_cache(maxsize=None)
def dialect_of(version: Tuple[int, int]) -> Dialect:
    """The dialect of a version. Raises BytecodeError if it is none of ours."""
    if not OLDEST <= version <= NEWEST:
        raise BytecodeError("bytecode of Python %d.%d is not supported (3.8 to 3.15 is)" % version)
    dialect: Dialect = importlib.import_module("depyf.bytecode.versions.v%d_%d" % version).DIALECT
    return dialect
