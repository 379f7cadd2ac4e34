"""`except*`: its handlers in a form that is structured like other code.

The compiler keeps, while the clauses of a `try` are tried, the group, a list of what the clauses raised, and the rest
of the group that nothing has matched yet. Before, for `except* T as e: <body>`:

    PUSH_EXC_INFO; COPY 1; BUILD_LIST; SWAP 2
    <T>; CHECK_EG_MATCH; COPY 1; LOAD_CONST None; COMPARE is; BRANCH_TRUE a
    STORE e; <body, protected by c>; <clear e>; JUMP next
    c: <clear e>; LIST_APPEND 2; JUMP next
    a: POP
    next: <the other clauses>
    LIST_APPEND 1; PREP_RERAISE_STAR; COPY 1; LOAD_CONST None; COMPARE is; BRANCH_FALSE r
    POP; POP_EXCEPT; <what comes behind the statement>
    r: SWAP 2; POP_EXCEPT; RERAISE

After:

    PUSH_EXC_INFO
    <T>; STAR_MATCH; BRANCH_FALSE next
    STAR_BODY; STORE e; <body>
    next: <the other clauses>
    POP; POP_EXCEPT; <what comes behind the statement>

So the handler is a row of `if` statements, whose end leads behind the statement; `star_clauses` makes clauses of them.
A handler that differs in anything from what the compiler writes stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Dict, List, Optional, Set, Tuple

from ..bytecode.edit import edited
from ..bytecode.effects import effect
from ..bytecode.program import Instr, Op, Program, Region
from . import nodes as n
from .cfg import handler_of_each
from .transient import Marker, StarBody, StarMatch

STORES = (Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME)
BRANCHES = (Op.BRANCH_TRUE, Op.BRANCH_FALSE)
ENDS = (Op.RETURN, Op.RAISE, Op.RERAISE)
KEPT = 4  # values below a clause's body: what was handled before, the group, the list, the rest
KEPT_AFTER = 2  # what was handled before, and the exception


class _Different(Exception):
    """Not what the compiler writes for `except*`."""


@dataclass
class _Edits:
    """What is to become of one handler: instructions dropped, replaced, and those that stand higher on the stack."""

    handler: int
    dropped: Set[int] = field(default_factory=set)
    replaced: Dict[int, List[Instr]] = field(default_factory=dict)
    lowered: Set[int] = field(default_factory=set)
    collectors: Set[int] = field(default_factory=set)


def plain_groups(program: Program) -> Program:
    """`program` with the handlers of `except*` as described above."""
    starts = [index for index, instr in enumerate(program.instrs) if instr.op is Op.PUSH_EXC_INFO]
    if not any(instr.op is Op.CHECK_EG_MATCH for instr in program.instrs):
        return program
    reader = _Reader(program)
    edits = []
    for start in starts:
        try:
            edits.append(reader.handler(start))
        except (_Different, IndexError):
            continue
    return _edited(program, reader, edits) if edits else program


class _Reader:
    """Reads the handlers of one program. Its methods raise _Different (or IndexError, behind the end)."""

    def __init__(self, program: Program) -> None:
        self.instrs = program.instrs
        self.regions = program.regions
        self.region_of = handler_of_each(program)
        self.depth_of_handler = {region.handler: region.depth for region in program.regions}

    def region(self, index: int) -> Optional[Region]:
        """The region that protects an instruction."""
        number = self.region_of[index]
        return None if number < 0 else self.regions[number]

    def place(self, index: int) -> int:
        """The first instruction at or after `index` that is no jump, jumps followed."""
        seen: Set[int] = set()
        while self.instrs[index].op is Op.JUMP and index not in seen:
            seen.add(index)
            target = self.instrs[index].target
            assert target is not None
            index = target
        return index

    def expect(self, index: int, *ops: Tuple[Op, object]) -> int:
        """The index behind the instructions `ops` (operation and argument) that must stand at `index`."""
        for op, arg in ops:
            instr = self.instrs[index]
            if instr.op is not op or instr.arg != arg:
                raise _Different
            index += 1
        return index

    def handler(self, start: int) -> _Edits:
        """Read the handler whose PUSH_EXC_INFO is at `start`."""
        if start not in self.depth_of_handler:
            raise _Different
        base = self.depth_of_handler[start]
        edits = _Edits(start)
        index = start + 1
        if self.instrs[index].op is Op.COPY:
            after = self.expect(index, (Op.COPY, 1), (Op.BUILD_LIST, 0), (Op.SWAP, 2))
        else:
            after = self.expect(index, (Op.BUILD_LIST, 0), (Op.COPY, 2))
        edits.dropped.update(range(index, after))
        clause: Optional[int] = after
        end = after
        while clause is not None:
            end = self.clause(clause, base, edits)
            clause = None if self.is_end(end) else end
            if clause is not None and clause in edits.lowered:
                raise _Different
        self.end(end, edits)
        return edits

    # ------------------------------------------------------------ one clause

    def clause(self, start: int, base: int, edits: _Edits) -> int:
        """Read the clause that starts at `start`; where the next one, or the end, is."""
        test = start
        while self.instrs[test].op is not Op.CHECK_EG_MATCH:
            if self.instrs[test].op in (*ENDS, Op.PUSH_EXC_INFO, Op.PREP_RERAISE_STAR):
                raise _Different
            test += 1
        edits.lowered.update(range(start, test + 1))
        branch, matched, missed = self.none_test(test + 1)
        missed = self.place(missed)
        self.expect(missed, (Op.POP, None))
        following = self.place(missed + 1)
        first = self.instrs[matched]
        if first.op not in STORES and (first.op is not Op.POP):
            raise _Different
        name = first.arg if first.op in STORES else None
        edits.dropped.update(range(test + 1, branch))
        made = self.instrs[test]
        edits.replaced[test] = [replace(made, op=Op.STAR_MATCH)]
        edits.replaced[branch] = [
            replace(self.instrs[branch], op=Op.BRANCH_FALSE, arg=None, target=following),
            replace(first, op=Op.JUMP, arg=None, target=matched),
        ]
        edits.replaced[matched] = [replace(first, op=Op.STAR_BODY, arg=name is not None), replace(first)]
        self.body(matched + 1, base + KEPT, following, name, edits)
        return following

    def none_test(self, index: int) -> Tuple[int, int, int]:
        """The branch of the test for None at `index`; where it goes on with something else, and with None."""
        index = self.expect(index, (Op.COPY, 1), (Op.LOAD_CONST, None))
        compare, branch = self.instrs[index], self.instrs[index + 1]
        if compare.op is not Op.COMPARE or compare.arg not in ("is", "is not") or branch.op not in BRANCHES:
            raise _Different
        assert branch.target is not None
        ways = (index + 2, branch.target)
        none_jumps = (compare.arg == "is") is (branch.op is Op.BRANCH_TRUE)
        return index + 1, ways[not none_jumps], ways[none_jumps]

    def body(self, start: int, depth: int, following: int, name: Optional[str], edits: _Edits) -> None:
        """Read a clause's body: everything up to `following`, or to an end of its own."""
        todo = [(start, start, depth)]
        seen: Dict[int, int] = {}
        while todo:
            index, source, height = todo.pop()
            index = self.place(index)
            if height == depth and (index == following or self.is_end(index)):
                if self.is_end(index):
                    edits.dropped.add(index)
                self.leave(start, source, name, edits)
                continue
            if index in seen:
                if seen[index] != height:
                    raise _Different
                continue
            seen[index] = height
            instr = self.instrs[index]
            pops, pushes = effect(instr)
            if height - pops < depth or instr.op is Op.RETURN:
                raise _Different
            region = self.region(index)
            if region is not None and region.depth == depth and self.collects(region.handler, following, name):
                edits.collectors.add(region.handler)
            elif region is not None and region.depth >= depth:
                todo.append((region.handler, region.handler, region.depth + 1))
            after = height + pushes - pops
            if instr.op not in ENDS:
                todo.append((index + 1, index, after))
            if instr.target is not None:
                todo.append((instr.target, index, after - 2 if instr.op is Op.FOR_ITER else after))
        edits.lowered.update(seen)

    def leave(self, start: int, source: int, name: Optional[str], edits: _Edits) -> None:
        """Leave a body behind the instruction `source`; with a name, it must be cleared there."""
        if name is None:
            return
        first = source - 2
        if first < start:
            raise _Different
        self.clearing(first, name)
        edits.dropped.update(range(first, first + 3))

    def clearing(self, index: int, name: str) -> int:
        """The index behind the `name = None; del name` that must stand at `index`."""
        self.expect(index, (Op.LOAD_CONST, None))
        store, delete = self.instrs[index + 1 : index + 3]
        if (
            store.op not in STORES
            or not delete.op.name.startswith("DELETE_")
            or store.arg != name
            or delete.arg != name
        ):
            raise _Different
        return index + 3

    def collects(self, handler: int, following: int, name: Optional[str]) -> bool:
        """Whether `handler` notes what a clause raised."""
        if self.instrs[handler].op is Op.PUSH_EXC_INFO:
            return False
        index = handler if name is None else self.clearing(handler, name)
        index = self.place(self.expect(index, (Op.LIST_APPEND, 2)))
        if index != following and not self.is_end(index):
            raise _Different
        return True

    # ------------------------------------------------------------ the end

    def is_end(self, index: int) -> bool:
        """Whether the rest is put to what was raised, which ends the clauses."""
        if self.instrs[index].op is not Op.LIST_APPEND or self.instrs[index].arg != 1:
            return False
        return self.instrs[self.place(index + 1)].op is Op.PREP_RERAISE_STAR

    def end(self, index: int, edits: _Edits) -> None:
        """Read the end, which begins at `index`."""
        prepare = self.place(index + 1)
        branch, raises, done = self.none_test(prepare + 1)
        self.expect(self.place(raises), (Op.SWAP, 2), (Op.POP_EXCEPT, None), (Op.RERAISE, None))
        self.expect(self.place(done), (Op.POP, None), (Op.POP_EXCEPT, None))
        edits.dropped.add(index)
        edits.dropped.update(range(prepare, branch))
        edits.replaced[branch] = [replace(self.instrs[branch], op=Op.JUMP, arg=None, target=done)]


# ---------------------------------------------------------------- editing


def _edited(program: Program, reader: _Reader, edits: List[_Edits]) -> Program:
    """`program` with all edits made."""
    dropped = {index for each in edits for index in each.dropped}
    replaced = {index: made for each in edits for index, made in each.replaced.items()}
    return edited(program, dropped, replaced, lambda index: _protection(index, reader, edits))


def _protection(index: int, reader: _Reader, edits: List[_Edits]) -> Optional[Tuple[int, int]]:
    """The handler of an instruction and its depth, now that bodies have fewer values below them."""
    region = reader.region(index)
    while region is not None and any(region.handler in each.collectors for each in edits):
        region = reader.region(region.handler)
    if region is None:
        return None
    depth = region.depth
    for each in edits:
        own = reader.depth_of_handler[each.handler]
        if index in each.lowered and region.depth >= own + KEPT:
            depth -= KEPT - KEPT_AFTER
    return region.handler, depth


# ---------------------------------------------------------------- clauses


def star_clauses(body: List[n.Stmt]) -> Optional[List[n.ExceptHandler]]:
    """The clauses that the statements of a handler stand for; None if they are something else."""
    clauses: List[n.ExceptHandler] = []
    for statement in body:
        if not isinstance(statement, n.If) or not isinstance(statement.test, StarMatch) or statement.orelse:
            return None
        first = statement.body[0]
        if not isinstance(first, n.ExprStmt) or not isinstance(first.value, StarBody):
            return None
        inside, name = statement.body[1:], None
        if first.value.named:
            store = inside.pop(0) if inside else None
            if not isinstance(store, n.Assign) or len(store.targets) != 1 or not isinstance(store.value, Marker):
                return None
            target = store.targets[0]
            if not isinstance(target, n.Name):
                return None
            name = target.id
        clause = n.ExceptHandler(statement.test.type, name, inside or [n.Pass()])
        clause.offset = statement.offset
        clauses.append(clause)
    return clauses or None
