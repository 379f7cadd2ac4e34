"""Stack shapes: what kind of thing lies in each slot of the interpreter's value stack.

A shape is a string with one letter per slot, bottom first:

    v   a value
    x   the exit method of a with-statement (a value too)
    n   a phantom: a slot that holds no value a program can see (NULL beside a callable, the saved instruction
        index below an exception, the spare slots of an exception triple on 3.8 to 3.10)

Strings are immutable, cheap to slice and cheap to compare, and this is the innermost loop of the decoder.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

VALUE = "v"
EXIT = "x"
PHANTOM = "n"


def real_depth(shape: str) -> int:
    """Number of slots that hold real values."""
    return len(shape) - shape.count(PHANTOM)


def real_position(shape: str, position: int) -> int:
    """Position from the top, counting real values only, of the slot at `position` from the top (1 = top)."""
    start = len(shape) - position
    return position - shape.count(PHANTOM, start)


def swap(shape: str, position: int) -> Tuple[str, List[int]]:
    """Exchange the top slot with the one at `position`: the new shape, and the SWAPs of real values that do it."""
    top, other = shape[-1], shape[-position]
    if position == 1:
        return shape, []
    start = len(shape) - position
    between = shape[start + 1 : -1]
    after = shape[:start] + top + between + other
    crossed = real_depth(between)
    if top != PHANTOM and other != PHANTOM:
        return after, [crossed + 2]
    if top != PHANTOM:  # the top value sinks below the values in between
        return after, list(range(crossed + 1, 1, -1))
    if other != PHANTOM:  # the lower value rises above the values in between
        return after, list(range(2, crossed + 2))
    return after, []


def rotate(shape: str, count: int) -> Tuple[str, List[int]]:
    """Move the top slot below the `count - 1` slots under it: the new shape and the SWAPs of real values."""
    start = len(shape) - count
    top, others = shape[-1], shape[start:-1]
    after = shape[:start] + top + others
    if top == PHANTOM:
        return after, []
    return after, list(range(real_depth(others) + 1, 1, -1))


def merge(first: str, second: str) -> Optional[str]:
    """The shape that covers both where two paths meet, or None when they disagree about depth or phantoms."""
    if len(first) != len(second):
        return None
    merged = []
    for one, other in zip(first, second):
        if one == other:
            merged.append(one)
        elif PHANTOM in (one, other):
            return None
        else:
            merged.append(VALUE)  # an exit method on one path, any value on the other
    return "".join(merged)
