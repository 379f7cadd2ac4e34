"""try inside handlers, handlers inside finally, retry loops (syssec-utd/pylingual#102, rocky/python-decompile3#125)."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import fill, function

CLAUSES = ("except:", "except ZeroDivisionError:", "except ZeroDivisionError as error:")
INNER_WAYS = ("return log('inner')", "log('inner')", "raise", "raise KeyError(c)")
AFTER = ("return log('after')", "log('after')")


def sources() -> Iterator[str]:
    for clause, inner, way, after in itertools.product(CLAUSES, CLAUSES[:2], INNER_WAYS, AFTER):
        yield function(
            fill(
                """
                try:
                    q = log(6 // a)
                <clause>
                    try:
                        q = log(6 // b)
                        log('second')
                    <inner>
                        q = log(6 // c)
                        <way>
                    <after>
                return log(('end', q))
                """,
                clause=clause,
                inner=inner,
                way=way,
                after=after,
            )
        )
    for first, second in itertools.product(("return log(1)", "log(1)", "raise KeyError"), ("return log(2)", "log(2)")):
        yield function(
            fill(
                """
                try:
                    try:
                        log(6 // a)
                    except ZeroDivisionError:
                        log(6 // b)
                        <first>
                finally:
                    log('outer')
                    try:
                        log(6 // c)
                    except ZeroDivisionError:
                        log('in finally')
                <second>
                return log('end')
                """,
                first=first,
                second=second,
            )
        )
        yield function(
            fill(
                """
                again = True
                while again:
                    try:
                        a += 1
                        if log(a) < b:
                            raise OSError(a)
                        again = c > 2
                        <first>
                    except OSError as error:
                        log(str(error))
                        again = True
                        continue
                    <second>
                return log('end')
                """,
                first=first,
                second=second,
            )
        )
