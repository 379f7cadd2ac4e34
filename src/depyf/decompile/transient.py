"""Expression nodes that live only between simulation and structuring; none may reach the writer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional

from .nodes import Expr, Pattern


@dataclass(eq=False)
class Marker(Expr):
    """A stack entry that belongs to an enclosing construct, not to an expression.

    Kinds: `exit` (of a with), `entered` (value of a with), `item` (next item of a for), `exc` and `previous` (in a
    handler), `exit_result`, `aiter`. Dropping one, or moving it about, is no effect.
    """

    kind: str


@dataclass(eq=False)
class Dup(Expr):
    """A value that was duplicated on the stack: evaluated at its first place, reused at the others."""

    value: Expr


@dataclass(eq=False)
class Chain(Expr):
    """A value that was assigned to `targets` and is still on the stack: `a = b = v`, or `(a := v)`."""

    targets: List[Expr]
    value: Expr


@dataclass(eq=False)
class Inplace(Expr):
    """The result of an in-place operator before it is stored."""

    left: Expr
    op: str
    right: Expr


@dataclass(eq=False)
class UnpackGroup:
    """An unpacking whose targets are being collected."""

    value: Expr
    targets: List[Optional[Expr]]
    star: int = -1
    done: bool = False


@dataclass(eq=False)
class UnpackItem(Expr):
    """Item `index` of an unpacking, waiting on the stack for its target."""

    group: UnpackGroup
    index: int


@dataclass(eq=False)
class GetIter(Expr):
    """`iter(value)` as a for statement does it; `kind` is "iter", "aiter", "yield_from" or "awaitable"."""

    kind: str
    value: Expr


@dataclass(eq=False)
class ExcMatch(Expr):
    """Whether the exception being handled matches `type`."""

    type: Expr


@dataclass(eq=False)
class StarMatch(Expr):
    """Whether a part of the exception group being handled matches `type`."""

    type: Expr


@dataclass(eq=False)
class StarBody(Expr):
    """Begins the body of an `except*` clause; if it is `named`, the exception is stored next."""

    named: bool


@dataclass(eq=False)
class PatternTest(Expr):
    """Whether `subject` matches `pattern`; if so, the names in the pattern are bound."""

    subject: Expr
    pattern: Pattern


@dataclass(eq=False)
class ImportedModule(Expr):
    """A module on the stack between IMPORT_NAME and what uses it (only where no import statement fits)."""

    name: str
    level: int
    fromlist: Expr
