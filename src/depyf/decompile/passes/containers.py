"""Evaluate fresh lists and tuples where the code only packs values into them and takes them out again.

Before:

    __temp_4 = [graph_out_0[1]]
    __temp_5 = __temp_4[0:1]
    __temp_5.extend([b])
    __temp_6 = [__temp_5]
    return f(*[[], *__temp_6[0]])

After:

    __temp_7 = graph_out_0[1]
    return f([], __temp_7, b)

Requires: finished statements. Guarantees: every other effect stays, in its order.

Sound because: a display makes an object of exactly the type list or tuple that nobody else has seen. As long as only
temporaries hold it and it is only read and written at constant positions, by slices with constant bounds, `extend` and
`append` with known items, no user code runs and nobody can tell whether it exists. As soon as it gets anywhere else
(an argument, an attribute, a variable of the user, a construct of unknown shape), it is made there, with the items that
it has by then; once made, it is an object like any other. Items are constants, temporaries and local variables;
whatever else is put into a display is evaluated into a temporary first, where the display stands. Before a variable
that is an item is bound again, its value gets another name.
"""

from __future__ import annotations

import copy
from typing import AbstractSet, Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

from .. import nodes as n
from ..effects import stored_names
from ..tree import blocks_of, rewrite
from .expressions import Evaluation
from .fresh import Fresh, Heap, Ref, freshes
from .reading import Later, bound_inside, leaves, reads_of
from .scope import Scope

Names = AbstractSet[str]
_NONE: FrozenSet[str] = frozenset()


def evaluate_containers(body: List[n.Stmt], scope: Scope) -> List[n.Stmt]:
    """The statements with fresh containers evaluated. Raises PassFailed on a shape that it does not understand."""
    return _Block(scope, Heap(), _NONE, _NONE).run(body, _NONE)


class _Block:
    """Rewrites the statements of one block into `out`.

    `pinned`: temporaries that must not be held back. `kept`: those that hold the same wherever control goes from here.
    `live`: the names that may be read after the statement at hand.
    """

    def __init__(self, scope: Scope, heap: Heap, pinned: Names, kept: Names) -> None:
        self.scope = scope
        self.heap = heap
        self.pinned = pinned
        self.kept = kept
        self.out: List[n.Stmt] = []
        self.live: Names = _NONE
        self.reads: Names = _NONE  # of the statement at hand
        self.evaluation = Evaluation(scope, heap, self._ahead)

    def run(self, block: List[n.Stmt], after: Names) -> List[n.Stmt]:
        """The new statements. `after`: names that may be read after the block."""
        later = Later(block, after)
        for index, statement in enumerate(block):
            ends = isinstance(statement, (n.Return, n.Raise))
            self.live = _NONE if ends else later.names(index)
            self.reads = reads_of([statement])
            self._statement(statement)
        return self.out

    def end(self, after: Names) -> None:
        """Other ways lead to where the block ends: what is read there is written down."""
        self._make_all(after - self.kept)

    def _statement(self, statement: n.Stmt) -> None:
        if isinstance(statement, n.Assign):
            self._assign(statement)
        elif isinstance(statement, n.Delete):
            self._delete(statement)
        elif isinstance(statement, n.ExprStmt):
            self._expression(statement)
        elif isinstance(statement, n.If):
            self._if(statement)
        elif isinstance(statement, (n.Return, n.Raise)):
            for key in ("value", "exc", "cause"):
                value = getattr(statement, key, None)
                if value is not None:
                    setattr(statement, key, self.evaluation.value(value))
            self._emit(statement)
        elif isinstance(statement, (n.Break, n.Continue)):
            self._make_all(self.live - self.kept)
            self.out.append(statement)
        elif blocks_of(statement):
            self._compound(statement)
        else:
            self._make_all(self.reads)
            self._emit(statement)

    # ------------------------------------------------------------ simple statements

    def _assign(self, statement: n.Assign) -> None:
        ahead = all(map(self._takes_parts, statement.targets))
        was = statement.value
        value = statement.value = self.evaluation.value(statement.value, ahead)
        rest = [target for target in statement.targets if not self._hold(target, value)]
        if not rest or len(rest) == 1 and value is not was and _is_name(rest[0], value):
            return
        temporaries = [target.id for target in rest if isinstance(target, n.Name) and self._takes_parts(target)]
        others = {name for name in temporaries[1:] if name not in self.pinned}  # the first one will do
        statement.targets = [
            self.evaluation.target(target)
            for target in rest
            if not isinstance(target, n.Name) or target.id not in others
        ]
        self._emit(statement)
        for name in others:
            self._bind(name)
            self.heap.held[name] = n.Name(temporaries[0])

    def _takes_parts(self, target: n.Expr) -> bool:
        """Whether a display assigned to `target` is worth evaluating part by part."""
        if isinstance(target, n.Name):
            return self.scope.is_temporary(target.id)
        if isinstance(target, (n.Tuple_, n.List_)):
            return all(map(self._takes_parts, target.elts))
        return isinstance(target, n.Subscript) and self._takes_parts(target.value)

    def _hold(self, target: n.Expr, value: n.Expr) -> bool:
        """Assign without a statement, if possible."""
        if not self.evaluation.is_held(value):
            return False
        if isinstance(target, n.Name):
            if not self.scope.is_temporary(target.id) or target.id in self.pinned:
                return False
            self._bind(target.id)
            self.heap.held[target.id] = value
            return True
        if isinstance(target, n.Subscript):
            return self.evaluation.store_item(target, value)
        if isinstance(target, (n.Tuple_, n.List_)):
            return self._unpack(target.elts, value)
        return False

    def _unpack(self, targets: Sequence[n.Expr], value: n.Expr) -> bool:
        items = self.evaluation.items(value)
        names = {target.id for target in targets if isinstance(target, n.Name)}
        if items is None or len(items) != len(targets) or len(names) != len(targets):
            return False
        mentioned = {item.id for item in items if isinstance(item, n.Name)}
        if names & mentioned or names & self.pinned or not all(map(self.scope.is_temporary, names)):
            return False
        return all(self._hold(target, item) for target, item in zip(targets, list(items)))

    def _delete(self, statement: n.Delete) -> None:
        for target in statement.targets:
            if isinstance(target, n.Subscript):
                if self.evaluation.delete_item(target):
                    continue
            elif isinstance(target, n.Name) and self.heap.held.pop(target.id, None) is not None:
                continue
            made = n.Delete([self.evaluation.target(target)])
            made.offset, made.owner = statement.offset, statement.owner
            self._emit(made)

    def _expression(self, statement: n.ExprStmt) -> None:
        if self.evaluation.grow(statement.value):
            return
        value = self.evaluation.value(statement.value)
        needless = isinstance(value, n.Name) and self.scope.is_temporary(value.id)
        if needless or self.scope.generated and self.evaluation.is_held(value):
            return
        statement.value = value
        self._emit(statement)

    # ------------------------------------------------------------ compound statements

    def _if(self, statement: n.If) -> None:
        statement.test = self.evaluation.value(statement.test)
        live = self.live
        self.live = {*live, *reads_of(statement.body), *reads_of(statement.orelse)}
        statement.test = self._settle([statement.test])[0]
        ways_on: List[_Block] = []
        for block in (statement.body, statement.orelse):
            arm = _Block(self.scope, self.heap.copy(), self.pinned, self.kept)
            falls = not leaves(block)
            block[:] = arm.run(block, live)
            if falls:
                ways_on.append(arm)
        if len(ways_on) == 2:
            same = _held_by_both(*ways_on)
            for arm, block in zip(ways_on, (statement.body, statement.orelse)):
                arm.kept = {*arm.kept, *same}
                arm.end(live)
                block[:] = arm.out
            self.heap.held = same
        elif ways_on:
            self.heap.held = ways_on[0].heap.held
        self.out.append(statement)

    def _compound(self, statement: n.Stmt) -> None:
        """A loop, try, with...: what is held and read inside or later is written down before it.

        All but values that stay the same: of constants and variables that are not bound inside.
        """
        before = self.live
        self.live = after = frozenset(before | self.reads)
        if isinstance(statement, n.For):
            statement.iter = self._settle([self.evaluation.value(statement.iter)])[0]
        bound = bound_inside(statement)
        stable = {name: value for name, value in self.heap.held.items() if _is_stable(name, value, bound)}
        self._make_all(after - set(stable))
        kept = self.kept | set(stable)
        _replace(statement, stable)
        blocks = blocks_of(statement)
        jumps = isinstance(statement, (n.Try, n.With))  # an exception may lead from anywhere inside to what comes later
        reads = [reads_of(block) for block in blocks]
        for number, block in enumerate(blocks):
            pinned: Set[str] = set(self.pinned)
            if jumps:
                pinned.update(before, *(reads[other] for other in range(len(blocks)) if other != number))
            inside = _Block(self.scope, Heap(dict(stable)), pinned, kept)
            falls = not leaves(block)
            inside.run(block, after)
            if falls:
                inside.end(after)
            block[:] = inside.out
        self.heap.held = stable
        self.out.append(statement)

    # ------------------------------------------------------------ making what was held back

    def _ahead(self, assignment: n.Assign) -> None:
        """Evaluate part of the statement at hand before the rest."""
        live, self.live = self.live, self.live | self.reads
        self._emit(assignment)
        self.live = live

    def _emit(self, statement: n.Stmt) -> None:
        """Append a simple statement; containers in it are made, in place or before it."""
        single = [key for key, value in vars(statement).items() if isinstance(value, n.Expr)]
        lists = [value for value in vars(statement).values() if isinstance(value, list)]
        roots = [getattr(statement, key) for key in single]
        for each in lists:
            roots.extend(each)
        made = self._settle(roots)
        for key, value in zip(single, made):
            setattr(statement, key, value)
        start = len(single)
        for each in lists:
            each[:] = made[start : start + len(each)]
            start += len(each)
        for name in stored_names(statement):
            self._bind(name)
        self.out.append(statement)

    def _settle(self, roots: List[n.Expr]) -> List[n.Expr]:
        """The expressions with displays, or names of containers made before, in place of `Ref`s."""
        counts, containers = _count(roots)
        if not counts:
            return roots
        shared = self._shared()
        needed = {key for key, count in counts.items() if count > 1 or key in shared}
        read = reads_of([*roots, *(item for each in containers.values() for item in each.items)])
        for key in needed:
            self._make(containers[key], needed, read)
        return [self._display(root) for root in roots]

    def _shared(self) -> Dict[int, Fresh]:
        """The containers that temporaries still lead to later."""
        return self.heap.reachable([name for name in self.heap.held if name in self.live])

    def _make(self, fresh: Fresh, needed: Set[int], read: Names = _NONE) -> None:
        """Give a container a variable of its own now, after those inside it that need one.

        `read`: variables that the statement at hand reads; they must keep their values.
        """
        if fresh.name is not None:
            return
        for inner in freshes(Ref(fresh)):
            if inner is not fresh and id(inner) in needed:
                self._make(inner, needed, read)
        name = self._name_for(fresh, read)
        made = n.Assign([n.Name(name)], self._display(Ref(fresh)))
        made.offset = fresh.offset
        self._bind(name)
        self.out.append(made)
        fresh.name = name

    def _name_for(self, fresh: Fresh, read: Names) -> str:
        """A temporary that is meant to hold the container, or a new one."""
        for name, value in self.heap.held.items():
            if isinstance(value, Ref) and value.fresh is fresh and name in self.live and name not in read:
                return name
        return self.scope.fresh()

    def _display(self, value: n.Expr) -> n.Expr:
        """`value` with `Ref`s replaced, in place."""
        if isinstance(value, Ref):
            fresh = value.fresh
            if fresh.name is not None:
                return n.Name(fresh.name)
            items = [self._display(copy.copy(item)) for item in fresh.items]
            display: n.Expr = n.List_(items) if fresh.kind == "list" else n.Tuple_(items)
            display.offset = fresh.offset
            return display
        self._display_below(value)
        return value

    def _display_below(self, node: n.Node) -> None:
        for key, item in vars(node).items():
            if isinstance(item, n.Expr):
                setattr(node, key, self._display(item))
            elif isinstance(item, list):
                for index, each in enumerate(item):
                    if isinstance(each, n.Expr):
                        item[index] = self._display(each)
                    elif isinstance(each, n.Node):
                        self._display_below(each)

    def _make_all(self, names: Names) -> None:
        """Write assignments for what the temporaries among `names` hold."""
        self.live = names
        for name in [name for name in self.heap.held if name in names]:
            if name not in self.heap.held:
                continue  # made on the way
            value = self.heap.held.pop(name)
            if not isinstance(value, Ref) or value.fresh.name is not None:
                made = n.Assign([n.Name(name)], self._display(copy.copy(value)))
                self._bind(name)
                self.out.append(made)
                continue
            self.heap.held[name] = value
            counts, _ = _count([value])
            shared = self._shared()
            self._make(value.fresh, {key for key, count in counts.items() if count > 1 or key in shared})
            if value.fresh.name != name:
                self.heap.held.pop(name, None)
                self._bind(name)
                self.out.append(n.Assign([n.Name(name)], n.Name(value.fresh.name or name)))

    def _bind(self, name: str) -> None:
        """The variable `name` is about to be bound or deleted."""
        self.heap.held.pop(name, None)
        if self.heap.mentions(name):
            kept = self.scope.fresh()
            old = n.Name(name)
            old.local = True  # type: ignore[attr-defined]
            self.out.append(n.Assign([n.Name(kept)], old))
            self.heap.rename(name, kept)


def _count(roots: Sequence[n.Expr]) -> Tuple[Dict[int, int], Dict[int, Fresh]]:
    """How often each container is used below `roots` and in the containers there, by id, and the containers."""
    counts: Dict[int, int] = {}
    containers: Dict[int, Fresh] = {}
    todo: List[object] = list(roots)
    while todo:
        item = todo.pop()
        if isinstance(item, Ref):
            key = id(item.fresh)
            counts[key] = counts.get(key, 0) + 1
            if key not in containers:
                containers[key] = item.fresh
                todo.extend(item.fresh.items)
        elif isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, n.Node):
            todo.extend(value for value in vars(item).values() if isinstance(value, (list, n.Node)))
    return counts, containers


def _is_stable(name: str, value: n.Expr, bound: Names) -> bool:
    """Whether `name` holds the same value for as long as only variables of `bound` are bound."""
    if name in bound or isinstance(value, Ref):
        return False
    return not isinstance(value, n.Name) or value.id not in bound


def _replace(statement: n.Stmt, stable: Dict[str, n.Expr]) -> None:
    """Write what stays the same in place of its names, everywhere below `statement`."""

    def held(node: n.Node) -> Optional[n.Node]:
        return copy.copy(stable[node.id]) if isinstance(node, n.Name) and node.id in stable else None

    rewrite([statement], held)


def _held_by_both(one: _Block, other: _Block) -> Dict[str, n.Expr]:
    """What is held alike at the ends of two blocks."""
    found: Dict[str, n.Expr] = {}
    for name, value in one.heap.held.items():
        there = other.heap.held.get(name)
        if there is not None and _alike(value, there):
            found[name] = value
    return found


def _alike(one: n.Expr, other: n.Expr) -> bool:
    """Whether two held values are the same variable or constant."""
    if isinstance(one, n.Name):
        return isinstance(other, n.Name) and one.id == other.id
    return isinstance(one, n.Constant) and isinstance(other, n.Constant) and one.value is other.value


def _is_name(target: n.Expr, value: n.Expr) -> bool:
    """Whether `target = value` assigns a variable to itself."""
    return isinstance(target, n.Name) and isinstance(value, n.Name) and target.id == value.id
