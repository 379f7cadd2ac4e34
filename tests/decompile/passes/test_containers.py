"""Fresh containers: evaluated where nobody can tell, made where somebody could."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depyf.decompile import passes
from tests.decompile.passes.rewriting import only, outcome, rewritten

CONTAINERS = only("containers")

FIRES = [
    ("__temp_0 = [a, b]\nreturn __temp_0[1]", "return b"),
    ("__temp_0 = [a]\n__temp_0.extend([b, c])\n__temp_1 = __temp_0[1:]\nreturn note(*__temp_1)", "return note(b, c)"),
    ("__temp_0 = [[a], [b]]\n__temp_0[0][0:0] = [c]\ndel __temp_0[1]\nreturn __temp_0", "return [[c, a]]"),
    ("__temp_0, __temp_1 = [[a], b]\nreturn (__temp_1, __temp_0)", "return b, [a]"),
    ("__temp_0 = a\n__temp_1 = __temp_0\nreturn __temp_1", "return a"),
    (
        "__temp_0 = [note(a), note(b)]\nreturn __temp_0[0]",
        "__temp_1 = note(a)\n__temp_2 = note(b)\nreturn __temp_1",
    ),
    ("__temp_0 = [a]\nif b:\n return __temp_0[0]\nreturn __temp_0", "if b:\n    return a\nreturn [a]"),
    ("__temp_0 = a\nfor x in c:\n note(__temp_0)\nreturn __temp_0", "for x in c:\n    note(a)\nreturn a"),
]


@pytest.mark.parametrize("before, after", FIRES)
def test_fires(before: str, after: str) -> None:
    assert rewritten(before, CONTAINERS) == after


MUST_NOT_FIRE = [
    # others see the list before it changes
    "__temp_0 = [a]\nnote(__temp_0)\n__temp_0.append(b)\nreturn __temp_0",
    "__temp_0 = [a]\n__temp_1 = [__temp_0, __temp_0]\nnote(__temp_1)\n__temp_0.append(b)\nreturn __temp_1",
    "x = __temp_0 = [a]\n__temp_0.append(b)\nreturn x, __temp_0 is x",
    # the variable in it is bound again
    "__temp_0 = [a]\na = b\nreturn __temp_0",
    "__temp_0 = [a]\nfor a in c:\n note(a)\nreturn __temp_0",
    "__temp_0 = [a]\nif b:\n a = c\nelse:\n note(__temp_0[0])\nreturn __temp_0, a",
    # only one way changes it
    "__temp_0 = [a]\nif b:\n __temp_0.append(c)\nreturn __temp_0",
    "__temp_0 = [a]\nfor x in c:\n __temp_0.append(x)\nreturn __temp_0",
    "__temp_0 = [a]\nwhile a < 4:\n a = a + 1\n __temp_0.append(a)\nreturn __temp_0",
    # an exception may lead to where it is read
    "__temp_0 = a\ntry:\n __temp_0 = b\n note(1 / b)\n __temp_0 = c\nexcept ZeroDivisionError:\n return __temp_0",
    "__temp_0 = [a]\ntry:\n __temp_0.append(b)\n note(1 / b)\nfinally:\n note(__temp_0)",
    # out of range, of another kind
    "__temp_0 = [a]\nreturn __temp_0[1]",
    "__temp_0 = (a, b)\n__temp_0[0] = c",
    "__temp_0 = [a]\n__temp_0[note(0)] = b\nreturn __temp_0",
    "__temp_0 = [a]\n__temp_0[0:] = note([b])\nreturn __temp_0",
]


@pytest.mark.parametrize("source", [*MUST_NOT_FIRE, *(before for before, _ in FIRES)])
def test_does_the_same(source: str) -> None:
    after = rewritten(source, CONTAINERS)
    assert outcome(after) == outcome(source), after


NAMES = st.sampled_from(["__temp_0", "__temp_1", "__temp_2"])
VALUES = st.sampled_from(["a", "b", "c", "note(a)", "__temp_0", "__temp_1", "__temp_2", "7"])
INDICES = st.sampled_from(["0", "-1", "1", "0:1", "1:", ":"])


@st.composite
def simple(draw: st.DrawFn) -> str:
    """One statement about containers, in temporaries mostly."""
    name, other = draw(NAMES), draw(NAMES)
    kind = draw(st.integers(0, 11))
    if kind == 0:
        return f"{name} = [{', '.join(draw(st.lists(VALUES, max_size=3)))}]"
    if kind == 1:
        return f"{name} = ({draw(VALUES)}, {draw(VALUES)})"
    if kind == 2:
        return f"{name} = {other}[{draw(INDICES)}]"
    if kind == 3:
        return f"{name}[{draw(INDICES)}] = [{draw(VALUES)}]"
    if kind == 4:
        return f"{name}.extend([{draw(VALUES)}])"
    if kind == 5:
        return f"del {name}[{draw(INDICES)}]"
    if kind == 6:
        return f"note({draw(VALUES)})"
    if kind == 7:
        return f"{draw(st.sampled_from('abx'))} = {draw(VALUES)}"
    if kind == 8:
        return f"{name} = note([*{other}, {draw(VALUES)}])"
    if kind == 9:
        return f"{name} = [*{other}]"
    if kind == 10:
        return f"note(*[{draw(VALUES)}])"
    return f"{name} = {draw(VALUES)}"


def block(depth: int) -> st.SearchStrategy[str]:
    """Some statements, compound ones among them."""
    parts = [simple(), simple(), simple()]
    if depth:
        inner = block(depth - 1).map(lambda text: "\n".join(" " + line for line in text.splitlines()))
        parts.append(st.tuples(VALUES, inner, inner).map(lambda part: f"if {part[0]}:\n{part[1]}\nelse:\n{part[2]}"))
        parts.append(inner.map(lambda text: f"for x in (1, 2):\n{text}"))
        parts.append(st.tuples(inner, inner).map(lambda part: f"try:\n{part[0]}\nexcept TypeError:\n{part[1]}"))
    return st.lists(st.one_of(parts), min_size=1, max_size=6).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(block(2))
def test_random_programs_do_the_same(source: str) -> None:
    whole = "__temp_0 = [a]\n__temp_1 = [b]\n__temp_2 = [__temp_0, c]\nx = 0\n" + source
    whole += "\nreturn __temp_0, __temp_1, __temp_2, a, b, x"
    try:
        after = rewritten(whole, [*CONTAINERS, *only("unused"), *only("inline")])
    except passes.PassFailed:
        return
    assert outcome(after) == outcome(whole), after
