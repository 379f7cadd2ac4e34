"""Small rewrites of the control-flow graph before it is simulated.

- `async for`: the protected anext with its END_ASYNC_FOR handler becomes an ordinary loop header.
- a block is split behind the hidden code that leaves a handler or a with statement, since what follows is outside.
- the hidden `name = None; del name` that ends `except E as name` is dropped.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from ..bytecode.program import Instr, Op
from .cfg import Block, Graph
from .finally_copies import split
from .regions import Regions

Handling = Tuple[Block, ...]


def async_loops(graph: Graph, regions: Regions) -> None:
    """Turn each async for's header into a block of kind "for" whose exhausted edge leads behind END_ASYNC_FOR."""
    for region in list(regions.all):
        if region.kind != "async_for":
            continue
        end = region.handler
        for block in graph.blocks:
            if regions.of.get(block.id) is not region or not block.instrs or block.instrs[0].op is not Op.GET_ANEXT:
                continue
            block.kind = "for"
            block.is_async = True
            block.instrs = []
            block.succs = [block.succs[0], end]
            block.handler = end.handler
            block.handler_depth = end.handler_depth
            if region.parent is None:
                del regions.of[block.id]
            else:
                regions.of[block.id] = region.parent
        end.instrs = end.instrs[1:]
        end.is_handler = False
        regions.all.remove(region)
    graph.prune()


def split_exits(graph: Graph, regions: Regions) -> None:
    """Split blocks behind the hidden code of leaving a handler or a with."""
    for block in list(graph.blocks):
        while True:
            cut = _exit_end(block.instrs, regions)
            if cut is None or cut >= len(block.instrs):
                break
            block = split(graph, regions, block.start + cut)
    for block in graph.blocks:
        block.instrs = _without_clearing(block.instrs, regions)


def _exit_end(instrs: List[Instr], regions: Regions) -> Optional[int]:
    """Index behind the first piece of exit code, or None."""
    for index, instr in enumerate(instrs):
        if instr.op is Op.POP_EXCEPT:
            end = index + 1
            if _clears(instrs, end, regions):
                end += 3
            while end < len(instrs) and instrs[end].op in (Op.POP, Op.POP_EXCEPT):
                end += 1
            return end
        if instr.op is Op.WITH_EXIT:
            end = index + 1
            while end < len(instrs) and instrs[end].op in (Op.GET_AWAITABLE, Op.LOAD_CONST, Op.YIELD_FROM):
                end += 1
            if end < len(instrs) and instrs[end].op is Op.POP:
                end += 1
            return end
    return None


def _clears(instrs: List[Instr], index: int, regions: Regions) -> bool:
    three = instrs[index : index + 3]
    return (
        len(three) == 3
        and three[0].op is Op.LOAD_CONST
        and three[0].arg is None
        and three[1].op.name.startswith("STORE_")
        and three[2].op.name.startswith("DELETE_")
        and three[1].arg == three[2].arg
        and three[1].arg in regions.names
    )


def _without_clearing(instrs: List[Instr], regions: Regions) -> List[Instr]:
    for index, instr in enumerate(instrs):
        if instr.op is Op.POP_EXCEPT and _clears(instrs, index + 1, regions):
            return instrs[: index + 1] + instrs[index + 4 :]
    return instrs


def handling(graph: Graph, regions: Regions) -> Dict[int, Handling]:
    """Per block id the handlers whose exception is being handled on entry, outermost first."""
    result: Dict[int, Handling] = {graph.entry.id: ()}
    todo = [graph.entry]
    handlers: Dict[int, Tuple[Block, Handling]] = {}  # found, not entered yet
    while todo or handlers:
        if not todo:  # an outer handler is also reached from inner ones: what handles least is where the try stands
            chosen = min(handlers.values(), key=lambda item: len(item[1]))[0]
            result[chosen.id] = (*handlers.pop(chosen.id)[1], chosen)
            todo.append(chosen)
        block = todo.pop()
        now = result[block.id]
        region = regions.of.get(block.id)
        for outer in region.chain() if region is not None else ():
            handler = outer.handler
            if handler.id not in result and len(now) < len(handlers.get(handler.id, (handler, (*now, handler)))[1]):
                handlers[handler.id] = (handler, now)
        for instr in block.instrs:
            if instr.op is Op.POP_EXCEPT and now:
                now = now[:-1]
        for succ in block.succs:
            if succ.id not in result:
                result[succ.id] = now
                todo.append(succ)
    return result


def merge_ends(graph: Graph, regions: Regions) -> None:
    """Make one of the copies of a block that ends the function.

    The compiler copies such a block, if it is small, to every jump that leads to it. Copies have the same line.
    """
    now = handling(graph, regions)
    first: Dict[object, Block] = {}
    instead: Dict[int, Block] = {}
    for block in graph.blocks:
        if block.kind != "end" or block.is_handler or block.id not in now or block is graph.entry:
            continue
        region = regions.of.get(block.id)
        code = tuple((instr.op, repr(instr.arg), instr.line) for instr in block.instrs)
        key = (code, id(region), block.depth, tuple(outer.id for outer in now[block.id]))
        if len(block.instrs) > 1 and all(instr.line is not None for instr in block.instrs):
            kept = first.setdefault(key, block)
            if kept is not block:
                instead[block.id] = kept
    if instead:
        for block in graph.blocks:
            block.succs = [instead.get(succ.id, succ) for succ in block.succs]
        graph.prune()
