"""The dispatch form, by execution: it must do what the original does, exceptions and their contexts included."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from types import CodeType, FunctionType
from typing import Any, Callable, Dict, List

import pytest

from depyf.bytecode import normalise

from .dispatched import dispatched

PRELUDE = """
import sys
log = []
def note(*what):
    handled = sys.exc_info()[1]
    log.append((what, repr(handled), chain(handled)))
    return what[0] if what else None
def chain(exc):
    seen = []
    while exc is not None and len(seen) < 9:
        seen.append((type(exc).__name__, str(exc), repr(exc.__cause__), exc.__suppress_context__))
        exc = exc.__context__
    return seen
def fail(kind, *args):
    raise kind(*args)
class Manager:
    def __init__(self, name, swallow=False, broken=False):
        self.name, self.swallow, self.broken = name, swallow, broken
    def __enter__(self):
        note("enter", self.name)
        return self.name
    def __exit__(self, kind, exc, tb):
        note("exit", self.name, kind, repr(exc), tb is not None)
        if self.broken:
            raise OSError(self.name)
        return self.swallow
    async def __aenter__(self):
        note("aenter", self.name)
        return self.name
    async def __aexit__(self, kind, exc, tb):
        note("aexit", self.name, kind, repr(exc))
        return self.swallow
class Odd:
    def __init__(self, name, truth=True): self.name, self.truth = name, truth
    def __bool__(self): note("bool", self.name); return self.truth
    def __getattr__(self, name): note("get", self.name, name); return name
    def __getitem__(self, key): note("item", self.name, key); return (self.name, key)
    def __setitem__(self, key, value): note("set", self.name, key, value)
    def __repr__(self): return "Odd"
    def __hash__(self): return len(self.name)
    def __lt__(self, other): note("lt", self.name, repr(other)); return self
    def __iadd__(self, other): note("iadd", self.name, repr(other)); return self
async def ticks(*values):
    for value in values:
        note("tick", value)
        yield value
"""

# Source of f, then argument tuples as expressions.
FUNCTIONS: List[Any] = [
    (
        """
        def f(a):
            def g(x=note(1) if a else 2, *, y: int if a else str = 3 if a else note(4), z=5) -> (a or None):
                return x, y, z
            h = lambda v=(6 if a else 7), *, w=(8 if a else 9): (v, w)
            return g(), g(0, z=0), g.__annotations__, h(), h(1, w=2)
        """,
        ["0", "1"],
    ),
    ("def f(a): return [x for x in a if ()], list(x for x in a if 0), [y for y in [*a] if a and 0]", ["[1, 2]"]),
    ("def f(a, b=2, *c, d=4, **e): return (a, b, c, d, e)", ["1", "1, 2, 3"]),
    (
        """
        def f(n):
            total = 0
            for i in range(n):
                if i % 3 == 0: continue
                if i > 7: break
                total += i
            else:
                total = -total
            while total > 5:
                total -= 2
            return total
        """,
        ["0", "5", "20"],
    ),
    (
        """
        def f(a, b):
            x = note(a and b or not a, a < b < 3)
            y = [p if p else q for p in (a, b) for q in range(2)]
            return x, y, {a: b, **{1: 2}}, {*y}, (*y, a), f"{a!r:>4}{b}", y[0:1], y[::2]
        """,
        ["1, 2", "0, 5", "5, 0", "Odd('u'), Odd('v', False)"],
    ),
    (
        """
        def f(o):
            o[note(1)] += note(2)
            o.name, o[note(3)] = note(4), note(5)
            p, *q, r = o.items()
            del o.extra
        """,
        ["Odd('o')"],
    ),
    (
        """
        def f(kind):
            try:
                note("body")
                if kind: fail(kind, 1)
            except ValueError as e:
                note("value", str(e))
                return "value"
            except (TypeError, KeyError):
                note("other")
                raise RuntimeError("new")
            else:
                note("else")
            finally:
                note("finally")
            return "end"
        """,
        ["None", "ValueError", "TypeError", "KeyError", "OSError", "StopIteration"],
    ),
    (
        """
        def f(one, two):
            try:
                try:
                    fail(one, "one")
                except ValueError:
                    note("first")
                    try:
                        fail(two, "two")
                    except TypeError:
                        note("second")
                        fail(KeyError, "three")
                    finally:
                        note("inner finally")
                    note("after")
                note("between")
            except Exception as e:
                note("outer", repr(e))
                raise
            note("done")
        """,
        ["ValueError, TypeError", "ValueError, ValueError", "KeyError, TypeError", "KeyboardInterrupt, OSError"],
    ),
    (
        """
        def f(kind):
            for i in range(3):
                try:
                    if i == 1: continue
                    if i == 2: fail(kind, i)
                    note("ok", i)
                except ValueError:
                    note("caught")
                    break
                finally:
                    note("finally", i)
            try:
                return note("result")
            finally:
                note("last")
        """,
        ["ValueError", "TypeError"],
    ),
    (
        """
        def f(kind):
            while True:
                try:
                    fail(kind, 1)
                finally:
                    note("swallowed")
                    break
            note(sys.exc_info()[1] is None)
            try:
                try:
                    fail(kind, 2)
                except kind:
                    raise OSError("from") from None
            except OSError:
                pass
            note("end")
        """,
        ["ValueError"],
    ),
    (
        """
        def f(swallow, broken, kind):
            with Manager("a", swallow) as a, Manager("b", False, broken) as b:
                note(a, b)
                if kind: fail(kind, 0)
                return "inside"
            note("after")
            return "outside"
        """,
        [
            "False, False, None",
            "True, False, ValueError",
            "False, False, ValueError",
            "True, True, None",
            "False, True, KeyError",
        ],
    ),
    ("def f(x):\n with x as y: return y", ["5", "Manager('m')"]),
    ("def f(kind):\n try:\n  fail(ValueError)\n except kind:\n  note('hit')", ["3", "(ValueError, 4)", "(TypeError,)"]),
    ("def f(x):\n if x: y = 1\n note('before')\n return y", ["0", "1"]),
    ("def f(x):\n y = x\n del y\n return y", ["0"]),
    ("def f(x):\n try:\n  del x\n  x\n except UnboundLocalError:\n  note('unbound')\n x = 2\n return x", ["0"]),
    ("def f(x):\n import os.path as p, sys\n from os import path, sep as s\n return p is path, s, sys.__name__", ["0"]),
    ("def f(x):\n def g(y=x, *, z=[x]):\n  nonlocal x\n  x += 1\n  return y, z, x\n return g(), g(5), x", ["1"]),
    (
        """
        def f(x):
            class C(object, metaclass=type):
                y = x
                def m(self): return __class__.__name__, self.y
            return C().m()
        """,
        ["1"],
    ),
    ("def f(x):\n assert x, 'message'\n return note(*[1, *x], **{'sep': 1}) if 0 else note(*x)", ["[]", "[3]"]),
    ("def f(x):\n return {k: v for k, v in x.items() if v}, {i for i in x}, list(i * 2 for i in x)", ["{1: 2, 3: 0}"]),
    ("def f(x):\n return note(**{'a': 1}, **x)", ["{'a': 2}", "{'b': 2}", "3"]),
    ("def f(*x):\n a, (b, c), *d = x\n a, b = b, a\n return a, b, c, d", ["1, (2, 3), 4", "1, 2", "1, (2, 3)", ""]),
]
if sys.version_info >= (3, 10):
    FUNCTIONS.append(
        (
            """
            def f(x):
                match x:
                    case 1 | 2: return "small"
                    case {"k": v, **rest} if v: return v, rest
                    case {sys.maxsize: v}: return "dotted", v
                    case [a, *b, c]: return a, b, c
                    case complex(real=r, imag=i): return r, i
                    case str() as s: return s
                    case None: return "none"
                return "no match"
            """,
            ["1", "{'k': 1, 2: 3}", "{'k': 0}", "{sys.maxsize: 7}", "[1, 2, 3]", "(1,)", "2j", "'s'", "None", "4.5"],
        )
    )

GENERATORS: List[Any] = [
    """
    def f():
        try:
            got = yield note(1)
            note("got", got)
            got = yield from sub()
            note("result", got)
            while True:
                try:
                    yield 3
                except ValueError as e:
                    note("thrown", str(e))
                    yield note("in handler")
        finally:
            note("closing")
    def sub():
        try:
            yield "a"
            yield "b"
        except KeyError:
            note("sub caught")
            return "caught"
        return "sub"
    """
]


def build(source: str, name: str = "f") -> Any:
    """The namespace after running PRELUDE and `source`."""
    scope: Dict[str, Any] = {"__name__": "case"}
    exec(compile(PRELUDE + textwrap.dedent(source), "<case>", "exec", dont_inherit=True), scope)
    return scope


def outcome(scope: Dict[str, Any], call: Callable[[], Any]) -> Any:
    """What `call` returned or raised, and what it noted on the way."""
    scope["log"].clear()
    try:
        result: Any = ("returned", call())
    except BaseException as error:
        result = ("raised", type(error), str(error), scope["chain"](error))
    return result, list(scope["log"]), sys.exc_info()[1]


def check(source: str, arguments: str) -> None:
    scope = build(source)
    function = scope["f"]
    again = dispatched(function)
    call = eval(f"lambda function: lambda: function({arguments})", scope)
    expected = outcome(scope, call(function))
    again_scope_log = again.__globals__["log"]
    assert again_scope_log is scope["log"]
    for during in (None, KeyError("being handled by the caller")):
        expected, found = _outcome_during(scope, call(function), during), _outcome_during(scope, call(again), during)
        assert repr(found) == repr(expected)


def _outcome_during(scope: Dict[str, Any], call: Callable[[], Any], error: Any) -> Any:
    if error is None:
        return outcome(scope, call)
    try:
        raise error
    except KeyError:
        return outcome(scope, call)


@pytest.mark.parametrize("source, arguments", [(s, a) for s, all_of in FUNCTIONS for a in all_of])
def test_function(source: str, arguments: str) -> None:
    check(source, arguments)


# The dispatch form keeps the whole group, not the matching part, as the exception being handled in an `except*` clause
# (see `dispatch.exceptions`), so these compare results and notes only.
GROUPS = """
def f(kind, *more):
    try:
        if kind: raise kind
    except* ValueError as e:
        log.append(("values", repr(e)))
        if len(e.exceptions) > 1: raise OSError("new")
    except* (TypeError, KeyError) as e:
        log.append(("others", repr(e)))
    else:
        note("else")
    finally:
        log.append("finally")
    return "end"
"""
RAISED = [
    "None",
    "ValueError(1)",
    "OSError(1)",
    "ExceptionGroup('g', [ValueError(1), TypeError(2)])",
    "ExceptionGroup('g', [ValueError(1), ExceptionGroup('h', [OSError(2), KeyError(3)])])",
    "ExceptionGroup('g', [ValueError(1), ValueError(2), OSError(3)])",
]


def leaves(error: Any) -> Any:
    """A group's message and parts, as far down as they go."""
    return (error.message, [leaves(each) for each in error.exceptions]) if hasattr(error, "exceptions") else repr(error)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* came with 3.11")
@pytest.mark.parametrize("raised", RAISED)
def test_exception_groups(raised: str) -> None:
    scope = build(GROUPS)
    found = []
    for function in (scope["f"], dispatched(scope["f"])):
        scope["log"].clear()
        try:
            result: Any = function(eval(raised))
        except Exception as error:
            result = leaves(error)
        found.append((result, list(scope["log"])))
    assert found[0] == found[1]


def drive(function: Callable[[], Any], steps: List[Any]) -> Any:
    """Drive a generator by `steps` and tell what came out."""
    generator = function()
    found: List[Any] = []
    for kind, value in steps:
        try:
            found.append(getattr(generator, kind)(*value))
        except BaseException as error:
            found.append((type(error), str(error), repr(error.__context__)))
    return found


STEPS: List[List[Any]] = [
    [("__next__", ()), ("send", (5,)), ("__next__", ()), ("throw", (ValueError("v"),)), ("close", ())],
    [("__next__", ()), ("throw", (ValueError("v"),)), ("__next__", ())],
    [("__next__", ()), ("__next__", ()), ("throw", (KeyError("k"),)), ("throw", (ValueError("v"),)), ("__next__", ())],
    [("__next__", ()), ("close", ())],
    [("throw", (OSError("early"),))],
    [("__next__", ()), ("__next__", ()), ("throw", (StopIteration("s"),)), ("__next__", ())],
]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("source", GENERATORS)
def test_generator(source: str, steps: List[Any]) -> None:
    scope = build(source)
    again = dispatched(scope["f"])
    assert repr(outcome(scope, lambda: drive(again, steps))) == repr(outcome(scope, lambda: drive(scope["f"], steps)))


COROUTINES = [
    "async def f():\n async with Manager('a', True) as a:\n  note(a)\n  fail(ValueError, 1)\n return 'swallowed'",
    "async def f():\n async with Manager('a') as a:\n  await asyncio.sleep(0)\n  return a",
    "async def f():\n async with Manager('a') as a:\n  fail(KeyError, 1)",
    "async def f():\n async with 5: pass",
    "async def f():\n async for x in ticks(1, 2, 3):\n  if x == 2: continue\n  note(x)\n else:\n  note('else')",
    "async def f():\n async for x in ticks(1, 2, 3):\n  if x == 2: break\n return x",
    "async def f():\n async for x in ticks(1):\n  fail(StopAsyncIteration, x)",
    "async def f():\n return [x async for x in ticks(1, 2) if x], {x: await wait(x) for x in (1, 2)}\n"
    "async def wait(x):\n await asyncio.sleep(0)\n return x",
    "async def f():\n return [x async for x in g()]\nasync def g():\n for i in 1, 2: yield i",
    "async def f():\n await 3",
]


@pytest.mark.parametrize("source", COROUTINES)
def test_coroutine(source: str) -> None:
    scope = build("import asyncio\n" + source)
    again = dispatched(scope["f"])
    expected = outcome(scope, lambda: asyncio.run(scope["f"]()))
    assert repr(outcome(scope, lambda: asyncio.run(again()))) == repr(expected)


def test_class_and_module_bodies_keep_no_temporaries() -> None:
    body = "  for i in range(x):\n   y = i\n  def m(self): return super().__repr__\n"
    scope = build(f"def f(x):\n class C:\n{body} return C")
    names = set(vars(dispatched(scope["f"])(3))) - set(vars(scope["f"](3)))
    assert not names


# ---------------------------------------------------------------- code that no compiler writes


def assemble(instructions: str, **parts: Any) -> Callable[..., Any]:
    """A 3.11 function of one argument `x` from instructions `NAME argument`, `label:` and jumps to labels."""
    import dis

    lines = [line.split() for line in instructions.strip().splitlines()]
    labels, offset = {}, 0
    sizes = []
    for line in lines:
        if line[0].endswith(":"):
            labels[line[0][:-1]] = offset
            sizes.append(0)
            continue
        caches = dis._inline_cache_entries[dis.opmap[line[0]]]  # type: ignore[attr-defined]
        sizes.append(1 + caches)
        offset += 1 + caches
    raw, offset = bytearray(), 0
    for line, size in zip(lines, sizes):
        if not size:
            continue
        argument = line[1] if len(line) > 1 else "0"
        number = abs(labels[argument] - offset - size) if argument in labels else int(argument)
        raw += bytes([dis.opmap[line[0]], number]) + bytes(2 * (size - 1))
        offset += size
    base = (lambda x: x).__code__
    code: CodeType = base.replace(co_code=bytes(raw), co_stacksize=20, **parts)
    return FunctionType(code, {"__builtins__": __builtins__})


# A loop with two entries: no structured form without copying code.
IRREDUCIBLE = """
RESUME 0
LOAD_CONST 1
STORE_FAST 1
LOAD_FAST 0
POP_JUMP_FORWARD_IF_FALSE second
first:
LOAD_FAST 1
LOAD_CONST 2
BINARY_OP 0
STORE_FAST 1
second:
LOAD_FAST 1
LOAD_CONST 3
BINARY_OP 5
STORE_FAST 1
LOAD_FAST 1
LOAD_CONST 4
COMPARE_OP 0
POP_JUMP_BACKWARD_IF_TRUE first
LOAD_FAST 1
RETURN_VALUE
"""

# Values that stay on the stack across a branch, and change places on the way.
STACK_ACROSS_BRANCH = """
RESUME 0
LOAD_CONST 1
LOAD_CONST 2
LOAD_FAST 0
POP_JUMP_FORWARD_IF_FALSE other
SWAP 2
JUMP_FORWARD join
other:
COPY 2
SWAP 3
POP_TOP
join:
LOAD_CONST 3
SWAP 3
BUILD_TUPLE 3
RETURN_VALUE
"""


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="assembled for 3.11")
@pytest.mark.parametrize("instructions", [IRREDUCIBLE, STACK_ACROSS_BRANCH])
def test_assembled(instructions: str) -> None:
    parts = {"co_consts": (None, 1, 7, 3, 200), "co_varnames": ("x", "y"), "co_nlocals": 2}
    function = assemble(instructions, **parts)
    assert normalise(function.__code__).instrs
    again = dispatched(function)
    results = [function(value) for value in (0, 1)]
    assert results[0] != results[1]
    assert [again(value) for value in (0, 1)] == results
