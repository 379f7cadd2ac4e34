"""Mixed and/or/not, as tests and as values, in every place that takes a condition (rocky/python-uncompyle6#478)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import fill, function

FORMULAS = (
    "log(a) or log(b)",
    "log(a) or not log(b)",
    "not log(a) and log(b)",
    "log(a) and log(b) or log(c)",
    "(log(a) or log(b)) and log(c)",
    "log(a) and (log(b) or not log(c))",
    "not (log(a) and log(b)) or log(c)",
    "not (log(a) or log(b) or log(c))",
    "log(a) and not (log(b) or log(c)) or log(b) and log(c)",
    "(log(a) if log(b) else log(c)) and log(a)",
    "log(a) or (log(b) if log(c) else not log(a))",
    "((log(a) and log(b)) if log(c) else (log(b) or log(a)))",
    "(log(a) if log(b) else log(c) if log(a) else log(b))",
    "(log(a) or log(b)) is not None and (log(c) is None or log(a) in (1, b))",
)
PLACES = (
    "if <f>:\n    log('yes')",
    "if <f>:\n    log('yes')\nelse:\n    log('no')",
    "if not (<f>):\n    return log('not')\nlog('rest')",
    "x = <f>\nlog(('x', x))",
    "log('yes' if <f> else 'no')",
    "while <f>:\n    a, b, c = b, c, a\n    a = 0",
    "assert <f>, log('message')",
    "return <f>",
    "log([x for x in (a, b, c) if <f>])",
    "g = lambda: <f>\nlog(g())",
    "if a:\n    if <f>:\n        pass\n    else:\n        log('inner')\nelif <f>:\n    log('elif')\nelse:\n    log('other')",
)


def sources() -> Iterator[str]:
    for number, formula in enumerate(FORMULAS):
        for place in PLACES:
            yield function(fill("<place>\nreturn log('end')", place=place).replace("<f>", formula))
        if number % 3 == 0:
            yield function(f"return log(({formula}) == ({FORMULAS[number - 1]}))")
