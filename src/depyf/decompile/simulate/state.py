"""What a basic block has done so far: statements in order, and expressions left on the stack."""

from __future__ import annotations

from typing import Dict, List, Optional, Set

from ...bytecode.program import Instr
from .. import effects
from .. import nodes as n
from ..transient import Chain, Dup, Inplace, UnpackGroup, UnpackItem


class SimulationError(Exception):
    """The stack does not hold what the instruction needs."""


class Temporaries:
    """Hands out names for temporaries of one code object."""

    def __init__(self, taken: Set[str]) -> None:
        self.taken = taken
        self.count = 0
        self.used: List[str] = []

    def fresh(self) -> n.Name:
        """A name that the code object does not use."""
        while True:
            name = "__temp_%d" % self.count
            self.count += 1
            if name not in self.taken:
                self.used.append(name)
                return n.Name(name)


class State:
    """Statements emitted so far and the symbolic stack (bottom first)."""

    def __init__(self, stack: List[n.Expr], temporaries: Temporaries) -> None:
        self.stack = stack
        self.stmts: List[n.Stmt] = []
        self.temporaries = temporaries
        self.instrs: List[Instr] = []
        self.index = 0
        self.low = len(stack)

    # ------------------------------------------------------------ stack

    def push(self, value: n.Expr) -> None:
        """Push a value."""
        self.stack.append(value)

    def pop_raw(self) -> n.Expr:
        """Pop whatever is on top."""
        if not self.stack:
            raise SimulationError("stack underflow")
        value = self.stack.pop()
        if len(self.stack) < self.low:
            self.low = len(self.stack)
        return value

    def pop(self) -> n.Expr:
        """Pop a value that is going to be used in an expression."""
        return self.as_value(self.pop_raw())

    def pop_many(self, count: int) -> List[n.Expr]:
        """Pop `count` values, first pushed first."""
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def as_value(self, value: n.Expr) -> n.Expr:
        """Turn a pending construct into an ordinary expression."""
        if isinstance(value, Chain):
            return self.end_chain(value)
        if isinstance(value, UnpackItem):
            self.flush_group(value.group)
            target = value.group.targets[value.index]
            assert target is not None
            return target
        if isinstance(value, Inplace):
            name = self.temporaries.fresh()
            self.spill()
            self.stmts.append(n.Assign([name], value.left))
            self.stmts.append(n.AugAssign(n.Name(name.id), value.op, value.right))
            return n.Name(name.id)
        return value

    def end_chain(self, chain: Chain) -> n.Expr:
        """`(a := v)`, or a temporary where that isn't possible."""
        value = chain.value
        if all(isinstance(target, n.Name) for target in chain.targets):
            for target in chain.targets:
                assert isinstance(target, n.Name)
                value = n.NamedExpr(target, value)
            return value
        name = self.temporaries.fresh()
        self.emit(n.Assign([*chain.targets, name], value))
        return n.Name(name.id)

    # ------------------------------------------------------------ statements

    def emit(self, stmt: n.Stmt, offset: int = -1) -> None:
        """Append a statement; values on the stack that must come before it get temporaries first."""
        if offset >= 0:
            stmt.offset = offset
        self.spill(stmt)
        self.stmts.append(stmt)

    def spill(self, stmt: Optional[n.Stmt] = None) -> None:
        """Give a temporary to each stack value that evaluating `stmt` later could change, or that has effects."""
        seen: Dict[int, n.Expr] = {}
        for index, value in enumerate(self.stack):
            if isinstance(value, UnpackItem):
                self.flush_group(value.group)
                continue
            if effects.stays(value, stmt):
                continue
            if isinstance(value, Dup):
                if id(value) in seen:
                    self.stack[index] = seen[id(value)]
                    continue
            name = self.temporaries.fresh()
            replacement: n.Expr = n.Name(name.id)
            if isinstance(value, Chain):
                self.stmts.append(n.Assign([*value.targets, name], value.value))
            elif isinstance(value, Inplace):
                self.stmts.append(n.Assign([name], value.left))
                self.stmts.append(n.AugAssign(n.Name(name.id), value.op, value.right))
            else:
                inner = value.value if isinstance(value, Dup) else value
                self.stmts.append(n.Assign([name], inner))
                if isinstance(value, Dup):
                    seen[id(value)] = replacement
                    value.value = replacement
            self.stack[index] = replacement

    def flush_group(self, group: UnpackGroup) -> None:
        """End an unpacking early: items without a target get temporaries."""
        if group.done:
            return
        for index, target in enumerate(group.targets):
            if target is None:
                group.targets[index] = self.temporaries.fresh()
        for index, value in enumerate(self.stack):
            if isinstance(value, UnpackItem) and value.group is group:
                target = group.targets[value.index]
                assert isinstance(target, n.Name)
                self.stack[index] = n.Name(target.id)
        self.finish_group(group)

    def finish_group(self, group: UnpackGroup) -> None:
        """All targets are known: assign."""
        group.done = True
        elts: List[n.Expr] = []
        for index, target in enumerate(group.targets):
            assert target is not None
            elts.append(n.Starred(target) if index == group.star else target)
        self.store(n.Tuple_(elts), group.value, -1)

    # ------------------------------------------------------------ stores

    def store(self, target: n.Expr, value: n.Expr, offset: int) -> None:
        """Assign `value`, just popped, to `target`."""
        if isinstance(value, UnpackItem):
            group = value.group
            if not group.done:
                group.targets[value.index] = target
                if all(item is not None for item in group.targets):
                    self.finish_group(group)
                return
            value = self.as_value(value)
        if isinstance(value, Dup) and self.stack and self.stack[-1] is value:
            inner = value.value
            if isinstance(inner, Chain):
                inner.targets.append(target)
                self.stack[-1] = inner
            else:
                self.stack[-1] = Chain([target], inner)
            return
        if isinstance(value, Chain):
            self.emit(n.Assign([*value.targets, target], value.value), offset)
            return
        if isinstance(value, Inplace):
            if _same_place(target, value.left):
                self.emit(n.AugAssign(_undup(target), value.op, value.right), offset)
                return
            value = self.as_value(value)
        self.emit(n.Assign([target], value), offset)


def _undup(target: n.Expr) -> n.Expr:
    """The target of an augmented assignment without the marks of duplication."""
    if isinstance(target, Dup):
        return target.value
    if isinstance(target, n.Attribute):
        return n.Attribute(_undup(target.value), target.attr)
    if isinstance(target, n.Subscript):
        index = target.slice
        if isinstance(index, n.Slice):
            parts = [None if part is None else _undup(part) for part in (index.lower, index.upper, index.step)]
            index = n.Slice(*parts)
        return n.Subscript(_undup(target.value), _undup(index))
    return target


def _same_place(target: n.Expr, source: n.Expr) -> bool:
    """Whether a store to `target` goes where `source` was loaded from, with each part evaluated once."""
    if isinstance(target, n.Name):
        return isinstance(source, n.Name) and source.id == target.id
    if isinstance(target, n.Attribute):
        return isinstance(source, n.Attribute) and source.attr == target.attr and _same_part(target.value, source.value)
    if isinstance(target, n.Subscript):
        return (
            isinstance(source, n.Subscript)
            and _same_part(target.value, source.value)
            and _same_part(target.slice, source.slice)
        )
    return False


def _same_part(one: Optional[n.Expr], two: Optional[n.Expr]) -> bool:
    if one is two:
        return one is None or isinstance(one, (Dup, n.Constant))
    if isinstance(one, n.Slice) and isinstance(two, n.Slice):
        return _same_part(one.lower, two.lower) and _same_part(one.upper, two.upper) and _same_part(one.step, two.step)
    if isinstance(one, n.Constant) and isinstance(two, n.Constant):
        return one.value is two.value
    return False
