"""Abstract values: numbers that stand for the objects that a program computes.

The same number on both sides of a comparison means the same object. `Values` remembers what is known of a number
(a constant, exactly a bool, the negation of another, maybe no object at all). `State` is one side's machine state:
which number lies in each stack slot and variable, and its *virtual* objects: fresh lists, tuples and dicts that
nothing else can see yet, so that putting items into them and taking them out again is no effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Hashable, List, Tuple

from .constants import CodePair, constant_key

UNBOUND = 0  # a variable without a value
OUTSIDE = 1  # the exception that was being handled when the function was entered, if any


class GiveUp(Exception):
    """The programs cannot be compared: too many paths, too much that is silent, or a stack that makes no sense."""


@dataclass(frozen=True)
class Known:
    """What is known of a value.

    `kind`: "const", "bool", "not" (`data`: of which value), "cell", "maybe" (unbound), "global" (read from global
    `data`), "builtin" (called `data`), "null" and "item" (see `own_builtins`), "iterator", or "list", "set", "dict":
    of exactly this type.
    """

    kind: str
    data: Any = None


EXACT_TYPES = ("list", "set", "dict")


class Values:
    """Hands out numbers, shared by both sides."""

    def __init__(self) -> None:
        self._count = OUTSIDE
        self._constants: Dict[Hashable, int] = {}
        self._cells: Dict[str, int] = {}
        self._builtins: Dict[str, int] = {}
        self._negations: Dict[int, int] = {}
        self.known: Dict[int, Known] = {}
        self.codes: List[CodePair] = []  # nested code objects taken for equal, to be compared

    def fresh(self, known: Known | None = None) -> int:
        """A value that is different from all others as far as is known."""
        self._count += 1
        if known is not None:
            self.known[self._count] = known
        return self._count

    def const(self, value: Any) -> int:
        """The number of a constant; the same for the same constant."""
        key = constant_key(value)
        number = self._constants.get(key)
        if number is None:
            number = self._constants[key] = self.fresh(Known("const", value))
        return number

    def cell(self, name: str) -> int:
        """The number of the cell of variable `name`."""
        number = self._cells.get(name)
        if number is None:
            number = self._cells[name] = self.fresh(Known("cell", name))
        return number

    def builtin(self, name: str) -> int:
        """The number of the interpreter's own builtin `name`."""
        number = self._builtins.get(name)
        if number is None:
            number = self._builtins[name] = self.fresh(Known("builtin", name))
        return number

    def negation(self, value: int) -> int:
        """`not value` of something that is exactly a bool."""
        known = self.known[value]
        if known.kind == "not":
            base: int = known.data
            return base
        if known.kind == "const":
            return self.const(not known.data)
        number = self._negations.get(value)
        if number is None:
            number = self._negations[value] = self.fresh(Known("not", value))
        return number

    def decide(self, value: int, truth: bool) -> List[Tuple[int, int]]:
        """What to replace by what once a bool is known: the value, and its negation if there is one."""
        found = [(value, self.const(truth))]
        if value in self._negations:
            found.append((self._negations[value], self.const(not truth)))
        return found

    def is_const(self, value: int) -> bool:
        """Whether `value` is a constant."""
        known = self.known.get(value)
        return known is not None and known.kind == "const"

    def constant(self, value: int) -> Any:
        """The constant that `value` is known to be."""
        return self.known[value].data

    def is_bool(self, value: int) -> bool:
        """Whether `value` is exactly True or False, though not known which."""
        known = self.known.get(value)
        return known is not None and known.kind in ("bool", "not")

    def is_iterator(self, value: int) -> bool:
        """Whether `value` is its own iterator."""
        known = self.known.get(value)
        return known is not None and known.kind == "iterator"

    def may_be_unbound(self, value: int) -> bool:
        """Whether `value` may be no object."""
        known = self.known.get(value)
        return value == UNBOUND or known is not None and known.kind == "maybe"


@dataclass(frozen=True)
class Virtual:
    """A fresh container. `kind`: "list", "tuple", "dict" (`items`: key, value, ...), "set" (empty), "slice".

    Kind "method" is a bound method of a virtual list: `items` the list, `name` the method. `shown`: a tuple that
    others have seen; its items are still known, but it is the same only as itself.
    """

    kind: str
    items: Tuple[int, ...]
    shown: bool = False
    name: str = ""


@dataclass
class State:
    """One side: stack (bottom first), variables, the exception being handled, virtual objects."""

    stack: List[int] = field(default_factory=list)
    variables: Dict[str, int] = field(default_factory=dict)
    handled: int = OUTSIDE
    heap: Dict[int, Virtual] = field(default_factory=dict)

    def copy(self) -> State:
        """A copy that can be changed on its own."""
        return State(list(self.stack), dict(self.variables), self.handled, dict(self.heap))

    def replace(self, old: int, new: int) -> None:
        """Let `new` stand wherever `old` stood."""
        if old == new:
            return
        self.stack = [new if value == old else value for value in self.stack]
        for name, value in self.variables.items():
            if value == old:
                self.variables[name] = new
        if self.handled == old:
            self.handled = new
        for number, virtual in list(self.heap.items()):
            if old in virtual.items:
                items = tuple(new if value == old else value for value in virtual.items)
                self.heap[number] = Virtual(virtual.kind, items, virtual.shown, virtual.name)
        if old in self.heap:
            self.heap[new] = self.heap.pop(old)
