"""Match statements of 3.10: its opcodes give a result and a bool, later ones a result or None."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.meanings.control import branch
from depyf.bytecode.program import Op
from depyf.bytecode.shape import VALUE
from depyf.bytecode.walk import Walk

_branch_false = branch(Op.BRANCH_FALSE)


def match_keys(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[subject, keys] -> [subject, keys, values or None, whether they match]."""
    walk.take(unit, shape, 2)
    walk.emit(unit, Op.MATCH_KEYS)
    _is_not_none(walk, unit)
    return shape + VALUE + VALUE


def match_class(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[subject, class, names] -> [attributes, whether they match].

    In place of missing attributes 3.10 leaves the subject, not None; the compiler only pops it then.
    """
    shape = walk.take(unit, shape, 3)
    walk.emit(unit, Op.MATCH_CLASS, argument)
    _is_not_none(walk, unit)
    return shape + VALUE + VALUE


def _is_not_none(walk: Walk, unit: int) -> None:
    walk.emit(unit, Op.COPY, 1)
    walk.emit(unit, Op.LOAD_CONST, None)
    walk.emit(unit, Op.COMPARE, "is not")


def branch_false(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """POP_JUMP_IF_FALSE. Behind a match opcode it becomes what 3.11 has: a jump if the result is None."""
    before = walk.previous[unit]
    made = walk.out[before] if before >= 0 else None
    after = _branch_false(walk, unit, argument, shape)
    if made and walk.name_at(before) in ("MATCH_KEYS", "MATCH_CLASS"):
        made[-1].arg = "is"
        walk.out[unit][-1].op = Op.BRANCH_TRUE  # type: ignore[index]
    return after


def copy_dict_without_keys(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[mapping, keys] -> [mapping, a dict of the other items]."""
    shape = walk.take(unit, shape, 2) + VALUE + VALUE
    walk.emit(unit, Op.COPY, 2)
    walk.emit(unit, Op.SWAP, 2)
    walk.emit(unit, Op.INTRINSIC, ("dict_without_keys", 2))
    return shape
