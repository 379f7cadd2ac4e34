"""Type parameters and `type` statements (3.12, PEP 695): what the compiler makes of them, read back.

`def f[T](x: T): ...` becomes the call of a function `<generic parameters of f>`:

    T = typevar("T"); made = <f>; return set_function_type_params(made, (T,))           of a def
    .type_params = (T,); .generic_base = subscript_generic(.type_params)
    return __build_class__(<C>, "C", *bases, .generic_base)                              of a class
    return typealias(("A", (T,), <function that gives the value>))                       of a type statement

Bounds, constraints, defaults (3.13) and the values of aliases are functions, called when someone asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import nodes as n
from .deferred import is_format_guard

PREFIX = "<generic parameters of "
KINDS = {
    "typevar": "TypeVar",
    "typevar_with_bound": "TypeVar",
    "typevar_with_constraints": "TypeVar",
    "paramspec": "ParamSpec",
    "typevartuple": "TypeVarTuple",
}


@dataclass
class Parameter:
    """One type parameter; `bound` and `default` are the functions that give them."""

    kind: str
    name: str
    bound: Optional[n.MakeFunction] = None
    default: Optional[n.MakeFunction] = None


@dataclass
class Generic:
    """What a function of generic parameters makes: one of `function`, `class_call` and `alias` is set."""

    parameters: List[Parameter] = field(default_factory=list)
    function: Optional[n.MakeFunction] = None
    class_call: Optional[n.Call] = None
    alias: Optional[n.MakeFunction] = None


def is_generic(value: n.Expr) -> bool:
    """Whether `value` calls a function of generic parameters."""
    if not isinstance(value, n.Call) or value.keywords:
        return False
    return isinstance(value.func, n.MakeFunction) and value.func.code.co_name.startswith(PREFIX)


def alias_of(value: n.Expr, name: str) -> Optional[n.MakeFunction]:
    """The function that gives the value of `type name = ...` without type parameters."""
    if isinstance(value, n.Intrinsic) and value.name == "typealias" and isinstance(value.args[0], n.Tuple_):
        first, parameters, made = value.args[0].elts
        if isinstance(first, n.Constant) and first.value == name and isinstance(made, n.MakeFunction):
            if isinstance(parameters, n.Constant) and parameters.value is None:
                return made
    return None


def read_generic(body: List[n.Stmt]) -> Optional[Generic]:
    """What the statements of a `<generic parameters of ...>` function make; None if they are nothing of the kind."""
    values: Dict[str, n.Expr] = {}
    for statement in body:
        if isinstance(statement, n.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if not isinstance(target, n.Name):
                return None
            values[target.id] = statement.value
        elif isinstance(statement, n.Return) and statement.value is not None:
            return _made(statement.value, values)
        else:
            return None
    return None


def _known(value: n.Expr, values: Dict[str, n.Expr]) -> n.Expr:
    return values.get(value.id, value) if isinstance(value, n.Name) else value


def _made(value: n.Expr, values: Dict[str, n.Expr]) -> Optional[Generic]:
    if isinstance(value, n.Intrinsic) and value.name == "set_function_type_params":
        function, parameters = (_known(arg, values) for arg in value.args)
        found = _parameters(parameters, values)
        if isinstance(function, n.MakeFunction) and found is not None:
            return Generic(found, function=function)
    elif isinstance(value, n.Intrinsic) and value.name == "typealias":
        whole = _known(value.args[0], values)
        if isinstance(whole, n.Tuple_) and len(whole.elts) == 3:
            found = _parameters(_known(whole.elts[1], values), values)
            made = _known(whole.elts[2], values)
            if isinstance(made, n.MakeFunction) and found is not None:
                return Generic(found, alias=made)
    elif isinstance(value, n.Call) and ".type_params" in values and len(value.args) >= 2:
        found = _parameters(values[".type_params"], values)
        value.args[0] = _known(value.args[0], values)
        value.args[2:] = [_known(arg, values) for arg in value.args[2:] if not _is_generic_base(arg)]
        for keyword in value.keywords:
            keyword.value = _known(keyword.value, values)
        if found is not None and isinstance(value.args[0], n.MakeFunction):
            return Generic(found, class_call=value)
    return None


def _is_generic_base(value: n.Expr) -> bool:
    return isinstance(value, n.Name) and value.id == ".generic_base"


def _parameters(value: n.Expr, values: Dict[str, n.Expr]) -> Optional[List[Parameter]]:
    if not isinstance(value, n.Tuple_):
        return None
    found = []
    for element in value.elts:
        element = _known(element, values)
        while isinstance(element, n.NamedExpr):
            element = element.value
        one = _parameter(element)
        if one is None:
            return None
        found.append(one)
    return found


def _parameter(value: n.Expr) -> Optional[Parameter]:
    if not isinstance(value, n.Intrinsic):
        return None
    if value.name == "set_typeparam_default":
        one = _parameter(value.args[0])
        default = value.args[1]
        if one is None or not isinstance(default, n.MakeFunction):
            return None
        one.default = default
        return one
    if value.name not in KINDS or not isinstance(value.args[0], n.Constant):
        return None
    one = Parameter(KINDS[value.name], value.args[0].value)
    if len(value.args) > 1:
        if not isinstance(value.args[1], n.MakeFunction):
            return None
        one.bound = value.args[1]
    return one


def evaluated(body: List[n.Stmt]) -> Optional[n.Expr]:
    """What the function of a bound, default or alias gives, from its statements."""
    rest = body[1:] if body and is_format_guard(body[0]) else list(body)
    if len(rest) == 2 and isinstance(rest[0], n.Assign) and isinstance(rest[1], n.Return):
        # `*Ts = *value`: the value is unpacked into one
        target, result = rest[0].targets[0], rest[1].value
        if isinstance(target, n.Tuple_) and len(target.elts) == 1 and isinstance(result, n.Name):
            only = target.elts[0]
            if isinstance(only, n.Name) and only.id == result.id:
                return n.Starred(rest[0].value)
        return None
    if len(rest) == 1 and isinstance(rest[0], n.Return):
        return rest[0].value
    return None
