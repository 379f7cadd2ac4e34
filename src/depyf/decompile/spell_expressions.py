"""Expressions -> items: one function per node class, collected in one table.

Each function returns how tightly the expression binds and its items; the writer adds parentheses where the place
demands more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

from depyf.bytecode.grammar import Grammar
from depyf.decompile import nodes as n
from depyf.decompile.literals import QUOTES, has_literal, literal, set_literal, string_literal
from depyf.decompile.printing import Child, Fragment, Item, Mark, Prec, WriteError, breakable, children, separated

Spelled = Tuple[Prec, List[Item]]


@dataclass(frozen=True)
class Context:
    """What the place allows: the version's grammar, and inside a replacement field before 3.12, which quotes."""

    grammar: Grammar
    quotes: Tuple[str, ...] = QUOTES
    escapes: bool = True
    line_breaks: bool = False  # without escapes: whether strings may hold line breaks as they are


def spell(node: n.Expr, context: Context) -> Spelled:
    """How tightly `node` binds, and its items. Raises WriteError for what has no syntax."""
    function = _SPELLERS.get(type(node))
    if function is None:
        raise WriteError(f"{type(node).__name__} has no Python syntax: {node!r:.200}", node)
    try:
        prec, items = function(node, context)
    except WriteError as error:
        error.node = error.node or node
        raise
    if type(node) not in _MARKED_INSIDE:
        items.insert(0, Mark(node))
    return prec, items


BINARY = {
    "|": Prec.BIT_OR,
    "^": Prec.BIT_XOR,
    "&": Prec.BIT_AND,
    "<<": Prec.SHIFT,
    ">>": Prec.SHIFT,
    "+": Prec.ARITH,
    "-": Prec.ARITH,
    "*": Prec.TERM,
    "/": Prec.TERM,
    "//": Prec.TERM,
    "%": Prec.TERM,
    "@": Prec.TERM,
    "**": Prec.POWER,
}


def _constant(node: n.Constant, context: Context) -> Spelled:
    value = node.value
    if type(value) is str:
        return Prec.ATOM, [string_literal(value, context.quotes, context.escapes, context.line_breaks)]
    if type(value) is tuple and context.quotes is not QUOTES and has_literal(value):
        return _tuple(n.Tuple_([n.Constant(element) for element in value]), context)
    if type(value) is bytes and not context.escapes:
        if not value.isascii():
            raise WriteError("bytes that need a backslash")
        return Prec.ATOM, ["b" + string_literal(value.decode("ascii"), context.quotes, False, context.line_breaks)]
    spelled = literal(value)
    if spelled is None:
        raise WriteError(f"a constant of type {type(value).__name__} has no literal: {value!r:.200}")
    return spelled[1], [spelled[0]]


def _set_or_child(node: n.Expr, prec: Prec) -> List[Item]:
    """`node` in a place where the compiler turns a set display of constants into a frozenset constant."""
    if isinstance(node, n.Constant):
        text = set_literal(node.value)
        if text is not None:
            return [Mark(node), text]
    return [Child(node, prec)]


def iterable(node: n.Expr, prec: Prec) -> List[Item]:
    """The iterable of a for loop or comprehension."""
    if prec <= Prec.TUPLE and _has_star(node):
        prec = Prec.TEST  # no bare starred tuple before 3.9
    return _set_or_child(node, prec)


def _has_star(node: n.Expr) -> bool:
    return isinstance(node, n.Tuple_) and any(isinstance(elt, n.Starred) for elt in node.elts)


def _name(node: n.Name, context: Context) -> Spelled:
    return Prec.ATOM, [node.id]


def _attribute(node: n.Attribute, context: Context) -> Spelled:
    value: List[Item] = [Child(node.value, Prec.ATOM)]
    if isinstance(node.value, n.Constant) and type(node.value.value) is int and node.value.value >= 0:
        value = ["(", *value, ")"]  # 1.real is not an attribute
    return Prec.ATOM, [*value, ".", Mark(node), node.attr]


def _subscript(node: n.Subscript, context: Context) -> Spelled:
    return Prec.ATOM, [Child(node.value, Prec.ATOM), Mark(node), "[", *_index(node.slice, context), "]"]


def _index(node: n.Expr, context: Context) -> List[Item]:
    if isinstance(node, n.Slice):
        return _slice(node)
    if isinstance(node, n.Constant):
        unfolded = _unfold_slices(node.value)
        if unfolded is not None:
            return _index(unfolded, context)
    if isinstance(node, n.Tuple_) and any(isinstance(elt, n.Slice) for elt in node.elts):
        parts = [_slice(elt) if isinstance(elt, n.Slice) else [Child(elt)] for elt in node.elts]
        return [Mark(node), *separated(parts), *([","] if len(parts) == 1 else [])]
    if _has_star(node) and not context.grammar.starred_index:
        return [Child(node)]
    return [Child(node, Prec.TUPLE)]


def _unfold_slices(value: Any) -> Optional[n.Expr]:
    """A folded slice, or a tuple with one inside, as the display that it was folded from (3.14)."""
    if type(value) is slice:
        bounds = [None if bound is None else n.Constant(bound) for bound in (value.start, value.stop, value.step)]
        return n.Slice(*bounds)
    if type(value) is tuple and any(type(element) is slice for element in value):
        return n.Tuple_([_unfold_slices(element) or n.Constant(element) for element in value])
    return None


def _slice(node: n.Slice) -> List[Item]:
    items: List[Item] = [Mark(node)]
    if node.lower is not None:
        items.append(Child(node.lower))
    items.append(":")
    if node.upper is not None:
        items.append(Child(node.upper))
    if node.step is not None:
        items += [":", Child(node.step)]
    return items


def _unary(node: n.UnaryOp, context: Context) -> Spelled:
    if node.op == "not":
        return Prec.NOT, ["not ", Child(node.operand, Prec.NOT)]
    return Prec.FACTOR, [node.op, Child(node.operand, Prec.FACTOR)]


class FoldedPercent(n.BinOp):
    """`"..." % (...)` that stands for an f-string."""


def _binary(node: n.BinOp, context: Context) -> Spelled:
    original = node
    if node.op == "%" and context.grammar.percent_folded and type(node) is n.BinOp:
        node = _unfolded_percent(node)
    prec = BINARY[node.op]
    if node.op == "**":
        left, right = Prec.AWAIT, Prec.FACTOR
    else:
        left, right = prec, Prec(prec + 1)
    return prec, [Child(node.left, left), " ", Mark(original), node.op, " ", Child(node.right, right)]


def _unfolded_percent(node: n.BinOp) -> n.BinOp:
    """`"%s" % (x,)` that was not folded has an f-string without fields on the left, which keeps the compiler off."""
    from depyf.decompile.fstrings import is_folded  # the f-string module writes expressions itself

    left, right = node.left, node.right
    if not isinstance(left, n.Constant) or not isinstance(left.value, str) or not isinstance(right, n.Tuple_):
        return node
    if not is_folded(left.value, len(right.elts)):
        return node
    made = n.BinOp(n.JoinedStr([left]), "%", right)
    made.offset, made.owner = node.offset, node.owner
    return made


def _bool(node: n.BoolOp, context: Context) -> Spelled:
    prec = Prec.AND if node.op == "and" else Prec.OR
    parts: List[List[Item]] = [[Child(value, Prec(prec + 1))] for value in node.values]
    return prec, separated(parts, f" {node.op} ")


def _compare(node: n.Compare, context: Context) -> Spelled:
    items: List[Item] = [Child(node.left, Prec.BIT_OR), " ", Mark(node)]
    for index, (op, comparator) in enumerate(zip(node.ops, node.comparators)):
        items += [" " if index else "", op, " "]
        if op in ("in", "not in"):
            items += _set_or_child(comparator, Prec.BIT_OR)
        else:
            items.append(Child(comparator, Prec.BIT_OR))
    return Prec.COMPARE, items


def _if_exp(node: n.IfExp, context: Context) -> Spelled:
    return Prec.TEST, [
        Child(node.body, Prec.OR), " if ", Child(node.test, Prec.OR), " else ", Child(node.orelse, Prec.TEST),
    ]  # fmt: skip


def keyword(node: n.Keyword) -> List[Item]:
    """A keyword argument."""
    if node.arg is None:
        return [Mark(node), "**", Child(node.value, Prec.BIT_OR)]
    return [Mark(node), node.arg, "=", Child(node.value)]


def _call(node: n.Call, context: Context) -> Spelled:
    callee: List[Item] = [Child(node.func, Prec.ATOM)]
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], n.GeneratorExp):
        sole = node.args[0]
        return Prec.ATOM, [*callee, "(", Mark(sole), *_comprehension([Child(sole.elt)], sole.generators), ")"]
    return Prec.ATOM, [*callee, "(", *arguments(node.args, node.keywords), ")"]


def arguments(args: Sequence[n.Expr], keywords: Sequence[n.Keyword]) -> List[Item]:
    """The arguments of a call, or the bases of a class."""
    parts: List[List[Item]] = [[Child(arg)] for arg in args]
    return breakable(parts + [keyword(each) for each in keywords])


def _starred(node: n.Starred, context: Context) -> Spelled:
    return Prec.ATOM, ["*", Child(node.value, Prec.BIT_OR)]


def _tuple(node: n.Tuple_, context: Context) -> Spelled:
    if len(node.elts) == 0:
        return Prec.ATOM, ["()"]
    if len(node.elts) == 1:
        return Prec.ATOM, ["(", Child(node.elts[0]), ",)"]
    return Prec.TUPLE, children(node.elts)


def _list(node: n.List_, context: Context) -> Spelled:
    return Prec.ATOM, ["[", *breakable([[Child(elt)] for elt in node.elts]), "]"]


def _set(node: n.Set_, context: Context) -> Spelled:
    if not node.elts:
        return Prec.ATOM, ["{*()}"]
    return Prec.ATOM, ["{", *breakable([[Child(elt)] for elt in node.elts]), "}"]


def _dict(node: n.Dict_, context: Context) -> Spelled:
    parts: List[List[Item]] = []
    for key, value in zip(node.keys, node.values):
        if key is None:
            parts.append(["**", Child(value, Prec.BIT_OR)])
        else:
            parts.append([Child(key), ": ", Child(value)])
    return Prec.ATOM, ["{", *breakable(parts), "}"]


def _named(node: n.NamedExpr, context: Context) -> Spelled:
    return Prec.NAMED, [Child(node.target, Prec.ATOM), " := ", Child(node.value)]


def _await(node: n.Await, context: Context) -> Spelled:
    return Prec.AWAIT, ["await ", Child(node.value, Prec.ATOM)]


def _yield(node: n.Yield, context: Context) -> Spelled:
    if node.value is None:
        return Prec.YIELD, ["yield"]
    return Prec.YIELD, ["yield ", Child(node.value, Prec.TUPLE)]


def _yield_from(node: n.YieldFrom, context: Context) -> Spelled:
    return Prec.YIELD, ["yield from ", Child(node.value)]


def _comprehension(element: List[Item], generators: Sequence[n.Comprehension]) -> List[Item]:
    items = list(element)
    for each in generators:
        items += [" ", Mark(each), "async for " if each.is_async else "for ", Child(each.target, Prec.TUPLE), " in "]
        items += iterable(each.iter, Prec.OR)
        for test in each.ifs:
            items += [" if ", Child(test, Prec.OR)]
    return items


def _list_comp(node: n.ListComp, context: Context) -> Spelled:
    return Prec.ATOM, ["[", *_comprehension([Child(node.elt)], node.generators), "]"]


def _set_comp(node: n.SetComp, context: Context) -> Spelled:
    return Prec.ATOM, ["{", *_comprehension([Child(node.elt)], node.generators), "}"]


def _dict_comp(node: n.DictComp, context: Context) -> Spelled:
    pair: List[Item] = [Child(node.key), ": ", Child(node.value)]
    return Prec.ATOM, ["{", *_comprehension(pair, node.generators), "}"]


def _generator(node: n.GeneratorExp, context: Context) -> Spelled:
    return Prec.ATOM, ["(", *_comprehension([Child(node.elt)], node.generators), ")"]


def parameters(args: n.Arguments) -> List[List[Item]]:
    """The items of a parameter list."""
    parts: List[List[Item]] = []
    positional = list(args.posonlyargs) + list(args.args)
    without_default = len(positional) - len(args.defaults)
    for index, arg in enumerate(positional):
        default = args.defaults[index - without_default] if index >= without_default else None
        parts.append(_parameter(arg, default))
        if index + 1 == len(args.posonlyargs):
            parts.append(["/"])
    if args.vararg is not None:
        parts.append(["*", *_parameter(args.vararg, None)])
    elif args.kwonlyargs:
        parts.append(["*"])
    for arg, default in zip(args.kwonlyargs, args.kw_defaults):
        parts.append(_parameter(arg, default))
    if args.kwarg is not None:
        parts.append(["**", *_parameter(args.kwarg, None)])
    return parts


def _parameter(arg: n.Arg, default: Optional[n.Expr]) -> List[Item]:
    items: List[Item] = [Mark(arg), arg.arg]
    if arg.annotation is not None:
        items += [": ", Child(arg.annotation)]
    if default is not None:
        items += [" = " if arg.annotation is not None else "=", Child(default)]
    return items


def _lambda(node: n.Lambda, context: Context) -> Spelled:
    listed = separated(parameters(node.args))
    return Prec.TEST, ["lambda", *([" ", *listed] if listed else []), ": ", Child(node.body)]


def _verbatim(node: n.Verbatim, context: Context) -> Spelled:
    return Prec.TEST, [node.text]


def _format(node: n.Expr, context: Context) -> Spelled:
    from depyf.decompile.fstrings import formatted  # the f-string module writes expressions itself

    pieces = formatted(node, context)
    if isinstance(pieces, Fragment):
        return Prec.ATOM, [pieces]
    return spell(pieces, context)


_SPELLERS: Dict[Type[n.Expr], Callable[[Any, Context], Spelled]] = {
    n.Constant: _constant,
    n.Name: _name,
    n.Attribute: _attribute,
    n.Subscript: _subscript,
    n.UnaryOp: _unary,
    n.BinOp: _binary,
    FoldedPercent: _binary,
    n.BoolOp: _bool,
    n.Compare: _compare,
    n.IfExp: _if_exp,
    n.Call: _call,
    n.Starred: _starred,
    n.Tuple_: _tuple,
    n.List_: _list,
    n.Set_: _set,
    n.Dict_: _dict,
    n.NamedExpr: _named,
    n.Await: _await,
    n.Yield: _yield,
    n.YieldFrom: _yield_from,
    n.ListComp: _list_comp,
    n.SetComp: _set_comp,
    n.DictComp: _dict_comp,
    n.GeneratorExp: _generator,
    n.Lambda: _lambda,
    n.Verbatim: _verbatim,
    n.JoinedStr: _format,
    n.FormattedValue: _format,
    n.TemplateStr: _format,
}

# Operations written after their first operand: the mark stands at the operator, so that every operation of a chain
# like a.b.c or a + b + c has a place of its own.
_MARKED_INSIDE = frozenset({n.Attribute, n.Subscript, n.BinOp, FoldedPercent, n.Compare})
