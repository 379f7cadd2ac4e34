"""Generators: yield as statement and value, yield from, in try and with, driven to the end."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import block

BODIES = (
    "yield a\nyield b\nreturn c",
    "for i in range(a):\n    yield i\n    if i == b:\n        return 'early'\nelse:\n    yield 'else'",
    "while True:\n    got = yield log(a)\n    if got == b:\n        break\n    a = (yield got) or 1\n    log(a)\n    if a > 3:\n        return a",
    "x = yield from range(a)\nlog(x)\ny = yield from inner(b)\nreturn y",
    "try:\n    yield 6 // a\nexcept ZeroDivisionError:\n    yield 'zero'\nfinally:\n    yield 'finally'",
    "try:\n    got = yield 1\n    log(got)\n    yield 6 // b\nfinally:\n    log('closed')",
    "log([(yield b)] if c else (yield a))\nyield [log((yield b))]",
    "yield (yield (yield a))\nreturn (yield)",
    "yield from (x for x in range(a) if x != b)\nyield from inner(c)",
    "d = {(yield 'k'): (yield 'v')}\nlog(d)\nx, *y = (yield), (yield c)\nreturn x, y",
    "while a < 4 and (got := (yield a)) != b:\n    a += 1\n    try:\n        yield from inner(a)\n    except KeyError:\n        continue",
    "return\nyield",
    "if a:\n    yield 1\nelif b:\n    yield 2\nreturn (yield 3) if c else 4",
    "try:\n    yield 1\nexcept KeyError as error:\n    yield str(error)\nelse:\n    yield 'else'\nyield 'end'",
)
SHELL = """
def inner(n):
    yield n
    return ('inner', n)
def drive(g, log, throws):
    sent = None
    for step in range(12):
        try:
            if throws and step == 1:
                got = g.throw(KeyError('thrown'))
            else:
                got = g.send(sent)
        except StopIteration as stop:
            return 'stop', stop.value
        log(('got', got))
        sent = step
    g.close()
    return 'closed'
"""


def sources() -> Iterator[str]:
    for body in BODIES:
        make = "def make(a, b, c, log):\n" + block(body)
        yield f"{SHELL}{make}def f(a, b, c, log):\n    return drive(make(a, b, c, log), log, c == 2)\n"
        nested = "def f(a, b, c, log):\n    def make():\n        nonlocal a\n" + block(body, 2)
        yield f"{SHELL}{nested}    return drive(make(), log, b == 1)\n"
