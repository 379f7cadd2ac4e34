"""Test helper: the standard `ast` -> our nodes, so that the writer can be tried on any source."""

from __future__ import annotations

import ast
from typing import Any

from depyf.decompile import nodes as n

OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&",
    "UAdd": "+", "USub": "-", "Invert": "~", "Not": "not", "And": "and", "Or": "or",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
CONVERSIONS = {-1: "", 115: "s", 114: "r", 97: "a"}
RENAMED_CLASSES = {"Tuple": "Tuple_", "List": "List_", "Set": "Set_", "Dict": "Dict_", "Expr": "ExprStmt"}
RENAMED_CLASSES.update({"withitem": "WithItem", "match_case": "MatchCase"})
RENAMED_FIELDS = {"decorator_list": "decorators"}
DROPPED_FIELDS = {"ctx", "type_comment", "type_ignores", "kind"}
ASYNC = {"AsyncFor": "For", "AsyncWith": "With", "AsyncFunctionDef": "FunctionDef"}


def convert(node: Any) -> Any:
    """`node` (a node, list or plain value) in our classes."""
    if isinstance(node, list):
        return [convert(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    name = type(node).__name__
    if name in OPERATORS:
        return OPERATORS[name]
    if name in ("Index", "ExtSlice"):  # 3.8
        return convert(node.value) if name == "Index" else n.Tuple_(convert(node.dims))
    fields = {
        RENAMED_FIELDS.get(key, key): convert(getattr(node, key, None))
        for key in node._fields
        if key not in DROPPED_FIELDS
    }
    if name in ASYNC:
        return getattr(n, ASYNC[name])(is_async=True, **fields)
    if name == "Interpolation":
        return n.Interpolation(fields["value"], node.str, CONVERSIONS[node.conversion], fields["format_spec"])
    if name == "FormattedValue":
        return n.FormattedValue(fields["value"], CONVERSIONS[node.conversion], fields["format_spec"])
    if name in ("TypeVar", "ParamSpec", "TypeVarTuple"):
        return n.TypeParam(name, fields["name"], fields.get("bound"), fields.get("default_value"))
    if name == "TypeAlias":
        return n.TypeAlias(node.name.id, fields["type_params"], fields["value"])
    if name == "TryStar":
        return n.Try(is_star=True, **fields)
    if name == "AnnAssign":
        fields["simple"] = bool(node.simple)
    if name == "comprehension":
        fields["is_async"] = bool(node.is_async)
    if name in ("Import", "ImportFrom"):
        fields["lazy"] = bool(getattr(node, "is_lazy", False))
        fields.pop("is_lazy", None)
    if name == "ImportFrom":
        fields["level"] = node.level or 0
    if name == "MatchSingleton":
        return n.MatchSingleton(node.value)
    cls = getattr(n, RENAMED_CLASSES.get(name) or name[0].upper() + name[1:])
    return cls(**fields)


def parse(source: str) -> n.Module:
    """The module of `source`."""
    return n.Module(convert(ast.parse(source).body))
