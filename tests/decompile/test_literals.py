"""Literals: compiling the text gives the same constant, to the last bit."""

from __future__ import annotations

import itertools
import struct
import sys
from typing import Any

import pytest

from depyf.decompile import nodes as n
from depyf.decompile.literals import docstring_literal, literal, name_for
from depyf.decompile.writer import write

VERSION = sys.version_info[:2]
PARTS = [0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), 5e-324, 1e308]

VALUES = [
    *(complex(real, imag) for real, imag in itertools.product(PARTS, PARTS)),
    *PARTS, float("nan"), -float("nan"), complex(float("nan"), 1.0),
    0, -1, True, False, None, ..., 10**4000, -(10**5000), 1 << 20000,
    "", "'", '"', "'\"", "\\", "\n\r\t\x00\x7f\x85", "\u202e\u2066", "\ud800", "\U0001f600", "'''\"\"\"", "é",
    b"", b"'\"\\\n\x00\xff",
    (), (1,), (1, (2, -0.0), "a"), (((),),), (None, (float("nan"),)),
]  # fmt: skip


def bits(value: Any) -> Any:
    """Something that is equal exactly when two constants are the same constant."""
    if type(value) is tuple:
        return tuple(bits(element) for element in value)
    if type(value) is float:
        return "float", struct.pack("d", value)
    if type(value) is complex:
        return "complex", struct.pack("d", value.real), struct.pack("d", value.imag)
    return type(value), value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30] if type(value) is not int else "int")
def test_compiles_to_the_same_constant(value: Any) -> None:
    text, _ = write(n.Module([n.Assign([n.Name("x")], n.Constant(value))]), VERSION)
    code = compile(text, "", "exec")
    assert bits(value) in [bits(constant) for constant in code.co_consts] or type(value) is int
    space: dict = {}
    exec(code, space)
    assert bits(space["x"]) == bits(value)
    # In the middle of an expression, too.
    text, _ = write(n.Module([n.Assign([n.Name("x")], n.BinOp(n.Constant(value), "**", n.Name("f")))]), VERSION)

    class Catch:
        def __rpow__(self, other: Any) -> Any:
            return other

    space = {"f": Catch()}
    exec(text, space)
    assert bits(space["x"]) == bits(value)


def test_sets_stand_where_the_compiler_folds_them() -> None:
    source = "def f(x):\n    for y in {1, 2, 3}:\n        if x in {'a', 'b'} or x not in {(1, 2)}: pass\n    [z for z in {4, 5}]\n"  # noqa: E501
    sets = {value for value in _all_consts(compile(source, "", "exec")) if isinstance(value, frozenset)}
    for value in sets:
        body: list = [n.For(n.Name("y"), n.Constant(value), [n.Pass()])]
        body.append(n.ExprStmt(n.Compare(n.Name("x"), ["in"], [n.Constant(value)])))
        text, _ = write(n.Module(body), VERSION)
        code = compile(text, "", "exec")
        assert [constant for constant in code.co_consts if isinstance(constant, frozenset)] == [value]
    assert len(sets) == 4
    assert literal(frozenset({1})) is None


def _all_consts(code: Any) -> list:
    found = []
    for constant in code.co_consts:
        found.append(constant)
        if hasattr(constant, "co_consts"):
            found += _all_consts(constant)
    return found


def test_subclasses_have_no_literal() -> None:
    class Text(str):
        pass

    assert literal(Text("a")) is None
    assert literal((1, Text("a"))) is None
    assert literal(int) is None


DOCSTRINGS = [
    "one",
    "one\n\n    more\n    ",
    "one\n\nmore\n",
    "\n  a\n    b\n",
    'q"\\',
    'a\n"""\n"',
    "a\n   \nb",
    "a\n\tb",
    "\na",
    "a\n",
    "a\n  ",
]  # noqa: E501


@pytest.mark.parametrize("text", DOCSTRINGS)
@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_docstrings_come_back(text: str, indent: str) -> None:
    """A docstring that came out of this compiler comes out the same again."""
    original: Any = {}
    exec(f"def f():\n    {text!r}", original)
    wanted = original["f"].__doc__
    headers = "".join(" " * 4 * depth + "class A:\n" for depth in range(len(indent) // 4))
    module: dict = {}
    written = docstring_literal(wanted, indent + "    ", VERSION >= (3, 13))
    exec(f"{headers}{indent}def f():\n{indent}    {written}", module)
    for _ in range(len(indent) // 4):
        module = vars(module["A"])  # type: ignore[assignment]
    assert module["f"].__doc__ == wanted


def test_names_for_values_without_literal() -> None:
    import os.path

    taken = {"dict"}
    assert name_for(dict, taken) == "dict_2"
    assert name_for(os, ()) == "os"
    for value in (object(), os.path, len, lambda: 1, compile("1", "", "eval"), (1).__add__, frozenset()):
        assert name_for(value, ()).isidentifier()
