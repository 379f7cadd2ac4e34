"""The vocabulary between the writer and the modules that spell expressions and statements.

A node is spelled as a list of items: text, a child with the precedence that its place demands, a mark ("node X is
written here"), or a layout command. The writer expands children from an explicit stack, so the depth of a tree is
not limited by Python's recursion limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import List, Optional, Sequence, Tuple, Union

from depyf.decompile import nodes as n


class WriteError(ValueError):
    """The tree holds something that has no Python syntax (an unresolved `Slot`, `Intrinsic`, `MakeFunction`...).

    `node`: what cannot be written, if it is a node.
    """

    def __init__(self, message: str, node: Optional[n.Node] = None) -> None:
        super().__init__(message)
        self.node = node


class Prec(IntEnum):
    """How tightly an expression binds; a child that binds less tightly than its place demands is parenthesised."""

    YIELD = 0  # places that take anything: right sides, expression statements
    TUPLE = 1  # places that take a tuple without parentheses
    NAMED = 2  # tests of if and while: `:=` without parentheses
    TEST = 3  # lambda, conditional
    OR = 4
    AND = 5
    NOT = 6
    COMPARE = 7
    BIT_OR = 8
    BIT_XOR = 9
    BIT_AND = 10
    SHIFT = 11
    ARITH = 12
    TERM = 13
    FACTOR = 14
    POWER = 15
    AWAIT = 16
    ATOM = 17


class Layout(Enum):
    """Commands to the writer."""

    BEGIN = "begin"  # start a line: write the indentation
    END = "end"  # end the line
    INDENT = "indent"
    DEDENT = "dedent"
    GAP = "gap"  # an empty line (two at the top level), unless at the start of a block or after another gap


class Group(Enum):
    """The bounds of a bracketed list that may be broken into lines (see `breaking`)."""

    OPEN = "open"
    NEXT = "next"  # after a comma: a space or a line break
    CLOSE = "close"


@dataclass(frozen=True)
class Child:
    """An expression to spell in a place that demands `prec`."""

    node: n.Expr
    prec: Prec = Prec.TEST


@dataclass(frozen=True)
class Mark:
    """The operation of `node` is written at this point."""

    node: n.Node


@dataclass(frozen=True)
class Line:
    """A statement to spell."""

    node: n.Stmt


@dataclass(frozen=True)
class Fragment:
    """Text written beforehand (an f-string), with the places of the nodes in it, relative to its start."""

    text: str
    positions: Tuple[Tuple[int, Tuple[int, int]], ...]


Item = Union[str, Child, Mark, Line, Layout, Fragment, Group]
Piece = Union[str, Mark, Fragment, Group]  # what is left of items when children are spelled


def separated(parts: Sequence[Sequence[Item]], separator: str = ", ") -> List[Item]:
    """`parts`, one after the other, with `separator` between them."""
    items: List[Item] = []
    for index, part in enumerate(parts):
        if index:
            items.append(separator)
        items.extend(part)
    return items


def children(exprs: Sequence[n.Expr], prec: Prec = Prec.TEST) -> List[Item]:
    """`exprs` as a comma-separated list."""
    return separated([[Child(expr, prec)] for expr in exprs])


def breakable(parts: Sequence[Sequence[Item]]) -> List[Item]:
    """`parts` as a comma-separated list between brackets, broken into lines if need be."""
    if len(parts) < 2:
        return separated(parts)
    items: List[Item] = [Group.OPEN]
    for index, part in enumerate(parts):
        if index:
            items += [",", Group.NEXT]
        items.extend(part)
    items.append(Group.CLOSE)
    return items
