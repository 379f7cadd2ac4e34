"""Closures, nonlocal, global, defaults, decorators, classes, super, lambdas, imports (thuml/depyf#34)."""

from __future__ import annotations

from typing import Iterator

from tests.cases.kinds.text import function

BODIES = (
    "def g():\n    nonlocal a\n    a += b\n    return a\nreturn g(), g(), a",
    "def g(x, y=b, *z, k, m=c, **n):\n    return x, y, z, k, m, n\nreturn g(a, k=1), g(1, 2, 3, k=4, q=5)",
    "def g(x, /, y, *, k=a):\n    return x, y, k\nreturn g(b, y=c), g(1, 2, k=3)",
    "def outer():\n    x = a\n    def inner():\n        nonlocal x\n        def innermost():\n            nonlocal x\n            x += 1\n            return x + b\n        return innermost()\n    return inner(), x\nreturn outer()",
    "global shared\nshared = a\ndef g():\n    global shared\n    shared += 1\n    return shared\nreturn g(), shared",
    "def deco(k):\n    def wrap(fn):\n        return lambda *p: (k, fn(*p))\n    return wrap\n@deco(a)\n@deco(b)\ndef g(x):\n    return x + c\nreturn g(1)",
    "class A:\n    'doc'\n    n = a\n    def m(self):\n        return self.n\nclass B(A):\n    def m(self):\n        return super().m() + b\nreturn B().m(), A.__doc__",
    "class Meta(type):\n    def __new__(m, name, bases, ns, extra=0):\n        ns['extra'] = extra\n        return super().__new__(m, name, bases, ns)\nclass A(metaclass=Meta, extra=a):\n    x = y = b\n    del x\nreturn A.extra, hasattr(A, 'x')",
    "class A:\n    __hidden = a\n    def get(self):\n        return self.__hidden, __class__.__name__\n    @staticmethod\n    def s(x=b):\n        return x\n    @property\n    def p(self):\n        return self.__hidden + 1\nreturn A().get(), A.s(), A().p",
    "class A:\n    a = a\n    def m(self):\n        return a\n    class Inner:\n        k = b\n        if k:\n            z = 1\n        else:\n            z = 2\n    z = Inner.z\nreturn A.a if hasattr(A, 'a') else 0, A.z",
    "fs = [lambda i=i, *r, **k: (i, r, k, a) for i in range(b)]\nreturn [g(c) for g in fs] + [g() for g in fs]",
    "import os.path as p, sys\nfrom collections import OrderedDict as OD, deque\nimport os.path\nreturn p is os.path, OD is not deque, sys is not None",
    "def g(x: int, *y: 'str', z: float = 1.0) -> None:\n    'doc'\n    k: int = x\n    return k\nreturn g(a), sorted(g.__annotations__), g.__doc__",
    "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nreturn fact(a + 3)",
    "if a:\n    def g():\n        return 'first'\nelse:\n    def g():\n        return b, 'second'\nreturn g()",
    "x = a\ndel x\ntry:\n    return (lambda: x)()\nexcept NameError as error:\n    return type(error).__name__\nfinally:\n    x = 1",
    "def g():\n    yield a\n    def h():\n        yield from (b, c)\n    yield from h()\nreturn list(g())",
    "class C:\n    for i in range(b):\n        log(i)\n    try:\n        v = 6 // a\n    except ZeroDivisionError:\n        v = None\n    with_lambda = (lambda self: (self.v, c))\nreturn C().with_lambda()",
    "try:\n    import no_such_module_here\nexcept ImportError as error:\n    log(error.name)\nelse:\n    log('found')\nreturn c",
    "from os import path, sep as s\nprint(end='')\nreturn path.join('x', 'y'), s",
    "def g():\n    x: int\n    try:\n        return x\n    except UnboundLocalError as error:\n        return type(error).__name__\nreturn g()",
    "def g():\n    x: int\n    def h():\n        return x\n    return h\ntry:\n    return g()()\nexcept NameError as error:\n    return str(error)[:9]",
    "if 0:\n    x = 1\ntry:\n    return [x for a in x]\nexcept UnboundLocalError:\n    return 'unbound'",
)


def sources() -> Iterator[str]:
    for body in BODIES:
        yield function(body)
