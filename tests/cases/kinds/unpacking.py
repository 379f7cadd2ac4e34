"""Assignment: unpacking, starred, nested, chained, swapped, augmented, deleted, to attributes and items (depyf#23)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import function

BODIES = (
    "x, y = (k * a for k in (1, 2))\nreturn x, y",
    "[x] = [a]\n(y,) = (b,)\nreturn x, y",
    "(x, (y, *z)), w = (a, (b, c, c)), 4\nreturn x, y, z, w",
    "*x, y = range(a)\nreturn x, y",
    "x, *y, z = (q for q in range(a + b))\nreturn x, y, z",
    "a, b = b, a\nreturn a, b",
    "a, b, c = c, a, b\nreturn a, b, c",
    "a, b, c, d = b, c, a, a\nreturn a, b, c, d",
    "x = y = z = [a]\nreturn x is y is z",
    "x, y = z = (a, b)\nreturn x, y, z",
    "d = [0, 0, 0]\nd[log(a)], d[log(b)] = log(1), log(2)\nreturn d",
    "d = d2 = [0, 0, 0]\ni = d[i] = 1\nreturn d",
    "i = 0\ni, d = 1, [7, 8]\nd[0], i = i, d[i]\nreturn d, i",
    "log.x = log.y = a\nlog.x += b\nlog.y -= log.x\nreturn log.x, log.y",
    "d = [a, b, c]\nd[log(0)] += log(1)\nd[0:2] += [9]\nreturn d",
    "a += b\na -= 1\na *= 3\na //= 2\na **= 2\na %= 7\na <<= 1\na >>= 1\na |= b\na &= 6\na ^= c\nreturn a",
    "d = {0: a, 1: b}\ndel d[0], d[log(1)]\nreturn d",
    "log.x = 1\ndel log.x, a, (b, [c])\nreturn log.x",
    "d = [0, 0]\nfor d[a] in range(2):\n    log(list(d))\nreturn d",
    "for x, (y, *z) in [(a, (b, c)), (1, (2,))]:\n    log((x, y, z))\nreturn x",
    "for log.item in range(b):\n    log(log.item)\nreturn c",
    "x: int = a\ny: 'later'\nlog.z: int = b\nreturn x",
    "[log.p, d] = a, b\n(x, y), = [(d, c)]\nreturn log.p, x, y",
    "x = (yield_ := a), *range(b)\nreturn x",
    "a = b = log(c)\n(a, b), c = [(b, a), a]\nreturn a, b, c",
    "x, = y, = [log(a)]\nreturn x, y",
    "return a, *range(b), c",
)


def sources() -> Iterator[str]:
    for body in BODIES:
        yield function(body)
