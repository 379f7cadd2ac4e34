"""Finally bodies and with-statements of 3.8, after `finally_calls` has copied them per way in.

To tell how a body was entered the copies look at the stack: NULL or a return address on top is a phantom behind
anything but a caught exception.
"""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.block_walk import CAUGHT, PREVIOUS
from depyf.bytecode.meanings import blocks
from depyf.bytecode.meanings.operators import compare_op
from depyf.bytecode.program import Op
from depyf.bytecode.shape import EXIT, PHANTOM, VALUE
from depyf.bytecode.walk import Walk

EXCEPTION_MATCH = "exception match"


def compare(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """COMPARE_OP of 3.8: `except E` is one of the comparisons."""
    comparisons = walk.dialect.comparisons
    if argument < len(comparisons) and comparisons[argument] == EXCEPTION_MATCH:
        return blocks.match_exception(walk, unit, shape) + VALUE
    return compare_op(walk, unit, argument, shape)


def added_jump(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    target = walk.target(unit, argument)
    walk.emit(unit, Op.JUMP, None, target)
    walk.shortcuts.add(unit)
    walk.go(target, shape, unit)
    return None


def return_from_finally(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """END_FINALLY of a body that was not entered by an exception: drops what says so."""
    if shape[-1:] != PHANTOM:
        raise walk.error(unit, "does not find on the stack how the finally body was entered")
    return added_jump(walk, unit, argument, shape[:-1])


def _handles(shape: str) -> bool:
    return shape.endswith(PREVIOUS + CAUGHT)


def pop_finally(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """POP_FINALLY: leave a body by return, break or continue. With argument 1 a value lies on top and stays."""
    keep = walk.take(unit, shape, 1) if argument else shape
    kept = shape[len(keep) :]
    if not keep.endswith(PHANTOM):
        raise walk.error(unit, "does not find on the stack how the finally body was entered")
    if not walk.in_handler() or not _handles(keep):
        return keep[:-1] + kept
    if kept:
        walk.emit_swaps(unit, (2,))
    walk.emit(unit, Op.POP)
    if kept:
        walk.emit_swaps(unit, (2,))
    walk.emit(unit, Op.POP_EXCEPT)
    walk.blocks = walk.blocks[:-1]
    return keep[: -len(PREVIOUS + CAUGHT)] + kept


def with_cleanup_start(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """Call the exit method: below NULL if nothing was raised, else below the exception's six slots."""
    if shape.endswith(EXIT + PHANTOM):
        walk.emit(unit, Op.WITH_EXIT)
        return shape[:-2] + PHANTOM + PHANTOM + VALUE
    if not shape.endswith(EXIT + PREVIOUS + CAUGHT):
        raise walk.error(unit, "finds no exit method on the stack")
    walk.emit(unit, Op.WITH_EXCEPT_START)
    return shape + PHANTOM + VALUE


def with_cleanup_finish(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """Look at the exit method's result: only after an exception does it matter."""
    below = walk.take(unit, shape, 1)
    if not below.endswith(PHANTOM):
        raise walk.error(unit, "does not follow the call of an exit method")
    below = below[:-1]
    if not below.endswith(EXIT + PREVIOUS + CAUGHT):
        walk.emit(unit, Op.POP)
        return below
    target = walk.target(unit, argument)
    walk.emit(unit, Op.BRANCH_TRUE, None, target)
    walk.go(target, below, unit)
    return below


def suppressed(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """The exit method suppressed the exception: drop it, the handler's block and the exit method."""
    if not shape.endswith(EXIT + PREVIOUS + CAUGHT):
        raise walk.error(unit, "finds no exit method on the stack")
    walk.emit(unit, Op.POP)
    walk.emit(unit, Op.POP_EXCEPT)
    walk.emit(unit, Op.POP)
    walk.blocks = walk.blocks[:-1]
    return added_jump(walk, unit, argument, shape[: -len(EXIT + PREVIOUS + CAUGHT)])
