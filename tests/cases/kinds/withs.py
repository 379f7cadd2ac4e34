"""with: several items, targets, suppressed exceptions, every way out, in loops and in try."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import block, fill

MANAGER = """
class M:
    def __init__(self, log, name, suppress):
        self.log, self.name, self.suppress = log, name, suppress
    def __enter__(self):
        self.log(('enter', self.name))
        return self.name
    def __exit__(self, kind, error, trace):
        self.log(('exit', self.name, kind and kind.__name__))
        return self.suppress
"""
ITEMS = (
    "with M(log, 'm', c):",
    "with M(log, 'm', c) as x:",
    "with M(log, 'm', c) as log.x, M(log, 'n', b):",
    "with M(log, 'm', c) as (x, *y):",
)
BODIES = (
    "log(6 // a)",
    "return log(6 // a)",
    "if a:\n    return log('early')\nlog('rest')",
    "for i in range(b):\n    if i == c:\n        break\n    log(i)\nelse:\n    log(6 // a)",
    "try:\n    log(6 // a)\nfinally:\n    log('finally')",
    "try:\n    log(6 // a)\nexcept ZeroDivisionError:\n    return log('caught')\nlog('on')",
)
QUIET = ("pass", "b = 7", "b, c = 1, (2, 3)", "return 5", "x = []\nc = lambda: a")  # nothing in them can raise


def sources() -> Iterator[str]:
    for item, body in itertools.product(ITEMS[:3], QUIET):
        yield build(fill("<item>\n    <body>\nreturn log((a, b))", item=item, body=body))
        yield build(
            fill("while log(a):\n    <item>\n        <body>\n        a = 0\n        continue", item=item, body=body)
        )
    for item, body in itertools.product(ITEMS, BODIES):
        yield build(fill("<item>\n    <body>\nreturn log('end')", item=item, body=body))
    for way in ("break", "continue", "return log('out')", "raise KeyError(a)", "log('on')"):
        yield build(
            fill(
                """
                for i in range(3):
                    with M(log, i, c):
                        log(6 // a)
                        if i == b:
                            <way>
                        log('in')
                    log('after')
                else:
                    log('else')
                return log('end')
                """,
                way=way,
            )
        )


def build(body: str) -> str:
    return MANAGER + "def f(a, b, c, log):\n" + block(body)
