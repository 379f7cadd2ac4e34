"""Assignment expressions in every place that takes an expression (zrax/pycdc#513)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import function

BODIES = (
    "return (n := a + b), n",
    "if (n := a + b) > 2:\n    return n\nreturn -n",
    "if (n := a) and (m := b):\n    return n, m\nreturn n",
    "while (n := a) < 3:\n    a += 1\n    log(n)\nreturn n",
    "while (n := a) < 3 and (m := log(n)) != b:\n    a += 1\nreturn n",
    "return [y for x in range(a + 3) if (y := x * b) > c], [last := x for x in range(b + 1)], last",
    "x = y = (z := a) + 1\nreturn x, y, z",
    "log((n := 1) + (n := n + 1) * n)\nreturn n",
    "return a if (n := b) else (n := c), n",
    "return 0 < (n := a) < (m := b + 1), n",
    "assert (n := a), (m := b)\nreturn n",
    "log(x := a)\nlog(f'{(y := x + 1)} {y}')\nreturn x, y",
    "return {(k := a): (v := b), k + 1: v}, k, v",
    "d = {}\nd[(k := a)] = k\nd[k] += (k := b)\nreturn d, k",
    "g = lambda: (q := a) + q\nreturn g()",
    "return any((hit := x) > b for x in (a, b, c)), hit",
    "try:\n    return (n := 6 // a)\nexcept ZeroDivisionError:\n    return (n := b), n",
    "for i in (r := range(a)):\n    log(i)\nreturn r",
)


def sources() -> Iterator[str]:
    for body in BODIES:
        yield function(body)
