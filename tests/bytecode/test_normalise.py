"""Facts about canonical programs, and what becomes of bytecode that is none."""

from __future__ import annotations

import random
import sys
import time

import pytest

from depyf.bytecode import BytecodeError, Instr, Op, normalise
from depyf.bytecode.foreign_code import ForeignCode
from depyf.bytecode.versions import dialect_of

from .consistency import stack_depths
from .stdlib import code_objects

TABLES = ("co_lnotab", "co_linetable")
VERSION = sys.version_info[:2]
NUMBERS = {name: number for number, name in dialect_of(VERSION).names.items()}


def foreign(code, **changes):
    """`code` as data, which takes any changes."""
    table = "co_linetable" if VERSION >= (3, 10) else "co_lnotab"
    fields = [name for name in ForeignCode.__dataclass_fields__ if name.startswith("co_")]
    values = {name: getattr(code, name) for name in fields if name not in TABLES and hasattr(code, name)}
    values.setdefault("co_qualname", code.co_name)
    values[table] = getattr(code, table)
    values.update(changes)
    return ForeignCode(version=VERSION, **values)


def assemble(*instructions, **changes):
    """A function's code object, as data, of (name, argument) instructions of the running version; caches are added."""
    dialect = dialect_of(VERSION)
    raw = bytearray()
    for name, argument in instructions:
        raw += bytes((NUMBERS[name], argument))
        raw += bytes(2 * dialect.caches[NUMBERS[name]])

    def template(a, b, c):
        return None

    changes.setdefault("co_names", ("f", "g"))
    changes.setdefault("co_consts", (None,))
    changes.setdefault("co_stacksize", 20)
    return foreign(template.__code__, co_code=bytes(raw), co_exceptiontable=b"", **changes)


def shown(program):
    return [(instr.op.name, instr.arg) if instr.arg is not None else instr.op.name for instr in program.instrs]


def test_stacks_are_consistent_over_the_stdlib():
    count = 0
    for code in code_objects():
        program = normalise(code)
        depths = stack_depths(program)
        assert None not in depths, code  # code that nothing reaches is left out
        count += 1
    assert count > 1000


def test_offsets_and_lines_are_those_of_the_bytecode():
    for code in code_objects():
        first = code.co_firstlineno
        for instr in normalise(code).instrs:
            if instr.offset >= 0:
                assert instr.offset % 2 == 0 and instr.offset < len(code.co_code)
            assert instr.line is None or instr.line >= first or code.co_name in ("<genexpr>", "<module>")


def test_foreign_code_gives_the_same_program():
    for code in code_objects():
        real, data = normalise(code), normalise(foreign(code))
        assert real.instrs == data.instrs
        assert real.regions == data.regions


# --- phantom slots, as Dynamo leaves them -----------------------------------------------------------------------------

needs_nulls_below = pytest.mark.skipif(VERSION not in ((3, 11), (3, 12)), reason="NULL lies below the callable here")


@needs_nulls_below
def test_null_pushed_first_and_swapped_into_place():
    program = normalise(
        assemble(("LOAD_FAST", 0), ("PUSH_NULL", 0), ("SWAP", 2), ("LOAD_FAST", 1), ("CALL", 1), ("RETURN_VALUE", 0))
    )
    assert shown(program) == [("LOAD_FAST", "a"), ("LOAD_FAST", "b"), ("CALL", (1, ())), "RETURN"]


@needs_nulls_below
def test_copies_and_swaps_across_nulls_count_values_only():
    program = normalise(
        assemble(
            ("LOAD_FAST", 0),
            ("PUSH_NULL", 0),
            ("LOAD_FAST", 1),
            ("COPY", 3),
            ("SWAP", 4),
            ("POP_TOP", 0),
            ("CALL", 0),
            ("BUILD_TUPLE", 2),
            ("RETURN_VALUE", 0),
        )
    )
    assert shown(program) == [
        ("LOAD_FAST", "a"),
        ("LOAD_FAST", "b"),
        ("COPY", 2),
        ("SWAP", 3),
        "POP",
        ("CALL", (0, ())),
        ("BUILD_TUPLE", 2),
        "RETURN",
    ]


@needs_nulls_below
def test_a_null_that_rises_above_values_keeps_their_order():
    program = normalise(
        assemble(
            ("PUSH_NULL", 0),
            ("LOAD_FAST", 0),
            ("LOAD_FAST", 1),
            ("LOAD_FAST", 2),
            ("SWAP", 4),
            ("POP_TOP", 0),
            ("BUILD_TUPLE", 3),
            ("RETURN_VALUE", 0),
        )
    )
    # raw: [NULL a b c] -> [c a b NULL] -> [c a b]
    assert shown(program)[3:] == [("SWAP", 3), ("SWAP", 2), ("BUILD_TUPLE", 3), "RETURN"]


@needs_nulls_below
def test_a_callable_in_the_place_of_null_takes_one_argument_more():
    program = normalise(assemble(("LOAD_FAST", 0), ("LOAD_FAST", 1), ("CALL", 0), ("RETURN_VALUE", 0)))
    assert ("CALL", (1, ())) in shown(program)


# --- bytecode that is none --------------------------------------------------------------------------------------------


def rejected(code):
    with pytest.raises(BytecodeError) as caught:
        normalise(code)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_empty_and_odd_bytes():
    code = assemble(("RETURN_VALUE", 0))
    assert "0 bytes" in rejected(foreign(code, co_code=b""))
    assert "3 bytes" in rejected(foreign(code, co_code=b"\x00\x00\x00"))


def test_unknown_opcode():
    unknown = next(number for number in range(1, 256) if number not in dialect_of(VERSION).names)
    code = assemble(("LOAD_CONST", 0), ("RETURN_VALUE", 0))
    message = rejected(foreign(code, co_code=bytes((unknown, 0)) + code.co_code))
    assert "opcode %d" % unknown in message and "byte 0" in message


def test_jump_out_of_the_code():
    assert "jumps out" in rejected(assemble(("JUMP_FORWARD", 200), ("LOAD_CONST", 0), ("RETURN_VALUE", 0)))


def test_indices_out_of_range():
    assert "entry 7" in rejected(assemble(("LOAD_CONST", 7), ("RETURN_VALUE", 0)))
    assert "entry 9" in rejected(assemble(("LOAD_NAME", 9), ("RETURN_VALUE", 0)))
    assert "entry 90" in rejected(assemble(("LOAD_FAST", 90), ("RETURN_VALUE", 0)))


def test_stack_underflow():
    assert "more values" in rejected(assemble(("LOAD_FAST", 0), ("BUILD_TUPLE", 2), ("RETURN_VALUE", 0)))
    assert "more values" in rejected(assemble(("RETURN_VALUE", 0)))


def test_running_past_the_end():
    assert "past its end" in rejected(assemble(("LOAD_FAST", 0)))


def test_different_depths_at_a_join():
    code = assemble(
        ("LOAD_FAST", 0), ("GET_ITER", 0), ("FOR_ITER", 0), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("RETURN_VALUE", 0)
    )
    # the loop's end, with the iterator dropped, is the next instruction: it is reached with and without an item
    rejected(code)


def test_huge_counts_need_no_memory():
    wide = [("EXTENDED_ARG", 255)] * 3
    rejected(assemble(("LOAD_FAST", 0), *wide, ("UNPACK_SEQUENCE", 255), ("RETURN_VALUE", 0)))
    rejected(assemble(("LOAD_FAST", 0), *wide, ("BUILD_LIST", 255), ("RETURN_VALUE", 0)))
    rejected(assemble(("EXTENDED_ARG", 255), *wide, *wide, ("LOAD_CONST", 0), ("RETURN_VALUE", 0)))


def test_random_damage_is_survived():
    chooser = random.Random(11)
    codes = [code for code in code_objects() if 40 < len(code.co_code) < 400]
    accepted = refused = 0
    started = time.perf_counter()
    for _ in range(1500):
        code = chooser.choice(codes)
        raw = bytearray(code.co_code)
        for _ in range(chooser.randrange(1, 6)):
            raw[chooser.randrange(len(raw))] = chooser.randrange(256)
        changes = {"co_code": bytes(raw)}
        if VERSION >= (3, 11) and chooser.random() < 0.3 and code.co_exceptiontable:
            table = bytearray(code.co_exceptiontable)
            table[chooser.randrange(len(table))] = chooser.randrange(256)
            changes["co_exceptiontable"] = bytes(table)
        try:
            program = normalise(foreign(code, **changes))
        except BytecodeError:
            refused += 1
        else:
            stack_depths(program)
            accepted += 1
    assert refused > 500 and accepted > 50
    assert time.perf_counter() - started < 60


@pytest.mark.parametrize("version", [(3, minor) for minor in range(8, 16)])
def test_bytes_of_another_version_are_refused_or_consistent(version):
    for code in list(code_objects())[::40]:
        try:
            program = normalise(foreign(code), version)
        except BytecodeError:
            continue
        stack_depths(program)


def test_versions_that_are_not_supported():
    code = assemble(("LOAD_CONST", 0), ("RETURN_VALUE", 0))
    for version in ((2, 7), (3, 7), (3, 99)):
        with pytest.raises(BytecodeError, match="not supported"):
            normalise(code, version)


def test_instr_of_a_constant_function():
    program = normalise((lambda: 5).__code__)
    assert [(instr.op, instr.arg) for instr in program.instrs] == [(Op.LOAD_CONST, 5), (Op.RETURN, None)]
    assert isinstance(program.instrs[0], Instr) and program.version == VERSION
