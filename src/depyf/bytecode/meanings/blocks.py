"""Opcodes of the block stack (3.8 to 3.10): they set up, leave and re-raise. See `block_walk` for the whole."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.block_walk import CAUGHT, PREVIOUS
from depyf.bytecode.exception_table import Guard
from depyf.bytecode.program import Op
from depyf.bytecode.shape import EXIT, PHANTOM, VALUE
from depyf.bytecode.walk import Walk


def _set_up(walk: Walk, unit: int, argument: int, depth: int) -> None:
    walk.blocks = walk.blocks + (Guard(walk.target(unit, argument), depth, False),)


def setup_finally(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    _set_up(walk, unit, argument, len(shape))
    return shape


def setup_with(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[manager] -> [exit, value], with a block whose handler keeps the exit method."""
    shape = walk.take(unit, shape, 1) + EXIT
    walk.emit(unit, Op.BEFORE_WITH)
    _set_up(walk, unit, argument, len(shape))
    return shape + VALUE


def setup_async_with(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """The manager was entered before; the block lies below its result."""
    below = walk.take(unit, shape, 1)
    _set_up(walk, unit, argument, len(below))
    return shape


def _leave_block(walk: Walk, unit: int) -> None:
    if not walk.blocks:
        raise walk.error(unit, "leaves a block when none is set up")
    walk.blocks = walk.blocks[:-1]


def pop_block(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    _leave_block(walk, unit)
    return shape


def pop_except(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    if not shape.endswith(PREVIOUS):
        raise walk.error(unit, "does not find the exception handled before on the stack")
    _leave_block(walk, unit)
    walk.emit(unit, Op.POP_EXCEPT)
    return shape[: -len(PREVIOUS)]


def reraise(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    if not shape.endswith(CAUGHT):
        raise walk.error(unit, "does not find an exception on the stack")
    walk.emit(unit, Op.RERAISE)
    return None


def with_except_start(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    if not shape.endswith(PREVIOUS + CAUGHT) or shape[-7:-6] in ("", PHANTOM):
        raise walk.error(unit, "does not find an exit method and an exception on the stack")
    walk.emit(unit, Op.WITH_EXCEPT_START)
    return shape + VALUE


def match_exception(walk: Walk, unit: int, shape: str) -> str:
    """[copy of the type's slot, type to match] -> []. CHECK_EXC_MATCH looks at the exception below instead."""
    below = walk.take(unit, shape, 1)
    if not below.endswith(CAUGHT + PHANTOM):
        raise walk.error(unit, "does not find an exception on the stack")
    walk.emit(unit, Op.CHECK_EXC_MATCH)
    return below[:-1]


def jump_if_not_exc_match(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    shape = match_exception(walk, unit, shape)
    target = walk.target(unit, argument)
    walk.emit(unit, Op.BRANCH_FALSE, None, target)
    walk.go(target, shape, unit)
    return shape
