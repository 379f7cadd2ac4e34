"""Blocks of the dispatch form: which instructions run together, and inside how many except clauses.

A *context* tells which exceptions are being handled: a tuple with the index of the `PUSH_EXC_INFO` of each, the
outermost first. In the text a context is a nest of except clauses, so a block belongs to exactly one; code that is
reached in two contexts becomes two blocks. What an exception in a block leads to is worked out here too: handlers
that only restore the handled exception and raise again (`COPY, POP_EXCEPT, RERAISE`) are followed through, since
leaving an except clause does the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set, Tuple

from depyf.bytecode import can_raise, effect
from depyf.bytecode.program import Instr, Op, Program, Region

Context = Tuple[int, ...]
Key = Tuple[int, Context]
# What is known of a stack entry: ("previous", level), ("exception", level), ("saved", 0) or None.
Tag = Optional[Tuple[str, int]]

ENDS = (Op.RETURN, Op.RAISE, Op.RERAISE)
BRANCHES = (Op.BRANCH_TRUE, Op.BRANCH_FALSE, Op.FOR_ITER)
SILENT = (Op.COPY, Op.SWAP, Op.POP, Op.POP_EXCEPT, Op.JUMP)


@dataclass(eq=False)
class Handling:
    """What follows an exception: `target` with the stack cut to `depth` and the exception on top.

    `target` is in a context that its `PUSH_EXC_INFO` opens if `opens`, else in the context of the except clause's
    surroundings. `via`: an exception of an inner context must first leave the except clauses up to this context.
    """

    target: Block
    depth: int
    opens: bool
    via: Optional[Context] = None


@dataclass(eq=False)
class Block:
    """Instructions that run in a row. `tags` is the stack on entry, `succs` the blocks that may follow.

    `ending`: the branch or end at its end, or the `PUSH_EXC_INFO` that opens another context, or None.
    """

    key: Key
    tags: List[Tag]
    instrs: List[Instr] = field(default_factory=list)
    succs: List[Block] = field(default_factory=list)
    ending: Optional[Instr] = None
    handling: Optional[Handling] = None
    region: Optional[Region] = None
    number: int = -1

    @property
    def context(self) -> Context:
        """The context that the block runs in."""
        return self.key[1]


class Blocks:
    """All blocks of a program that can be reached, by key; `entry` is the first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._instrs = program.instrs
        self._regions: List[Optional[Region]] = [None] * len(program.instrs)
        for region in program.regions:
            for index in range(region.start, region.end):
                self._regions[index] = region
        self._leaders = self._find_leaders()
        self.blocks: Dict[Key, Block] = {}
        self._work: List[Block] = []
        self.entry = self._reach(0, (), [])
        while self._work:
            self._explore(self._work.pop())

    def _find_leaders(self) -> Set[int]:
        """Instructions that several ways lead to."""
        ways = [0] * (len(self._instrs) + 1)
        ways[0] = 2
        for index, instr in enumerate(self._instrs):
            if instr.target is not None:
                ways[instr.target] += 1 if instr.op is Op.JUMP else 2
            if instr.op is not Op.JUMP and instr.op not in ENDS:
                ways[index + 1] += 2 if instr.op in BRANCHES else 1
        leaders = {index for index, count in enumerate(ways) if count > 1}
        for region in self.program.regions:
            leaders.add(region.handler)
        return leaders

    def _reach(self, index: int, context: Context, tags: List[Tag]) -> Block:
        """The block that starts at `index` in `context`, entered with the stack `tags`."""
        key = (index, context)
        block = self.blocks.get(key)
        if block is None:
            block = self.blocks[key] = Block(key, list(tags))
            self._work.append(block)
        elif block.tags != tags:
            if len(block.tags) != len(tags):
                raise ValueError(f"the stack has different depths at offset {self._instrs[index].offset}")
            merged = [a if a == b else None for a, b in zip(block.tags, tags)]
            if merged != block.tags:
                block.tags = merged
                self._work.append(block)
        return block

    # ------------------------------------------------------------ one block

    def _explore(self, block: Block) -> None:
        index, context = block.key
        tags = list(block.tags)
        block.instrs, block.succs, block.ending, block.handling = [], [], None, None
        block.region = self._region(index)
        while True:
            instr = self._instrs[index]
            block.region = block.region if block.instrs else self._region(index)
            if instr.op is Op.JUMP:
                assert instr.target is not None
                index = instr.target
            elif instr.op is Op.PUSH_EXC_INFO:
                block.ending = instr
                inner = self._opened(index, context, tags[:-1])
                block.handling = Handling(inner, len(tags) - 1, opens=True)
                return
            elif instr.op is Op.POP_EXCEPT:
                tag = tags.pop()
                block.instrs.append(instr)
                level = tag[1] if tag is not None and tag[0] == "previous" else len(context) - 1
                if 0 <= level < len(context):
                    block.succs = [self._reach(index + 1, context[:level], tags)]
                    return
                index += 1
            elif instr.op in BRANCHES:
                self._branch(block, index, context, tags)
                return
            elif instr.op in ENDS:
                block.ending = instr
                self._protect(block, index, instr, context, tags)
                return
            else:
                self._protect(block, index, instr, context, tags)
                block.instrs.append(instr)
                step(instr, tags)
                index += 1
            if index >= len(self._instrs):
                raise ValueError("the code does not end with a return")
            if index in self._leaders or not self._same_region(index, block.region):
                block.succs = [self._reach(index, context, tags)]
                return

    def _region(self, index: int) -> Optional[Region]:
        return self._regions[index]

    def _same_region(self, index: int, region: Optional[Region]) -> bool:
        other = self._regions[index]
        if other is None or region is None:
            return other is region
        return (other.handler, other.depth) == (region.handler, region.depth)

    def _branch(self, block: Block, index: int, context: Context, tags: List[Tag]) -> None:
        instr = self._instrs[index]
        assert instr.target is not None
        block.ending = instr
        self._protect(block, index, instr, context, tags)
        if instr.op is Op.FOR_ITER:
            item, exhausted = [*tags, None], tags[:-1]
            block.succs = [self._reach(index + 1, context, item), self._reach(instr.target, context, exhausted)]
            return
        tags = tags[:-1]
        jump, fall = self._reach(instr.target, context, tags), self._reach(index + 1, context, tags)
        block.succs = [jump, fall] if instr.op is Op.BRANCH_TRUE else [fall, jump]

    # ------------------------------------------------------------ exceptions

    def _protect(self, block: Block, index: int, instr: Instr, context: Context, tags: List[Tag]) -> None:
        """Note what follows an exception in `instr`, if it can raise."""
        if block.region is None or not (can_raise(instr) or instr.op in (Op.RAISE, Op.RERAISE)):
            return
        found = self._handler(index, context, tags)
        if found is None:
            return
        target, depth, outer = found
        kept = tags[:depth]
        if self._instrs[target].op is Op.PUSH_EXC_INFO:
            block.handling = Handling(self._opened(target, outer, kept), depth, opens=True)
        else:
            block.handling = Handling(self._reach(target, outer, [*kept, None]), depth, opens=False)
        if outer != context and block.handling.opens:
            block.handling.via = outer

    def _handler(self, index: int, context: Context, tags: List[Tag]) -> Optional[Tuple[int, int, Context]]:
        """The first handler for an exception at `index` that does something: its place, depth and context."""
        tags = list(tags)
        seen: Set[int] = set()
        while True:
            region = self._region(index)
            if region is None:
                return None
            levels = [tag[1] + 1 for tag in tags[: region.depth] if tag is not None and tag[0] == "previous"]
            context = context[: max(levels, default=0)]
            tags = tags[: region.depth]
            place = self._place(region.handler)
            again = self._only_raises_again(place)
            if again is None or place in seen:
                return place, region.depth, context
            seen.add(place)
            index = again
            if again > place:  # it has restored what was handled
                tag = tags[-1] if tags else None
                level = tag[1] if tag is not None and tag[0] == "previous" else len(context) - 1
                context = context[: max(level, 0)]

    def _place(self, index: int) -> int:
        seen: Set[int] = set()
        while self._instrs[index].op is Op.JUMP and index not in seen:
            seen.add(index)
            target = self._instrs[index].target
            assert target is not None
            index = target
        return index

    def _only_raises_again(self, index: int) -> Optional[int]:
        """The RERAISE that the handler at `index` leads to without doing more than restoring what was handled."""
        ops = [instr.op for instr in self._instrs[index : index + 3]]
        if ops[:1] == [Op.RERAISE]:
            return index
        if ops == [Op.COPY, Op.POP_EXCEPT, Op.RERAISE] and self._instrs[index].arg == 2:
            return index + 2
        return None

    def _opened(self, index: int, outer: Context, below: List[Tag]) -> Block:
        """The block behind the `PUSH_EXC_INFO` at `index`."""
        level = len(outer)
        return self._reach(index + 1, (*outer, index), [*below, ("previous", level), ("exception", level)])


def step(instr: Instr, tags: List[Tag]) -> None:
    """Follow the tags of stack entries through one instruction."""
    if instr.op is Op.COPY:
        tags.append(tags[-instr.arg])
    elif instr.op is Op.SWAP:
        tags[-1], tags[-instr.arg] = tags[-instr.arg], tags[-1]
    elif instr.op is Op.LOAD_FAST_AND_CLEAR:
        tags.append(("saved", 0))
    else:
        pops, pushes = effect(instr)
        kept = _kept(instr.op, pops, pushes)
        top = tags[len(tags) - pops :]
        del tags[len(tags) - pops :]
        tags.extend(top[:kept])
        tags.extend([None] * (pushes - kept))


# Operations that leave their lowest operands where they are.
LOOKS_ON = {
    Op.CHECK_EXC_MATCH: 1,
    Op.WITH_EXCEPT_START: 3,
    Op.GET_LEN: 1,
    Op.MATCH_MAPPING: 1,
    Op.MATCH_SEQUENCE: 1,
    Op.MATCH_KEYS: 2,
    Op.IMPORT_FROM: 1,
    Op.GET_ANEXT: 1,
}


def _kept(op: Op, pops: int, pushes: int) -> int:
    return min(LOOKS_ON.get(op, 0), pops, pushes)
