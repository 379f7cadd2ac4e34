"""Comprehensions: parameters as cells, filters, nesting, shadowing, in classes and lambdas (thuml/depyf#24)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import fill, function

DISPLAYS = (
    "[<e> for x in <i> if <c>]",
    "sorted({<e> for x in <i> if <c>}, key=repr)",
    "{x: <e> for x in <i> if <c>}",
    "list(<e> for x in <i> if <c>)",
    "[<e> for y in range(2) for x in <i> if y if <c>]",
    "[[<e> for y in range(x)] for x in <i> if <c>]",
)
ELEMENTS = ("x + a", "(x, [a for _ in (0, 1)])", "(lambda: x + b)()", "a if x else b")
FILTERS = ("x != c", "x < b or not a", "0 <= x <= b")


def sources() -> Iterator[str]:
    for number, display in enumerate(DISPLAYS):
        for element in ELEMENTS:
            text = fill(display, e=element, i="range(3)", c=FILTERS[number % 3])
            yield function(f"assert log('start')\nx = 'kept'\nlog({text})\nreturn x")
    yield function("return [f(c) for f in [lambda k, i=i: (k, i, a) for i in range(b)]]")
    yield function("x = [a]\nreturn [x for x in x for x in (x, b)], x")
    yield function("class K:\n    n = b\n    items = [a for _ in range(n)]\nreturn K.items")
    yield function("try:\n    return [6 // x for x in (a, b)]\nexcept ZeroDivisionError:\n    return log('zero')")
    yield function("for y in [x for x in range(b)]:\n    log(y)\nreturn [[y for _ in 'ab'] for y in range(a)], c")
    yield function("del c\nreturn [(a, b) for a, (b, *_) in [(1, (2, 3))]], a, b")
    yield function("return {**{k: v for k, v in zip('ab', (a, b))}, 'c': [*(x for x in range(c))]}")
    yield function("return sum(x for x in range(a) for a in range(x)), a")
    for test in ("()", "False", "x and 0", "not 1"):
        yield function(f"return [x for x in range(b) if {test}], {{a: x for x in 'ab' for y in 'c' if {test}}}")
        yield function(
            f"return list((x, log(y)) for y in 'ab' for x in range(a) if {test}), {{x for x in (a,) if {test}}}"
        )
    yield function("return [0 for [] in ((), [])], [(x := b) for () in ((),) if log(x := c)], x")
