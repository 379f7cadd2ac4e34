"""The graph that is reduced and structured: nodes hold simulated code instead of instructions.

A node's code is a list of events (runs of instructions, and reductions that change its stack). Simulating a node
replays its events; when a node takes over another one, the other's events are replayed on its state.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Set, Tuple

from ..bytecode import can_raise, effect
from ..bytecode.program import Instr, Op
from . import nodes as n
from . import simulate
from .cfg import Graph
from .effects import walk
from .prepare import Handling, handling
from .regions import Regions, TryRegion
from .simulate import State, Temporaries
from .transient import Marker

Event = Callable[[State], None]


class Node:
    """`succs` as in `cfg.Block`. `depth`: of the stack on entry. `line`: of the first instruction."""

    def __init__(self, ident: int, start: int, depth: int) -> None:
        self.id = ident
        self.start = start
        self.depth = depth
        self.instrs: List[Instr] = []
        self.events: List[Event] = []
        self.kind = "jump"
        self.succs: List[Node] = []
        self.preds: List[Node] = []
        self.region: Optional[TryRegion] = None
        self.handling: Handling = ()
        self.neutral = False
        self.is_handler = False
        self.is_entry = False
        self.is_async = False
        self.state: Optional[State] = None
        self.test: Optional[n.Expr] = None
        self.settled = False
        self.lines: Set[int] = set()
        self.offset = -1

    def __repr__(self) -> str:
        return "N%d" % self.start

    @property
    def stmts(self) -> List[n.Stmt]:
        """Statements of the simulated code."""
        assert self.state is not None
        return self.state.stmts

    @property
    def stack(self) -> List[n.Expr]:
        """The stack after the code, without the value that a branch tests."""
        assert self.state is not None
        return self.state.stack

    def is_stub(self) -> bool:
        """Nothing but a jump."""
        return self.kind == "jump" and not self.instrs and len(self.events) == 0

    def resolve(self) -> Node:
        """Where a jump to this node ends up."""
        node, steps = self, 0
        while node.is_stub() and steps < 1000:
            node, steps = node.succs[0], steps + 1
        return node


class Flow:
    """All nodes of one code object."""

    def __init__(self, nodes: List[Node], entry: Node, temporaries: Temporaries, regions: Regions) -> None:
        self.nodes = nodes
        self.entry = entry
        entry.is_entry = True
        self.temporaries = temporaries
        self.regions = regions
        self.handlers: Dict[int, Node] = {}

    def simulate(self, node: Node) -> None:
        """Run the node's events from a symbolic entry stack."""
        stack: List[n.Expr] = [n.Slot(index) for index in range(node.depth)]
        if node.is_handler:
            stack[-1] = Marker("exc")
        node.state = State(stack, self.temporaries)
        for event in list(node.events):
            event(node.state)
        self.finish(node)

    def finish(self, node: Node) -> None:
        """Take the branch's test off the stack."""
        assert node.state is not None
        node.test = node.state.pop() if node.kind == "branch" else None

    def link(self) -> None:
        """Compute predecessors, dropping nodes that can't be reached."""
        seen: Set[int] = set()
        todo = [self.entry]
        order: List[Node] = []
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            order.append(node)
            todo.extend(node.succs)
            if node.region is not None:
                todo.append(self.handlers[node.region.handler.id])
        self.nodes = sorted(order, key=lambda item: item.start)
        for node in self.nodes:
            node.preds = []
        for node in self.nodes:
            for succ in node.succs:
                succ.preds.append(node)


def run_event(instrs: List[Instr]) -> Event:
    """The event of executing instructions."""

    def event(state: State) -> None:
        simulate.run(state, instrs)

    return event


def build(graph: Graph, regions: Regions, temporaries: Temporaries) -> Flow:
    """Nodes for the blocks, with small common ends split off (see `_ends`)."""
    depths = entry_depths(graph)
    landings = {region.handler.id for region in regions.all}
    handled = handling(graph, regions)
    by_block: Dict[int, Node] = {}
    for block in graph.blocks:
        node = Node(block.id, block.start, depths.get(block.id, 0))
        node.instrs = list(block.instrs)
        node.kind = block.kind
        node.region = regions.of.get(block.id)
        node.is_handler = block.id in landings
        node.is_async = block.is_async
        node.handling = handled.get(block.id, ())
        node.neutral = is_neutral(block.instrs) and block.kind != "branch" and block.kind != "for"
        by_block[block.id] = node
    for block in graph.blocks:
        by_block[block.id].succs = [by_block[succ.id] for succ in block.succs]
    flow = Flow(list(by_block.values()), by_block[graph.entry.id], temporaries, regions)
    flow.handlers = {
        region.handler.id: by_block[region.handler.id] for region in regions.all if region.handler.id in by_block
    }
    _split_ends(flow)
    for node in flow.nodes:
        node.lines = {instr.line for instr in node.instrs if instr.line is not None}
        if node.instrs:
            node.offset = node.instrs[0].offset
            node.events = [run_event(node.instrs)]
    flow.link()
    return flow


def entry_depths(graph: Graph) -> Dict[int, int]:
    """Stack depth on entry of each block, by id."""
    depths = {graph.entry.id: 0}
    todo = [graph.entry]
    while todo:
        block = todo.pop()
        depth = depths[block.id]
        for instr in block.instrs:
            pops, pushes = effect(instr)
            depth += pushes - pops
        if block.kind == "branch":
            depth -= 1
        for index, succ in enumerate(block.succs):
            after = depth
            if block.kind == "for":
                after = depth + 1 if index == 0 else depth - 1
            if succ.id not in depths:
                depths[succ.id] = after
                todo.append(succ)
        handler = block.handler
        if handler is not None and handler.id not in depths:
            depths[handler.id] = block.handler_depth + 1
            todo.append(handler)
    return depths


# the normal exit of a with and leaving a handler happen where the source has no code: they may be anywhere
_EXIT_CALL = frozenset({Op.WITH_EXIT, Op.GET_AWAITABLE, Op.YIELD_FROM})


def is_neutral(instrs: List[Instr]) -> bool:
    """Whether nothing in it can raise, not counting the hidden code of leaving a with or a handler."""
    exiting = False
    for instr in instrs:
        if instr.op is Op.WITH_EXIT:
            exiting = True
        elif instr.op is Op.POP:
            exiting = False
        elif can_raise(instr) and not (exiting and instr.op in _EXIT_CALL):
            return False
    return True


def _split_ends(flow: Flow) -> None:
    """Give `return <constant>` and `return <top of stack>` one node each, reached through stubs.

    The compiler copies such ends freely; with one node for each kind, joins are seen again. Structuring writes a copy
    wherever that reads better.
    """
    ends: Dict[Tuple[object, ...], Node] = {}
    made: List[Node] = []
    for node in list(flow.nodes):
        if node.kind != "end" or not node.instrs or node.instrs[-1].op is not Op.RETURN:
            continue
        cut = 1
        depth_after = node.depth + sum(push - pop for pop, push in map(effect, node.instrs[:-1]))
        key: Tuple[object, ...] = ("value", depth_after)
        if len(node.instrs) > 1 and node.instrs[-2].op is Op.LOAD_CONST:
            constant = node.instrs[-2].arg
            cut, key = 2, ("constant", type(constant), repr(constant), depth_after)
        end = ends.get(key)
        if end is None:
            start = node.start + len(node.instrs) - cut
            end = Node(-len(ends) - 1, start, depth_after if cut == 1 else depth_after - 1)
            end.instrs = node.instrs[-cut:]
            end.kind = "end"
            end.neutral = True
            ends[key] = end
            made.append(end)
        node.lines |= {instr.line for instr in node.instrs[-cut:] if instr.line is not None}
        end.start = max(end.start, node.start + len(node.instrs) - cut)
        node.instrs = node.instrs[:-cut]
        node.kind = "jump"
        node.succs = [end]
        node.neutral = is_neutral(node.instrs)
    flow.nodes.extend(made)


def mentions_slot(expr: n.Expr, index: int) -> bool:
    """Whether the expression uses entry slot `index`."""
    return any(isinstance(node, n.Slot) and node.index == index for node in walk(expr))
