"""Opcodes that move stack slots, and those that leave no trace."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.dialect import Special
from depyf.bytecode.program import Op
from depyf.bytecode.shape import PHANTOM, real_position, rotate, swap
from depyf.bytecode.walk import Walk


def nothing(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """An instruction with no meaning for the program."""
    return shape


def push_phantom(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    return shape + PHANTOM


def pop_phantoms(count: int) -> Special:
    """A row for an opcode that removes `count` slots, all of them phantoms by now."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        walk.need(unit, shape, count)
        if shape[len(shape) - count :] != PHANTOM * count:
            raise walk.error(unit, "removes a value from the stack")
        return shape[: len(shape) - count]

    return row


def pop(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    walk.need(unit, shape, 1)
    if shape[-1] != PHANTOM:
        walk.emit(unit, Op.POP)
    return shape[:-1]


def copy_position(walk: Walk, unit: int, position: int, shape: str) -> str:
    walk.need(unit, shape, position)
    if position < 1:
        raise walk.error(unit, "copies the stack's position 0")
    kind = shape[-position]
    if kind != PHANTOM:
        walk.emit(unit, Op.COPY, real_position(shape, position))
    return shape + kind


def copy(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    return copy_position(walk, unit, argument, shape)


def copies(position: int, times: int) -> Special:
    """DUP_TOP, DUP_TOP_TWO: copy the slot at `position`, `times` times."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        for _ in range(times):
            shape = copy_position(walk, unit, position, shape)
        return shape

    return row


def exchange(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    walk.need(unit, shape, argument)
    if argument < 1:
        raise walk.error(unit, "swaps the stack's position 0")
    shape, swaps = swap(shape, argument)
    walk.emit_swaps(unit, swaps)
    return shape


def rotation(count: int) -> Special:
    """ROT_TWO, ROT_THREE, ROT_FOUR; ROT_N (its argument says how many) when `count` is 0."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        size = count or argument
        walk.need(unit, shape, size)
        if size < 1:
            raise walk.error(unit, "rotates nothing")
        shape, swaps = rotate(shape, size)
        walk.emit_swaps(unit, swaps)
        return shape

    return row


def pop_with_phantom(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """POP_ITER of 3.15: the iterator and the slot above it."""
    walk.need(unit, shape, 2)
    if shape[-1] != PHANTOM:
        raise walk.error(unit, "finds no iterator on the stack")
    return pop(walk, unit, argument, shape[:-1])
