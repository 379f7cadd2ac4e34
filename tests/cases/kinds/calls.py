"""Calls and displays with stars in every position (thuml/depyf#86)."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import function

POSITIONALS = ("", "log(a)", "*[a, b]", "log(a), *[b], log(c)", "*[a], *(b, c)", "[*[a], 1], *[b], [0, *(c,)]")
KEYWORDS = ("", "k=log(b)", "**{'m': c}", "k=log(a), **{'m': b}", "**{'m': a}, z=[*[b]], **{'q': c}", "**{'k': 1}, k=a")
DISPLAYS = (
    "[*range(a), b, *range(c)]",
    "(*range(a), b)",
    "sorted({*range(a), b, *range(c)})",
    "{**{'x': a}, 'y': b, **{'x': c}}",
    "[a, b, *[c]][a:b + 1:c or None]",
    "log[log(0):][-1:] if log(a) else [*'ab'][::2]",
    "(a, [b, (c, {a: [b]})])",
    "f'{a!r:>{b + 3}}|{b:03d}|{{}}|{log(c)}' 'tail'",
    "'%s-%r' % (a, b), '{} {k}'.format(a, k=b)",
    "print(a, end='') or max(a, b, key=lambda v: -v)",
)


def sources() -> Iterator[str]:
    for positional, keyword in itertools.product(POSITIONALS, KEYWORDS):
        arguments = ", ".join(filter(None, (positional, keyword)))
        yield function(f"def show(*p, **k):\n    return log((p, list(k.items())))\nreturn show({arguments})")
    for display in DISPLAYS:
        yield function(f"return {display}")
    long = ", ".join(["a", "b"] * 20)
    yield function(f"return [{long}, c + 1], ({long}, c), len({{{long}, *range(40)}})")
