"""Annotations that are evaluated when someone asks (3.14, PEP 649): from `__annotate__` functions back to `x: T`.

The compiler puts the annotations of a class, module or function into a function of their own:

    def __annotate__(format, /):
        if format > 2: raise NotImplementedError
        d = {}
        d["x"] = <T>                                        of an annotation that is always there
        if 0 in __conditional_annotations__: d["y"] = <T>   of one inside `if`, `for`, ..., and of all in a module
        return d

Where an annotation of the second kind stands, its number is added to the set `__conditional_annotations__`
(`marked_annotations` makes one instruction of that). One of the first kind leaves no trace where it stands, so it may
stand anywhere in the body: where its variable is assigned, if there is such a place in the right order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Set

from ..bytecode.edit import edited
from ..bytecode.program import Instr, Op, Program
from . import nodes as n
from .tree import statement_lists

CONDITIONAL = "__conditional_annotations__"
STORED = ("__annotate_func__", "__annotate__", "__annotations_cache__")
FORMAT = "format"


@dataclass
class Deferred:
    """One annotation. `number`: of its mark, None if it is always there."""

    name: str
    value: n.Expr
    number: Optional[int] = None


def marked_annotations(program: Program) -> Program:
    """`program` with ANNOTATED in place of the instructions that note an annotation's number."""
    if CONDITIONAL not in (*program.code.co_names, *program.code.co_cellvars):
        return program
    instrs = program.instrs
    replaced: Dict[int, List[Instr]] = {}
    dropped: Set[int] = set()
    for index in range(len(instrs) - 3):
        load, number, add, pop = instrs[index : index + 4]
        if load.arg == CONDITIONAL and load.op.name.startswith("LOAD_") and number.op is Op.LOAD_CONST:
            if add.op is Op.SET_ADD and pop.op is Op.POP and type(number.arg) is int:
                replaced[index] = [Instr(Op.ANNOTATED, number.arg, None, load.offset, load.line)]
                dropped |= {index + 1, index + 2, index + 3}
    if not replaced:
        return program
    return edited(program, dropped, replaced)


# ---------------------------------------------------------------- reading __annotate__


def read_annotations(body: List[n.Stmt]) -> Optional[List[Deferred]]:
    """The annotations in the body of an `__annotate__` function; None if it is none of the compiler's."""
    if not body or not is_format_guard(body[0]):
        return None
    found: List[Deferred] = []
    for statement in body[1:]:
        if isinstance(statement, n.If) and not statement.orelse and len(statement.body) == 1:
            number = _number(statement.test)
            one = _entry(statement.body[0])
            if number is None or one is None:
                return None
            one.number = number
            found.append(one)
        elif isinstance(statement, n.Return):
            if isinstance(statement.value, n.Dict_):
                return [*found, *_items(statement.value)]
            return found
        elif isinstance(statement, n.Assign) and len(statement.targets) == 1:
            one = _entry(statement)
            if one is not None:
                found.append(one)
            elif not isinstance(statement.targets[0], n.Name) or not isinstance(statement.value, (n.Dict_, n.Name)):
                return None
            elif isinstance(statement.value, n.Dict_):
                found.extend(_items(statement.value))
        else:
            return None
    return None


def is_format_guard(statement: n.Stmt) -> bool:
    """`if format > 2: raise NotImplementedError`: how functions begin that are called when someone asks (PEP 749)."""
    test = statement.test if isinstance(statement, n.If) else None
    return (
        isinstance(test, n.Compare)
        and isinstance(test.left, n.Name)
        and test.left.id in (FORMAT, ".format")
        and isinstance(statement, n.If)
        and isinstance(statement.body[0], n.Raise)
    )


def _number(test: n.Expr) -> Optional[int]:
    if isinstance(test, n.Compare) and test.ops == ["in"] and isinstance(test.left, n.Constant):
        where, number = test.comparators[0], test.left.value
        if isinstance(where, n.Name) and where.id == CONDITIONAL and type(number) is int:
            return number
    return None


def _entry(statement: n.Stmt) -> Optional[Deferred]:
    """`d["x"] = value`."""
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, n.Subscript) or not isinstance(target.slice, n.Constant):
        return None
    name = target.slice.value
    return Deferred(name, statement.value) if isinstance(name, str) else None


def _items(display: n.Dict_) -> List[Deferred]:
    return [
        Deferred(key.value, value)
        for key, value in zip(display.keys, display.values)
        if isinstance(key, n.Constant) and isinstance(key.value, str)
    ]


# ---------------------------------------------------------------- putting them into a body


def stored_annotate(body: List[n.Stmt]) -> Optional[n.MakeFunction]:
    """The `__annotate__` function that a class's or module's body stores."""
    for statement in body:
        if isinstance(statement, n.Assign) and isinstance(statement.value, n.MakeFunction):
            if _name(statement) in STORED and statement.value.code.co_name == "__annotate__":
                return statement.value
    return None


def place_annotations(body: List[n.Stmt], found: List[Deferred]) -> None:
    """Write the annotations into a class's or module's body, and take out what the compiler made for them."""
    by_number = {one.number: one for one in found if one.number is not None}
    for block in statement_lists(body):
        placed: List[n.Stmt] = []
        for statement in block:
            if _is_ours(statement):
                continue
            number = _mark(statement)
            if number is None or number not in by_number:
                placed.append(statement)
                continue
            one = by_number[number]
            before = placed.pop() if placed and _name(placed[-1]) == one.name else None
            placed.append(_annotated(one, before, statement.offset))
        block[:] = placed or ([n.Pass()] if block and block is not body else [])
    _place_unmarked(body, [one for one in found if one.number is None])


def _place_unmarked(body: List[n.Stmt], found: List[Deferred]) -> None:
    """Each behind the one before it, where its variable is assigned if that comes later than the one before."""
    start = _first_free(body)
    for one in found:
        for index in range(start, len(body)):
            if _name(body[index]) == one.name:
                body[index] = _annotated(one, body[index], body[index].offset)
                start = index + 1
                break
        else:
            body.insert(start, _annotated(one, None, -1))
            start += 1


def _first_free(body: List[n.Stmt]) -> int:
    """Where the first annotation may stand: behind a docstring and what the compiler stores at the start."""
    index = 0
    while index < len(body):
        statement = body[index]
        text = isinstance(statement, n.ExprStmt) and isinstance(statement.value, n.Constant)
        if not text and _name(statement) not in ("__module__", "__qualname__", "__firstlineno__", "__doc__"):
            break
        index += 1
    return index


def _annotated(one: Deferred, assignment: Optional[n.Stmt], offset: int) -> n.AnnAssign:
    made = n.AnnAssign(n.Name(one.name), one.value, None)
    made.offset = offset
    if isinstance(assignment, n.Assign):
        made.value, made.offset, made.owner = assignment.value, assignment.offset, assignment.owner
    return made


def _is_ours(statement: n.Stmt) -> bool:
    name = _name(statement)
    if name == CONDITIONAL:
        return True
    return name in STORED and isinstance(statement, n.Assign) and isinstance(statement.value, n.MakeFunction)


def _mark(statement: n.Stmt) -> Optional[int]:
    value = statement.value if isinstance(statement, n.ExprStmt) else None
    if isinstance(value, n.Intrinsic) and value.name == "annotated" and isinstance(value.args[0], n.Constant):
        number: int = value.args[0].value
        return number
    return None


def _name(statement: n.Stmt) -> Optional[str]:
    if isinstance(statement, n.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], n.Name):
        return statement.targets[0].id
    return None
