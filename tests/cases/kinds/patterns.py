"""match: every sort of pattern, guards, nesting, in loops and with ways out (zrax/pycdc#610)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import block

SINCE = (3, 10)
SUBJECTS = (
    "[0, 1, 2, 'on', None, True, P(0, 5), P(3, 3), P(a, b), [1, 2, 3], (a, b), [], {'k': a, 'j': b}, {}, 1.5, -1, b'x']"
)
CASES = (
    "case 0 | 1:\n    out = 'bit'\ncase 'on':\n    out = 'word'\ncase _:\n    out = 'other'",
    "case P(0, y):\n    out = y\ncase P(x=p, y=q) if p == q:\n    out = p\ncase P():\n    out = 'point'",
    "case [first, *rest]:\n    out = first, rest\ncase []:\n    out = 'empty'",
    "case [x]:\n    out = x\ncase [x, y] if x < y:\n    out = x, y\ncase (x, _, *_):\n    out = x",
    "case {'k': value, **more}:\n    out = value, more\ncase {}:\n    out = 'map'",
    "case int() | float() as n if n > b:\n    out = n\ncase str(s) | bytes(s):\n    out = s",
    "case None:\n    out = 'none'\ncase True:\n    out = 'true'\ncase -1 | 1.5:\n    out = 'number'",
    "case P(x=[u, v]) | [P(x=u, y=v), *_]:\n    out = u, v\ncase [_, [_, *_]]:\n    out = 'deep'\ncase x:\n    out = repr(x)[:3]",
    "case K.ONE | K.TWO:\n    out = 'k'\ncase [K.ONE, *tail]:\n    out = tail\ncase {'j': K.TWO | K.ONE as j}:\n    out = j",
    "case [*_, last]:\n    out = last\ncase {'k': 0 | 1 as bit, 'j': _}:\n    out = bit",
)
SHAPES = (
    "for s in {subjects}:\n    out = 'none'\n    match s:\n{cases}\n    log(out)\nreturn log('end')",
    "for s in {subjects}:\n    match s:\n{cases}\n        case _ if c:\n            continue\n        case _:\n            break\n    log(out)\nelse:\n    log('all')",
    "s = {subjects}[a * 6 + b * 3 + c]\ntry:\n    match (log('subject'), s)[1]:\n{cases}\n    return out\nfinally:\n    log('done')",
)
SHELL = """
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __repr__(self):
        return 'P'
class K:
    ONE, TWO = 1, 2
"""


def sources() -> Iterator[str]:
    for shape in SHAPES:
        for cases in CASES:
            if "case x:" in cases and "case _" in shape:
                continue
            if "case _:" in cases and "case _ if" in shape:
                continue
            indented = block(cases, 2).rstrip("\n")
            body = shape.replace("{subjects}", SUBJECTS).replace("{cases}", indented)
            yield SHELL + "def f(a, b, c, log):\n" + block(body)
