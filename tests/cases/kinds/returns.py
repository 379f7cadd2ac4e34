"""if/elif/else chains with early returns, bare returns, empty arms, constants (uncompyle6#459, decompile3#43)."""

from __future__ import annotations

import itertools
from typing import Iterator

from tests.cases.kinds.text import fill, function

ARMS = ("return", "log('arm')", "pass", "return log('value')", "raise KeyError(c)")


def sources() -> Iterator[str]:
    for first, second, third in itertools.product(ARMS, ARMS[:4], ARMS[1:4]):
        yield function(
            fill(
                """
                if a == 0:
                    <first>
                elif b:
                    <second>
                else:
                    <third>
                """,
                first=first,
                second=second,
                third=third,
            )
        )
    for way in ("return 0", "return", "break", "continue"):
        yield function(
            fill(
                """
                for row in ([a, b], [c], []):
                    for cell in row:
                        if cell == 1:
                            <way>
                        log(cell)
                    while row:
                        if log(row.pop()) == c:
                            <way>
                else:
                    return 'none'
                return 1
                """,
                way=way,
            )
        )
    for constant in ("1", "0", "__debug__", "not __debug__", "None", "a and 0", "1 or a"):
        yield function(f"if {constant}:\n    log('then')\nelse:\n    log('else')\nreturn {constant}")
        yield function(f"while {constant}:\n    log('body')\n    if a < b:\n        break\nelse:\n    log('else')")
        yield function(f"return (1 if {constant} else a), ({constant}) and b, ({constant}) or c")
