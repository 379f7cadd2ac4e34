"""Line tables: decoded as the interpreter reads them, and encoded so that it reads the same again."""

from __future__ import annotations

import random
import sys
import types

import pytest

from depyf.bytecode import BytecodeError, Position, lines

from .stdlib import code_objects

VERSION = sys.version_info[:2]


def lines_of(code):
    """The line of each code unit, as the interpreter says."""
    if hasattr(code, "co_lines"):
        found = []
        for start, end, line in code.co_lines():
            found.extend([line] * ((end - start) // 2))
        return found
    import dis  # the judge must be another than the code under test

    starts = dict(dis.findlinestarts(code))
    found = []
    line = None
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        found.append(line)
    return found


def test_decode_gives_the_interpreter_s_lines():
    count = 0
    for code in code_objects():
        ours = []
        for start, end, position in lines.decode(code):
            assert start == 2 * len(ours)
            ours.extend([position.line] * ((end - start) // 2))
        assert ours == lines_of(code), code
        count += 1
    assert count > 300


@pytest.mark.skipif(VERSION < (3, 11), reason="no columns before 3.11")
def test_decode_gives_the_interpreter_s_columns():
    for code in code_objects():
        ours = []
        for start, end, at in lines.decode(code):
            ours.extend([(at.line, at.end_line, at.column, at.end_column)] * ((end - start) // 2))
        assert ours == list(code.co_positions()), code


def test_encode_is_read_back_by_the_interpreter():
    attribute = "co_lnotab" if VERSION < (3, 10) else "co_linetable"
    for code in code_objects():
        table = lines.encode(lines.decode(code), code.co_firstlineno)
        again = code.replace(**{attribute: table})
        assert lines_of(again) == lines_of(code)
        if VERSION >= (3, 11):
            assert list(again.co_positions()) == list(code.co_positions())


@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 11)])
def test_round_trip_of_random_tables(version):
    chooser = random.Random(7)
    has_columns = version >= (3, 11)
    for _ in range(300):
        entries = []
        at = 0
        line = None
        for _ in range(chooser.randrange(1, 20)):
            end = at + 2 * chooser.choice((1, 2, 7, 8, 9, 30, 200))
            choices = [1, 2, 3, 50, 127, 128, 129, 5000, 100000]
            if version > (3, 9) and line is not None:
                choices.append(None)
            line = chooser.choice([choice for choice in choices if choice != line])
            if line is None:
                position = Position(None)
            elif has_columns:
                end_line = line + chooser.choice((0, 0, 1, 90))
                columns = chooser.choice(((None, None), (0, 5), (79, 94), (80, 81), (127, 127), (128, 4000), (9, None)))
                position = Position(line, end_line, *columns)
            else:
                position = Position(line)
            entries.append((at, end, position))
            at = end
        first = chooser.choice((1, 40, 70000))
        table = lines.encode(entries, first, version)
        code = types.SimpleNamespace(co_code=bytes(at), co_firstlineno=first, co_lnotab=table, co_linetable=table)
        read = []
        for start, end, position in lines.decode(code, version):
            if has_columns and read and read[-1][1] == start and read[-1][2] == position:
                read[-1] = (read[-1][0], end, position)
            else:
                read.append((start, end, position))
        assert read == entries


def test_tables_that_are_cut_short():
    for version, table in (((3, 8), b"\x02"), ((3, 10), b"\x02"), ((3, 11), b"\xf0\x02\x00"), ((3, 11), b"\x00")):
        code = types.SimpleNamespace(co_code=bytes(8), co_firstlineno=1, co_lnotab=table, co_linetable=table)
        with pytest.raises(BytecodeError):
            lines.decode(code, version)


def traced_lines(function, *args):
    seen = []

    def trace(frame, event, arg):
        if frame.f_code is function.__code__:
            if event == "line":
                seen.append(frame.f_lineno)
            return trace
        return None

    sys.settrace(trace)
    try:
        result = function(*args)
    finally:
        sys.settrace(None)
    return result, seen


def subject(n):
    total = 0
    for item in range(n):
        total += item
    return total


def test_with_positions_moves_the_lines_and_changes_nothing_else():
    code = subject.__code__
    shifted = {start: (position.line + 1000, 0) for start, _, position in lines.decode(code) if position.line}
    new = lines.with_positions(code, "elsewhere.py", code.co_firstlineno + 1000, shifted)
    assert new.co_filename == "elsewhere.py"
    table = ("co_filename", "co_firstlineno", "co_lnotab", "co_linetable", "co_positions", "co_lines")
    for name in dir(code):
        if name.startswith("co_") and name not in table and not callable(getattr(code, name)):
            assert getattr(new, name) == getattr(code, name), name
    plain, seen = traced_lines(subject, 3)
    moved, seen_moved = traced_lines(types.FunctionType(new, globals()), 3)
    assert moved == plain
    assert seen_moved == [line + 1000 for line in seen]


def test_with_positions_reaches_nested_code():
    def outer():
        def inner():
            return 1

        return inner

    code = outer.__code__
    index = next(i for i, const in enumerate(code.co_consts) if isinstance(const, types.CodeType))
    inner_code = code.co_consts[index]
    inner_map = types.SimpleNamespace(offsets={2: (77, 4)}, nested={})
    new = lines.with_positions(code, "elsewhere.py", 70, {}, {index: inner_map})
    assert new.co_consts[index].co_filename == "elsewhere.py"
    assert new.co_consts[index].co_firstlineno == 77
    assert new.co_consts[index].co_code == inner_code.co_code
