"""Class statements: from the call of `__build_class__` and the structured class body."""

from __future__ import annotations

from typing import List, Optional

from . import nodes as n
from .tree import statement_lists

# What the compiler stores into the class namespace by itself, at the start or end of the body.
_HIDDEN_STORES = frozenset(
    {
        "__module__",
        "__qualname__",
        "__firstlineno__",
        "__static_attributes__",
        "__classcell__",
        "__classdictcell__",
        "__type_params__",
    }
)
_EPILOGUE_STORES = frozenset({"__static_attributes__", "__classcell__", "__classdictcell__"})


def is_build_class(value: n.Expr) -> bool:
    """Whether `value` is what a class statement computes, decorators aside."""
    if not isinstance(value, n.Call) or len(value.args) < 2:
        return False
    function, name = value.args[0], value.args[1]
    if not isinstance(value.func, n.Intrinsic) or value.func.name != "load_build_class":
        return False
    return isinstance(function, n.MakeFunction) and isinstance(name, n.Constant) and isinstance(name.value, str)


def clean_body(body: List[n.Stmt]) -> List[n.Stmt]:
    """The statements of a class body as its author wrote them: without the compiler's prologue and epilogue.

    What remains of a return is `return None`, for `drop_tail_returns`.
    """
    for block in statement_lists(body):
        # Wherever the dispatch form has put it; the compiler makes it again.
        if any(_stored_name(statement) == "__classdict__" for statement in block):
            block[:] = [each for each in block if _stored_name(each) != "__classdict__"] or [n.Pass()]
        for index, statement in enumerate(block):
            if isinstance(statement, n.Return):
                statement.value = None
                # Each way out of the body has its own copy of the epilogue.
                while block is not body and index and _stored_name(block[index - 1]) in _EPILOGUE_STORES:
                    del block[index - 1]
                    index -= 1
                break
    kept: List[n.Stmt] = []
    seen = set()
    prologue = True
    for index, statement in enumerate(body):
        name = _stored_name(statement)
        hidden = name in _HIDDEN_STORES and (name not in seen) and (prologue or _in_epilogue(body, index))
        if hidden:
            seen.add(name)
            continue
        if prologue and name == "__doc__":
            assert isinstance(statement, n.Assign)
            if isinstance(statement.value, n.Constant) and isinstance(statement.value.value, str):
                document = n.ExprStmt(statement.value)
                document.offset = statement.offset
                kept.append(document)
                prologue = False
                continue
        prologue = prologue and _is_setup(statement)
        kept.append(statement)
    return kept


def _in_epilogue(body: List[n.Stmt], index: int) -> bool:
    return all(_stored_name(each) in _HIDDEN_STORES or isinstance(each, n.Return) for each in body[index:])


def _is_setup(statement: n.Stmt) -> bool:
    value = statement.value if isinstance(statement, n.ExprStmt) else None
    return isinstance(value, n.Intrinsic) and value.name == "setup_annotations"


def _stored_name(statement: n.Stmt) -> Optional[str]:
    if isinstance(statement, n.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], n.Name):
        return statement.targets[0].id
    return None
