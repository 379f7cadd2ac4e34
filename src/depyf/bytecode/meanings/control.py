"""Jumps, loops, returns, raises, and the send loops of generators and coroutines."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.dialect import CONSTANT, Special
from depyf.bytecode.program import Op
from depyf.bytecode.shape import PHANTOM, VALUE
from depyf.bytecode.walk import Walk


def jump(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    target = walk.target(unit, argument)
    walk.emit(unit, Op.JUMP, None, target)
    walk.go(target, shape, unit)
    return None


def branch(op: Op) -> Special:
    """POP_JUMP_IF_TRUE and POP_JUMP_IF_FALSE."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, 1)
        target = walk.target(unit, argument)
        walk.emit(unit, op, None, target)
        walk.go(target, shape, unit)
        return shape

    return row


def branch_none(op: Op) -> Special:
    """POP_JUMP_IF_NONE (`op` BRANCH_TRUE) and POP_JUMP_IF_NOT_NONE (BRANCH_FALSE): a test for `is None`."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, 1)
        target = walk.target(unit, argument)
        walk.emit(unit, Op.LOAD_CONST, None)
        walk.emit(unit, Op.COMPARE, "is")
        walk.emit(unit, op, None, target)
        walk.go(target, shape, unit)
        return shape

    return row


def already_tested(branch: Special) -> Special:
    """A branch on a value whose truth the instruction before has found: that one can raise, so its handler counts.

    (The compiler of 3.13 leaves the jump itself out of protected ranges where it likes.)
    """

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        before = walk.previous[unit]
        if before >= 0 and unit not in walk.jumped_to:
            walk.guards[unit] = walk.guards[before]
        return branch(walk, unit, argument, shape)

    return row


def branch_or_pop(op: Op) -> Special:
    """JUMP_IF_TRUE_OR_POP and JUMP_IF_FALSE_OR_POP: the value stays on the stack when the jump is taken."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        below = walk.take(unit, shape, 1)
        target = walk.target(unit, argument)
        walk.emit(unit, Op.COPY, 1)
        walk.emit(unit, op, None, target)
        walk.emit(unit, Op.POP)
        walk.go(target, shape, unit)
        return below

    return row


def for_iter(left: str, slots: int = 1) -> Special:
    """FOR_ITER. `left` is what stays in place of the iterator at the target, when it is exhausted.

    To 3.11 the interpreter drops the iterator itself; later an END_FOR at the target does, whose slots are phantoms
    to us, since the canonical FOR_ITER always drops it. An iterator may take two `slots`, the upper one a phantom.
    """

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        below = _take_padded(walk, unit, shape, slots)
        target = walk.target(unit, argument)
        walk.emit(unit, Op.FOR_ITER, None, target)
        walk.go(target, below + left, unit)
        return shape + VALUE

    return row


def _take_padded(walk: Walk, unit: int, shape: str, slots: int) -> str:
    """Take one value with `slots - 1` phantoms above it."""
    bare = shape[: len(shape) - slots + 1]
    if shape[len(bare) :] != PHANTOM * (slots - 1):
        raise walk.error(unit, "finds a value where there should be none")
    return walk.take(unit, bare, 1)


def get_iter_with_index(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """GET_ITER of 3.15 leaves two slots; argument 3 asks for what `yield from` takes."""
    if argument not in (0, 3):
        raise walk.error(unit, "has a kind (%d) that does not exist" % argument)
    shape = walk.take(unit, shape, 1) + VALUE + PHANTOM
    walk.emit(unit, Op.GET_YIELD_FROM_ITER if argument else Op.GET_ITER)
    return shape


def send(keeps_receiver: bool, slots: int = 1) -> Special:
    """SEND, the head of the loop that drives `await` and `yield from`: the loop becomes one YIELD_FROM.

    The rest of the loop (YIELD_VALUE, RESUME, a jump back) is then not reached, nor are the handlers that guard it.
    From 3.12 on (`keeps_receiver`) the receiver stays below the result, for END_SEND to drop; in 3.15 it takes two
    `slots`.
    """

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        below = _take_padded(walk, unit, walk.take(unit, shape, 1), slots)
        target = walk.target(unit, argument)
        if not _is_send_loop(walk, unit):
            raise walk.error(unit, "is not the head of a loop that yields what it is sent")
        walk.emit(unit, Op.YIELD_FROM)
        walk.emit(unit, Op.JUMP, None, target)
        walk.shortcuts.add(unit)
        walk.go(target, below + (PHANTOM * slots + VALUE if keeps_receiver else VALUE), unit)
        return None

    return row


def _is_send_loop(walk: Walk, head: int) -> bool:
    unit = walk.next_unit(head)
    if walk.name_at(unit) != "YIELD_VALUE":
        return False
    unit = walk.next_unit(unit)
    if walk.name_at(unit) == "RESUME":
        unit = walk.next_unit(unit)
    argument = 0
    while walk.name_at(unit) == "EXTENDED_ARG":
        argument = (argument | walk.arguments[unit]) << 8
        unit += 1
    if walk.name_at(unit) not in ("JUMP_BACKWARD_NO_INTERRUPT", "JUMP_BACKWARD"):
        return False
    back = walk.next_unit(unit) - (argument | walk.arguments[unit])
    while 0 <= back < head and walk.name_at(back) == "EXTENDED_ARG":
        back += 1
    return back == head


def end_send(slots: int) -> Special:
    """END_SEND: [receiver, result] -> [result]; the receiver is a phantom since YIELD_FROM took it."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        below = walk.take(unit, shape, 1)
        receiver = PHANTOM * (slots - 1)
        if not below.endswith(receiver):
            raise walk.error(unit, "does not follow a SEND")
        return below[: -len(receiver)] + VALUE

    return row


def return_const(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    walk.emit(unit, Op.LOAD_CONST, walk.entry(unit, CONSTANT, argument))
    walk.emit(unit, Op.RETURN)
    return None


def leave(op: Op, pops: int) -> Special:
    """RETURN_VALUE, RERAISE: nothing follows."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        walk.take(unit, shape, pops)
        walk.emit(unit, op)
        return None

    return row


def raise_(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    if argument > 2:
        raise walk.error(unit, "takes %d values" % argument)
    walk.take(unit, shape, argument)
    walk.emit(unit, Op.RAISE, argument)
    return None


def print_expression(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """PRINT_EXPR (to 3.11) leaves nothing on the stack; the canonical intrinsic leaves its result."""
    shape = walk.take(unit, shape, 1)
    walk.emit(unit, Op.INTRINSIC, ("print", 1))
    walk.emit(unit, Op.POP)
    return shape


def with_except_start(spare: int) -> Special:
    """WITH_EXCEPT_START (3.11): [exit, saved index, previous, exc], with `spare` slots between exit and previous."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        walk.need(unit, shape, 3 + spare)
        slots = shape[len(shape) - 3 - spare :]
        if slots[0] == PHANTOM or slots[1:-2] != PHANTOM * spare or PHANTOM in slots[-2:]:
            raise walk.error(unit, "does not find an exit method and an exception on the stack")
        walk.emit(unit, Op.WITH_EXCEPT_START)
        return shape + VALUE

    return row
