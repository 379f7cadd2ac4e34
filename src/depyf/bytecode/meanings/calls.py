"""Calls, functions and the names that callables are loaded by."""

from __future__ import annotations

from typing import List, Optional, Tuple

from depyf.bytecode.dialect import CONSTANT, NAME, Special
from depyf.bytecode.program import Op
from depyf.bytecode.shape import EXIT, PHANTOM, VALUE
from depyf.bytecode.walk import Walk

FUNCTION_PARTS = ((1, "defaults"), (2, "kwdefaults"), (4, "annotations"), (8, "closure"))


def load_global(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """3.11: the low bit asks for a NULL beside the value; it lies above it from 3.13 on."""
    walk.emit(unit, Op.LOAD_GLOBAL, walk.entry(unit, NAME, argument >> 1))
    if argument & 1:
        return shape + (VALUE + PHANTOM if walk.dialect.null_above else PHANTOM + VALUE)
    return shape + VALUE


def load_method(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """LOAD_METHOD (to 3.11): two slots, method and self or NULL and attribute. Here one bound method on top."""
    shape = walk.take(unit, shape, 1) + PHANTOM + VALUE
    walk.emit(unit, Op.LOAD_ATTR, walk.entry(unit, NAME, argument))
    return shape


def keyword_names(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """KW_NAMES (3.11, 3.12): says the names of the next call's last arguments."""
    names = walk.entry(unit, CONSTANT, argument)
    if not isinstance(names, tuple):
        raise walk.error(unit, "names a constant that is no tuple")
    walk.keywords[unit] = names
    return shape


def _pending_keywords(walk: Walk, unit: int) -> Tuple[str, ...]:
    for _ in range(2):  # PRECALL may lie in between
        unit = walk.previous[unit]
        if unit in walk.keywords:
            return walk.keywords[unit]
        if unit < 0 or walk.name_at(unit) != "PRECALL":
            break
    return ()


def call(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL (3.11): the two slots below the arguments are a callable and NULL, or a callable and its first argument.

    To 3.12 the NULL lies below the callable, from 3.13 on above it.
    """
    return finish_call(walk, unit, argument, shape, _pending_keywords(walk, unit))


def finish_call(walk: Walk, unit: int, argument: int, shape: str, keywords: Tuple[str, ...]) -> str:
    walk.need(unit, shape, argument + 2)
    base = len(shape) - argument - 2
    null = base + 1 if walk.dialect.null_above else base
    if shape[null] == PHANTOM:
        callee = base if walk.dialect.null_above else base + 1
        count = argument
    else:
        callee = base
        count = argument + 1
    if shape[callee] == PHANTOM or PHANTOM in shape[base + 2 :]:
        raise walk.error(unit, "uses a stack slot that holds no value")
    if len(keywords) > count:
        raise walk.error(unit, "has more keywords than arguments")
    if shape[callee] == EXIT and not keywords and exit_call(walk, unit, count):
        return shape[:base] + VALUE
    walk.emit(unit, Op.CALL, (count, keywords))
    return shape[:base] + VALUE


def exit_call(walk: Walk, unit: int, count: int) -> bool:
    """Turn `exit(None, None, None)`, as a with-statement ends, into WITH_EXIT; False if it is another call."""
    walk.absorbed.pop(unit, None)
    units = _nones_before(walk, unit) if count == 3 else None
    if units is None:
        return False
    walk.absorb(unit, units)
    walk.emit(unit, Op.WITH_EXIT)
    return True


def _nones_before(walk: Walk, unit: int) -> Optional[List[int]]:
    """The units in front of `unit` that load None three times (to 3.10: once, and copy it twice), nearest first."""
    constants = walk.constant_before(unit, 3)
    if constants is None:
        second = walk.previous[unit]
        first = walk.previous[second] if second >= 0 else -1
        if first < 0 or not (_is_copy(walk, first) and _is_copy(walk, second)):
            return None
        constants = walk.constant_before(first)
        copies = [second, first]
    else:
        copies = []
    if constants is None or any(value is not None for _, value in constants):
        return None
    return copies + [at for at, _ in constants]


def _is_copy(walk: Walk, unit: int) -> bool:
    made = walk.out[unit]
    return made is not None and len(made) == 1 and made[0].op is Op.COPY and made[0].arg == 1


def call_function_ex(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """3.11 to 3.13: [NULL, callable, arguments(, keywords)]; 3.13 has callable and NULL the other way round."""
    has_keywords = argument & 1
    base = len(shape) - 3 - has_keywords
    if base < 0:
        raise walk.error(unit, "takes more values than there are on the stack")
    return _finish_call_ex(walk, unit, shape, base, bool(has_keywords))


def _finish_call_ex(walk: Walk, unit: int, shape: str, base: int, has_keywords: bool) -> str:
    pair = VALUE + PHANTOM if walk.dialect.null_above else PHANTOM + VALUE
    found = shape[base : base + 2].replace(EXIT, VALUE)
    if found != pair or PHANTOM in shape[base + 2 :]:
        raise walk.error(unit, "finds no callable with its NULL on the stack")
    walk.emit(unit, Op.CALL_EX, has_keywords)
    return shape[:base] + VALUE


def make_function(flags_of_qualname: bool) -> Special:
    """MAKE_FUNCTION. To 3.10 the qualified name lies above the code (`flags_of_qualname`): it repeats co_qualname."""

    def row(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
        parts = frozenset(part for bit, part in FUNCTION_PARTS if argument & bit)
        if argument & ~15:
            raise walk.error(unit, "has flags (%d) that do not exist" % argument)
        if flags_of_qualname:
            shape = walk.take(unit, shape, 1)
            before = walk.constant_before(unit)
            if before is None:
                walk.emit(unit, Op.POP)
            else:
                walk.absorb(unit, [before[0][0]])
        shape = walk.take(unit, shape, len(parts) + 1) + VALUE
        walk.emit(unit, Op.MAKE_FUNCTION, parts)
        return shape

    return row


def import_name(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    shape = walk.take(unit, shape, 2) + VALUE
    walk.emit(unit, Op.IMPORT_NAME, (walk.entry(unit, NAME, argument), False))
    return shape


def call_function(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_FUNCTION (to 3.10): [callable, arguments]; no NULLs."""
    walk.need(unit, shape, argument + 1)
    callee = shape[-argument - 1]
    shape = walk.take(unit, shape, argument + 1) + VALUE
    if not (callee == EXIT and exit_call(walk, unit, argument)):
        walk.emit(unit, Op.CALL, (argument, ()))
    return shape


def call_method(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_METHOD (to 3.10): what LOAD_METHOD left, then the arguments."""
    below = walk.take(unit, shape, argument + 1)
    if below[-1:] != PHANTOM:
        raise walk.error(unit, "finds no method on the stack")
    walk.emit(unit, Op.CALL, (argument, ()))
    return below[:-1] + VALUE


def call_function_kw(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_FUNCTION_KW (to 3.10): the keywords' names are a constant tuple on top."""
    before = walk.constant_before(unit)
    if before is None or not isinstance(before[0][1], tuple) or len(before[0][1]) > argument:
        raise walk.error(unit, "has no constant tuple of keyword names in front of it")
    walk.absorb(unit, [before[0][0]])
    shape = walk.take(unit, shape, argument + 2) + VALUE
    walk.emit(unit, Op.CALL, (argument, before[0][1]))
    return shape


def call_function_ex_plain(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_FUNCTION_EX to 3.10: [callable, arguments(, keywords)]."""
    shape = walk.take(unit, shape, 2 + (argument & 1)) + VALUE
    walk.emit(unit, Op.CALL_EX, bool(argument & 1))
    return shape


def load_attr(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """LOAD_ATTR from 3.12 on: the low bit makes it a LOAD_METHOD."""
    below = walk.take(unit, shape, 1)
    walk.emit(unit, Op.LOAD_ATTR, walk.entry(unit, NAME, argument >> 1))
    return below + _callable_shape(walk, argument & 1)


def _callable_shape(walk: Walk, is_method: int) -> str:
    if not is_method:
        return VALUE
    return VALUE + PHANTOM if walk.dialect.null_above else PHANTOM + VALUE


def load_super_attr(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """LOAD_SUPER_ATTR (3.12): bit 0 for a method, bit 1 for super(class, self) written out."""
    below = walk.take(unit, shape, 3)
    walk.emit(unit, Op.LOAD_SUPER_ATTR, (walk.entry(unit, NAME, argument >> 2), bool(argument & 2)))
    return below + _callable_shape(walk, argument & 1)


def call_kw(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_KW (3.13): like CALL, with the keywords' names, a constant tuple, on top."""
    before = walk.constant_before(unit)
    if before is None or not isinstance(before[0][1], tuple):
        raise walk.error(unit, "has no constant tuple of keyword names in front of it")
    shape = finish_call(walk, unit, argument, walk.take(unit, shape, 1), before[0][1])
    walk.absorb(unit, [before[0][0]])
    return shape


def call_function_ex_full(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """CALL_FUNCTION_EX from 3.14 on: [callable, NULL, arguments, keywords or NULL]."""
    walk.need(unit, shape, 4)
    if shape[-1] == PHANTOM:
        return _finish_call_ex(walk, unit, shape[:-1], len(shape) - 4, False)
    return _finish_call_ex(walk, unit, shape, len(shape) - 4, True)


def import_name_lazily(walk: Walk, unit: int, argument: int, shape: str) -> Optional[str]:
    """IMPORT_NAME from 3.15 on: two low bits, of which bit 0 says `lazy`."""
    shape = walk.take(unit, shape, 2) + VALUE
    walk.emit(unit, Op.IMPORT_NAME, (walk.entry(unit, NAME, argument >> 2), bool(argument & 1)))
    return shape
