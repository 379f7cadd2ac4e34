"""A temporary that is used once is written where it is used, if nothing comes between."""

from __future__ import annotations

import pytest

from tests.decompile.passes.rewriting import only, outcome, rewritten

INLINE = only("inline")


@pytest.mark.parametrize(
    "before, after",
    [
        ("__temp_0 = note(a)\nreturn __temp_0", "return note(a)"),
        ("__temp_0 = note\n__temp_1 = __temp_0(a)\nx = __temp_1", "x = note(a)"),
        ("__temp_0 = note(a)\nif __temp_0:\n pass", "if note(a):\n    pass"),
        ("__temp_0 = note(a)\nreturn [b, 1, __temp_0]", "return [b, 1, note(a)]"),
        ("__temp_0 = note(c)\nfor x in __temp_0:\n pass", "for x in note(c):\n    pass"),
    ],
)
def test_fires(before: str, after: str) -> None:
    assert rewritten(before, INLINE) == after


@pytest.mark.parametrize(
    "source",
    [
        "__temp_0 = note(a)\nreturn note(__temp_0)",  # note is looked up before
        "__temp_0 = note(a)\nreturn c.append(__temp_0)",
        "__temp_0 = note(a)\nreturn b and __temp_0",
        "__temp_0 = note(a)\nx = 1\nreturn __temp_0",
        "__temp_0 = note(a)\nreturn __temp_0, __temp_0",
        "__temp_0 = (a := note(5))\nreturn [a, __temp_0]",
        "__temp_0 = note(a)\nwhile __temp_0:\n return 1",
    ],
)
def test_must_not_fire(source: str) -> None:
    after = rewritten(source, INLINE)
    assert "__temp_0" in after
    assert outcome(after) == outcome(source)
