"""What the operations of match statements are in Python: match statements of one pattern."""

from __future__ import annotations

from typing import List, Sequence

from depyf.bytecode.program import Instr, Op

from .. import nodes as n
from .builder import Builder, Table, UnknownOperation, registrar

MATCHING: Table = {}
on = registrar(MATCHING)


@on(Op.GET_LEN)
def _get_len(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(n.Call(b.names.builtin("len"), [b.stack[-1]]))


def _try_pattern(b: Builder, subject: n.Expr, pattern: n.Pattern, yes: n.Expr, no: n.Expr) -> None:
    result = b.fresh()
    cases = [
        n.MatchCase(pattern, None, [n.Assign([result], yes)]),
        n.MatchCase(n.MatchAs(None, None), None, [n.Assign([n.Name(result.id)], no)]),
    ]
    b.append(n.Match(subject, cases))
    b.stack.append(n.Name(result.id))


@on(Op.MATCH_MAPPING, Op.MATCH_SEQUENCE)
def _match_kind(b: Builder, instr: Instr) -> None:
    b.settle()
    mapping = instr.op is Op.MATCH_MAPPING
    pattern = n.MatchMapping([], [], None) if mapping else n.MatchSequence([n.MatchStar(None)])
    _try_pattern(b, b.stack[-1], pattern, n.Constant(True), n.Constant(False))


@on(Op.MATCH_KEYS)
def _match_keys(b: Builder, instr: Instr) -> None:
    if isinstance(b.stack[-1], n.Constant):
        count = len(b.stack[-1].value)
        keys: List[n.Expr] = [n.Constant(key) for key in b.stack[-1].value]
        b.settle()
    else:
        if not isinstance(b.stack[-1], n.Tuple_):
            raise UnknownOperation("a mapping pattern with keys made elsewhere")
        count = len(b.stack[-1].elts)
        b.settle()
        # A pattern takes literals and dotted names: the keys become attributes of a namespace.
        namespace = n.Call(b.names.builtin("__import__"), [n.Constant("types")])
        holder = b.assign(n.Call(n.Attribute(namespace, "SimpleNamespace"), []))
        for i in range(count):
            b.append(n.Assign([n.Attribute(holder, f"k{i}")], n.Subscript(b.stack[-1], n.Constant(i))))
        keys = [n.Attribute(n.Name(holder.id), f"k{i}") for i in range(count)]
    values = [b.fresh() for _ in range(count)]
    pattern = n.MatchMapping(keys, [n.MatchAs(None, value.id) for value in values], None)
    found = n.Tuple_([n.Name(value.id) for value in values])
    _try_pattern(b, b.stack[-2], pattern, found, n.Constant(None))


@on(Op.MATCH_CLASS)
def _match_class(b: Builder, instr: Instr) -> None:
    b.settle()
    subject, cls, names = b.pop_many(3)
    if not isinstance(names, n.Constant):
        raise UnknownOperation("a class pattern with names made elsewhere")
    if not isinstance(cls, n.Name):
        cls = b.assign(cls)
    values = [b.fresh() for _ in range(instr.arg + len(names.value))]
    patterns: Sequence[n.Pattern] = [n.MatchAs(None, value.id) for value in values]
    pattern = n.MatchClass(cls, list(patterns[: instr.arg]), list(names.value), list(patterns[instr.arg :]))
    found = n.Tuple_([n.Name(value.id) for value in values])
    _try_pattern(b, subject, pattern, found, n.Constant(None))
