"""async: await, async for, async with, async comprehensions, retry loops (zrax/pycdc#232, rocky/python-uncompyle6#372)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import block

BODIES = (
    "return await twice(a) + await twice(b)",
    "async for i in ticks(a):\n    log(i)\n    if i == b:\n        break\nelse:\n    log('else')\nreturn c",
    "return [i async for i in ticks(a + 2) if i != b], {k: await twice(k) async for k in ticks(c)}",
    "return [await twice(i) for i in range(a)], [x for x in [y async for y in ticks(b)]]",
    "async with M(log, c) as x, M(log, b):\n    log(await twice(6 // a))\nreturn x",
    "async with M(log, c):\n    for i in range(b):\n        if i:\n            return await twice(i)\n    await twice(6 // a)\nreturn 'end'",
    "while True:\n    try:\n        a += 1\n        if await twice(a) > b + 4:\n            return log(a)\n        if a == c:\n            raise ValueError(a)\n    except ValueError:\n        await twice(0)\n        continue",
    "async with M(log, c) as x, M(log, b):\n    y = 1\nasync with M(log, a):\n    pass\nreturn x, y",
    "try:\n    log(await twice(6 // a))\nexcept ZeroDivisionError:\n    log(await twice(b))\nfinally:\n    log(await twice(c))",
    "async for x, *y in pairs(a):\n    async for z in ticks(b):\n        if z == c:\n            continue\n        log((x, y, z))\nreturn 'end'",
    "if await twice(a) and not await twice(b) or await twice(c):\n    return 'yes'\nreturn await twice(a) if b else 0",
    "g = agen(a, b, log)\nreturn [x async for x in g], await twice(c)",
    "async def local(k=b):\n    return await twice(k + a)\nreturn await local(), await local(k=c), (await local(), *[await local(5)])",
    "return max([await twice(a), *[b]], key=lambda v: v), f'{await twice(a)}', {**{'k': await twice(c)}}",
)
SHELL = """
async def twice(x):
    await Pause()
    return 2 * x
async def ticks(n):
    for i in range(n):
        yield i
async def pairs(n):
    for i in range(n):
        yield i, i + 1, i + 2
async def agen(n, stop, log):
    try:
        for i in range(n):
            got = yield i
            log(('got', got))
            if i == stop:
                return
            await twice(i)
    finally:
        log('agen done')
class Pause:
    def __await__(self):
        yield 'pause'
class M:
    def __init__(self, log, suppress):
        self.log, self.suppress = log, suppress
    async def __aenter__(self):
        self.log('enter')
        return await twice(1)
    async def __aexit__(self, kind, error, trace):
        self.log(('exit', kind and kind.__name__))
        return self.suppress
def drive(co, log):
    try:
        while True:
            log(co.send(None))
    except StopIteration as stop:
        return stop.value
"""


def sources() -> Iterator[str]:
    for body in BODIES:
        make = "async def make(a, b, c, log):\n" + block(body)
        yield f"{SHELL}{make}def f(a, b, c, log):\n    return drive(make(a, b, c, log), log)\n"
        nested = "def f(a, b, c, log):\n    async def make():\n        nonlocal a\n" + block(body, 2)
        yield f"{SHELL}{nested}    return drive(make(), log)\n"
