"""Protected regions in the flow graph: where their bodies and handlers go when they are done, and except clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, List, Optional, Set, Tuple

from . import nodes as n
from .cfg import Block
from .dominators import Dominators
from .flow import Flow, Node
from .regions import TryRegion
from .transient import ExcMatch, Marker

if TYPE_CHECKING:
    from .structure import Context, Structurer


@dataclass
class TryPlan:
    """`after`: where control goes behind the statement, or None. `orelse`: first node of the else clause, or None."""

    after: Optional[Node]
    orelse: Optional[Node]


class Exits:
    """Questions about how control leaves regions."""

    def __init__(self, flow: Flow, dom: Dominators) -> None:
        self.flow = flow
        self.dom = dom
        self.ends: Dict[int, Node] = {}
        for region in flow.regions.all:
            handler = flow.handlers.get(region.handler.id)
            if region.kind == "finally" and handler is not None and id(handler) in dom.number:
                self._end_reraises(handler)
        self._protected: Dict[int, List[Node]] = {}  # by id of the region: the nodes in it, in order
        self._handling: Dict[int, List[Node]] = {}  # by id of the handler's block: what runs while it handles
        for node in dom.order:
            for region in node.region.chain() if node.region is not None else ():
                self._protected.setdefault(id(region), []).append(node)
            for block in node.handling:
                self._handling.setdefault(block.id, []).append(node)

    def _end_reraises(self, handler: Node) -> None:
        """In a finally body, raising the exception again is what happens at its end: one common end, no statement."""
        end = Node(-1000 - len(self.ends), handler.start, handler.depth + 1)
        end.kind = "end"
        end.neutral = True
        self.flow.simulate(end)
        self.ends[id(handler)] = end
        for node in self.dom.order:
            if node.kind == "end" and node.handling and node.handling[-1].id == handler.id:
                if node.stmts and _is_reraise(node.stmts[-1]):
                    node.stmts.pop()
                    node.kind, node.succs = "jump", [end]
        handled = [node for node in self.dom.order if node.is_handler and node is handler and node.kind == "end"]
        for node in handled:
            if node.stmts and _is_reraise(node.stmts[-1]):
                node.stmts.pop()
                node.kind, node.succs = "jump", [end]

    def end_of(self, handler: Node) -> Node:
        """The common end of a finally handler."""
        return self.ends[id(handler)]

    def skip(self, node: Node) -> Node:
        """Where a jump to `node` ends up, passing nodes without statements."""
        steps = 0
        while node.kind == "jump" and id(node) not in self.dom.loops and not node.stmts and steps < 1000:
            node, steps = node.succs[0], steps + 1
        return node

    def is_entry(self, node: Node, region: TryRegion) -> bool:
        """Whether the region begins at `node`: everything in it is dominated by it."""
        inside = self.protected(region)
        return bool(inside) and all(self.dom.dominates(node, other) for other in inside)

    def protected(self, region: TryRegion) -> List[Node]:
        """The nodes in the region, in order."""
        return self._protected.get(id(region), [])

    def handling(self, handler: Block) -> List[Node]:
        """The nodes that run while the exception of `handler` is being handled, in order."""
        return self._handling.get(handler.id, [])

    def holds(self, region: TryRegion, nodes: Set[int]) -> bool:
        """Whether all of `nodes`, or the handlers they raise to, are in the region."""
        return all(_within(self.dom.nodes[ident].region, region) for ident in nodes)

    def plan(self, node: Node, region: TryRegion, structurer: Structurer, ctx: Context) -> TryPlan:
        """Decide where the try or with statement that starts at `node` ends."""
        inside = {id(other) for other in self.protected(region)}
        handler = self.flow.handlers[region.handler.id]
        handled = {id(other) for other in self.dom.dominated(handler)}
        from_body = self._targets(inside, inside | handled, structurer, ctx)
        depth = len(ctx.handling)
        inside_handler = {id(other) for other in self.handling(region.handler) if len(other.handling) > depth}
        from_handler = self._targets(inside_handler, inside | inside_handler, structurer, ctx)
        joins = [
            join
            for join in structurer.follows(node, inside | inside_handler, ctx)
            if structurer.known(join, ctx) is None and structurer.fits(join, ctx)
        ]
        body_only = [target for target in from_body if target not in from_handler]
        common = [target for target in from_body if target in from_handler]
        if common:
            after: Optional[Node] = common[0]
        elif joins:
            after = joins[0]
        elif body_only and not from_handler:
            after = None if self._completes(inside_handler, ctx) else body_only[0]
        elif from_handler:
            after = from_handler[0]
        else:
            after = None
        orelse: Optional[Node] = None
        if region.kind == "with":
            suppressed = self.skip(handler.succs[0])
            after = None if suppressed is ctx.follow else suppressed
        if region.kind == "except_star":  # its clauses cannot leave it otherwise
            end = self._end_of_clauses(inside_handler)
            after = None if end is ctx.follow else end
        if region.kind in ("except", "except_star"):
            for target in body_only:
                if target is not after:
                    orelse = target
                    break
            if orelse is not None and from_handler and after is None:
                orelse, after = None, orelse
        return TryPlan(after, orelse)

    def _end_of_clauses(self, inside: Set[int]) -> Optional[Node]:
        """Where the clauses of an `except*`, the nodes `inside`, go on when they are done."""
        for node in self.dom.order:
            if id(node) in inside:
                for succ in node.succs:
                    if id(succ) not in inside:
                        return self.skip(succ)
        return None

    def _completes(self, inside: Set[int], ctx: Context) -> bool:
        """Whether a handler goes on behind the statement, so that code behind the body alone is an else clause."""
        if ctx.follow is None or ctx.loop is not None and ctx.follow is ctx.loop.head:
            return False
        return any(self.skip(succ) is ctx.follow for ident in inside for succ in self.dom.nodes[ident].succs)

    def _targets(self, sources: Set[int], inside: Set[int], structurer: Structurer, ctx: Context) -> List[Node]:
        """Where edges from `sources` to outside of `inside` lead, without what the context knows or can be copied."""
        found: List[Node] = []
        for node in self.dom.in_order(sources):
            for succ in node.succs:
                target = self.skip(succ)
                if id(target) in inside or target in found:
                    continue
                if structurer.known(target, ctx) is not None or structurer.is_small_end(target):
                    continue
                if target.neutral and target.kind == "end":
                    continue
                if target.id <= -1000:
                    continue
                found.append(target)
        return sorted(found, key=lambda item: self.dom.number.get(id(item), 0))


def _within(region: Optional[TryRegion], outer: TryRegion) -> bool:
    while region is not None:
        if region is outer:
            return True
        region = region.parent
    return False


def _is_reraise(stmt: n.Stmt) -> bool:
    return isinstance(stmt, n.ExprStmt) and isinstance(stmt.value, n.Intrinsic) and stmt.value.name == "reraise"


def peel_enter(out: List[n.Stmt]) -> Optional[n.Intrinsic]:
    """The manager of a with statement: the last statement so far enters it."""
    if out and isinstance(out[-1], n.ExprStmt):
        value = out[-1].value
        if isinstance(value, n.Intrinsic) and value.name in ("enter", "async_enter"):
            out.pop()
            return value
    return None


def clauses(structurer: Structurer, handler: Node, ctx: Context) -> List[n.ExceptHandler]:
    """The except clauses of the handler that starts at `handler`."""
    from .structure import Unstructured

    result: List[n.ExceptHandler] = []
    slot = handler.depth
    node = handler
    while True:
        if node.kind == "branch" and isinstance(node.test, ExcMatch) and not node.stmts:
            structurer.enter(node)
            body = structurer.go(node.succs[0], ctx)
            name, body = _take_name(body, slot)
            result.append(n.ExceptHandler(node.test.type, name, body or [n.Pass()]))
            node = node.succs[1]
            continue
        if node.kind == "end" and len(node.stmts) == 1 and _is_reraise(node.stmts[0]):
            if not result:
                raise Unstructured("handler without a clause")
            return result
        body = structurer.go(node, ctx) if node is not handler else structurer.sequence(node, ctx)
        name, body = _take_name(body, slot)
        result.append(n.ExceptHandler(None, None, body or [n.Pass()]))
        return result


def _take_name(body: List[n.Stmt], slot: int) -> Tuple[Optional[str], List[n.Stmt]]:
    """The name of `except E as name`: the first statement stores the exception."""
    if body and isinstance(body[0], n.Assign) and len(body[0].targets) == 1:
        first = body[0]
        target = first.targets[0]
        is_exc = isinstance(first.value, n.Slot) and first.value.index == slot
        is_exc = is_exc or isinstance(first.value, Marker) and first.value.kind == "exc"
        if is_exc and isinstance(target, n.Name):
            return target.id, body[1:]
    return None, body
