"""`except*`: one and two clauses, with and without names, and what stands in and around them."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import fill, function

SINCE = (3, 11)
BODIES = (
    "if a: raise ExceptionGroup('g', [ValueError(b), KeyError(c)])",
    "log(6 // a)",
    "raise ExceptionGroup('g', [ValueError(1)] * (a + 1) + [TypeError(2)] * b + [OSError(3)] * c)",
)
CLAUSES = (
    "except* ValueError: log('values')",
    "except* ValueError as e: log(len(e.exceptions))",
    "except* (ZeroDivisionError, TypeError, ValueError) as e:\n    if b: raise KeyError(c)\n    log(repr(e))",
)
SECOND = ("", "except* KeyError: pass", "except* Exception as e:\n    if b: log(repr(e))\n    else: log(c)")
ENDS = ("", "else: log('else')", "finally: log('finally')", "else: log('else')\nfinally: log('finally')")


def sources() -> Iterator[str]:
    for body, clause, second, end in itertools.product(BODIES, CLAUSES, SECOND, ENDS):
        text = """
            log('start')
            try:
                <body>
            <clause>
            <second>
            <end>
            return log('end')
            """
        yield function(fill(text, body=body, clause=clause, second=second, end=end))
    for body, inside in itertools.product(BODIES, INSIDE):
        yield function(
            fill(
                """
                for i in range(3):
                    try:
                        <body>
                    except* (ValueError, ZeroDivisionError) as error:
                        <inside>
                    except* OSError:
                        log(i)
                return log('end')
                """,
                body=body,
                inside=inside,
            )
        )


INSIDE = (
    "for e in error.exceptions: log(repr(e))",
    "try: log(6 // b)\nexcept ZeroDivisionError as e: log(repr(e))",
    "while b:\n    b -= 1\n    if b == c: continue\n    log(b)",
    "try: raise\nexcept* ValueError: log('inner')",
    "log(b and c or a)",
    "if a:\n    if b: raise\n    log(1)\nlog(2)",
)
