"""Protected regions of a control-flow graph: which try or with statement each block belongs to.

The compiler adds handlers that only clean up and raise again; leaving a handler implies them, so they are seen through:
`COPY; POP_EXCEPT; RERAISE` around every handler, `name = None; del name; raise` around `except E as name`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Set

from ..bytecode.program import Op
from .cfg import Block, Graph

SEARCH_LIMIT = 60  # blocks of a handler looked at for its first test of the exception's type


@dataclass(eq=False)
class TryRegion:
    """One protected region. Kinds: `except`, `except_star`, `finally`, `with`."""

    handler: Block
    kind: str
    parent: Optional[TryRegion] = None
    depth: int = 0  # of the stack that is kept

    def chain(self) -> List[TryRegion]:
        """This region and the ones around it, innermost first."""
        result: List[TryRegion] = []
        region: Optional[TryRegion] = self
        while region is not None:
            result.append(region)
            region = region.parent
        return result


@dataclass
class Regions:
    """`of`: the innermost region of each block, by block id (absent: none). `names`: names bound by `except ... as`."""

    of: Dict[int, TryRegion]
    names: Set[str]
    all: List[TryRegion]


def _is_cleanup(block: Block) -> bool:
    ops = [instr.op for instr in block.instrs]
    return ops == [Op.COPY, Op.POP_EXCEPT, Op.RERAISE]


def _cleared_name(block: Block) -> Optional[str]:
    instrs = block.instrs
    if len(instrs) != 4 or instrs[3].op is not Op.RERAISE or instrs[0].op is not Op.LOAD_CONST:
        return None
    if instrs[0].arg is not None or not instrs[1].op.name.startswith("STORE_"):
        return None
    if not instrs[2].op.name.startswith("DELETE_") or instrs[1].arg != instrs[2].arg:
        return None
    name: str = instrs[1].arg
    return name


def find(graph: Graph) -> Regions:
    """Classify the handlers and set each block's `handler` to the one that counts."""
    names: Set[str] = set()
    transparent: Dict[int, bool] = {}
    for block in graph.blocks:
        if block.kind == "branch" and block.instrs and block.instrs[-1].op is Op.CHECK_EXC_MATCH:
            clause = block.succs[0].instrs
            if clause and clause[0].op.name.startswith("STORE_"):
                names.add(clause[0].arg)  # its hidden handler is missing when nothing in the clause can raise
        if block.is_handler:
            name = _cleared_name(block)
            if name is not None:
                names.add(name)
            transparent[block.id] = name is not None or _is_cleanup(block)
    for block in graph.blocks:
        handler = block.handler
        seen: Set[int] = set()
        while handler is not None and transparent.get(handler.id) and handler.id not in seen:
            seen.add(handler.id)
            block.handler_depth = handler.handler_depth
            handler = handler.handler
        block.handler = handler
    graph.prune()
    regions: Dict[int, TryRegion] = {}
    for block in graph.blocks:
        if block.handler is not None and block.handler.id not in regions:
            regions[block.handler.id] = TryRegion(block.handler, _kind(block.handler), depth=block.handler_depth)
    for region in regions.values():
        if region.handler.handler is not None:
            region.parent = regions.get(region.handler.handler.id)
    of = {block.id: regions[block.handler.id] for block in graph.blocks if block.handler is not None}
    return Regions(of, names, list(regions.values()))


def _kind(handler: Block) -> str:
    ops = [instr.op for instr in handler.instrs[:2]]
    if ops[:1] == [Op.END_ASYNC_FOR]:
        return "async_for"
    if ops[:1] != [Op.PUSH_EXC_INFO]:
        return "other"
    if ops[1:] == [Op.WITH_EXCEPT_START]:
        return "with"
    if ops[1:] == [Op.POP]:
        return "except"
    seen: Set[int] = {handler.id}
    todo = [handler]
    while todo and len(seen) < SEARCH_LIMIT:
        block = todo.pop(0)
        for instr in block.instrs:
            if instr.op is Op.CHECK_EXC_MATCH:
                return "except"
            if instr.op is Op.STAR_MATCH:
                return "except_star"
        for succ in block.succs:
            if succ.id not in seen:
                seen.add(succ.id)
                todo.append(succ)
    return "finally"
