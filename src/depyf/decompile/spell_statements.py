"""Statements and patterns -> items: one function per node class, collected in one table."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Type, Union

from depyf.decompile import nodes as n
from depyf.decompile.literals import docstring_literal
from depyf.decompile.printing import Child, Item, Layout, Line, Mark, Prec, WriteError, breakable, children, separated
from depyf.decompile.spell_expressions import arguments, iterable, parameters

BEGIN, END, INDENT, DEDENT, GAP = Layout.BEGIN, Layout.END, Layout.INDENT, Layout.DEDENT, Layout.GAP


def spell(node: n.Stmt) -> List[Item]:
    """The items of a statement, its line breaks included."""
    function = _SPELLERS.get(type(node))
    if function is None:
        raise WriteError(f"{type(node).__name__} has no Python syntax: {node!r:.200}")
    return function(node)


def body(statements: Sequence[n.Stmt]) -> List[Item]:
    """An indented block; `pass` when it holds no statement."""
    items: List[Item] = [INDENT, *block(statements)]
    if all(isinstance(statement, n.Comment) for statement in statements):
        items += [BEGIN, "pass", END]
    return [*items, DEDENT]


def block(statements: Sequence[n.Stmt]) -> List[Item]:
    """Statements one after the other, definitions set off by empty lines."""
    items: List[Item] = []
    for index, statement in enumerate(statements):
        defines = isinstance(statement, (n.FunctionDef, n.ClassDef))
        follows = index > 0 and isinstance(statements[index - 1], (n.FunctionDef, n.ClassDef))
        if follows or defines and not (index > 0 and isinstance(statements[index - 1], n.Comment)):
            items.append(GAP)
        items.append(Line(statement))
    return items


def _line(node: n.Node, *items: Item) -> List[Item]:
    return [BEGIN, Mark(node), *items, END]


def _right(value: n.Expr) -> Child:
    return Child(value, Prec.YIELD)


def _expression(node: n.ExprStmt) -> List[Item]:
    return _line(node, _right(node.value))


def _assign(node: n.Assign) -> List[Item]:
    items: List[Item] = []
    for target in node.targets:
        items += [Child(target, Prec.TUPLE), " = "]
    return _line(node, *items, _right(node.value))


def _aug_assign(node: n.AugAssign) -> List[Item]:
    return _line(node, Child(node.target), f" {node.op}= ", _right(node.value))


def _ann_assign(node: n.AnnAssign) -> List[Item]:
    target: List[Item] = [Child(node.target)]
    if isinstance(node.target, n.Name) and not node.simple:
        target = ["(", *target, ")"]
    value: List[Item] = [] if node.value is None else [" = ", _right(node.value)]
    return _line(node, *target, ": ", Child(node.annotation), *value)


def _delete(node: n.Delete) -> List[Item]:
    return _line(node, "del ", *children(node.targets))


def _return(node: n.Return) -> List[Item]:
    return _line(node, *(["return"] if node.value is None else ["return ", Child(node.value, Prec.TUPLE)]))


def _raise(node: n.Raise) -> List[Item]:
    items: List[Item] = ["raise"]
    if node.exc is not None:
        items += [" ", Child(node.exc)]
    if node.cause is not None:
        items += [" from ", Child(node.cause)]
    return _line(node, *items)


def _assert(node: n.Assert) -> List[Item]:
    message: List[Item] = [] if node.msg is None else [", ", Child(node.msg)]
    return _line(node, "assert ", Child(node.test), *message)


def _word(word: str) -> Callable[[n.Stmt], List[Item]]:
    return lambda node: _line(node, word)


def _global(node: Union[n.Global, n.Nonlocal]) -> List[Item]:
    word = "global " if isinstance(node, n.Global) else "nonlocal "
    return _line(node, word, ", ".join(node.names))


def _alias(alias: n.Alias) -> str:
    return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"


def _import(node: n.Import) -> List[Item]:
    lazy = "lazy " if node.lazy else ""
    return _line(node, f"{lazy}import " + ", ".join(map(_alias, node.names)))


def _import_from(node: n.ImportFrom) -> List[Item]:
    lazy = "lazy " if node.lazy else ""
    names = ", ".join(map(_alias, node.names))
    return _line(node, f"{lazy}from {'.' * node.level}{node.module or ''} import {names}")


def _if(node: n.If, word: str = "if ") -> List[Item]:
    items: List[Item] = [BEGIN, Mark(node), word, Child(node.test, Prec.NAMED), ":", END, *body(node.body)]
    if len(node.orelse) == 1 and isinstance(node.orelse[0], n.If):
        return [*items, Line(_Elif(node.orelse[0]))]
    return [*items, *_else(node.orelse)]


class _Elif(n.Stmt):
    """An `if` to be written as the `elif` of the one before it."""

    def __init__(self, statement: n.If) -> None:
        self.statement = statement


def _elif(node: _Elif) -> List[Item]:
    return _if(node.statement, "elif ")


def _else(statements: Sequence[n.Stmt], word: str = "else") -> List[Item]:
    return [BEGIN, f"{word}:", END, *body(statements)] if statements else []


def _while(node: n.While) -> List[Item]:
    head = _line(node, "while ", Child(node.test, Prec.NAMED), ":")
    return [*head, *body(node.body), *_else(node.orelse)]


def _for(node: n.For) -> List[Item]:
    word = "async for " if node.is_async else "for "
    head = _line(node, word, Child(node.target, Prec.TUPLE), " in ", *iterable(node.iter, Prec.TUPLE), ":")
    return [*head, *body(node.body), *_else(node.orelse)]


def _try(node: n.Try) -> List[Item]:
    items: List[Item] = [BEGIN, Mark(node), "try:", END, *body(node.body)]
    for handler in node.handlers:
        items += [BEGIN, Mark(handler), "except*" if node.is_star else "except"]
        if handler.type is not None:
            items += [" ", Child(handler.type)]
        if handler.name is not None:
            items.append(f" as {handler.name}")
        items += [":", END, *body(handler.body)]
    return [*items, *_else(node.orelse), *_else(node.finalbody, "finally")]


def _with(node: n.With) -> List[Item]:
    parts: List[List[Item]] = []
    for item in node.items:
        part: List[Item] = [Mark(item), Child(item.context_expr)]
        if item.optional_vars is not None:
            part += [" as ", Child(item.optional_vars)]
        elif len(node.items) == 1 and _displays_tuple(item.context_expr):
            part = [Mark(item), "(", Child(item.context_expr), ")"]  # from 3.9, with (a, b): has two items
        parts.append(part)
    word = "async with " if node.is_async else "with "
    return [*_line(node, word, *separated(parts), ":"), *body(node.body)]


def _displays_tuple(node: n.Expr) -> bool:
    return isinstance(node, n.Tuple_) or isinstance(node, n.Constant) and type(node.value) is tuple


def _decorators(decorators: Sequence[n.Expr]) -> List[Item]:
    items: List[Item] = []
    for decorator in decorators:
        items += [BEGIN, "@", Child(decorator, Prec.NAMED), END]
    return items


def _type_params(params: Sequence[n.TypeParam]) -> List[Item]:
    if not params:
        return []
    parts: List[List[Item]] = []
    for param in params:
        stars = {"TypeVar": "", "TypeVarTuple": "*", "ParamSpec": "**"}[param.kind]
        part: List[Item] = [Mark(param), stars + param.name]
        if param.bound is not None:
            part += [": ", Child(param.bound)]
        if param.default is not None:
            part += [" = ", Child(param.default)]
        parts.append(part)
    return ["[", *separated(parts), "]"]


def _function(node: n.FunctionDef) -> List[Item]:
    word = "async def " if node.is_async else "def "
    returns: List[Item] = [] if node.returns is None else [" -> ", Child(node.returns)]
    signature = [
        word,
        node.name,
        *_type_params(node.type_params),
        "(",
        *breakable(parameters(node.args)),
        ")",
        *returns,
        ":",
    ]
    return [*_decorators(node.decorators), *_line(node, *signature), *_documented(node.body)]


def _class(node: n.ClassDef) -> List[Item]:
    bases: List[Item] = []
    if node.bases or node.keywords:
        bases = ["(", *arguments(node.bases, node.keywords), ")"]
    head = _line(node, "class ", node.name, *_type_params(node.type_params), *bases, ":")
    return [*_decorators(node.decorators), *head, *_documented(node.body)]


def _documented(statements: Sequence[n.Stmt]) -> List[Item]:
    """The body of a definition, whose first statement may be a docstring."""
    if statements and is_docstring(statements[0]):
        rest = list(statements[1:])
        gap: List[Item] = [GAP] if rest and not isinstance(rest[0], (n.FunctionDef, n.ClassDef)) else []
        return [INDENT, Line(Docstring(statements[0])), *gap, *block(rest), DEDENT]
    return body(statements)


def is_docstring(statement: n.Stmt) -> bool:
    """Whether `statement`, first in its body, is a docstring."""
    value = statement.value if isinstance(statement, n.ExprStmt) else None
    return isinstance(value, n.Constant) and type(value.value) is str


class Docstring(n.Stmt):
    """A docstring statement, to be spelled over several lines."""

    def __init__(self, statement: n.Stmt) -> None:
        self.statement = statement

    def text(self, indent: str, dedented: bool) -> str:
        """The literal; see `docstring_literal`."""
        value: Any = self.statement.value.value  # type: ignore[attr-defined]
        return docstring_literal(value, indent, dedented)


def _type_alias(node: n.TypeAlias) -> List[Item]:
    return _line(node, "type ", node.name, *_type_params(node.type_params), " = ", Child(node.value))


def _comment(node: n.Comment) -> List[Item]:
    items: List[Item] = []
    for text in node.text.splitlines() or [""]:
        plain = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
        items += [BEGIN, f"# {plain}".rstrip(), END]
    return items


# ---------------------------------------------------------------- match


def _match(node: n.Match) -> List[Item]:
    subject = Prec.TEST if isinstance(node.subject, n.Starred) else Prec.TUPLE
    items: List[Item] = [*_line(node, "match ", Child(node.subject, subject), ":"), INDENT]
    for case in node.cases:
        guard: List[Item] = [] if case.guard is None else [" if ", Child(case.guard, Prec.NAMED)]
        items += [BEGIN, Mark(case), "case ", *pattern(case.pattern), *guard, ":", END, *body(case.body)]
    return [*items, DEDENT]


def pattern(node: n.Pattern, closed: bool = False) -> List[Item]:
    """A pattern; with `closed`, one in a place that takes neither `|` nor `as` without parentheses."""
    items: List[Item] = [Mark(node), *_pattern(node)]
    opens = isinstance(node, n.MatchOr) or isinstance(node, n.MatchAs) and node.pattern is not None
    return ["(", *items, ")"] if closed and opens else items


def _pattern(node: n.Pattern) -> List[Item]:
    if isinstance(node, n.MatchValue):
        return [Child(node.value, Prec.ARITH)]
    if isinstance(node, n.MatchSingleton):
        return [repr(node.value)]
    if isinstance(node, n.MatchSequence):
        return ["[", *separated([pattern(each) for each in node.patterns]), "]"]
    if isinstance(node, n.MatchStar):
        return [f"*{node.name or '_'}"]
    if isinstance(node, n.MatchMapping):
        parts: List[List[Item]] = [
            [_pattern_key(key), ": ", *pattern(each)] for key, each in zip(node.keys, node.patterns)
        ]
        return ["{", *separated(parts + ([] if node.rest is None else [[f"**{node.rest}"]])), "}"]
    if isinstance(node, n.MatchClass):
        parts = [pattern(each) for each in node.patterns]
        parts += [[f"{attr}=", *pattern(each)] for attr, each in zip(node.kwd_attrs, node.kwd_patterns)]
        return [Child(node.cls, Prec.ATOM), "(", *separated(parts), ")"]
    if isinstance(node, n.MatchAs):
        name = node.name or "_"
        if node.pattern is None:
            return [name]
        # `(a as b) as c` needs the parentheses; `a | b as c` does not.
        return [*pattern(node.pattern, closed=isinstance(node.pattern, n.MatchAs)), f" as {name}"]
    if isinstance(node, n.MatchOr):
        return separated([pattern(each, closed=True) for each in node.patterns], " | ")
    raise WriteError(f"unknown pattern {type(node).__name__}")


def _pattern_key(key: n.Expr) -> Item:
    return Child(key, Prec.ARITH)


_SPELLERS: Dict[Type[n.Stmt], Callable[[Any], List[Item]]] = {
    n.ExprStmt: _expression,
    n.Assign: _assign,
    n.AugAssign: _aug_assign,
    n.AnnAssign: _ann_assign,
    n.Delete: _delete,
    n.Return: _return,
    n.Raise: _raise,
    n.Assert: _assert,
    n.Pass: _word("pass"),
    n.Break: _word("break"),
    n.Continue: _word("continue"),
    n.Global: _global,
    n.Nonlocal: _global,
    n.Import: _import,
    n.ImportFrom: _import_from,
    n.If: _if,
    _Elif: _elif,
    n.While: _while,
    n.For: _for,
    n.Try: _try,
    n.With: _with,
    n.FunctionDef: _function,
    n.ClassDef: _class,
    n.Match: _match,
    n.TypeAlias: _type_alias,
    n.Comment: _comment,
}
