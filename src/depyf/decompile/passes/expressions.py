"""Evaluating expressions over what is held: names become what they hold, items of fresh containers become known."""

from __future__ import annotations

import copy
from typing import Any, Callable, List, Optional, Union

from .. import nodes as n
from ..effects import walk
from .fresh import Fresh, Heap, Ref, freshes, position
from .scope import Scope

_OWN_SCOPE = (n.Lambda, n.ListComp, n.SetComp, n.DictComp, n.GeneratorExp)


class PassFailed(Exception):
    """The statements have a shape that the pass does not understand."""


class Evaluation:
    """Rewrites expressions; `ahead(assignment)` takes what must be evaluated before the statement at hand."""

    def __init__(self, scope: Scope, heap: Heap, ahead: Callable[[n.Assign], None]) -> None:
        self._scope = scope
        self._heap = heap
        self._assign_ahead = ahead
        self._perhaps = 0  # how many conditional operands lie around what is being evaluated

    def is_held(self, value: n.Expr) -> bool:
        """Whether a temporary can hold `value` without being assigned to."""
        return isinstance(value, Ref) or self._scope.is_timeless(value)

    def items(self, value: n.Expr) -> Optional[List[n.Expr]]:
        """The items of a container that is known."""
        if isinstance(value, Ref) and value.fresh.name is None:
            return value.fresh.items
        if isinstance(value, n.Constant) and type(value.value) is tuple:
            return [n.Constant(item) for item in value.value]
        return None

    # ------------------------------------------------------------ values

    def value(self, expr: n.Expr, first: bool = False) -> n.Expr:
        """`expr` evaluated as far as it is known.

        `first`: nothing of the statement is evaluated before it, so that parts can be evaluated ahead of it.
        """
        if isinstance(expr, n.Name):
            held = self._heap.held.get(expr.id)
            return expr if held is None else copy.copy(held)
        if isinstance(expr, (n.Constant, Ref)) or isinstance(expr, n.Intrinsic) and expr.name == "cell":
            return expr
        if isinstance(expr, n.NamedExpr):
            return self._named(expr, first)
        if isinstance(expr, (n.List_, n.Tuple_)):
            return self._display(expr, first)
        if isinstance(expr, n.Subscript):
            return self._subscript(expr, first)
        if isinstance(expr, n.Call):
            return self._call(expr, first)
        if isinstance(expr, n.Intrinsic) and expr.name == "list_to_tuple" and len(expr.args) == 1:
            return self._to_tuple(expr, first)
        if isinstance(expr, (n.BoolOp, n.IfExp)):
            return self._conditional(expr, first)
        if isinstance(expr, _OWN_SCOPE):
            if any(isinstance(node, n.Name) and node.id in self._heap.held for node in walk(expr)):
                raise PassFailed("a nested scope uses a temporary")
            return expr
        return self._parts(expr, first)

    def _parts(self, expr: n.Expr, first: bool) -> n.Expr:
        if isinstance(expr, n.Dict_):
            for index, key in enumerate(expr.keys):
                if key is not None:
                    expr.keys[index] = self.value(key, first and index == 0)
                expr.values[index] = self.value(expr.values[index])
            return expr
        for part, item in vars(expr).items():
            if isinstance(item, n.Expr):
                setattr(expr, part, self.value(item, first))
                first = False
            elif isinstance(item, list):
                for index, each in enumerate(item):
                    if isinstance(each, n.Expr):
                        item[index] = self.value(each, first)
                        first = False
        return expr

    def _named(self, expr: n.NamedExpr, first: bool) -> n.Expr:
        value = expr.value = self.value(expr.value, first)
        name = expr.target.id
        if self._scope.is_temporary(name) and not self._perhaps and self.is_held(value):
            if self._heap.mentions(name):
                raise PassFailed("%s is bound inside an expression" % name)
            self._heap.held[name] = value
            return copy.copy(value)
        if name in self._heap.held or self._heap.mentions(name):
            raise PassFailed("%s is bound inside an expression" % name)
        return expr

    def _display(self, expr: Union[n.List_, n.Tuple_], first: bool) -> n.Expr:
        items: List[n.Expr] = []
        known = True
        for elt in expr.elts:
            if isinstance(elt, n.Starred):
                inner = self.value(elt.value, first)
                spliced = self._spliced(inner)
                if spliced is None:
                    elt.value, known = inner, False
                    items.append(elt)
                    first = False
                else:
                    items.extend(spliced)
                    first = first and all(map(self.is_held, spliced))
                continue
            value = self.value(elt, first)
            if not self.is_held(value):
                if first:
                    value = self._ahead(value)
                else:
                    known = False
            items.append(value)
        if known and not any(isinstance(item, n.Starred) for item in items) and all(map(self.is_held, items)):
            kind = "list" if isinstance(expr, n.List_) else "tuple"
            return Ref(Fresh(kind, items, expr.offset))
        expr.elts = items
        return expr

    def _ahead(self, value: n.Expr) -> n.Expr:
        """Evaluate `value` into a temporary before the statement."""
        name = self._scope.fresh()
        made = n.Assign([n.Name(name)], value)
        made.offset = value.offset
        self._assign_ahead(made)
        return n.Name(name)

    def _spliced(self, value: n.Expr) -> Optional[List[n.Expr]]:
        """What `*value` stands for in a display or call, if that is known."""
        items = self.items(value)
        if items is not None:
            return [copy.copy(item) for item in items]
        if isinstance(value, (n.List_, n.Tuple_)):
            return value.elts
        return None

    def _subscript(self, expr: n.Subscript, first: bool) -> n.Expr:
        expr.value = self.value(expr.value, first)
        expr.slice = self.value(expr.slice)
        items = self.items(expr.value)
        if items is None:
            return expr
        where = position(expr.slice, len(items))
        if where is None:
            return expr
        if isinstance(where, slice):
            kind = expr.value.fresh.kind if isinstance(expr.value, Ref) else "tuple"
            return Ref(Fresh(kind, list(items[where]), expr.offset))
        item: n.Expr = copy.copy(items[where])
        return item

    def _call(self, expr: n.Call, first: bool) -> n.Expr:
        expr.func = self.value(expr.func, first)
        args: List[n.Expr] = []
        for arg in expr.args:
            if isinstance(arg, n.Starred):
                arg.value = self.value(arg.value)
                spliced = self._spliced(arg.value)
                args.extend([arg] if spliced is None else spliced)
            else:
                args.append(self.value(arg))
        expr.args = args
        keywords: List[n.Keyword] = []
        for keyword in expr.keywords:
            keyword.value = self.value(keyword.value)
            keywords.extend(_split_keywords(keyword))
        if len({keyword.arg for keyword in keywords}) == len(keywords):
            expr.keywords = keywords
        return expr

    def _to_tuple(self, expr: n.Intrinsic, first: bool) -> n.Expr:
        value = expr.args[0] = self.value(expr.args[0], first)
        items = self.items(value)
        if items is not None:
            return Ref(Fresh("tuple", list(items), expr.offset))
        if isinstance(value, n.List_):
            made = n.Tuple_(value.elts)
            made.offset = expr.offset
            return made
        return expr

    def _conditional(self, expr: n.Expr, first: bool) -> n.Expr:
        if isinstance(expr, n.BoolOp):
            expr.values[0] = self.value(expr.values[0], first)
            self._perhaps += 1
            expr.values[1:] = [self.value(value) for value in expr.values[1:]]
        else:
            assert isinstance(expr, n.IfExp)
            expr.test = self.value(expr.test, first)
            self._perhaps += 1
            expr.body, expr.orelse = self.value(expr.body), self.value(expr.orelse)
        self._perhaps -= 1
        return expr

    # ------------------------------------------------------------ writing into fresh containers

    def target(self, target: n.Expr) -> n.Expr:
        """The parts of a target of assignment or deletion evaluated."""
        if isinstance(target, n.Attribute):
            target.value = self.value(target.value)
        elif isinstance(target, n.Subscript):
            target.value, target.slice = self.value(target.value), self.value(target.slice)
        elif isinstance(target, (n.Tuple_, n.List_)):
            target.elts = [self.target(elt) for elt in target.elts]
        elif isinstance(target, n.Starred):
            target.value = self.target(target.value)
        return target

    def _list_at(self, target: n.Subscript) -> Any:
        """(the fresh list, position) that a target names, or None."""
        owner = target.value = self.value(target.value)
        target.slice = self.value(target.slice)
        if not isinstance(owner, Ref) or owner.fresh.name is not None or owner.fresh.kind != "list":
            return None
        where = position(target.slice, len(owner.fresh.items))
        return None if where is None else (owner.fresh, where)

    def store_item(self, target: n.Subscript, value: n.Expr) -> bool:
        """`target = value` where the target is in a fresh list: done, without a statement."""
        found = self._list_at(target)
        if found is None:
            return False
        fresh, where = found
        _no_cycle(fresh, [value])
        if not isinstance(where, slice):
            fresh.items[where] = value
            return True
        items = self.items(value)
        if items is None or where.step not in (None, 1):
            return False
        fresh.items[where] = list(items)
        return True

    def delete_item(self, target: n.Subscript) -> bool:
        """`del target` where the target is in a fresh list."""
        found = self._list_at(target)
        if found is None:
            return False
        fresh, where = found
        del fresh.items[where]
        return True

    def grow(self, expr: n.Expr) -> bool:
        """`list.extend(known items)` or `list.append(value)` of a fresh list, as the interpreter's own instructions."""
        if not isinstance(expr, n.Intrinsic) or expr.name not in ("list_extend", "list_append") or len(expr.args) != 2:
            return False
        owner = expr.args[0] = self.value(expr.args[0], True)
        if not isinstance(owner, Ref) or owner.fresh.name is not None or owner.fresh.kind != "list":
            return False
        value = expr.args[1] = self.value(expr.args[1], True)
        _no_cycle(owner.fresh, [value])
        if expr.name == "list_append":
            owner.fresh.items.append(value if self.is_held(value) else self._ahead(value))
            return True
        items = self.items(value)
        if items is None:
            return False
        owner.fresh.items.extend(copy.copy(item) for item in items)
        return True


def _no_cycle(owner: Fresh, items: List[n.Expr]) -> None:
    """Raises PassFailed if `owner` would hold itself: there is no display of that."""
    if any(inner is owner for item in items for inner in freshes(item)):
        raise PassFailed("a container that holds itself")


def _split_keywords(keyword: n.Keyword) -> List[n.Keyword]:
    """`**{"a": x}` as `a=x`, where the keys are constant names."""
    value = keyword.value
    if keyword.arg is not None or not isinstance(value, n.Dict_):
        return [keyword]
    names = [key.value if isinstance(key, n.Constant) else None for key in value.keys]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        return [keyword]
    return [n.Keyword(name, item) for name, item in zip(names, value.values)]
