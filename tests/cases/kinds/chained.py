"""Chained comparisons as values and tests, alone and inside other conditions (zrax/pycdc#546)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import function

CHAINS = (
    "0 < log(a) < log(b)",
    "log(a) <= log(b) != log(c)",
    "log(a) < log(b) < log(c) < 3",
    "not log(a) < log(b) <= log(c)",
    "log(a) < log(b) < 2 or log(c)",
    "log(c) and log(a) <= log(b) <= 2",
    "log(a) is log(b) is not log(c)",
    "log(a) in (0, 1) in [True, log(b)]",
)
PLACES = (
    "return <f>",
    "if <f>:\n    return log('yes')\nreturn log('no')",
    "if a == 2:\n    x = 1\nelif <f>:\n    x = 2\nelif 3 > b != c:\n    x = 3\nelse:\n    x = 4\nreturn x",
    "while <f>:\n    b -= 1\n    log('body')\nreturn b",
    "x = (<f>) + 1\nreturn x",
    "return [x for x in range(3) if <f>]",
    "return (log('left') if <f> else log('right')), <f>",
)


def sources() -> Iterator[str]:
    for chain in CHAINS:
        for place in PLACES:
            yield function(place.replace("<f>", chain))
