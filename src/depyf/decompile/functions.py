"""Functions, lambdas, classes and comprehensions: from code objects and their structured bodies to syntax.

The structurer gives the statements of one code object, in which nested ones appear as `MakeFunction`. This module
asks for the nested bodies and puts the definitions together.
"""

from __future__ import annotations

import inspect
import keyword
import re
from dataclasses import dataclass
from types import CodeType
from typing import Any, Callable, List, Optional, Set, Tuple

from ..bytecode.docstring import docstring
from ..bytecode.grammar import grammar
from ..bytecode.program import Op, Program
from . import nodes as n
from .annotations import fold_annotations, function_annotations, postponed
from .classes import clean_body, is_build_class
from .comprehensions import comprehension
from .deferred import place_annotations, read_annotations, stored_annotate
from .generics import alias_of, evaluated, is_generic, read_generic
from .plain import spell_out
from .printing import WriteError
from .scopes import COMPREHENSIONS, Scope, declarations, note_comprehension, unmangle, unmangled
from .tail import drop_tail_returns, expression_of
from .tree import rewrite, statement_lists, walk, walk_scope


@dataclass
class Structured:
    """A code object's program, and its statements before definitions are put together."""

    program: Program
    body: List[n.Stmt]


Structure = Callable[[CodeType], Structured]


def module_body(top: Structured, structure: Structure) -> List[n.Stmt]:
    """The statements of a module, or of a class body decompiled on its own."""
    optimized = top.program.code.co_flags & inspect.CO_OPTIMIZED
    if top.program.code.co_name != "<module>" and not optimized and "__qualname__" in top.program.code.co_names:
        scope = Scope(top.program, None, "class", top.program.code.co_name)
        body = _resolved(top.body, scope, structure)
    else:
        scope = Scope(top.program, None, "module")
        body = _resolved(top.body, scope, structure)
        _name_docstring(body)
    fold_annotations(body, postponed(top.program.code))
    drop_tail_returns(body, everywhere=True)
    spell_out(body)
    declare(body, declarations(scope))
    return body


def function_statement(
    top: Structured,
    structure: Structure,
    name: Optional[str] = None,
    made: Optional[n.MakeFunction] = None,
) -> n.FunctionDef:
    """The `def` of a code object decompiled on its own, called `name`.

    `made` gives the defaults, if they are known. A lambda or comprehension becomes a `def` too; parameters whose
    names cannot be written are renamed. Names that a class around it mangled stay as they are: the text stands alone.
    """
    code = top.program.code
    scope = Scope(top.program, None, "function")
    body = _resolved(top.body, scope, structure)
    made = made or n.MakeFunction(code)
    return _definition(made, scope, body, name or _identifier(code.co_name))


def live_defaults(function: Any) -> n.MakeFunction:
    """The defaults of a live function."""
    made = n.MakeFunction(function.__code__)
    if function.__defaults__:
        made.defaults = n.Tuple_([_as_it_is_now(value) for value in function.__defaults__])
    if function.__kwdefaults__:
        items = function.__kwdefaults__.items()
        made.kwdefaults = n.Dict_([n.Constant(key) for key, _ in items], [_as_it_is_now(value) for _, value in items])
    return made


def _as_it_is_now(value: Any) -> n.Expr:
    """A default value; an empty list or dict, the usual mutable ones, as a display."""
    if type(value) is list and not value:
        return n.List_([])
    if type(value) is dict and not value:
        return n.Dict_([], [])
    return n.Constant(value)


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name.strip("<>"))
    if keyword.iskeyword(plain):
        return f"{plain}_"
    return plain if plain.isidentifier() else f"_{plain}"


def _rename_parameters(body: List[n.Stmt], code: CodeType) -> None:
    odd = {name for name in code.co_varnames if not name.isidentifier()}
    if odd:
        for node in walk(body):
            if isinstance(node, n.Name) and node.id in odd:
                node.id = _identifier(node.id)


# ---------------------------------------------------------------- putting nested code in its place


def _resolved(body: List[n.Stmt], scope: Scope, structure: Structure) -> List[n.Stmt]:
    """`body`, the raw statements of `scope`, with everything nested in place and its scope's names declared."""
    if scope.parent is not None:
        for node in walk(body):
            node.owner = scope.code
    if scope.private is not None:
        unmangle(body, scope.private)
    resolver = _Resolver(scope, structure)
    if scope.kind in ("class", "module"):
        resolver.place_annotations(body)
    if scope.kind == "class":
        body = clean_body(body)
    resolver.resolve(body)
    return body


class _Resolver:
    """Replaces the `MakeFunction`s of one scope's statements."""

    def __init__(self, scope: Scope, structure: Structure) -> None:
        self._scope = scope
        self._structure = structure
        code = scope.code
        self._taken: Set[str] = {*code.co_varnames, *code.co_names, *code.co_cellvars, *code.co_freevars}

    def resolve(self, body: List[n.Stmt]) -> None:
        rewrite(body, self._expression)
        for block in statement_lists(body):
            block[:] = [each for statement in block for each in self._statement(statement)]

    def place_annotations(self, body: List[n.Stmt]) -> None:
        """Put the annotations that an `__annotate__` function holds where they stand in a class or module."""
        made = stored_annotate(body)
        if made is None:
            return
        found = read_annotations(self._nested(made.code)[1])
        if found is None:
            return
        for one in found:
            one.name = unmangled(one.name, self._scope.private)
        place_annotations(body, found)

    def _with_annotations(self, made: n.MakeFunction) -> None:
        """Read the annotations of a function whose `__annotate__` function holds them."""
        if isinstance(made.annotate, n.MakeFunction):
            found = read_annotations(self._nested(made.annotate.code)[1])
            if found is not None:
                made.annotations = n.Dict_([n.Constant(one.name) for one in found], [one.value for one in found])
                made.annotate = None

    def _nested(self, code: CodeType) -> Tuple[Scope, List[n.Stmt]]:
        structured = self._structure(code)
        scope = self._scope.child(structured.program)
        return scope, _resolved(structured.body, scope, self._structure)

    # ------------------------------------------------------------ expressions

    def _expression(self, node: n.Node) -> Optional[n.Node]:
        if isinstance(node, n.MakeFunction):
            self._with_annotations(node)
            return self._lambda(node) if node.code.co_name == "<lambda>" else None
        if isinstance(node, n.Call) and isinstance(node.func, n.MakeFunction):
            return self._comprehension(node, node.func)
        if isinstance(node, n.Await) and getattr(node.value, "awaited", False):
            node.value.awaited = False  # type: ignore[attr-defined]
            return node.value
        return None

    def _lambda(self, made: n.MakeFunction) -> Optional[n.Node]:
        scope, body = self._nested(made.code)
        value = expression_of(body)
        parameters = _parameters(made, self._scope.private)
        if value is None or parameters is None or _declares(scope):
            return None
        result = n.Lambda(parameters, value)
        result.offset, result.owner = made.offset, made.owner
        return result

    def _comprehension(self, call: n.Call, made: n.MakeFunction) -> Optional[n.Node]:
        name = made.code.co_name
        if name not in COMPREHENSIONS or len(call.args) != 1 or call.keywords:
            return None
        scope, body = self._nested(made.code)
        note_comprehension(scope)
        result = comprehension(name, body, _iterated(call.args[0]), _closed_over(scope))
        if result is None:
            call.args[0] = _spelled_aiter(call.args[0], scope)
            return None
        result.offset, result.owner = call.offset, call.owner
        # One that awaits is a coroutine that the compiler awaits at once.
        result.awaited = bool(made.code.co_flags & inspect.CO_COROUTINE)  # type: ignore[attr-defined]
        return result

    # ------------------------------------------------------------ statements

    def _statement(self, statement: n.Stmt) -> List[n.Stmt]:
        if isinstance(statement, n.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, n.Name):
                defined = self._defined(target.id, statement)
                if defined is not None:
                    return defined
        return [*self._hoisted(statement), statement]

    def _defined(self, name: str, statement: n.Assign) -> Optional[List[n.Stmt]]:
        """The definition that assigns to `name`, with its decorators."""
        decorators, value = _split_decorators(statement.value)
        definition: Optional[n.Stmt] = None
        later: List[n.Stmt] = []
        offset = statement.value.offset
        if isinstance(value, n.MakeFunction) and value.code.co_name == name:
            later = _stored_later(value, name)
            if later and decorators:
                return None
            definition = self._function(value, name, decorators)
            offset = value.offset
        elif isinstance(value, n.Call) and is_build_class(value):
            assert isinstance(value.args[1], n.Constant)
            if value.args[1].value == name:
                definition = self._class(value, name, decorators)
                offset = value.offset
        elif is_generic(value):
            assert isinstance(value, n.Call)
            definition = self._generic(value, name, decorators)
        elif not decorators and alias_of(value, name) is not None:
            definition = self._alias(name, [], alias_of(value, name))
        if definition is None:
            return None
        definition.offset, definition.owner = offset, statement.owner
        return [definition, *later]

    def _function(self, made: n.MakeFunction, name: str, decorators: List[n.Expr]) -> Optional[n.Stmt]:
        if made.code.co_name in COMPREHENSIONS or made.code.co_name == "<lambda>":
            return None
        scope, body = self._nested(made.code)
        definition = _definition(made, scope, body, name)
        definition.decorators = decorators
        return definition

    def _class(self, call: n.Call, name: str, decorators: List[n.Expr]) -> n.Stmt:
        made = call.args[0]
        assert isinstance(made, n.MakeFunction)
        scope, body = self._nested(made.code)
        fold_annotations(body, postponed(made.code))
        drop_tail_returns(body, everywhere=True)
        spell_out(body)
        declare(body, declarations(scope))
        return n.ClassDef(name, call.args[2:], call.keywords, body, decorators)

    def _generic(self, call: n.Call, name: str, decorators: List[n.Expr]) -> Optional[n.Stmt]:
        """The def, class or type statement with type parameters that `call` makes."""
        assert isinstance(call.func, n.MakeFunction)
        structured = self._structure(call.func.code)
        inner = _Resolver(self._scope.child(structured.program), self._structure)
        for node in walk(structured.body):
            node.owner = call.func.code
        if self._scope.private is not None:
            unmangle(structured.body, self._scope.private)
        rewrite(structured.body, inner._expression)
        found = read_generic(structured.body)
        if found is None:
            return None
        parameters = []
        for one in found.parameters:
            bound, default = (inner._evaluated(made) for made in (one.bound, one.default))
            parameters.append(n.TypeParam(one.kind, unmangled(one.name, self._scope.private), bound, default))
        if found.alias is not None:
            return inner._alias(name, parameters, found.alias)
        definition: Optional[n.Stmt] = None
        if found.function is not None:
            given = dict(zip(call.func.code.co_varnames, call.args))
            for attribute in ("defaults", "kwdefaults"):
                if getattr(found.function, attribute) is not None:
                    setattr(found.function, attribute, given.get("." + attribute))
            definition = inner._function(found.function, name, decorators)
        elif found.class_call is not None:
            definition = inner._class(found.class_call, name, decorators)
        if isinstance(definition, (n.FunctionDef, n.ClassDef)):
            definition.type_params = parameters
        return definition

    def _alias(self, name: str, parameters: List[n.TypeParam], made: Optional[n.MakeFunction]) -> Optional[n.Stmt]:
        value = self._evaluated(made)
        return None if value is None else n.TypeAlias(name, parameters, value)

    def _evaluated(self, made: Optional[n.MakeFunction]) -> Optional[n.Expr]:
        """The expression that a function called when someone asks gives."""
        return None if made is None else evaluated(self._nested(made.code)[1])

    def _hoisted(self, statement: n.Stmt) -> List[n.Stmt]:
        """Definitions for the functions and classes made inside an expression, where only a name can stand.

        No compiler makes these. Making a function has no effect but evaluating its defaults, so it can be done first.
        """
        before: List[n.Stmt] = []

        def replace(node: n.Node) -> Optional[n.Node]:
            if isinstance(node, n.MakeFunction):
                name = self._fresh(_identifier(node.code.co_name))
                scope, body = self._nested(node.code)
                before.append(_definition(node, scope, body, name))
                before.extend(_stored_later(node, name))
                return n.Name(name)
            return None

        if isinstance(statement, (n.FunctionDef, n.ClassDef)):
            return []
        holder: List[Any] = _own_expressions(statement)
        if any(isinstance(node, n.MakeFunction) for node in walk(holder)):
            carrier = _Carrier(statement)
            carrier.rewrite(replace)
        return before

    def _fresh(self, name: str) -> str:
        result, number = name, 1
        while result in self._taken:
            number += 1
            result = f"{name}_{number}"
        self._taken.add(result)
        return result


def _own_expressions(statement: n.Stmt) -> List[n.Node]:
    """The expressions directly in `statement`, not in the blocks below it."""
    found: List[n.Node] = []
    for key, value in vars(statement).items():
        if key in ("body", "orelse", "finalbody", "handlers", "cases"):
            continue
        if isinstance(value, n.Node):
            found.append(value)
        elif isinstance(value, list):
            found.extend(each for each in value if isinstance(each, n.Node))
    return found


class _Carrier:
    """Rewrites the expressions of a statement in their place."""

    def __init__(self, statement: n.Stmt) -> None:
        self._statement = statement

    def rewrite(self, function: Callable[[Any], Optional[n.Node]]) -> None:
        for key, value in vars(self._statement).items():
            if key in ("body", "orelse", "finalbody", "handlers", "cases"):
                continue
            if isinstance(value, n.Node):
                holder: List[Any] = [value]
                rewrite(holder, function)
                setattr(self._statement, key, holder[0])
            elif isinstance(value, list) and value and isinstance(value[0], n.Node):
                rewrite(value, function)


def _split_decorators(value: n.Expr) -> Tuple[List[n.Expr], n.Expr]:
    """`d1(d2(f))` -> [d1, d2], f, where f makes a function or class; no decorators for anything else."""
    decorators: List[n.Expr] = []
    inner = value
    while isinstance(inner, n.Call) and not is_build_class(inner) and len(inner.args) == 1 and not inner.keywords:
        if is_generic(inner):
            break
        decorators.append(inner.func)
        inner = inner.args[0]
    if isinstance(inner, n.MakeFunction) or is_build_class(inner) or is_generic(inner):
        return decorators, inner
    return [], value


def _iterated(argument: n.Expr) -> n.Expr:
    """What a comprehension's argument iterates over: the compiler passes `iter(x)`, made by an instruction."""
    if isinstance(argument, n.Call) and isinstance(argument.func, n.Name) and argument.func.id in ("iter", "aiter"):
        return argument.args[0]
    return argument


def _closed_over(scope: Scope) -> List[n.Expr]:
    """Expressions that make variables free or cells in `scope` which no instruction needs to be so."""
    instrs, code = scope.program.instrs, scope.code
    used = {instr.arg for instr in instrs if instr.op in (Op.LOAD_DEREF, Op.STORE_DEREF, Op.LOAD_CLOSURE)}
    passed = {instr.arg for instr in instrs if instr.op is Op.LOAD_CLOSURE}
    free: List[n.Expr] = [n.Name(name) for name in code.co_freevars if name not in used]
    cells = [n.Lambda(n.Arguments(), n.Name(name)) for name in code.co_cellvars if name not in passed]
    return [*free, *cells]


def _spelled_aiter(argument: n.Expr, scope: Scope) -> n.Expr:
    """`aiter(x)` in a way that Pythons without that builtin know."""
    if not isinstance(argument, n.Call) or not isinstance(argument.func, n.Name) or argument.func.id != "aiter":
        return argument
    if grammar(scope.program.version).aiter:
        return argument
    method = n.Attribute(n.Call(n.Name("type"), [n.Name("iterable")]), "__aiter__")
    function = n.Lambda(n.Arguments(args=[n.Arg("iterable")]), n.Call(method, [n.Name("iterable")]))
    return n.Call(function, argument.args)


# ---------------------------------------------------------------- def


def _definition(made: n.MakeFunction, scope: Scope, body: List[n.Stmt], name: str) -> n.FunctionDef:
    code = made.code
    if _stored_later(made, name):
        made = _bare(made)
    parameters = _parameters(made, scope.private)
    assert parameters is not None
    _rename_parameters(body, code)
    returns = _annotate(parameters, made, scope.private)
    drop_tail_returns(body, everywhere=False)
    spell_out(body)
    _keep_generator(body, code)
    declare(body, declarations(scope))
    document = _docstring(scope)
    if document is not None:
        body.insert(0, n.ExprStmt(n.Constant(document)))
    definition = n.FunctionDef(name, parameters, body, [], returns)
    definition.is_async = bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
    definition.offset, definition.owner = made.offset, made.owner
    return definition


def _bare(made: n.MakeFunction) -> n.MakeFunction:
    bare = n.MakeFunction(made.code, closure=made.closure, type_params=made.type_params)
    bare.offset, bare.owner = made.offset, made.owner
    return bare


def _stored_later(made: n.MakeFunction, name: str) -> List[n.Stmt]:
    """Assignments to attributes of the function, for defaults and annotations that are no displays; mostly none.

    No compiler makes such code: it comes from the dispatch form, whose values lie in temporaries. Then everything is
    stored after the definition, in the order of evaluation, as making a function has no effect itself.
    """
    annotated = function_annotations(made) is not None
    if annotated and _parameters(made, None) is not None:
        return []
    stored: List[n.Stmt] = []
    for attribute, value in (("__defaults__", made.defaults), ("__kwdefaults__", made.kwdefaults)):
        if value is not None:
            stored.append(n.Assign([n.Attribute(n.Name(name), attribute)], value))
    listed = made.annotations
    if listed is not None:
        if isinstance(listed, n.Tuple_):
            listed = n.Dict_(list(listed.elts[0::2]), listed.elts[1::2])
        elif not isinstance(listed, n.Dict_):
            raise WriteError("the annotations of %s are made elsewhere" % made.code.co_name, made)
        stored.append(n.Assign([n.Attribute(n.Name(name), "__annotations__")], listed))
    if made.annotate is not None:
        stored.append(n.Assign([n.Attribute(n.Name(name), "__annotate__")], made.annotate))
    return stored


def declare(body: List[n.Stmt], statements: List[n.Stmt]) -> None:
    """Insert declarations at the start of a body, behind its docstring and its `__future__` imports."""
    start = 0
    while start < len(body) and _comes_first(body[start]):
        start += 1
    body[start:start] = statements


def _comes_first(statement: n.Stmt) -> bool:
    if isinstance(statement, n.ImportFrom):
        return statement.module == "__future__" and not statement.level
    return isinstance(statement, n.ExprStmt) and isinstance(statement.value, n.Constant)


def _declares(scope: Scope) -> bool:
    return bool(declarations(scope))


def _docstring(scope: Scope) -> Optional[str]:
    code = scope.code
    if code.co_name in COMPREHENSIONS or code.co_name == "<lambda>":
        return None
    return docstring(code, scope.program.version)


def _keep_generator(body: List[n.Stmt], code: CodeType) -> None:
    """Dead code may hold the only `yield` that made the function a generator."""
    if not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        return
    if any(isinstance(node, (n.Yield, n.YieldFrom)) for node in walk_scope(body)):
        return
    never = n.ExprStmt(n.Yield(None))
    ends = bool(body) and isinstance(body[-1], (n.Return, n.Raise))
    body.append(never if ends else n.If(n.Constant(False), [never]))


def _parameters(made: n.MakeFunction, private: Optional[str]) -> Optional[n.Arguments]:
    """The parameter list; None if the defaults are not displays that can be split over the parameters."""
    code = made.code
    names = [_identifier(unmangled(name, private)) for name in code.co_varnames]
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    defaults = _elements(made.defaults)
    by_name = _kw_defaults(made.kwdefaults)
    if defaults is None or by_name is None or len(defaults) > count:
        return None
    rest = count + keywords
    result = n.Arguments(
        posonlyargs=[n.Arg(name) for name in names[: code.co_posonlyargcount]],
        args=[n.Arg(name) for name in names[code.co_posonlyargcount : count]],
        kwonlyargs=[n.Arg(name) for name in names[count:rest]],
        kw_defaults=[by_name.get(name) for name in code.co_varnames[count:rest]],
        defaults=defaults,
    )
    if code.co_flags & inspect.CO_VARARGS:
        result.vararg = n.Arg(names[rest])
        rest += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        result.kwarg = n.Arg(names[rest])
    return result


def _elements(defaults: Optional[n.Expr]) -> Optional[List[n.Expr]]:
    if defaults is None:
        return []
    if isinstance(defaults, n.Tuple_):
        return None if any(isinstance(elt, n.Starred) for elt in defaults.elts) else defaults.elts
    if isinstance(defaults, n.Constant) and type(defaults.value) is tuple:
        return [n.Constant(value) for value in defaults.value]
    return None


def _kw_defaults(defaults: Optional[n.Expr]) -> Any:
    if defaults is None:
        return {}
    if not isinstance(defaults, n.Dict_) or not all(isinstance(key, n.Constant) for key in defaults.keys):
        return None
    return {key.value: value for key, value in zip(defaults.keys, defaults.values)}  # type: ignore[union-attr]


def _annotate(parameters: n.Arguments, made: n.MakeFunction, private: Optional[str]) -> Optional[n.Expr]:
    """Hang the annotations on the parameters; gives the one of the result."""
    found = function_annotations(made)
    if not found:
        return None
    by_name = {unmangled(name, private): value for name, value in found.items()}
    everyone = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    everyone += [arg for arg in (parameters.vararg, parameters.kwarg) if arg is not None]
    for arg in everyone:
        arg.annotation = by_name.get(arg.arg)
    return by_name.get("return")


def _name_docstring(body: List[n.Stmt]) -> None:
    """A module's first statement `__doc__ = "..."` is how the compiler stores its docstring."""
    for index, statement in enumerate(body[:2]):
        if isinstance(statement, n.ExprStmt) and isinstance(statement.value, n.Intrinsic):
            continue  # SETUP_ANNOTATIONS comes first
        if isinstance(statement, n.Assign) and isinstance(statement.value, n.Constant):
            target = statement.targets[0]
            if isinstance(target, n.Name) and target.id == "__doc__" and isinstance(statement.value.value, str):
                document = n.ExprStmt(statement.value)
                document.offset = statement.offset
                body[index] = document
        return
