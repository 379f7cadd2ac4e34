"""The writer: what it writes must parse to the tree that it was given."""

from __future__ import annotations

import ast
import glob
import os
import random
import sys
import sysconfig
import warnings

import pytest

from depyf.decompile import nodes as n
from depyf.decompile.writer import write
from tests.decompile.from_ast import parse

VERSION = sys.version_info[:2]

STATEMENTS = [
    "-1 ** 2; (-1) ** 2; 2 ** -1; (a ** b) ** c; a ** b ** c; (await_ ** 2) ** -x; -(-x); not (not x)",
    "(1).real; 1.0.real; 1j.imag; (-1).real; 'x'.y; (a + b).c; (yield_)(x); x[1](2)[3]",
    "a < b < c; (a < b) < c; a < (b < c); not a == b; (not a) == b; a and (b and c); (a and b) and c; a or b and c",
    "a if b else c if d else e; (a if b else c) if d else e; a if (b if c else d) else e; (lambda: x) if y else lambda: z",  # noqa: E501
    "x = lambda a, *b, c=1, **d: (a, b); y = (lambda: 1)(); z = lambda: (yield)",
    "(a := 1); f((a := 1), b=(c := 2)); x = (y := 2); z[(a := 1)]; (a := (b := 3))",
    "a, = b; a, b = b, a; (a, b), [c, *d] = *x, y; a = b = c, d; *a, = b; () = x; [] = y",
    "x[1:2, ::3, ...]; x[:]; x[1:2,]; x[()]; x[1, 2]; x[(1,)]; x[a:b:c]; x[lambda: 1]",
    "{1, 2, *x}; {**a, 'b': 1, **c}; {}; [*a, *b]; (*a,); f(*a, b, *c, d=1, **e, **g); f(x for x in y); f((x for x in y), 1)",  # noqa: E501
    "[x for x in y if a if b for z in (1, 2)]; {k: v for k, v in x}; {a for a in (b if c else d)}; [x for x in (lambda: y)()]",  # noqa: E501
    "a - (b - c); (a - b) - c; a * (b / c) % d; a << b | c & d ^ e; ~a ** b; a @ b; a // b",
    "with a as b, c as (d, e): pass\nwith (a, b): pass\nwith (a): pass\nwith ((yield_)): pass\nwith a as b.c: pass",
    "for x, (y, *z) in a, b: break\nelse: continue_\nfor x in (*a, b): pass",
    "if a:\n  pass\nelif b:\n  x\nelif c:\n  y\nelse:\n  z\nif a:\n  if b:\n    c\nelse:\n  if d:\n    e\n  f",
    "while (a := b): x\nelse: y\nif (a := b): pass",
    "try: a\nexcept (b, c) as d: e\nexcept f: g\nexcept: h\nelse: i\nfinally: j\ntry: a\nfinally: b",
    "del a, b.c, d[e]; del (a, b); raise; raise a from b; assert a, b; assert (a, b); global_ = 1",
    "x: int; x: int = 1; (x): int = 2; a.b: c; a[b]: d = e; x: (int, str) = 1, 2",
    "import a.b as c, d; from . import e; from ..f import g as h, i; from j import *",
    "def f(a, b=1, /, c=2, *d: int, e, f=3, **g: str) -> int:\n  'doc'\n  nonlocal_\n  return *a, b",
    "def f():\n  x = yield\n  y = yield 1, 2\n  z = yield from w\n  (yield)\n  a[(yield)]\n  x += yield\n  return (yield)",  # noqa: E501
    "async def f():\n  await x\n  (await x).y\n  await (await y)\n  -await x ** 2\n  async for a in b: pass\n"
    "  async with c as d: pass\n  [e async for e in f]\n  return await g(), 1",
    "@a.b\n@c(1)\nclass X(Y, *z, metaclass=m, **k):\n  '''doc\n\n  more'''\n  a: int = 1\n  def f(self): return super().f()",  # noqa: E501
    "f'{a}b{c!r:>{width}}{{}}'; f'{a[\"b\"]}'; f'{a!s}'; f\"{'it' + str(1)}\\n\\\"'\"; f'{ {1: 2} }'; f'{(lambda: 1)}'; f'{a:%Y}'",  # noqa: E501
    "f'{a if b else c:x}'; f'{a == b}'; f'{a != b!r}'; f'{x, y}'; f'{(yield_)}'; f'''{f\"{f'{a}'}\"}'''; f'{a:{b}{c}}'",
    "1e999; -1e999j; 0x10; 10 ** 400; 'a\\x00\\u202e\\ud800\\'\\\"'; b'\\x00\\xff\\'\"'; ''; \"it's\"; 1e-7; 123456789.123",  # noqa: E501
]
if VERSION >= (3, 9):
    STATEMENTS.append("@a[0].b or c\ndef f(): pass")
if VERSION >= (3, 10):
    STATEMENTS.append(
        "match a, b:\n case [1, -2, 'x', None, *_]: p\n case {'k': v, **rest} if g: q\n case C(a, b=D()) as e: r\n"
        " case ((1 | 2) as x) | A.b as q: s\n case ([a] | [a, _]) as y: t\n case 1 + 2j: u\n case _: w"
    )
if VERSION >= (3, 11):
    STATEMENTS.append("try: a\nexcept* b as c: d\nx[*a, b]\ndef f(*args: *Ts): pass\nx[a:b, *c]")
if VERSION >= (3, 12):
    STATEMENTS.append("type X[T: int, *Ts, **P] = a\ndef f[T](x: T): pass\nclass A[T](B): pass\nf'{\"\\n\".join(x)}'")
if VERSION >= (3, 13):
    STATEMENTS.append("type X[T = int] = a")
if VERSION >= (3, 14):
    STATEMENTS.append("t'{a}b{c!r:>{w}}'; t'{x+1}'")


class _PlainTemplates(ast.NodeTransformer):
    """`f"%s" % (x,)`, with an f-string without fields, keeps the compiler from folding."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.JoinedStr) and isinstance(node.right, ast.Tuple):
            if all(isinstance(value, ast.Constant) for value in node.left.values):
                node.left = ast.Constant("".join(value.value for value in node.left.values), kind=None)
        return node


def normal(source: str) -> str:
    """A dump of the tree, without what does not survive or does not matter."""
    tree = _PlainTemplates().visit(ast.parse(source))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        if type(node).__name__ in ("JoinedStr", "TemplateStr"):
            merged: list = []
            for value in node.values:
                if isinstance(value, ast.Constant) and merged and isinstance(merged[-1], ast.Constant):
                    merged[-1] = ast.Constant(merged[-1].value + value.value, kind=None)
                elif not (isinstance(value, ast.Constant) and value.value == ""):
                    merged.append(value)
            node.values = merged
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(node, False):
            node.body[0].value.value = ast.get_docstring(node)
    return ast.dump(tree)


@pytest.mark.parametrize("source", STATEMENTS)
def test_writes_what_parses_to_the_same_tree(source: str) -> None:
    text, _ = write(parse(source), VERSION)
    assert normal(text) == normal(source), text


def _difference(found: str, wanted: str) -> str:
    """Where two dumps part, short enough to read."""
    at = len(os.path.commonprefix([found, wanted]))
    return f"{found[at - 60 : at + 100]!r} instead of {wanted[at - 60 : at + 100]!r}"


def sample_of_the_standard_library(count: int) -> list:
    root = sysconfig.get_path("stdlib")
    files = sorted(glob.glob(os.path.join(root, "*.py")) + glob.glob(os.path.join(root, "test", "test_[fgpsu]*.py")))
    return random.Random(7).sample(files, min(count, len(files)))


@pytest.mark.parametrize("path", sample_of_the_standard_library(25), ids=os.path.basename)
def test_standard_library(path: str) -> None:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        source = file.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = normal(source)
        except (SyntaxError, ValueError):
            pytest.skip("not source that this Python parses")
        text, _ = write(parse(source), VERSION)
        found = normal(text)
    assert found == wanted, _difference(found, wanted)


def test_deep_trees_need_no_recursion() -> None:
    total: n.Expr = n.Name("x0")
    for index in range(1, 5000):
        total = n.BinOp(total, "+", n.Name(f"x{index}"))
    text, _ = write(n.Module([n.ExprStmt(total)]), VERSION)
    assert text == " + ".join(f"x{index}" for index in range(5000)) + "\n"
    chain: list = [n.Pass()]
    for index in range(5000):
        chain = [n.If(n.Name(f"c{index}"), [n.Pass()], chain)]
    text, _ = write(n.Module(chain), VERSION)
    assert text.count("elif ") == 4999 and text.count("\n") == 5000 * 2 + 2


def test_positions_are_where_the_operation_is_written() -> None:
    module = parse("def f(a):\n    if a:\n        return g(a.b + f'{a}{h(a)}')\n")
    text, positions = write(module, VERSION)
    lines = text.splitlines()

    def rest(node: n.Node) -> str:
        line, column = positions[id(node)]
        return lines[line - 1][column:]

    function = module.body[0]
    returned = function.body[0].body[0]
    call = returned.value
    assert rest(function).startswith("def f")
    assert rest(function.body[0]).startswith("if a")
    assert rest(returned).startswith("return")
    assert rest(call).startswith("g(")
    assert rest(call.args[0]).startswith("+ f")
    assert rest(call.args[0].left).startswith("b +")
    inner = call.args[0].right.values[1]
    assert rest(inner).startswith("{h(a)")
    assert rest(inner.value).startswith("h(a)")


def test_empty_body_and_comments() -> None:
    module = n.Module([n.If(n.Name("a"), [n.Comment("nothing\nto do\x00")]), n.While(n.Name("b"), [])])
    text, _ = write(module, VERSION)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse("if a: pass\nwhile b: pass"))
    assert "# nothing" in text and "# to do" in text and "\x00" not in text


def test_unresolved_nodes_are_refused() -> None:
    for expr in (n.Slot(0), n.Intrinsic("x"), n.Constant(object()), n.Constant((1, int))):
        with pytest.raises(ValueError):
            write(n.Module([n.ExprStmt(expr)]), VERSION)


@pytest.mark.parametrize("version", [(3, 8), (3, 11), (3, 12)])
def test_fields_that_no_old_fstring_can_hold(version: tuple) -> None:
    field = n.FormattedValue(n.Call(n.Attribute(n.Constant("\n"), "join"), [n.Name("x")]), "s", n.Constant(">7"))
    inner = n.FormattedValue(n.Call(n.Attribute(n.Constant("\n"), "join"), [n.Name("x")]), "", None)
    for part, wanted in ((field, "100%    a\nb"), (inner, "100%a\nb")):
        text, _ = write(n.Module([n.Assign([n.Name("r")], n.JoinedStr([n.Constant("100%"), part]))]), version)
        assert text.startswith("r = f") == (version >= (3, 12) or part is inner)
        if version <= VERSION:
            space: dict = {"x": "ab"}
            exec(text, space)
            assert space["r"] == wanted
