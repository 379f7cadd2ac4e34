"""Calls, functions and imports."""

from __future__ import annotations

from typing import List, Optional

from ...bytecode.foreign_code import is_code
from ...bytecode.program import Instr, Op
from .. import nodes as n
from ..transient import Dup
from .state import SimulationError, State
from .table import handles


@handles(Op.CALL)
def _call(state: State, instr: Instr) -> None:
    count, names = instr.arg
    values = state.pop_many(count)
    function = state.pop()
    split = count - len(names)
    keywords = [n.Keyword(name, value) for name, value in zip(names, values[split:])]
    state.push(n.Call(function, values[:split], keywords))


@handles(Op.CALL_EX)
def _call_ex(state: State, instr: Instr) -> None:
    keywords: List[n.Keyword] = []
    if instr.arg:
        mapping = state.pop()
        if isinstance(mapping, n.Dict_) and all(_is_keyword(key) for key in mapping.keys):
            for key, value in zip(mapping.keys, mapping.values):
                keywords.append(n.Keyword(key.value if isinstance(key, n.Constant) else None, value))
        else:
            keywords.append(n.Keyword(None, mapping))
    arguments = state.pop()
    function = state.pop()
    if isinstance(arguments, n.Tuple_):
        args = arguments.elts
    elif isinstance(arguments, n.Constant) and isinstance(arguments.value, tuple):
        args = [n.Constant(item) for item in arguments.value]
    else:
        args = [n.Starred(arguments)]
    call = n.Call(function, args, keywords)
    call.ex = True  # type: ignore[attr-defined]
    state.push(call)


def _is_keyword(key: Optional[n.Expr]) -> bool:
    return key is None or (isinstance(key, n.Constant) and isinstance(key.value, str) and key.value.isidentifier())


@handles(Op.MAKE_FUNCTION)
def _make_function(state: State, instr: Instr) -> None:
    code = state.pop()
    if not isinstance(code, n.Constant) or not is_code(code.value):
        raise SimulationError("function made of no constant code")
    node = n.MakeFunction(code.value)
    for part in ("closure", "annotate", "annotations", "kwdefaults", "defaults"):
        if part in instr.arg:
            setattr(node, part, state.pop())
    state.push(node)


@handles(Op.IMPORT_NAME)
def _import_name(state: State, instr: Instr) -> None:
    name = instr.arg[0]
    level, names = state.pop_many(2)
    arguments = [n.Constant(name), n.Call(n.Name("globals"), []), n.Constant(None), names, level]
    state.push(n.Call(n.Name("__import__"), arguments))


@handles(Op.IMPORT_FROM)
def _import_from(state: State, instr: Instr) -> None:
    module = state.pop_raw()
    if not isinstance(module, (Dup, n.Slot)):
        module = Dup(module)
    state.push(module)
    state.push(n.Attribute(module, instr.arg))
