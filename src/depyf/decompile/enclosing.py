"""A function alone whose variables belong to a function around it.

A variable that is only read looks like a global in the text of the function alone. One that is written needs
`nonlocal`, and that needs a function around the text:

    def enclosing(count):
        def step():
            nonlocal count
            count += 1
        return step
"""

from __future__ import annotations

from types import CodeType
from typing import List, Set

from ..bytecode import normalise
from ..bytecode.program import Op
from . import nodes as n

NAME = "enclosing"
_WRITES = (Op.STORE_DEREF, Op.DELETE_DEREF)


def written_outside(code: CodeType) -> List[str]:
    """The free variables of `code` that it, or a function in it, writes."""
    return sorted(_written(code)) if code.co_freevars else []


def _written(code: CodeType) -> Set[str]:
    names = {instr.arg for instr in normalise(code).instrs if instr.op in _WRITES}
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_freevars:
            names |= _written(constant)
    return names.intersection(code.co_freevars)


def enclosed(function: n.FunctionDef, code: CodeType) -> n.FunctionDef:
    """The function around `function`, which has the free variables of `code` as parameters."""
    own = {instr.arg for instr in normalise(code).instrs if instr.op in _WRITES}.intersection(code.co_freevars)
    if own:
        function.body.insert(_after_docstring(function.body), n.Nonlocal(sorted(own)))
    parameters = n.Arguments(args=[n.Arg(name) for name in code.co_freevars])
    return n.FunctionDef(NAME, parameters, [function, n.Return(n.Name(function.name))])


def _after_docstring(body: List[n.Stmt]) -> int:
    first = body[0] if body else None
    is_text = isinstance(first, n.ExprStmt) and isinstance(first.value, n.Constant) and type(first.value.value) is str
    return int(is_text)
