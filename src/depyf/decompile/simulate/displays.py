"""Displays, f-strings, and unpacking."""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple

from ...bytecode.program import Instr, Op
from .. import nodes as n
from ..transient import Inplace, UnpackGroup, UnpackItem
from .state import SimulationError, State
from .table import TABLE, Handler, handles


def _display(make: Callable[[List[n.Expr]], n.Expr]) -> Handler:
    def build(state: State, instr: Instr) -> None:
        state.push(make(state.pop_many(instr.arg)))

    return build


TABLE[Op.BUILD_TUPLE] = _display(lambda elts: n.Tuple_(elts))
TABLE[Op.BUILD_LIST] = _display(lambda elts: n.List_(elts))
TABLE[Op.BUILD_SET] = _display(lambda elts: n.Set_(elts))


@handles(Op.BUILD_MAP)
def _build_map(state: State, instr: Instr) -> None:
    items = state.pop_many(2 * instr.arg)
    keys: List[Optional[n.Expr]] = list(items[0::2])
    state.push(n.Dict_(keys, items[1::2]))


@handles(Op.BUILD_CONST_KEY_MAP)
def _const_key_map(state: State, instr: Instr) -> None:
    keys: List[Optional[n.Expr]] = [n.Constant(key) for key in instr.arg]
    state.push(n.Dict_(keys, state.pop_many(len(keys))))


@handles(Op.BUILD_SLICE)
def _build_slice(state: State, instr: Instr) -> None:
    parts: List[Optional[n.Expr]] = list(state.pop_many(instr.arg))
    shown = [None if isinstance(part, n.Constant) and part.value is None else part for part in parts]
    if len(shown) == 2:
        shown.append(None)
    elif shown[2] is None:
        shown[2] = parts[2]
    state.push(n.Slice(*shown))


@handles(Op.BUILD_STRING)
def _build_string(state: State, instr: Instr) -> None:
    values: List[n.Expr] = []
    for part in state.pop_many(instr.arg):
        if isinstance(part, n.JoinedStr) and len(part.values) == 1:
            values.extend(part.values)
        else:
            values.append(part)
    state.push(n.JoinedStr(values))


@handles(Op.FORMAT)
def _format(state: State, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = state.pop() if has_spec else None
    state.push(n.JoinedStr([n.FormattedValue(state.pop(), conversion, spec)]))


@handles(Op.BUILD_INTERPOLATION)
def _interpolation(state: State, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = state.pop() if has_spec else None
    text = state.pop()
    value = state.pop()
    if not isinstance(text, n.Constant):
        raise SimulationError("interpolation without its text")
    state.push(n.Interpolation(value, text.value, conversion, spec))


@handles(Op.BUILD_TEMPLATE)
def _template(state: State, instr: Instr) -> None:
    strings, interpolations = state.pop_many(2)
    if not isinstance(strings, n.Constant) or not isinstance(interpolations, (n.Tuple_, n.Constant)):
        raise SimulationError("template string of an unknown shape")
    parts = interpolations.elts if isinstance(interpolations, n.Tuple_) else []
    values: List[n.Expr] = []
    for index, string in enumerate(strings.value):
        if string:
            values.append(n.Constant(string))
        if index < len(parts):
            values.append(parts[index])
    state.push(n.TemplateStr(values))


def _grow(kind: str, into: Tuple[type, ...], starred: bool) -> Handler:
    def grow(state: State, instr: Instr) -> None:
        value = state.pop()
        if instr.arg > len(state.stack):
            raise SimulationError("append below the stack")
        owner = state.stack[-instr.arg]
        if instr.arg == 1 and isinstance(owner, into):
            elts: List[n.Expr] = owner.elts  # type: ignore[attr-defined]
            if not starred:
                elts.append(value)
            elif isinstance(value, n.Constant) and isinstance(value.value, (tuple, frozenset)) and not elts:
                elts.extend(n.Constant(item) for item in value.value)
                owner.from_constant = True  # type: ignore[attr-defined]
            else:
                elts.append(n.Starred(value))
            return
        state.emit(n.ExprStmt(n.Intrinsic(kind, [owner, value])), instr.offset)

    return grow


TABLE[Op.LIST_APPEND] = _grow("list_append", (n.List_,), False)
TABLE[Op.SET_ADD] = _grow("set_add", (n.Set_,), False)
TABLE[Op.LIST_EXTEND] = _grow("list_extend", (n.List_,), True)
TABLE[Op.SET_UPDATE] = _grow("set_update", (n.Set_,), True)


@handles(Op.MAP_ADD)
def _map_add(state: State, instr: Instr) -> None:
    key, value = state.pop_many(2)
    if instr.arg > len(state.stack):
        raise SimulationError("append below the stack")
    owner = state.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_):
        owner.keys.append(key)
        owner.values.append(value)
        return
    state.emit(n.ExprStmt(n.Intrinsic("map_add", [owner, key, value])), instr.offset)


@handles(Op.DICT_UPDATE, Op.DICT_MERGE)
def _dict_update(state: State, instr: Instr) -> None:
    value = state.pop()
    if instr.arg > len(state.stack):
        raise SimulationError("update below the stack")
    owner = state.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_):
        if isinstance(value, n.Dict_) and instr.op is Op.DICT_UPDATE and value.values and None not in value.keys:
            if not getattr(value, "merged", False) and not _source_of_star(value):
                owner.keys.extend(value.keys)
                owner.values.extend(value.values)
                return
        owner.keys.append(None)
        owner.values.append(value)
        if instr.op is Op.DICT_MERGE:
            owner.merged = True  # type: ignore[attr-defined]
        return
    state.emit(n.ExprStmt(n.Intrinsic(instr.op.name.lower(), [owner, value])), instr.offset)


def _source_of_star(value: n.Dict_) -> bool:
    """Large displays are built in parts that are merged; a part of more than 17 pairs can't be told from `**{...}`."""
    return False


@handles(Op.LIST_TO_TUPLE)
def _list_to_tuple(state: State, instr: Instr) -> None:
    value = state.pop()
    if isinstance(value, n.List_):
        state.push(n.Tuple_(value.elts))
    else:
        state.push(n.Intrinsic("list_to_tuple", [value]))


@handles(Op.UNPACK_SEQUENCE)
def _unpack(state: State, instr: Instr) -> None:
    count: int = instr.arg
    value = state.pop_raw()
    if isinstance(value, Inplace):
        value = state.as_value(value)
    group = UnpackGroup(value, [None] * count)
    if not count:
        state.finish_group(group)
    for index in reversed(range(count)):
        state.push(UnpackItem(group, index))


@handles(Op.UNPACK_EX)
def _unpack_ex(state: State, instr: Instr) -> None:
    before, after = instr.arg
    count = before + 1 + after
    value = state.pop_raw()
    if isinstance(value, Inplace):
        value = state.as_value(value)
    group = UnpackGroup(value, [None] * count, star=before)
    for index in reversed(range(count)):
        state.push(UnpackItem(group, index))
