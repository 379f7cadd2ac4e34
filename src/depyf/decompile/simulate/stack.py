"""The instructions that move values about on the stack."""

from __future__ import annotations

from ...bytecode.effects import effect
from ...bytecode.program import Instr, Op
from .. import effects
from .. import nodes as n
from ..transient import Chain, Dup, Inplace, Marker, UnpackGroup, UnpackItem
from .state import SimulationError, State
from .table import STORES, handles


@handles(Op.POP)
def _pop(state: State, instr: Instr) -> None:
    value = state.pop_raw()
    if isinstance(value, (Marker, n.Slot)):
        return
    if isinstance(value, UnpackItem):
        state.as_value(value)
        return
    if isinstance(value, Dup) and any(_mentions(item, value) for item in state.stack):
        return
    if isinstance(value, Chain):
        state.emit(n.Assign(value.targets, value.value), instr.offset)
        return
    value = state.as_value(value)
    state.emit(n.ExprStmt(value), instr.offset)


def _mentions(expr: n.Expr, dup: Dup) -> bool:
    return any(node is dup for node in effects.walk(expr))


@handles(Op.COPY)
def _copy(state: State, instr: Instr) -> None:
    depth: int = instr.arg
    if depth > len(state.stack):
        raise SimulationError("copy of a value below the stack")
    value = state.stack[-depth]
    if isinstance(value, UnpackItem):
        value = state.as_value(value)
    if isinstance(value, Inplace):
        value = state.as_value(value)
        state.stack[-depth] = value
    if not isinstance(value, (n.Slot, Marker, Dup)):
        value = Dup(value)
        value.offset = instr.offset
        state.stack[-depth] = value
    state.push(value)


@handles(Op.SWAP)
def _swap(state: State, instr: Instr) -> None:
    depth: int = instr.arg
    stack = state.stack
    if depth > len(stack):
        raise SimulationError("swap below the stack")
    involved = stack[-depth:]
    special = any(isinstance(value, (Dup, Chain, UnpackItem, Inplace, Marker, n.Slot)) for value in involved)
    if not _swap_is_harmless(state, depth):
        if depth <= 3 and not special and _stores_follow(state, depth):
            _unpack_swapped(state, depth, instr)
            return
        if len([value for value in involved if not effects.is_timeless(value)]) > 1:
            state.spill()
    stack[-1], stack[-depth] = stack[-depth], stack[-1]
    if len(stack) - depth < state.low:
        state.low = len(stack) - depth


def _swap_is_harmless(state: State, depth: int) -> bool:
    """The compiler's own uses of SWAP that keep the order: chained comparison, augmented assignment, generic def."""
    rest = state.instrs[state.index :]
    if depth == 2 and len(rest) > 1 and rest[0].op is Op.COPY and rest[0].arg == 2 and rest[1].op is Op.COMPARE:
        return True
    if depth == 2 and rest and rest[0].op is Op.INTRINSIC and rest[0].arg[0] == "set_function_type_params":
        return True  # becomes a def with type parameters, see `generics`
    position = 0
    while position < len(rest) and rest[position].op is Op.SWAP:
        position += 1
    if position < len(rest) and isinstance(state.stack[-1], (Inplace, Chain)):
        return rest[position].op in (Op.STORE_ATTR, Op.STORE_SUBSCR, Op.BUILD_SLICE)
    return isinstance(state.stack[-1], Dup) and any(isinstance(value, Inplace) for value in state.stack[-4:])


def _stores_follow(state: State, count: int) -> bool:
    """Whether the `count` values that were swapped, or what is unpacked from them, are all stored next."""
    height = 0
    for instr in state.instrs[state.index :]:
        if instr.op is Op.SWAP and height == 0:
            continue
        if instr.op in (Op.COPY, Op.SWAP):
            return False
        pops, pushes = effect(instr)
        if pops <= height:
            height += pushes - pops
            continue
        if pops > height + 1:
            return False
        if instr.op in STORES:
            count -= 1
        elif instr.op in (Op.UNPACK_SEQUENCE, Op.UNPACK_EX):
            count += pushes - 1
        else:
            return False
        if not count:
            return True
        height = 0
    return False


def _unpack_swapped(state: State, depth: int, instr: Instr) -> None:
    """`a, b = b, a`: the compiler swaps instead of building a tuple and unpacking it."""
    values = state.pop_many(depth)
    group = UnpackGroup(n.Tuple_(values), [None] * depth)
    for index in reversed(range(depth)):
        state.push(UnpackItem(group, index))
