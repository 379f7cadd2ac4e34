"""Constants and variables."""

from __future__ import annotations

from typing import List

from ...bytecode.program import Instr, Op
from .. import nodes as n
from ..imports import fold_imports
from ..transient import Chain, Dup, Inplace, Marker, UnpackItem
from .state import State
from .table import LOADS_OF_NAMES, SIMPLE_STORES, TABLE, Handler, handles


@handles(Op.LOAD_CONST)
def _load_const(state: State, instr: Instr) -> None:
    folded = fold_imports(state.instrs, state.index - 1)
    if folded is not None:
        statement, following = folded
        state.emit(statement, instr.offset)
        state.index = following
        return
    state.push(n.Constant(instr.arg))


@handles(*LOADS_OF_NAMES)
def _load_name(state: State, instr: Instr) -> None:
    name = n.Name(instr.arg)
    name.offset = instr.offset
    name.local = instr.op is Op.LOAD_FAST  # type: ignore[attr-defined]
    state.stack.append(name)


@handles(*SIMPLE_STORES)
def _store_name(state: State, instr: Instr) -> None:
    value = state.pop_raw()
    if not isinstance(value, (Dup, Chain, UnpackItem, n.Slot, Marker)):
        if _tuple_of_stores(state, instr, value):
            return
    state.store(n.Name(instr.arg), value, instr.offset)


def _tuple_of_stores(state: State, instr: Instr, top: n.Expr) -> bool:
    """`a, b = x, y` without a swap: the compiler exchanges the stores instead (flowgraph.c, static swaps)."""
    plain = 1
    for value in reversed(state.stack):
        if isinstance(value, (n.Slot, Marker, Chain, UnpackItem, Dup, Inplace)):
            break
        plain += 1
    if not 2 <= plain <= 3 or isinstance(top, (Inplace, Marker)):
        return False
    following = state.instrs[state.index : state.index + plain - 1]
    if len(following) < plain - 1 or any(item.op not in SIMPLE_STORES for item in following):
        return False
    names = [instr.arg, *(item.arg for item in following)]
    if len(set(names)) < plain:
        return False
    values = [*state.pop_many(plain - 1), top]
    targets: List[n.Expr] = [n.Name(name) for name in reversed(names)]
    state.index += plain - 1
    state.emit(n.Assign([n.Tuple_(targets)], n.Tuple_(values)), instr.offset)
    return True


@handles(Op.DELETE_FAST, Op.DELETE_DEREF, Op.DELETE_GLOBAL, Op.DELETE_NAME)
def _delete_name(state: State, instr: Instr) -> None:
    state.emit(n.Delete([n.Name(instr.arg)]), instr.offset)


@handles(Op.LOAD_CLOSURE)
def _load_closure(state: State, instr: Instr) -> None:
    state.push(n.Intrinsic("cell", [n.Name(instr.arg)]))


@handles(Op.LOAD_FAST_AND_CLEAR)
def _load_and_clear(state: State, instr: Instr) -> None:
    state.push(Marker("saved:" + instr.arg))


def _intrinsic(name: str) -> Handler:
    def push(state: State, instr: Instr) -> None:
        state.push(n.Intrinsic(name))

    return push


TABLE[Op.LOAD_LOCALS] = _intrinsic("load_locals")
TABLE[Op.LOAD_BUILD_CLASS] = _intrinsic("load_build_class")
TABLE[Op.LOAD_ASSERTION_ERROR] = _intrinsic("assertion_error")


@handles(Op.LOAD_COMMON_CONST)
def _common(state: State, instr: Instr) -> None:
    state.push(n.Name(instr.arg))
