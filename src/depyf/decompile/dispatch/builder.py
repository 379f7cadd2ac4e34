"""Statements and the symbolic stack of one block of the dispatch form.

An expression on the stack may still be *pending*: not evaluated by any statement yet. Pending expressions lie in the
order in which they are to be evaluated, and every statement is preceded by assignments of all pending ones to
temporaries, so the order of evaluation is that of the bytecode, always. Only what is *settled* (a constant, a
temporary) may be copied, moved or dropped as it is.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Optional, Set

from depyf.bytecode.program import Instr, Op

from .. import nodes as n

LARGEST = 60  # nodes in a pending expression before it gets a temporary, so that no expression nests too deeply


class UnknownOperation(Exception):
    """An operation that this version of depyf cannot write."""


class Names:
    """Names of one function's dispatch form: its temporaries, and builtins, which its module may hide.

    `taken`: names that the code object uses. `hidden_globals`: globals whose name is a local variable's too (no
    compiler makes such code). `made`: all names handed out so far.
    """

    def __init__(self, taken: Set[str], hidden_globals: Set[str]) -> None:
        self.taken = taken
        self.hidden_globals = hidden_globals
        self.made: Set[str] = set()
        self.imported: Dict[str, str] = {}
        self.needs_null = False

    def own(self, name: str) -> str:
        """`name`, or a variant of it that the code object does not use."""
        while name in self.taken:
            name += "_"
        self.made.add(name)
        return name

    def slot(self, depth: int) -> n.Name:
        """The variable that holds stack entry `depth` between blocks."""
        return n.Name(self.own(f"__stack_{depth}"))

    def builtin(self, name: str) -> n.Name:
        """A builtin, imported under a name that nothing else uses."""
        alias = self.imported.setdefault(name, self.own(f"__{name}"))
        return n.Name(alias)

    def null(self) -> n.Name:
        """The object that stands for "no value"."""
        self.needs_null = True
        return n.Name(self.own("__null"))


def identifier(name: str) -> str:
    """A variable's name as it can be written: a comprehension's argument is called `.0`."""
    return name if name.isidentifier() else re.sub(r"\W", "_", name)


class Builder:
    """Statements and the stack of one block."""

    def __init__(self, names: Names, stack: List[n.Expr], is_async: bool) -> None:
        self.names = names
        self.stack = stack
        self.is_async = is_async
        self.stmts: List[n.Stmt] = []
        self._settled: Set[str] = {item.id for item in stack if isinstance(item, n.Name)}
        self._count = 0
        self.offset = -1
        self.handled: Optional[n.Expr] = None  # the exception that the enclosing except clause handles
        self.saved: Set[int] = set()  # ids of expressions that may hold the null object (LOAD_FAST_AND_CLEAR)

    # ------------------------------------------------------------ stack

    def fresh(self) -> n.Name:
        """A new temporary."""
        name = self.names.own(f"__temp_{self._count}")
        self._count += 1
        self._settled.add(name)
        return n.Name(name)

    def settle_name(self, name: str) -> n.Name:
        """A name that is a temporary although this builder didn't make it."""
        self._settled.add(name)
        return n.Name(name)

    def is_settled(self, value: n.Expr) -> bool:
        """Whether evaluating `value` has no effect and gives the same at any time in this block."""
        if isinstance(value, n.Name):
            return value.id in self._settled
        if isinstance(value, n.Tuple_):
            return bool(value.elts) and all(isinstance(e, n.Intrinsic) and e.name == "cell" for e in value.elts)
        if isinstance(value, n.Intrinsic):
            return value.name in ("cell", "load_build_class")
        return isinstance(value, n.Constant)

    def settle(self, count: int = 0) -> None:
        """Evaluate all pending expressions but those of the `count` topmost entries."""
        for position in range(len(self.stack) - count):
            value = self.stack[position]
            if not self.is_settled(value):
                self.stack[position] = self.assign(value)

    def assign(self, value: n.Expr) -> n.Name:
        """Evaluate `value` now, into a temporary."""
        target = self.fresh()
        self.append(n.Assign([target], as_value(value, self.names)))
        return n.Name(target.id)

    def append(self, stmt: n.Stmt) -> None:
        """Add a statement as it is."""
        stmt.offset = self.offset
        self.stmts.append(stmt)

    def emit(self, stmt: n.Stmt) -> None:
        """Add a statement; everything pending on the stack comes before it."""
        self.settle()
        self.append(stmt)

    def push(self, value: n.Expr) -> None:
        """Push a pending expression, or evaluate it right away if it has grown large."""
        if value.offset < 0:
            value.offset = self.offset
        self.stack.append(value)
        size = 1 + sum(getattr(child, "size", 1) for child in _children(value))
        value.size = size  # type: ignore[attr-defined]
        if size > LARGEST and not self.is_settled(value):
            self.settle()

    def push_now(self, value: n.Expr) -> None:
        """Evaluate `value` in a statement of its own and push the result."""
        self.settle()
        self.stack.append(self.assign(value))

    def pop(self) -> n.Expr:
        """Pop a value for use in an expression."""
        return as_value(self.pop_raw(), self.names)

    def pop_raw(self) -> n.Expr:
        """Pop what is there, perhaps a slice."""
        if not self.stack:
            raise UnknownOperation("the stack is empty")
        return self.stack.pop()

    def pop_many(self, count: int) -> List[n.Expr]:
        """Pop `count` values, first pushed first."""
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def pop_settled(self) -> n.Expr:
        """Pop a value, evaluated."""
        self.settle()
        return self.pop()


def as_value(value: n.Expr, names: Names) -> n.Expr:
    """`value` as an expression that may stand anywhere: a slice outside of brackets is a call of `slice`."""
    if isinstance(value, n.Slice):
        parts = [n.Constant(None) if part is None else part for part in (value.lower, value.upper)]
        if value.step is not None:
            parts.append(value.step)
        return n.Call(names.builtin("slice"), parts)
    if isinstance(value, n.Dict_) and getattr(value, "merged", False):
        keywords = [keyword(key, item) for key, item in zip(value.keys, value.values)]
        return n.Call(names.builtin("dict"), [], keywords)
    return value


def keyword(key: Optional[n.Expr], value: n.Expr) -> n.Keyword:
    if isinstance(key, n.Constant) and isinstance(key.value, str) and key.value.isidentifier():
        return n.Keyword(key.value, value)
    return n.Keyword(None, value if key is None else n.Dict_([key], [value]))


def _children(value: n.Expr) -> List[n.Node]:
    children: List[n.Node] = []
    for part in vars(value).values():
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, n.Keyword):
                item = item.value
            if isinstance(item, n.Node):
                children.append(item)
    return children


Handler = Callable[[Builder, Instr], None]
Table = Dict[Op, Handler]


def registrar(table: Table) -> Callable[..., Callable[[Handler], Handler]]:
    """A decorator that enters a function into `table` for the operations given."""

    def on(*ops: Op) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            for op in ops:
                table[op] = handler
            return handler

        return register

    return on
