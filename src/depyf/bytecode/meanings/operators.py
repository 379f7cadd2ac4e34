"""Operators, displays, formatting, unpacking."""

from __future__ import annotations

from typing import Optional

from depyf.bytecode.dialect import Special
from depyf.bytecode.program import Op
from depyf.bytecode.shape import PHANTOM, VALUE
from depyf.bytecode.walk import Walk

CONVERSIONS = ("", "s", "r", "a")


def binary_op(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """BINARY_OP (3.11): the argument is an index into the version's list of operators; `+=` and so on are in place."""
    operators = walk.dialect.operators
    if argument >= len(operators):
        raise walk.error(unit, "has an operator (%d) that does not exist" % argument)
    shape = walk.take(unit, shape, 2) + VALUE
    spelling = operators[argument]
    if spelling == "[]":  # 3.14: subscription is an operator
        walk.emit(unit, Op.LOAD_SUBSCR)
    elif spelling.endswith("="):
        walk.emit(unit, Op.INPLACE, spelling[:-1])
    else:
        walk.emit(unit, Op.BINARY, spelling)
    return shape


def compare_op(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    index = argument >> walk.dialect.comparison_shift
    if index >= len(walk.dialect.comparisons):
        raise walk.error(unit, "has a comparison (%d) that does not exist" % index)
    shape = walk.take(unit, shape, 2) + VALUE
    walk.emit(unit, Op.COMPARE, walk.dialect.comparisons[index])
    return shape


def choice(positive: str, negative: str) -> Special:
    """IS_OP, CONTAINS_OP: the argument 1 negates."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, 2) + VALUE
        walk.emit(unit, Op.COMPARE, negative if argument else positive)
        return shape

    return row


def build(op: Op, per_item: int = 1) -> Special:
    """BUILD_*: takes `per_item` values for each of the argument's items."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, argument * per_item) + VALUE
        walk.emit(unit, op, argument)
        return shape

    return row


def build_slice(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    if argument not in (2, 3):
        raise walk.error(unit, "builds a slice of %d parts" % argument)
    shape = walk.take(unit, shape, argument) + VALUE
    walk.emit(unit, Op.BUILD_SLICE, argument)
    return shape


def build_const_key_map(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """The keys are a constant tuple loaded just before: it becomes the argument."""
    before = walk.constant_before(unit)
    if before is None or not isinstance(before[0][1], tuple) or len(before[0][1]) != argument:
        raise walk.error(unit, "has no constant tuple of %d keys in front of it" % argument)
    walk.absorb(unit, [before[0][0]])
    shape = walk.take(unit, shape, argument + 1) + VALUE
    walk.emit(unit, Op.BUILD_CONST_KEY_MAP, before[0][1])
    return shape


def add_to(op: Op, pops: int = 1) -> Special:
    """LIST_APPEND and its like: the argument names the container's slot, counted after the pop."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, pops)
        walk.need(unit, shape, argument)
        if argument < 1 or shape[-argument] == PHANTOM:
            raise walk.error(unit, "adds to a stack slot that holds no value")
        walk.emit(unit, op, argument - shape.count(PHANTOM, len(shape) - argument))
        return shape

    return row


def format_value(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """FORMAT_VALUE (to 3.12): two bits of conversion, one for a format specification on the stack."""
    has_spec = bool(argument & 4)
    shape = walk.take(unit, shape, 2 if has_spec else 1) + VALUE
    walk.emit(unit, Op.FORMAT, (CONVERSIONS[argument & 3], has_spec))
    return shape


def unpack_sequence(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    shape = walk.push(unit, walk.take(unit, shape, 1), argument)
    walk.emit(unit, Op.UNPACK_SEQUENCE, argument)
    return shape


def unpack_ex(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    before, after = argument & 0xFF, argument >> 8
    shape = walk.push(unit, walk.take(unit, shape, 1), before + 1 + after)
    walk.emit(unit, Op.UNPACK_EX, (before, after))
    return shape


def binary_slice(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[o, start, stop] -> [o[start:stop]]"""
    shape = walk.take(unit, shape, 3) + VALUE
    walk.emit(unit, Op.BUILD_SLICE, 2)
    walk.emit(unit, Op.LOAD_SUBSCR)
    return shape


def store_slice(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """[v, o, start, stop] -> []"""
    shape = walk.take(unit, shape, 4)
    walk.emit(unit, Op.BUILD_SLICE, 2)
    walk.emit(unit, Op.STORE_SUBSCR)
    return shape


def convert_value(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CONVERT_VALUE (3.13): the value gets marked, and the format that takes it converts it too.

    A computed format specification is evaluated in between; a conversion that has effects of its own so moves past
    it, as in the source's text.
    """
    if not 0 < argument < len(CONVERSIONS):
        raise walk.error(unit, "has a conversion (%d) that does not exist" % argument)
    shape = walk.take(unit, shape, 1) + CONVERSIONS[argument]
    walk.converting.add(unit)
    return shape


def format_converted(has_spec: bool) -> Special:
    """FORMAT_SIMPLE and FORMAT_WITH_SPEC (3.13)."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        values = 2 if has_spec else 1
        below = walk.take(unit, shape, values)
        mark = shape[-values]
        conversion = mark if mark in CONVERSIONS else ""
        if conversion:
            walk.converted.add(unit)
        walk.emit(unit, Op.FORMAT, (conversion, has_spec))
        return below + VALUE

    return row


def build_interpolation(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """BUILD_INTERPOLATION (3.14): bit 0 for a specification, the conversion from bit 2 on."""
    has_spec = bool(argument & 1)
    conversion = argument >> 2
    if conversion >= len(CONVERSIONS):
        raise walk.error(unit, "has a conversion (%d) that does not exist" % conversion)
    shape = walk.take(unit, shape, 3 if has_spec else 2) + VALUE
    walk.emit(unit, Op.BUILD_INTERPOLATION, (CONVERSIONS[conversion], has_spec))
    return shape


def build_unpacked(name: str) -> Special:
    """BUILD_*_UNPACK (3.8): join n iterables or mappings into one display, all of them evaluated before."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        shape = walk.take(unit, shape, argument) + VALUE
        walk.emit(unit, Op.INTRINSIC, (name, argument))
        return shape

    return row
