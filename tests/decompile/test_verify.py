"""The verifier: what must be exact, equivalent or refuted; mutations of a program are always refuted."""

from __future__ import annotations

import sys
import textwrap
from types import CodeType
from typing import Any, Iterator, List, Tuple

import pytest

from depyf.decompile.result import DecompilationError, Part, Status
from depyf.decompile.verify import compare

from . import raw_judge
from .mutations import mutations


def code_of(source: str, name: str = "f") -> CodeType:
    module = compile(textwrap.dedent(source), "<case>", "exec", dont_inherit=True)
    return next(c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == name)


def status(original: str, again: str, **options: Any) -> Status:
    return compare(code_of(original), code_of(again), **options).status


EQUIVALENT: List[Tuple[str, str]] = [
    ("return a + b * 2", "t = b * 2; return a + t"),
    ("return g(b * 2, a or b)", "t = g; u = b * 2; v = a\n if not v: v = b\n return t(u, v)"),
    ("return g(a, b and a.x)", "t = g\n if b: u = a.x\n else: u = b\n return t(a, u)"),
    ("for x in a: g(x, b[1])", "t = a\n for x in t:\n  h = g; h(x, b[1])"),
    ("while a: a = g(a)\n return b", "while True:\n  t = a\n  if not t: break\n  a = g(t)\n return b"),
    ("return not a in b", "t = a in b; return not t"),
    ("return g(1, 2, [a, b])", "l = []; q = g; l.append(a); l.append(0); l[1] = b; return q(1, 2, l)"),
    ("return g(*[a], x=1, **{'y': 2})", "return g(a, x=1, y=2)"),
    ("x, y = g(a), g(b); return h(y, x)", "t = g(a); u = g(b); x = t; y = u; return h(y, x)"),
    ("try: g()\n except E:\n  p(a)\n except T: return 1", "try: g()\n except E:\n  t = p; t(a)\n except T: return 1"),
    ("with a as x: return x.y", "with a as x:\n  t = x; return t.y"),
    ("if a: x = 1\n print(x)", "if a: x = 1\n t = print; t(x)"),
    ("z = []\n for x in a: z.append(x)\n return z", "z = []\n for x in a: z.append(x); t = 1\n return z"),
    ("return a[1:2]", "t = a; return t[1:2]"),
    ("return 3", "t = 1; return t + 2"),
]

LOOP = "z = []; q = []\n for x in a:\n  z.append(x); q.append(x)\n"

REFUTED: List[Tuple[str, str]] = [
    ("return a + b * 2", "t = b * 2; return t + a"),
    ("return g(a) + h(b)", "t = h(b); return g(a) + t"),
    ("return g(b * 2, a or b)", "t = g; u = b * 2; v = a\n if not v: v = a\n return t(u, v)"),
    ("return g(b * 2, a or b)", "t = g; u = b * 2\n if a: v = a\n return t(u, v)"),
    ("return a.x.y", "return a.y.x"),
    ("x = 1; locals()", "x = 1; t = 2; locals()"),
    ("if a: x = 1\n print(x)", "if a: t = 1\n print(t)"),
    ("x = a; g(); return x", "t = a; g(); x = t; return x"),
    ("x = g(); del x; h()", "x = g(); h(); del x"),
    ("try: g()\n finally: h()", "g()\n h()"),
    ("try: g()\n except E: h()", "try: g()\n except E: h(); raise"),
    ("try:\n  g(); h()\n except E: pass", "try:\n  g()\n except E: pass\n else:\n  h()"),
    ("l = [a]; g(l); return l", "l = [a]; g([a]); return l"),
    ("l = [a]; g(l); return l[0]", "l = [a]; g(l); return a"),
    (f"{LOOP} return z", f"{LOOP} return q"),
    ("if a: pass", "pass"),
    ("while a: pass", "while True: pass"),
    ("return a is b", "return a == b"),
    ("return (a, b)", "return [a, b]"),
    ("def h(): return a\n return h", "def h(): return b\n return h"),
    ("def h(x=1): 'doc'\n return h", "def h(x=1): 'other'\n return h"),
    ("def h(x, y=1): pass\n return h", "def h(x, *, y=1): pass\n return h"),
    ("def h(x): yield x\n return h", "def h(x): return x\n return h"),
    ("return lambda x: x", "return lambda y: y"),
    ("raise a from b", "raise a"),
    ("yield a; yield b", "yield b; yield a"),
    ("return {1: a, 2: b}", "return {True: a, 2: b}"),
    ("return {1.0: a, 2: b}", "return {True: a, 2: b}"),
    ("return {0.0: a, 2: b}", "return {-0.0: a, 2: b}"),
    ("l = [a]; locals()['l'].clear(); return l[0]", "l = [a]; locals()['l'].clear(); return a"),
    ("l = [a]; d = locals(); g(d); return l[0]", "l = [a]; d = locals(); g(d); return a"),
    ("l = [a]; eval('l.clear()', None); return l[0]", "l = [a]; eval('l.clear()', None); return a"),
    ("exec('print(t)', *a)", "t = 1; exec('print(t)', *a)"),
    (
        "try: g()\n except E:\n  try: h\n  except F as e: return e.__context__",
        "try: g()\n except E: t = 1\n else: t = 0\n if t:\n  try: h\n  except F as e: return e.__context__",
    ),
]  # fmt: skip

CONSTANTS = ["1", "True", "1.0", "0.0", "-0.0", "(1,)", "(True,)", "b'1'", "'1'", "1j", "-0j", "...", "None", "1e999"]
CONSTANTS += ["2", "(1, (2.0,))", "(1, (2,))"]


def body(statements: str) -> str:
    return "def f(a, b):\n " + statements


@pytest.mark.parametrize("original, again", EQUIVALENT)
def test_equivalent(original: str, again: str) -> None:
    verdict = compare(code_of(body(original)), code_of(body(again)))
    assert verdict.status is Status.EQUIVALENT, verdict.difference
    assert verdict.difference


@pytest.mark.parametrize("original, again", REFUTED)
def test_refuted(original: str, again: str) -> None:
    assert status(body(original), body(again)) is Status.REFUTED
    assert status(body(again), body(original)) is Status.REFUTED


@pytest.mark.parametrize("one", CONSTANTS)
def test_constants(one: str) -> None:
    for other in CONSTANTS:
        found = status(body(f"return {one}"), body(f"return {other}"))
        assert (found is Status.EXACT) == (one == other), other


def test_named_constants() -> None:
    value = object()
    code = code_of(body("return 'here'"))
    original = code.replace(co_consts=tuple(value if c == "here" else c for c in code.co_consts))
    again = code_of(body("return NAMED"))
    assert compare(original, again, names={"NAMED": value}).status is Status.EQUIVALENT
    assert compare(original, again, names={"NAMED": object()}).status is Status.REFUTED
    assert compare(original, again).status is Status.REFUTED


def test_the_truth_of_a_named_constant_is_not_asked() -> None:
    class Odd:
        def __bool__(self) -> bool:
            raise AssertionError

    code = code_of(body("x = 'here'\n if x: return a\n return b"))
    odd = Odd()
    original = code.replace(co_consts=tuple(odd if c == "here" else c for c in code.co_consts))
    again = code_of(body("x = NAMED; y = x\n if y: return a\n return b"))
    assert compare(original, again, names={"NAMED": odd}).status is Status.EQUIVALENT


def test_the_order_of_the_cells() -> None:
    """A closure is a tuple of cells: for the free variables in their order, whatever their names."""
    original = code_of(body("def h(): return a - b\n return h"))
    inner = next(c for c in original.co_consts if isinstance(c, CodeType))
    turned = inner.replace(co_freevars=inner.co_freevars[::-1])
    again = original.replace(co_consts=tuple(turned if c is inner else c for c in original.co_consts))
    assert compare(original, again).status is Status.REFUTED


def test_refuted_tells_which_code() -> None:
    original, again = code_of(body("return lambda x: a")), code_of(body("return lambda x: (a, x)"))
    parts: List[Part] = []
    assert compare(original, again, parts=parts).status is Status.REFUTED
    refuted = [part.code for part in parts if part.verdict.status is Status.REFUTED]
    assert [code.co_name for code in refuted] == ["<lambda>"]
    verdict = compare(original, again, unchecked=refuted)
    assert verdict.status is Status.UNVERIFIED


def test_droppable_variables() -> None:
    original, again = body("x = a.b; g(); return x"), body("t = a.b; g(); return t")
    assert status(original, again) is Status.REFUTED
    assert status(original, again, droppable={"x"}) is Status.EQUIVALENT


# ---------------------------------------------------------------- mutations

SUBJECT = '''
def f(a, b, *c, d, **e):
    """Doc."""
    total = 0
    for i, item in enumerate(a):
        if item is None and i > 3 or not b:
            continue
        elif item < i <= total:
            break
        try:
            total += item.value[i:2] - d
            print(total, sep="", *c, **e)
        except (ValueError, KeyError) as error:
            print(error)
            raise RuntimeError("bad") from error
        except OSError:
            total = f"{total!r:>{d}}" if d else -1
        else:
            del item
        finally:
            log.append(i)
    else:
        total = [x * 2 for x in c if x]
    with open(b) as file, file as other:
        while file:
            total, *rest = {**e, "k": (1, "two")}, {d, a}
    def inner(x, y=d):
        nonlocal total
        total = x @ y
        return lambda z: z + total
    return inner(a, y=b), rest
'''


def test_mutations_are_refuted() -> None:
    original = code_of(SUBJECT)
    count = 0
    for what, tree in mutations(SUBJECT):
        try:
            module = compile(tree, "<mutation>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, TypeError):
            continue
        again = next(c for c in module.co_consts if isinstance(c, CodeType))
        count += 1
        verdict = compare(original, again)
        assert verdict.status is Status.REFUTED, (what, verdict)
        assert verdict.difference
    assert count > 90


# ---------------------------------------------------------------- the verifier and the raw judge agree

MODULES = ["bisect", "contextlib", "copy", "functools", "heapq", "json.decoder", "queue", "shlex", "string", "textwrap"]


def functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 1:
                yield constant
            else:
                yield from functions(constant)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the raw judge reads 3.11")
@pytest.mark.parametrize("name", MODULES)
def test_exact_means_exact_to_the_raw_judge(name: str) -> None:
    import importlib
    import inspect

    from depyf.decompile import decompile_code
    from depyf.decompile.recompile import recompile

    module = compile(inspect.getsource(importlib.import_module(name)), name, "exec", dont_inherit=True)
    judged = 0
    for code in functions(module):
        try:
            result = decompile_code(code)
        except DecompilationError:
            continue
        if result.verdict.status is Status.EXACT and not result.names:
            judged += 1
            assert raw_judge.difference(code, recompile(code, result.text)) is None, result.text
    assert judged


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the raw judge reads 3.11")
@pytest.mark.parametrize("original, again", REFUTED)
def test_the_raw_judge_sees_what_is_refuted(original: str, again: str) -> None:
    if "'doc'" not in original:  # it does not compare docstrings
        assert raw_judge.difference(code_of(body(original)), code_of(body(again))) is not None
