"""try/except/else/finally with every way out of every part, alone and in loops (syssec-utd/pylingual#97, #104)."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import fill, function

BODIES = (
    "log(6 // a)",
    "if 6 // a:\n    log('set')\n    return log('body')\nelse:\n    b = 5",
    "if b:\n    log(6 // a)\nelse:\n    raise KeyError(c)",
)
HANDLERS = (
    "except ZeroDivisionError:\n    log('handler')",
    "except ZeroDivisionError as error:\n    return log(str(error))\nexcept KeyError:\n    log('key')",
    "except (ZeroDivisionError, KeyError) as error:\n    if c:\n        raise ValueError(b) from error\n    log('no c')",
    "except KeyError:\n    raise\nexcept:\n    log('bare')",
)
ELSES = ("", "else:\n    log('else')", "else:\n    return log('else')")
FINALLYS = (
    "",
    "finally:\n    log('finally')",
    "finally:\n    if c:\n        log('finally c')",
    "finally:\n    for i in range(c):\n        log(i)",
)
WAYS = ("return log(b)", "break", "continue", "log('on')", "raise KeyError(a)")


def sources() -> Iterator[str]:
    for body, handler, orelse, final in itertools.product(BODIES, HANDLERS, ELSES, FINALLYS):
        yield function(
            fill(
                """
                try:
                    <body>
                <handler>
                <orelse>
                <final>
                return log(('end', a, b))
                """,
                body=body,
                handler=handler,
                orelse=orelse,
                final=final,
            )
        )
    for body, handler in itertools.product(WAYS, WAYS):
        yield function(
            fill(
                """
                while log(a) < 3:
                    a += 1
                    try:
                        log(6 // b)
                        <body>
                    except ZeroDivisionError:
                        <handler>
                    finally:
                        log('finally')
                    log('rest')
                return log('end')
                """,
                body=body,
                handler=handler,
            )
        )
    for way in ("return log('swallowed')", "break", "continue", "return"):
        yield function(
            fill(
                """
                for i in range(a, 3):
                    try:
                        log(6 // i)
                    finally:
                        if b != c:
                            <way>
                        log('finally')
                return i
                """,
                way=way,
            )
        )
