"""Attributes, items and operators."""

from __future__ import annotations

from ...bytecode.program import Instr, Op
from .. import nodes as n
from ..transient import Inplace
from .state import State
from .table import handles


@handles(Op.LOAD_ATTR)
def _load_attr(state: State, instr: Instr) -> None:
    state.push(n.Attribute(state.pop(), instr.arg))


@handles(Op.STORE_ATTR)
def _store_attr(state: State, instr: Instr) -> None:
    owner = state.pop()
    value = state.pop_raw()
    state.store(n.Attribute(owner, instr.arg), value, instr.offset)


@handles(Op.DELETE_ATTR)
def _delete_attr(state: State, instr: Instr) -> None:
    state.emit(n.Delete([n.Attribute(state.pop(), instr.arg)]), instr.offset)


@handles(Op.LOAD_SUPER_ATTR)
def _super_attr(state: State, instr: Instr) -> None:
    name, two_args = instr.arg
    function, cls, this = state.pop_many(3)
    call = n.Call(function, [cls, this] if two_args else [])
    state.push(n.Attribute(call, name))


@handles(Op.LOAD_SUBSCR)
def _load_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    state.push(n.Subscript(owner, index))


@handles(Op.STORE_SUBSCR)
def _store_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    value = state.pop_raw()
    state.store(n.Subscript(owner, index), value, instr.offset)


@handles(Op.DELETE_SUBSCR)
def _delete_subscr(state: State, instr: Instr) -> None:
    owner, index = state.pop_many(2)
    state.emit(n.Delete([n.Subscript(owner, index)]), instr.offset)


@handles(Op.UNARY)
def _unary(state: State, instr: Instr) -> None:
    state.push(n.UnaryOp(instr.arg, state.pop()))


@handles(Op.BINARY)
def _binary(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(n.BinOp(left, instr.arg, right))


@handles(Op.INPLACE)
def _inplace(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(Inplace(left, instr.arg, right))


@handles(Op.COMPARE)
def _compare(state: State, instr: Instr) -> None:
    left, right = state.pop_many(2)
    state.push(n.Compare(left, [instr.arg], [right]))
