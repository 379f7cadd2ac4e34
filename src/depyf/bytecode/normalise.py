"""From a code object to its canonical program."""

from __future__ import annotations

from types import CodeType
from typing import Optional, Tuple

from depyf.bytecode.block_walk import BlockWalk
from depyf.bytecode.finally_calls import expand_finally_calls
from depyf.bytecode.layout import lay_out
from depyf.bytecode.lines.by_unit import lines_by_unit
from depyf.bytecode.program import Program
from depyf.bytecode.raw import raw_code
from depyf.bytecode.versions import dialect_of, host_version
from depyf.bytecode.walk import Walk


def normalise(code: CodeType, version: Optional[Tuple[int, int]] = None) -> Program:
    """Turn the bytecode of `code` into canonical instructions. Code that no path reaches is left out.

    `version` is the CPython that `code` was compiled by: by default the `version` of a foreign code object (see
    `pyc`), else that of the running Python. Raises BytecodeError on bytecode that this version could not run.
    """
    if version is None:
        version = getattr(code, "version", None) or host_version()
    dialect = dialect_of(version)
    table = code.co_lnotab if dialect.line_format == "lnotab" else code.co_linetable
    lines = lines_by_unit(table, dialect.line_format, code.co_firstlineno, len(code.co_code) // 2)
    raw = raw_code(code, lines)
    if dialect.finally_calls:
        raw = expand_finally_calls(raw, dialect.names, dialect.jumps, code.co_name)
    walk = BlockWalk(code, dialect, raw) if dialect.block_stack else Walk(code, dialect, raw)
    walk.run()
    return lay_out(walk)
