"""Definitions end to end: source, bytecode, our text, bytecode again; both compared by the raw instructions."""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import Any, List

import pytest

from depyf.bytecode import normalise
from depyf.decompile import nodes as n
from depyf.decompile.body import structured
from depyf.decompile.functions import Structured, function_statement, live_defaults, module_body
from depyf.decompile.writer import write

VERSION = sys.version_info[:2]
SILENT = ("NOP", "CACHE", "EXTENDED_ARG", "RESUME")


def structure(code: CodeType) -> Structured:
    program = normalise(code)
    return Structured(program, structured(program))


def raw(code: CodeType) -> List[Any]:
    """The instructions, with jump targets and nested code left out."""
    found = []
    for instr in dis.get_instructions(code):
        if instr.opname not in SILENT:
            jumps = instr.opcode in dis.hasjrel or instr.opcode in dis.hasjabs
            argument = None if jumps or isinstance(instr.argval, CodeType) else repr(instr.argval)
            found.append((instr.opname, argument))
    return found


def facts(code: CodeType) -> Any:
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    return code.co_name, counts, code.co_flags, code.co_freevars, code.co_cellvars, code.co_varnames


def assert_same(one: CodeType, two: CodeType) -> None:
    assert facts(one) == facts(two)
    assert raw(one) == raw(two)
    nested = [[const for const in code.co_consts if isinstance(const, CodeType)] for code in (one, two)]
    assert len(nested[0]) == len(nested[1])
    for inner, other in zip(*nested):
        assert_same(inner, other)


def decompiled(source: str) -> str:
    code = compile(source, "", "exec", dont_inherit=True)
    text, _ = write(n.Module(module_body(structure(code), structure)), VERSION)
    assert_same(code, compile(text, "", "exec", dont_inherit=True))
    return text


CASES = [
    "r = '%s.%5r' % (a, b), f'%s.%5r' % (a, b), f'%%' % (), '%d' % (a,), '%s %s' % (a,), f'%s' % (a, *b), '%s' % a\n",
    "r = '%-7s' % (a,), '%+s' % (a,), '%.3a|%10.2s%%' % (a, b), f'{a!s:{b}} %s' % (c,), '%(x)s' % (a,), '%1000s' % (a,)\n",
    r"""
class A:
    def g(self):
        return __class__
    try:
        import x
    except ImportError:
        x = None
""",
    r"""
class A:
    def g(self):
        return __class__
    if x:
        y = 1
    else:
        y = 2
""",
    r'''
def f(a, b=1, *c, d, e=2, **g) -> int:
    """doc
    more"""
    x = lambda y, z=a: y + z
    def inner(q: int = 3, *, w: str = 'a') -> None:
        nonlocal b
        b += q
        global G
        G = 1
        return inner
    return [i for i in range(10) if i % 2 if i > 3], {k: v for k, v in c}, {s for s in c}, (y for y in c for z in y)
''',
    r'''
class A(B, metaclass=M):
    """doc"""
    x: int = 1
    y: 'str'
    __z = 2
    def __init__(self, __p):
        super().__init__()
        self.__q = __p
        __class__
    @property
    def foo(self): return self.__q
    @a.b
    @c(1)
    @staticmethod
    def bar(*, __k=1): return lambda: __k
    class Inner:
        __y = 3
        def f(self): return self.__y
@deco
class C: pass
''',
    r'''
"""module doc"""
from __future__ import annotations
import os, sys as system
import a.b.c as d
from . import x as y
x: int = 1
y: list[int]
def f(a: int, b: 'q' = 2) -> str:
    import os.path
    z: int = 3
    return z
if a:
    x = 1
else:
    x = 2
''',
    r"""
async def f(a):
    async for x in a:
        print(x)
    r = [x async for x in a]
    s = [await x for x in a if await x]
    t = (x async for x in a)
    return await a
async def g():
    yield 1
def h():
    return
    yield
def k():
    if 0: yield
    x = 1
""",
    r"""
def f():
    global y
    [y := x for x in z]
    def g():
        w = 1
        def h():
            nonlocal w
            return [w := x for x in z]
        return any((l := x) for x in z)
    return g
def outer():
    x = 1
    def inner():
        global x
        return x
    class D:
        global q
        q = x
        x = x
        def f(self): return x
    class E:
        nonlocal x
        x = 3
    return inner
""",
    r"""
f = lambda: (yield)
g = lambda a, *b, c=1: a if b else c
h = lambda: a and b or c
k = lambda x: [y for y in x]
l = [lambda: i for i in range(3)]
m = sorted(x, key=lambda v: (v, 1))
n = {a: {b for b in c if d or e} for a, (c, d, *e) in f.items() if not c if (a and b)}
""",
    r"""
def f(x):
    def dec(fn): return fn
    @dec
    def g(): pass
    @dec
    class H: pass
    g2 = dec(g)
    return [[a for a in b] for b in [c for c in x]]
""",
    r"""
def f(a):
    return f"{a!r:>{10}} {a} {a.b['c']}" % a + '%s and %r' % (a, '\n'.join(a))
""",
    r"""
class A:
    def f(self):
        return super().f
    def g(self):
        return __class__
    f = property(f)
    for i in range(3):
        j = i
    del i
    try:
        import x
    except ImportError:
        x = None
""",
    r"""
def f(a, b):
    class X(a, *b, k=1, **b): pass
    class Y(*b): pass
    return X
""",
    r"""
global x
x = 1
y = (lambda x: lambda: x)(0).__closure__[0]
def _cell_factory():
    a = 1
    def f():
        nonlocal a
    return f.__closure__[0]
""",
]

pytestmark = pytest.mark.skipif(VERSION != (3, 11), reason="compares with the compiler of 3.11")


@pytest.mark.parametrize("source", CASES)
def test_same_code(source: str) -> None:
    decompiled(source)


def test_private_names_are_written_as_in_the_source() -> None:
    text = decompiled("class _C:\n    def __f(self, *, __k=1):\n        self.__x = __y.__z(__k=__k)\n    a = __f\n")
    assert "_C__" not in text
    assert "def __f(self, *, __k=1):" in text and "self.__x = __y.__z(__k=__k)" in text


def test_annotations_as_text() -> None:
    source = "from __future__ import annotations\nx: List[int] = 1\ndef f(a: A | B, *, b: 'q' = 2) -> C: pass\n"
    text = decompiled(source)
    assert "x: List[int] = 1" in text and "def f(a: A | B, *, b: 'q'=2) -> C" in text.replace("b: 'q' = 2", "b: 'q'=2")


def test_function_on_its_own() -> None:
    def sample(a, b=3, *args, c=4, **kwargs):
        "Says what."
        return [a + 1 for a in args], lambda: b

    made = function_statement(structure(sample.__code__), structure, made=live_defaults(sample))
    text, _ = write(n.Module([made]), VERSION)
    space: dict = {}
    exec(text, space)
    assert space["sample"].__defaults__ == (3,) and space["sample"].__kwdefaults__ == {"c": 4}
    assert space["sample"].__doc__ == sample.__doc__
    assert_same(space["sample"].__code__.replace(co_flags=0), sample.__code__.replace(co_flags=0))


@pytest.mark.parametrize("source", ["f = lambda a: a + 1", "f = [x for x in y]", "f = (x for x in y)"])
def test_nested_code_on_its_own_is_a_def(source: str) -> None:
    code = next(c for c in compile(source, "", "exec").co_consts if isinstance(c, CodeType))
    text, _ = write(n.Module([function_statement(structure(code), structure)]), VERSION)
    compile(text, "", "exec")
    assert text.startswith("def ")


def test_functions_that_no_source_has_are_defined_first() -> None:
    """Dynamo makes functions in the middle of expressions and calls them by other names."""
    code = compile("def f(): return 5", "", "exec").co_consts[0]
    body = [n.Assign([n.Name("r")], n.Call(n.Name("use"), [n.MakeFunction(code), n.MakeFunction(code)]))]
    top = Structured(normalise(compile("f = 1", "", "exec")), list(body))
    text, _ = write(n.Module(module_body(top, structure)), VERSION)
    space: dict = {"use": lambda one, two: one() + two()}
    exec(text, space)
    assert space["r"] == 10


def test_owner_of_offsets_in_nested_code() -> None:
    code = compile("def f():\n    return g(1)\nx = [h(y) for y in z]", "", "exec")
    body = module_body(structure(code), structure)
    function = body[0]
    assert isinstance(function, n.FunctionDef) and function.owner is None
    assert function.body[0].owner is code.co_consts[0]
