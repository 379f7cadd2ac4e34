"""Annotations: of variables in module and class bodies, and of functions."""

from __future__ import annotations
import __future__

import ast
from types import CodeType
from typing import Dict, List, Optional

from . import nodes as n
from .tree import statement_lists


def fold_annotations(body: List[n.Stmt], as_text: bool) -> None:
    """`x = v` + `__annotations__["x"] = a` become `x: a = v`, in a module's or class's body and the blocks in it.

    With `as_text` (`from __future__ import annotations`) constant strings are the annotations' own text.
    """
    for block in statement_lists(body):
        folded: List[n.Stmt] = []
        for statement in block:
            if _is_setup(statement):
                continue
            name = _annotated_name(statement)
            if name is None:
                folded.append(statement)
                continue
            assert isinstance(statement, n.Assign)
            value = None
            if folded and _assigns(folded[-1], name):
                value = folded.pop()
            made = n.AnnAssign(n.Name(name), annotation(statement.value, as_text), None)
            made.offset = statement.offset
            if isinstance(value, n.Assign):
                made.value = value.value
                made.offset = value.offset
            folded.append(made)
        block[:] = folded


def _is_setup(statement: n.Stmt) -> bool:
    value = statement.value if isinstance(statement, n.ExprStmt) else None
    return isinstance(value, n.Intrinsic) and value.name == "setup_annotations"


def _annotated_name(statement: n.Stmt) -> Optional[str]:
    """The name whose annotation `statement` stores."""
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, n.Subscript) or not isinstance(target.value, n.Name):
        return None
    if target.value.id != "__annotations__" or not isinstance(target.slice, n.Constant):
        return None
    name = target.slice.value
    return name if isinstance(name, str) and name.isidentifier() else None


def _assigns(statement: n.Stmt, name: str) -> bool:
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, n.Name) and target.id == name


def postponed(code: CodeType) -> bool:
    """Whether `code` was compiled under `from __future__ import annotations`."""
    return bool(code.co_flags & __future__.annotations.compiler_flag)


def annotation(value: n.Expr, as_text: bool) -> n.Expr:
    """The expression to write for an annotation of this value."""
    if as_text and isinstance(value, n.Constant) and isinstance(value.value, str):
        try:
            ast.parse(value.value, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return value
        made = n.Verbatim(value.value)
        made.offset = value.offset
        return made
    return value


def function_annotations(made: n.MakeFunction) -> Optional[Dict[str, n.Expr]]:
    """Parameter name (or "return") -> annotation; None when their form is unknown."""
    listed = made.annotations
    if listed is None:
        return {}
    if isinstance(listed, n.Dict_):
        keys: List[n.Expr] = [key for key in listed.keys if key is not None]
        values = listed.values
    elif isinstance(listed, n.Tuple_):
        keys, values = listed.elts[0::2], listed.elts[1::2]
    elif isinstance(listed, n.Constant) and type(listed.value) is tuple:
        constants: List[n.Expr] = [n.Constant(value) for value in listed.value]
        keys, values = constants[0::2], constants[1::2]
    else:
        return None
    if len(keys) != len(values):
        return None
    found: Dict[str, n.Expr] = {}
    as_text = postponed(made.code)
    for key, value in zip(keys, values):
        if not isinstance(key, n.Constant) or not isinstance(key.value, str):
            return None
        found[key.value] = annotation(value, as_text)
    return found
