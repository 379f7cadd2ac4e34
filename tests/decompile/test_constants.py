"""Constants without a literal get names; the others stay."""

from __future__ import annotations

import math
import sys

from depyf.decompile import nodes as n
from depyf.decompile.constants import name_constants
from depyf.decompile.writer import write

VERSION = sys.version_info[:2]


def test_each_object_gets_one_name_and_the_text_computes_with_it() -> None:
    odd = frozenset({1})
    values = [math, dict, odd, (1, dict), 5, "text"]
    body = [
        n.Assign([n.Name("r")], n.List_([n.Constant(value) for value in [*values, dict]])),
        n.ExprStmt(n.Name("math")),
    ]  # noqa: E501
    names = name_constants(body, taken=["dict"])
    assert sorted(map(id, names.values())) == sorted(map(id, values[:3]))
    assert "math" not in names and "dict" not in names
    text, _ = write(n.Module(body), VERSION)
    space = {**names, "math": None}
    exec(text, space)
    assert space["r"] == [*values, dict]


def test_frozensets_and_slices_that_the_writer_can_spell_stay() -> None:
    folded = frozenset({1, 2})
    body = [
        n.For(n.Name("x"), n.Constant(folded), [n.ExprStmt(n.Compare(n.Name("x"), ["in"], [n.Constant(folded)]))]),
        n.ExprStmt(n.Subscript(n.Name("x"), n.Constant((slice(1, None), 2)))),
    ]
    assert name_constants(body) == {}
    text, _ = write(n.Module(body), VERSION)
    assert "x[1:, 2]" in text and "in {1, 2}" in text


def test_empty_frozenset_has_no_display() -> None:
    body = [n.ExprStmt(n.Compare(n.Name("x"), ["in"], [n.Constant(frozenset())]))]
    assert list(name_constants(body).values()) == [frozenset()]
    write(n.Module(body), VERSION)
