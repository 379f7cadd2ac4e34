"""Loops of every sort, left in every way, with and without `else`, alone and nested (thuml/depyf#12 and its kin)."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import fill, function

HEADS = (
    "while n < 5:",
    "while True:",
    "for n in range(n, 5):",
    "while n == 1 or n < b + 3:",
    "while n < 6 and not n == c + 3:",
    "while not n > 4:",
)
TAILS = (
    "",
    "if n % 3 == c:\n    continue\nelse:\n    break",
    "if n > 3:\n    break\nlog('on')",
    "if n == b + 1:\n    continue\nlog('rest')\nif n > 4:\n    return log('out')",
    "if a:\n    log('a')\nelif n > 3:\n    break\nelse:\n    continue\nlog('tail')",
    "if n > 2:\n    if b:\n        break\n    return n\nelse:\n    log('small')",
)
ORELSE = ("", "else:\n    log('else')", "else:\n    return log('else')")


def sources() -> Iterator[str]:
    for head, tail, orelse in itertools.product(HEADS, TAILS, ORELSE):
        if "True" in head and orelse:
            continue
        yield function(
            fill(
                """
                n = a
                <head>
                    n += 1
                    log(n)
                    <tail>
                <orelse>
                return log(('end', n))
                """,
                head=head,
                tail=tail,
                orelse=orelse,
            )
        )
    yield from nested()


def nested() -> Iterator[str]:
    for outer, inner, way in itertools.product(
        ("for i in range(3):", "while log(a) < 4:"),
        ("for j in range(b, 4):", "while b < 3:", "while True:"),
        ("break", "continue", "return log(b)", "if c:\n    break\nelse:\n    continue"),
    ):
        yield function(
            fill(
                """
                <outer>
                    a += 1
                    <inner>
                        b += 1
                        if log(b) > c + 1:
                            <way>
                        log('inner')
                        if b > 5:
                            break
                    else:
                        log('exhausted')
                        continue
                    log('after inner')
                    if a == 3:
                        break
                else:
                    log('else')
                return a, b
                """,
                outer=outer,
                inner=inner,
                way=way,
            )
        )
