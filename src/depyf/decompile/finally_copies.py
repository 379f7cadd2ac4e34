"""Undo the compiler's copies of `finally` bodies.

The body of a `finally` is compiled once per way out of the `try` (fall-through, return, break, continue) and once as
the exception handler. Here each way out is led past its copy, straight to what follows it, so that one body is left.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, List, Optional, Set, Tuple

from ..bytecode.program import Instr, Op, Program
from .cfg import BRANCHES, Block, Graph
from .regions import Regions, TryRegion


class NoCopy(Exception):
    """A way out of a try does not begin with a copy of its finally body."""


def undo(graph: Graph, regions: Regions) -> None:
    """Redirect every way out of every `finally` region. Raises NoCopy where one has no copy."""
    finals = [region for region in regions.all if region.kind == "finally"]
    finals.sort(key=lambda region: -len(region.chain()))
    for region in finals:
        _undo_one(graph, regions, region)
    graph.prune()


def _undo_one(graph: Graph, regions: Regions, region: TryRegion) -> None:
    inside = {block.id for block in graph.blocks if _within(regions.of.get(block.id), region)}
    for block in list(graph.blocks):
        if block.id not in inside:
            continue
        for position, target in enumerate(block.succs):
            if target.id in inside or target is region.handler:
                continue
            following = continuation(graph.program, region.handler.start + 1, target.start)
            if following is None:
                block.succs[position] = _nowhere(graph)
            else:
                block.succs[position] = split(graph, regions, following)


def _nowhere(graph: Graph) -> Block:
    """Where a way out leads whose finally body never completes: an empty block with an end."""
    index = len(graph.program.instrs)
    if index not in graph.at:
        block = Block(max(item.id for item in graph.at.values()) + 1, index, [], kind="end")
        graph.at[index] = block
        graph.blocks.append(block)
    return graph.at[index]


def _within(region: Optional[TryRegion], outer: TryRegion) -> bool:
    while region is not None:
        if region is outer:
            return True
        region = region.parent
    return False


def split(graph: Graph, regions: Regions, index: int) -> Block:
    """The block that starts at instruction `index`, made by splitting if need be."""
    block = graph.at.get(index)
    if block is not None:
        return block
    starts = sorted(graph.at)
    whole = graph.at[starts[bisect_right(starts, index) - 1]]
    cut = index - whole.start
    new = Block(max(item.id for item in graph.at.values()) + 1, index, whole.instrs[cut:])
    new.succs, new.kind, new.handler, new.handler_depth = whole.succs, whole.kind, whole.handler, whole.handler_depth
    new.neutral = whole.neutral
    whole.instrs, whole.succs, whole.kind = whole.instrs[:cut], [new], "jump"
    graph.at[index] = new
    graph.blocks.append(new)
    graph.blocks.sort(key=lambda item: item.start)
    if whole.id in regions.of:
        regions.of[new.id] = regions.of[whole.id]
    return new


def _skip_jumps(program: Program, index: int) -> int:
    seen: Set[int] = set()
    if index >= len(program.instrs):
        raise NoCopy
    while program.instrs[index].op is Op.JUMP and index not in seen:
        seen.add(index)
        target = program.instrs[index].target
        assert target is not None
        index = target
    return index


def same_constant(one: Any, two: Any) -> bool:
    """Same type and same value; good enough to tell copies of the same constant from others."""
    return one is two or (type(one) is type(two) and repr(one) == repr(two))


def same_instr(one: Instr, two: Instr) -> bool:
    """Same operation and argument."""
    if one.op is not two.op:
        return False
    if one.op is Op.LOAD_CONST:
        return same_constant(one.arg, two.arg)
    return bool(one.arg == two.arg)


def _leaves_handler(instrs: List[Instr], index: int) -> int:
    """How many instructions at `index` only leave the handler (return, break or continue in a finally), or 0."""
    ops = [instr.op for instr in instrs[index : index + 4]]
    if ops[:2] == [Op.POP, Op.POP_EXCEPT]:
        return 2
    if ops == [Op.SWAP, Op.POP, Op.SWAP, Op.POP_EXCEPT]:
        return 4
    return 0


def continuation(program: Program, body: int, copy: int) -> Optional[int]:
    """Where control goes after the copy at `copy` of the handler's finally body at `body`; None: nowhere.

    Raises NoCopy if it is no copy.
    """
    instrs = program.instrs
    found: Optional[int] = None
    todo: List[Tuple[int, int]] = [(body, copy)]
    seen: Set[Tuple[int, int]] = set()
    while todo:
        pair = todo.pop()
        while True:
            one, two = _skip_jumps(program, pair[0]), _skip_jumps(program, pair[1])
            if (one, two) in seen or one == two:
                break
            seen.add((one, two))
            first, second = instrs[one], instrs[two]
            if first.op is Op.RERAISE:
                if found is not None and not _same_end(program, found, two):
                    raise NoCopy
                found = two if found is None else found
                break
            leaving = _leaves_handler(instrs, one)
            if leaving and not _leaves_handler(instrs, two):
                pair = (one + leaving, two)
                continue
            if first.op in BRANCHES and second.op in BRANCHES:
                ends = _ends(first, one), _ends(second, two)
                todo.append((ends[0][0], ends[1][0]))
                pair = (ends[0][1], ends[1][1])
                continue
            if not same_instr(first, second):
                raise NoCopy
            if first.op in (Op.RETURN, Op.RAISE):
                break
            if first.op is Op.FOR_ITER:
                assert first.target is not None and second.target is not None
                todo.append((first.target, second.target))
            pair = (one + 1, two + 1)
    return found


def _ends(branch: Instr, index: int) -> Tuple[int, int]:
    """Where a branch goes when true and when false."""
    assert branch.target is not None
    if branch.op is Op.BRANCH_TRUE:
        return branch.target, index + 1
    return index + 1, branch.target


def _same_end(program: Program, one: int, two: int) -> bool:
    """Whether both indices lead to the same place, or to equal straight code that ends."""
    while True:
        one, two = _skip_jumps(program, one), _skip_jumps(program, two)
        if one == two:
            return True
        first, second = program.instrs[one], program.instrs[two]
        if first.target is not None or not same_instr(first, second):
            return False
        if first.op in (Op.RETURN, Op.RAISE, Op.RERAISE):
            return True
        one, two = one + 1, two + 1
