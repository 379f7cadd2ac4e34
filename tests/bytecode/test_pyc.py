"""Reading .pyc files: the same code object as the interpreter reads, and an error for anything malformed."""

from __future__ import annotations

import importlib.util
import marshal
import random
import struct
import sys
import types

import pytest

from depyf.bytecode.foreign_code import ForeignCode
from depyf.bytecode.marshal_reader import MarshalReader
from depyf.bytecode.pyc import RELEASES, PycError, read_pyc, read_pyc_file

from .stdlib import code_objects

VERSION = sys.version_info[:2]
SOURCE = """
def f(a, b=(1, 2.5, "é", "\\ud800", b"x", None, True, ..., 3j, -10**40), *c, d={1, 2}, **e):
    x = lambda: (a, x, 10**30 in {1, 2, 'three'})
    return x, a[1:2]
class C:
    def m(self): return __class__
"""


def pyc_of(code):
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def assert_same(real, data):
    for name in ForeignCode.__dataclass_fields__:
        if name == "co_lnotab" and VERSION >= (3, 10) or name == "version" or not hasattr(real, name):
            continue
        ours, theirs = getattr(data, name), getattr(real, name)
        if name == "co_qualname" and VERSION < (3, 11):
            continue
        if name != "co_consts":
            assert ours == theirs, name
            continue
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            if isinstance(other, types.CodeType):
                assert_same(other, one)
            else:
                assert type(one) is type(other)
                assert repr(one) == repr(other) or one == other


@pytest.mark.parametrize("source", [SOURCE])
def test_our_reader_sees_what_the_interpreter_compiled(source):
    code = compile(source, "a file.py", "exec")
    assert_same(code, MarshalReader(marshal.dumps(code), VERSION).read())


def test_our_reader_on_the_stdlib():
    for code in code_objects():
        if code.co_name == "<module>":
            assert_same(code, MarshalReader(marshal.dumps(code), VERSION).read())


def test_own_version_gives_a_real_code_object(tmp_path):
    code = compile(SOURCE, "a file.py", "exec")
    path = tmp_path / "a.pyc"
    path.write_bytes(pyc_of(code))
    assert read_pyc_file(str(path)) == (code, VERSION)


def refused(data):
    with pytest.raises(PycError) as caught:
        read_pyc(data, "the file.pyc")
    message = str(caught.value)
    assert message.startswith("the file.pyc: ") and "\n" not in message
    return message


def test_not_a_pyc():
    assert "only 0 bytes" in refused(b"")
    assert "magic" in refused(b"#!/usr/bin/env python\nprint(1)\n")
    assert "magic number 3394" in refused(struct.pack("<H", 3394) + b"\r\n" + bytes(20))
    assert "no code object" in refused(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps((1, 2)))


def test_a_missing_file(tmp_path):
    with pytest.raises(PycError, match="nothing.pyc"):
        read_pyc_file(str(tmp_path / "nothing.pyc"))


def test_every_truncation_is_refused():
    data = pyc_of(compile(SOURCE, "a file.py", "exec"))
    for size in range(len(data)):
        refused(data[:size])


@pytest.mark.parametrize("magic", sorted(RELEASES))
def test_damage_is_refused_or_read(magic):
    """Under the magic number of each version, most of them wrong for these bytes."""
    chooser = random.Random(magic)
    good = marshal.dumps(compile(SOURCE, "a file.py", "exec"))
    for _ in range(300):
        data = bytearray(good)
        for _ in range(chooser.randrange(1, 4)):
            data[chooser.randrange(len(data))] = chooser.randrange(256)
        try:
            code, _ = read_pyc(struct.pack("<H", magic) + b"\r\n" + bytes(12) + bytes(data))
        except PycError as error:
            assert "\n" not in str(error)
        else:
            assert isinstance(code, (ForeignCode, types.CodeType))


def test_deep_nesting_and_huge_sizes():
    head = importlib.util.MAGIC_NUMBER + bytes(12)
    assert "nested too deeply" in refused(head + b")\x01" * 5000 + b"N")
    assert "more than there is data" in refused(head + b"(" + struct.pack("<i", 2**31 - 1))
    assert "ends too early" in refused(head + b"l" + struct.pack("<i", 2**31 - 1))
    assert "more than there is data" in refused(head + b"s" + struct.pack("<i", -5))
    assert "contains itself" in refused(head + b"\xa9\x01r\x00\x00\x00\x00")


@pytest.mark.skipif(VERSION < (3, 11), reason="no caches")
def test_caches_past_the_end():
    """CPython itself would write past the end of such code: it must be refused before there is a code object of it."""
    code = compile("a.b", "a file.py", "exec")
    raw = marshal.dumps(code)
    whole = marshal.dumps(code.co_code)
    whole = whole if whole in raw else whole[:1].replace(b"s", b"\xf3") + whole[1:]
    assert whole in raw
    for length in range(6, len(code.co_code), 2):
        cut = whole[:1] + struct.pack("<i", length) + code.co_code[:length]
        data = importlib.util.MAGIC_NUMBER + bytes(12) + raw.replace(whole, cut)
        try:
            read_pyc(data)
        except PycError as error:
            assert "middle of an instruction" in str(error)
            return
    raise AssertionError("no length ends between an instruction and its caches")
