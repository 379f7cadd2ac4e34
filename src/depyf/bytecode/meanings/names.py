"""Loads and stores of names that need more than a table row."""

from __future__ import annotations

import ast
from typing import Optional

from depyf.bytecode.dialect import LOCAL, NAME, Special
from depyf.bytecode.program import Op
from depyf.bytecode.shape import VALUE
from depyf.bytecode.walk import Walk

CLASS_NAMESPACE = "__classdict__"


def load_from_dict(op: Op, kind: int) -> Special:
    """LOAD_FROM_DICT_OR_*: [namespace] -> [value]. The load of the namespace, just before, becomes part of it."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, 1) + VALUE
        before = walk.previous[unit]
        made = walk.out[before] if before >= 0 else None
        if (
            not made
            or len(made) != 1
            or not (made[0].op is Op.LOAD_LOCALS or made[0].op is Op.LOAD_DEREF and made[0].arg == CLASS_NAMESPACE)
        ):
            raise walk.error(unit, "has no load of a class namespace in front of it")
        walk.absorb(unit, [before])
        walk.emit(unit, op, walk.entry(unit, kind, argument))
        return shape

    return row


load_from_dict_or_globals = load_from_dict(Op.LOAD_CLASSGLOBAL, NAME)


def _load(walk: Walk, unit: int, index: int) -> None:
    name = walk.entry(unit, LOCAL, index)
    is_cell = index >= len(walk.code.co_varnames) or name in walk.code.co_cellvars
    walk.emit(unit, Op.LOAD_CLOSURE if is_cell else Op.LOAD_FAST, name)


def load_fast(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    _load(walk, unit, argument)
    return shape + VALUE


def load_fast_load_fast(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    _load(walk, unit, argument >> 4)
    _load(walk, unit, argument & 15)
    return shape + VALUE + VALUE


def store_fast_load_fast(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    shape = walk.take(unit, shape, 1) + VALUE
    walk.emit(unit, Op.STORE_FAST, walk.entry(unit, LOCAL, argument >> 4))
    _load(walk, unit, argument & 15)
    return shape


def store_fast_store_fast(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    shape = walk.take(unit, shape, 2)
    walk.emit(unit, Op.STORE_FAST, walk.entry(unit, LOCAL, argument >> 4))
    walk.emit(unit, Op.STORE_FAST, walk.entry(unit, LOCAL, argument & 15))
    return shape


def _common_constant(walk: Walk, unit: int, argument: int) -> str:
    names = walk.dialect.common_constants
    if argument >= len(names):
        raise walk.error(unit, "loads common constant %d, which does not exist" % argument)
    return names[argument]


def load_common_constant(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """LOAD_COMMON_CONSTANT (3.14): a builtin, by number."""
    name = _common_constant(walk, unit, argument)
    if name == "AssertionError":
        walk.emit(unit, Op.LOAD_ASSERTION_ERROR)
    else:
        walk.emit(unit, Op.LOAD_COMMON_CONST, name)
    return shape + VALUE


def load_common_constant_or_value(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """LOAD_COMMON_CONSTANT of 3.15, which knows a few plain values too (they are no identifiers in the table)."""
    name = _common_constant(walk, unit, argument)
    if name.isidentifier() and name not in ("None", "True", "False"):
        return load_common_constant(walk, unit, argument, shape)
    walk.emit(unit, Op.LOAD_CONST, ast.literal_eval(name) if name else "")
    return shape + VALUE
