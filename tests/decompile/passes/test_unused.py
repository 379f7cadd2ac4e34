"""What nobody reads is left out; effects are not."""

from __future__ import annotations

import pytest

from tests.decompile.passes.rewriting import only, rewritten

UNUSED = only("unused")


@pytest.mark.parametrize(
    "before, after",
    [
        ("__temp_0 = a\nreturn b", "return b"),
        ("__temp_0 = [a, (b, 1)]\nreturn b", "return b"),
        ("__temp_0 = note(a)\nreturn b", "note(a)\nreturn b"),
        ("x = __temp_0 = note(a)\nreturn x", "x = note(a)\nreturn x"),
        ("__temp_1 = __temp_0 = a\n__temp_2 = __temp_1\nreturn b", "return b"),
        ("x = (__temp_0 := a).y\nreturn x", "x = a.y\nreturn x"),
        ("if a:\n __temp_0 = b\nreturn c", "if a:\n    pass\nreturn c"),
        ("__temp_0 = a\ndel __temp_0\nreturn b", "return b"),
    ],
)
def test_fires(before: str, after: str) -> None:
    assert rewritten(before, UNUSED + UNUSED) == after


def test_dynamos_own_variables_live_on() -> None:
    source = "graph_out_0 = note(a)\nx = graph_out_0\ndel graph_out_0\nreturn x"
    assert rewritten(source, UNUSED, generated=True) == "graph_out_0 = note(a)\nx = graph_out_0\nreturn x"
    assert "del graph_out_0" in rewritten(source + "\n__temp_0", UNUSED)


@pytest.mark.parametrize(
    "source", ["x = a\nreturn b", "del a\nreturn b", "a\nreturn __temp_0", "[x, y]\nreturn __temp_0"]
)
def test_must_not_fire(source: str) -> None:
    assert rewritten(source, UNUSED) == source
