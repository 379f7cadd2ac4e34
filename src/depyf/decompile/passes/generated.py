"""What tells Dynamo's bytecode from bytecode that a compiler made, and which of its names are Dynamo's own.

Facts from PyTorch 2.2 to 2.14: `torch/_dynamo/codegen.py` (`graph_out_N`, `tmp_N` are local variables that hold the
outputs of a graph and parts of calls), `torch/_dynamo/output_graph.py` (the globals `__compiled_fn_N`, from 2.8 on with
a UUID behind it, `__resume_at_OFFSET_N`, and modules as `__import_torch_dot_...`).
"""

from __future__ import annotations

import re
from types import CodeType
from typing import FrozenSet

_GLOBALS = re.compile(r"__compiled_fn_\d+|__resume_at_\d+_\d+|__import_\w+_dot_\w+")
_LOCALS = re.compile(r"(?:graph_out|tmp)_\d+")
_PARTS = re.compile(r"tmp_\d+")


def is_generated(code: CodeType) -> bool:
    """Whether Dynamo wrote this code object, as far as its names tell (where it calls no graph, they may not)."""
    return any(_GLOBALS.match(name) for name in code.co_names)


def own_variables(code: CodeType) -> FrozenSet[str]:
    """The local variables of `code`, made by Dynamo, that Dynamo added."""
    arguments = code.co_argcount + code.co_kwonlyargcount
    return frozenset(name for name in code.co_varnames[arguments:] if _LOCALS.fullmatch(name))


def is_part(name: str) -> bool:
    """Whether this variable of Dynamo's own holds a part of an expression, as a temporary does."""
    return _PARTS.fullmatch(name) is not None
