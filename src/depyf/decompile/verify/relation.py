"""How the values of one side relate to those of the other: matching operands, and joining states at a loop or join."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from .constants import same_constant
from .own_builtins import ITEM
from .values import EXACT_TYPES, UNBOUND, GiveUp, Known, State, Values, Virtual


def match(left: List[int], right: List[int], first: State, second: State, values: Values) -> bool:
    """Whether the operands on both sides are the same values.

    Virtual objects among them get out by this: where both sides hold the same items, both states get one common
    number for the object from here on. Pairs of nested code that must be compared go to `values.codes`.
    """
    pairs: Dict[int, int] = {}
    if not all(_alike(a, b, first, second, values, pairs) for a, b in zip(left, right)):
        return False
    if len(left) != len(right) or len(set(pairs.values())) < len(pairs):
        return False
    for a, b in pairs.items():
        kind = first.heap[a].kind
        common = values.fresh(Known(kind) if kind in EXACT_TYPES else None)
        for state, number in ((first, a), (second, b)):
            state.replace(number, common)
            current = state.heap.pop(common)
            if current.kind == "tuple":
                state.heap[common] = Virtual("tuple", current.items, shown=True)
    return True


def same_variables(first: State, second: State, names: List[str], values: Values) -> Optional[str]:
    """The first of `names` whose value differs between the sides, or None. Nothing gets out by this."""
    pairs: Dict[int, int] = {}
    for name in names:
        a, b = first.variables.get(name, UNBOUND), second.variables.get(name, UNBOUND)
        if a != b and not _alike(a, b, first, second, values, pairs):
            return name
    return None


def _alike(a: int, b: int, first: State, second: State, values: Values, pairs: Dict[int, int]) -> bool:
    """Whether two values are the same object, given the `pairs` of virtual objects so far, which this extends."""
    work = [(a, b)]
    while work:
        a, b = work.pop()
        one, two = first.heap.get(a), second.heap.get(b)
        if a == b and (one is None or one.shown):
            continue
        if values.is_const(a) and values.is_const(b):
            if not same_constant(values.constant(a), values.constant(b), values.codes):
                return False
            continue
        if one is None or two is None or one.shown or two.shown:
            return False
        if pairs.get(a, b) != b:
            return False
        if a in pairs:
            continue
        if one.kind != two.kind or one.name != two.name or len(one.items) != len(two.items):
            return False
        pairs[a] = b
        work.extend(zip(one.items, two.items))
    return True


@dataclass
class Joint:
    """The states of both sides at one pair of places."""

    first: State
    second: State


@dataclass
class _Join:
    values: Values
    old: Joint
    new: Joint
    memo: Dict[Tuple[int, int], int] = field(default_factory=dict)
    heaps: Tuple[Dict[int, Virtual], Dict[int, Virtual]] = field(default_factory=lambda: ({}, {}))
    conflicts: Tuple[List[Tuple[int, int]], List[Tuple[int, int]]] = field(default_factory=lambda: ([], []))
    changed: bool = False

    def value(self, a: int, b: int, side: int) -> int:
        """The value that stands for `a` of the old and `b` of the new state of `side`."""
        known = self.memo.get((a, b))
        if known is not None:
            other = self.heaps[1 - side].get(known)
            if other is not None and other.shown:  # a tuple that both sides hold: its items are common too
                self.heaps[side][known] = other
            return known
        one, two = self._heap(self.old, side).get(a), self._heap(self.new, side).get(b)
        if one is None and two is None:
            result = self._plain(a, b)
            self.memo[(a, b)] = result
            return result
        if one is None or two is None or not _same_shape(one, two):
            maybe = self.values.may_be_unbound(a) or self.values.may_be_unbound(b)
            kinds = {self._kind(one, a), self._kind(two, b)}
            kind = "maybe" if maybe else kinds.pop() if len(kinds) == 1 else None
            result = self.values.fresh(Known(kind) if kind else None)
            self.memo[(a, b)] = result
            self.conflicts[side].append((a, b))
            self.changed = self.changed or one is not None
            return result
        result = a if a == b else self.values.fresh()
        self.memo[(a, b)] = result
        items = tuple(self.value(x, y, side) for x, y in zip(one.items, two.items))
        self.heaps[side][result] = Virtual(one.kind, items, one.shown, one.name)
        return result

    def _kind(self, virtual: Optional[Virtual], value: int) -> Optional[str]:
        """The exact type of a value, if it is one of EXACT_TYPES."""
        known = self.values.known.get(value)
        kind = virtual.kind if virtual is not None else known.kind if known is not None else None
        return kind if kind in EXACT_TYPES else None

    def _plain(self, a: int, b: int) -> int:
        if a == b:
            return a
        values = self.values
        if values.is_bool(a) and values.is_bool(b):
            one, two = values.known[a], values.known[b]
            if one.kind == "not" and two.kind == "not":
                base = self.memo.get((one.data, two.data))
                if base is None:
                    base = self.memo[(one.data, two.data)] = values.fresh(Known("bool"))
                return values.negation(base)
            return values.fresh(Known("bool"))
        if all(values.is_bool(x) or values.is_const(x) and type(values.constant(x)) is bool for x in (a, b)):
            return values.fresh(Known("bool"))
        if values.may_be_unbound(a) or values.may_be_unbound(b):
            return values.fresh(Known("maybe"))
        if values.known.get(a) == values.known.get(b) == ITEM:
            return values.fresh(ITEM)
        kind = self._kind(None, a)
        return values.fresh(Known(kind) if kind is not None and kind == self._kind(None, b) else None)

    def _heap(self, joint: Joint, side: int) -> Dict[int, Virtual]:
        return joint.second.heap if side else joint.first.heap

    def pair_conflicts(self) -> Dict[int, int]:
        """Objects of both sides that correspond in both states and now become one common value: number -> common."""
        common: Dict[int, int] = {}
        left = list(self.conflicts[1])
        for a, b in self.conflicts[0]:
            for position, (c, d) in enumerate(left):
                if self._correspond(self.old, a, c) and self._correspond(self.new, b, d):
                    common[self.memo[(c, d)]] = self.memo[(a, b)]
                    self.memo[(c, d)] = self.memo[(a, b)]
                    del left[position]
                    break
        return common

    def _correspond(self, joint: Joint, a: int, b: int) -> bool:
        return _alike(a, b, joint.first, joint.second, self.values, {})


def _same_shape(one: Virtual, two: Virtual) -> bool:
    return (one.kind, len(one.items), one.shown, one.name) == (two.kind, len(two.items), two.shown, two.name)


def join(old: Joint, new: Joint, values: Values) -> Optional[Joint]:
    """What is true of both `old` and `new`, or None if that is all that `old` says."""
    work = _Join(values, old, new)
    states: List[State] = []
    for side, (a, b) in enumerate(((old.first, new.first), (old.second, new.second))):
        if len(a.stack) != len(b.stack):
            raise GiveUp("the stack has different depths at one place")
        names = list(a.variables) + [name for name in b.variables if name not in a.variables]
        states.append(
            State(
                [work.value(x, y, side) for x, y in zip(a.stack, b.stack)],
                {name: work.value(a.variables.get(name, 0), b.variables.get(name, 0), side) for name in names},
                work.value(a.handled, b.handled, side),
                work.heaps[side],
            )
        )
    common = work.pair_conflicts()
    if not work.changed and not _weaker(work):
        return None
    for number, replacement in common.items():
        states[1].replace(number, replacement)
    return Joint(states[0], states[1])


def _weaker(work: _Join) -> bool:
    """Whether the join tells less than the old states: a value is split in two, or less is known of it."""
    target: Dict[int, int] = {}
    for (a, _), result in work.memo.items():
        if target.setdefault(a, result) != result:
            return True
        if work.values.known.get(a) != work.values.known.get(result):
            before, after = work.values.known.get(a), work.values.known.get(result)
            if before is not None and (after is None or before.kind != after.kind):
                return True
            if after is not None and after.kind == "maybe" and before is None:
                return True
    return False
