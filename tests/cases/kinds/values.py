"""Constants and operators that need care when written down."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import function

EXPRESSIONS = (
    "-0.0, 0.0, 1e400, -1e400, 1e400 - 1e400, 1e16, 1e-7, 2j, -2j, 1 - 0j, -0j",
    "10 ** 30, -1, (-1) ** 2, -1 ** 2, (-a) ** b, 2 ** -b, ~a, not a, +b, - -a",
    "'a\\n\\t\\x00\\\\\\'\"', b'\\x00\\xff\\'\"', '\\ud800', '\\U0001f600', ''",
    "..., None, True, False, __debug__, Ellipsis",
    "(), (1,), ((1, 2), (3,)), (1, (2, (a,)))",
    "a in (1, 2), a in {1, 2}, a not in [1, 2], a in frozenset({1})",
    "(a, b)[c > 1], (lambda: a)(), (a if b else c)(1) if False else 0",
    "a + b * c - (a - b) - c, (a + b) * c, a % 3 // 2, 7 / (b + 1), a @ b if False else 1",
    "a << b | c & a ^ b, (a << b) | (c & a), a >> 1 << 1",
    "(not a) == b, not a == b, a < b == c, (a < b) == c, (a, b) < (b, c)",
    "f'{a}{b!r}{c!s:>4}{a + b:{c}}{{x}}', f'{a}' f'{{' 'plain', f'{\"q\"}' '\\''",
    "f'{a!r}' + '%d' % b + rf'\\{c}', f'{a:{b}.{c}}' if False else f'{f\"{a}\"}'",
    "[1, 2, 3][a], 'abc'[a:], 'abc'[:b], 'abc'[a:b:1], 'abc'[::-1], (1, 2, 3)[-1]",
    "(a.real, 1 .real, 1.0.real, (-1).real, (a + b).real, ''.join(['x', 'y']))",
    "{}, {1: {2: {}}}, {a: b, b: c}, {'k': [a, {b}]}, [[], [[]]], {1, a}",
    "1 if a else 2 if b else 3, (1 if a else 2) if b else 3, [1 if a else 2, b][0]",
    "lambda x, y=a: x, type(lambda: (yield)).__name__, (lambda *a, **k: (a, k))(1, k=2)",
)
STATEMENTS = (
    "'not a docstring'\nx = 1\nreturn x",
    "a\n1\nlog\nreturn (a, b)",
    "a == b\na[0] if False else b\nreturn c",
    "x = 'one' 'two'\nx += f'{a}'\nreturn x * b",
    "pass\n...\nreturn",
    "x = 0x7fffffffffffffffffffff\nreturn -x, x // 3",
    "return log(a).bit_length().bit_length() + log(b).real",
)


def sources() -> Iterator[str]:
    for expression in EXPRESSIONS:
        yield function(f"return repr(({expression},))[:20], 0" if "lambda x" in expression else f"return {expression}")
    for statement in STATEMENTS:
        yield function(statement)
