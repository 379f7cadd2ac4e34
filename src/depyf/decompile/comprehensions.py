"""Comprehensions: from the structured body of `<listcomp>`, `<genexpr>`... to the expression.

for x in .0:                 [elt for x in ITER if test for y in z]
    if test:
        for y in z:
            list_append(result, elt)
return result
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

from . import nodes as n

APPENDS = {"<listcomp>": "list_append", "<setcomp>": "set_add", "<dictcomp>": "map_add"}
_CLASSES: Dict[str, Type[Any]] = {"<listcomp>": n.ListComp, "<setcomp>": n.SetComp, "<genexpr>": n.GeneratorExp}

Pieces = Tuple[List[n.Expr], List[n.Comprehension]]


def comprehension(name: str, body: List[n.Stmt], iterable: n.Expr, dropped: Sequence[n.Expr] = ()) -> Optional[n.Expr]:
    """The comprehension whose code object is called `name` and has this body, over `iterable`; None if it isn't one.

    `dropped` is in the element if the compiler has dropped that (`[elt for x in y if False]`).
    """
    loop = _the_loop(body)
    if loop is None:
        return None
    pieces = unwind([loop], "yield" if name == "<genexpr>" else APPENDS[name])
    if pieces is None:
        return None
    element, generators = pieces
    if not element:
        element = [n.Tuple_(list(dropped)), n.Constant(None)]
    first = generators[0]
    if not isinstance(first.iter, n.Name) or first.iter.id != ".0":
        return None
    first.iter = iterable
    return build(name, element, generators)


def build(name: str, element: List[n.Expr], generators: List[n.Comprehension]) -> n.Expr:
    """The expression of the kind that code objects called `name` hold."""
    if name == "<dictcomp>":
        return n.DictComp(element[0], element[1], generators)
    made: n.Expr = _CLASSES[name](element[0], generators)
    return made


def _the_loop(body: List[n.Stmt]) -> Optional[n.For]:
    """The one loop of a body that else only makes the empty result and returns it."""
    rest = [statement for statement in body if not isinstance(statement, (n.Pass, n.Comment))]
    if rest and isinstance(rest[0], n.Assign) and _is_empty_display(rest[0].value):
        rest = rest[1:]
    if len(rest) == 2 and isinstance(rest[1], n.Return):
        rest.pop()
    if len(rest) != 1 or not isinstance(rest[0], n.For):
        return None
    return rest[0]


def _is_empty_display(value: n.Expr) -> bool:
    if isinstance(value, (n.List_, n.Set_)):
        return not value.elts
    return isinstance(value, n.Dict_) and not value.keys


def unwind(statements: List[n.Stmt], element: str) -> Optional[Pieces]:
    """The element and the `for`/`if` clauses of a loop nest around one `element` statement; None for anything else.

    There is no element if the compiler has dropped it.
    """
    generators: List[n.Comprehension] = []
    block = list(statements)
    while True:
        while block and isinstance(block[-1], (n.Continue, n.Pass)):
            block.pop()
        if not block:
            if not generators:
                return None
            generators[-1].ifs.append(n.Constant(False))  # the compiler has dropped the element
            return [], generators
        head, rest = block[0], block[1:]
        if isinstance(head, n.If) and generators:
            if _skips(head.body) and not head.orelse and rest:
                generators[-1].ifs.append(negated(head.test))
                block = rest
            elif rest:
                return None
            elif not head.orelse or _skips(head.orelse):
                generators[-1].ifs.append(head.test)
                block = list(head.body)
            elif _skips(head.body):
                generators[-1].ifs.append(negated(head.test))
                block = list(head.orelse)
            else:
                return None
        elif rest and generators and isinstance(head, n.Assign) and len(head.targets) == 1:
            # `for x in [value]`: the compiler assigns without a loop (3.9, Python/compile.c, comprehensions)
            generators.append(n.Comprehension(head.targets[0], n.List_([head.value]), [], False))
            block = rest
        elif rest:
            return None
        elif isinstance(head, n.For) and not head.orelse:
            clause = n.Comprehension(head.target, head.iter, [], head.is_async)
            clause.offset = head.offset
            generators.append(clause)
            block = list(head.body)
        elif isinstance(head, n.ExprStmt) and generators:
            value = _element(head.value, element)
            return None if value is None else (value, generators)
        else:
            return None


def _skips(block: List[n.Stmt]) -> bool:
    return all(isinstance(statement, (n.Continue, n.Pass)) for statement in block)


def _element(value: n.Expr, element: str) -> Optional[List[n.Expr]]:
    if element == "yield":
        return [value.value] if isinstance(value, n.Yield) and value.value is not None else None
    if not isinstance(value, n.Intrinsic) or value.name != element:
        return None
    # The container may come first; the element, or key and value, come last.
    return value.args[-2:] if element == "map_add" else value.args[-1:]


def negated(test: n.Expr) -> n.Expr:
    """`not test`; the compiler turns the jump around for `not`, so `not not` never piles up."""
    if isinstance(test, n.UnaryOp) and test.op == "not":
        return test.operand
    result = n.UnaryOp("not", test)
    result.offset = test.offset
    return result
