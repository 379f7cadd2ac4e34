"""Basic blocks of a canonical program, with normal and exception edges.

A block never spans a change of protected region, so each block has one handler or none. `build` drops blocks that
cannot be reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterable, List, Optional, Set

from ..bytecode import can_raise
from ..bytecode.program import Instr, Op, Program, Region

BRANCHES = frozenset({Op.BRANCH_TRUE, Op.BRANCH_FALSE})
ENDS = frozenset({Op.RETURN, Op.RAISE, Op.RERAISE})


@dataclass(eq=False)
class Block:
    """`succs`: [jump target] or, for a branch, [true, false]; for FOR_ITER [next, exhausted]; empty after an end.

    `handler`: the block where an exception goes, or None. `neutral`: nothing in it can raise, so it may be written
    inside or outside of a protected region. `instrs` excludes plain jumps and branches, see `succs`, `branch`.
    """

    id: int
    start: int
    instrs: List[Instr]
    succs: List[Block] = field(default_factory=list)
    handler: Optional[Block] = None
    neutral: bool = True
    kind: str = "jump"  # "jump", "branch", "for", "end"
    depth: int = -1
    handler_depth: int = -1
    is_handler: bool = False
    is_async: bool = False


@dataclass
class Graph:
    """Blocks in order of their first instruction; `entry` is the first."""

    program: Program
    blocks: List[Block]
    entry: Block
    at: Dict[int, Block]

    def reachable(self) -> List[Block]:
        """Blocks that can be reached from the entry along normal and exception edges, in program order."""
        seen: Set[int] = {self.entry.id}
        todo = [self.entry]
        while todo:
            block = todo.pop()
            outs = list(block.succs)
            if block.handler is not None:
                outs.append(block.handler)
            for nxt in outs:
                if nxt.id not in seen:
                    seen.add(nxt.id)
                    todo.append(nxt)
        return [b for b in self.blocks if b.id in seen]

    def prune(self) -> None:
        """Drop what can't be reached."""
        self.blocks = self.reachable()


def handler_of_each(program: Program) -> List[int]:
    """Per instruction the index of its region, or -1."""
    result = [-1] * len(program.instrs)
    for number, region in enumerate(program.regions):
        for index in range(region.start, region.end):
            result[index] = number
    return result


def _bridged(program: Program, region_of: List[int]) -> List[int]:
    """`region_of` with what cannot raise, between two instructions of one region in a straight line, in that region.

    It may be anywhere, and else a with statement whose body cannot raise would lie in three blocks.
    """
    joins = {instr.target for instr in program.instrs if instr.target is not None}
    joins.update(region.handler for region in program.regions)
    result = list(region_of)
    last: Optional[int] = None  # the last instruction with a region, if only silent ones of a straight line came since
    for index, (instr, number) in enumerate(zip(program.instrs, region_of)):
        if index in joins:
            last = None
        if number >= 0:
            if last is not None and _same_handler(program.regions[number], program.regions[region_of[last]]):
                result[last + 1 : index] = [number] * (index - last - 1)
            last = index
        if instr.target is not None or instr.op in ENDS or number < 0 and can_raise(instr):
            last = None
    for index in range(1, len(result)):
        target = program.instrs[index].target
        if result[index] < 0 and program.instrs[index].op is Op.JUMP and target is not None:
            # 3.12 leaves the jump back of a loop out of the protected range around the loop
            before, behind = result[index - 1], result[target]
            if before >= 0 and behind >= 0 and _same_handler(program.regions[before], program.regions[behind]):
                result[index] = before
    return result


def _same_handler(one: Region, other: Region) -> bool:
    return one.handler == other.handler and one.depth == other.depth


def build(program: Program, extra_leaders: Iterable[int] = ()) -> Graph:
    """The control-flow graph of `program`; `extra_leaders` are indices that must start a block."""
    instrs = program.instrs
    region_of = _bridged(program, handler_of_each(program))
    leaders: Set[int] = {0, *extra_leaders}
    for region in program.regions:
        leaders.add(region.handler)
    previous = -2
    for index, instr in enumerate(instrs):
        if instr.target is not None:
            leaders.add(instr.target)
            leaders.add(index + 1)
            if instr.op is Op.FOR_ITER:
                leaders.add(index)
        elif instr.op in ENDS:
            leaders.add(index + 1)
        number = region_of[index]
        if number != previous:
            if number < 0 or previous < 0 or not _same_handler(program.regions[number], program.regions[previous]):
                leaders.add(index)
            previous = number
    starts = sorted(index for index in leaders if index < len(instrs))
    blocks: List[Block] = []
    at: Dict[int, Block] = {}
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(instrs)
        block = Block(number, start, instrs[start:end])
        blocks.append(block)
        at[start] = block
    for block in blocks:
        _link(block, program, at, region_of)
    graph = Graph(program, blocks, blocks[0], at)
    graph.prune()
    return graph


def _link(block: Block, program: Program, at: Dict[int, Block], region_of: List[int]) -> None:
    last = block.instrs[-1]
    after = at.get(block.start + len(block.instrs))
    number = region_of[block.start]
    if number >= 0:
        region = program.regions[number]
        block.handler = at[region.handler]
        block.handler.is_handler = True
        block.handler_depth = region.depth
    block.neutral = not any(can_raise(instr) for instr in block.instrs)
    if last.op is Op.JUMP:
        assert last.target is not None
        block.instrs = block.instrs[:-1]
        block.succs = [at[last.target]]
    elif last.op in BRANCHES:
        assert last.target is not None and after is not None
        block.kind = "branch"
        block.instrs = block.instrs[:-1]
        target = at[last.target]
        block.succs = [target, after] if last.op is Op.BRANCH_TRUE else [after, target]
    elif last.op is Op.FOR_ITER:
        assert last.target is not None and after is not None
        block.kind = "for"
        block.instrs = block.instrs[:-1]
        block.succs = [after, at[last.target]]
    elif last.op in ENDS:
        block.kind = "end"
    elif after is not None:
        block.succs = [after]
    else:
        block.kind = "end"
