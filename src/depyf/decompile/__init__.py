"""From canonical instructions to Python source. The package can be called: `depyf.decompile(function)`."""

from __future__ import annotations

import sys

from depyf.decompile.callable_package import CallablePackage
from depyf.decompile.pipeline import decompile_code
from depyf.decompile.result import DecompilationError, Decompiled, SourceMap, Status, Verdict

__all__ = ["DecompilationError", "Decompiled", "SourceMap", "Status", "Verdict", "decompile_code"]

sys.modules[__name__].__class__ = CallablePackage
