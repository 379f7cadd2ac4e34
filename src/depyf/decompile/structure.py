"""Statements from the flow graph: a walk over the dominator tree.

`sequence` writes a node and all that follows up to the place where the enclosing construct goes on by itself (the
`follow` of its context). A jump becomes nothing (to the follow), `break`, `continue`, or the code at its target,
written here. Where none of these fits, the code at the target is written a second time, within a budget; the text
then still does the same. Raises Unstructured where that isn't possible either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, Optional, Set, Tuple

from . import nodes as n
from .dominators import Dominators
from .exception_groups import star_clauses
from .flow import Flow, Node
from .loops import LoopPlan, peel_iterator, plan_loop, take_target
from .prepare import Handling
from .reduce import negate
from .regions import TryRegion
from .tries import Exits, clauses, peel_enter

COPY_BUDGET = 400  # nodes that may be written a second time, per code object


class Unstructured(Exception):
    """No structured form was found."""


@dataclass(frozen=True)
class Loop:
    """The enclosing loop: where `continue` and `break` lead."""

    head: Node
    exit: Optional[Node]


@dataclass(frozen=True)
class Context:
    """Where the code being written stands."""

    follow: Optional[Node] = None
    loop: Optional[Loop] = None
    region: Optional[TryRegion] = None
    handling: Handling = ()


class Structurer:
    """Writes the statements of one flow graph."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.dom = Dominators(flow)
        self.placed: Set[int] = set()
        self.reserved: Set[int] = set()
        self.budget = COPY_BUDGET
        self.exits = Exits(flow, self.dom)

    def run(self) -> List[n.Stmt]:
        """The statements of the whole code object."""
        return self.sequence(self.flow.entry, Context())

    # ------------------------------------------------------------ jumps

    def go(self, target: Node, ctx: Context) -> List[n.Stmt]:
        """What to write for a jump to `target` at the end of a list of statements."""
        target = self.exits.skip(target)
        known = self.known(target, ctx)
        if known is not None:
            return known
        if self.is_small_end(target):
            return self.copy_of_end(target)
        if not self.fits(target, ctx):
            raise Unstructured("jump to %r out of its region" % target)
        return self.sequence(target, ctx)

    def known(self, target: Node, ctx: Context) -> Optional[List[n.Stmt]]:
        """The statement for a jump that the context provides, or None."""
        if target is ctx.follow:
            return []
        if ctx.loop is not None:
            if target is ctx.loop.head:
                return [n.Continue()]
            if target is ctx.loop.exit:
                return [n.Break()]
        return None

    def is_small_end(self, node: Node) -> bool:
        """`return <constant>`: copied freely, as the compiler does."""
        if node.kind != "end" or not node.neutral or len(node.stmts) != 1:
            return False
        last = node.stmts[0]
        return isinstance(last, n.Return) and isinstance(last.value, n.Constant)

    def copy_of_end(self, node: Node) -> List[n.Stmt]:
        """Fresh statements of a small end."""
        self.flow.simulate(node)
        return list(node.stmts)

    def fits(self, node: Node, ctx: Context) -> bool:
        """Whether code of `node` may be written in this context."""
        if node.neutral:
            return True
        if node.handling != ctx.handling:
            return False
        region = node.region
        while region is not ctx.region:
            if region is None:
                return False
            region = region.parent
        return True

    def enter(self, node: Node) -> None:
        """Note that the node is being written; a second time costs budget."""
        if id(node) in self.placed:
            self.budget -= 1
            if self.budget < 0:
                raise Unstructured("too much code would have to be written twice")
        self.placed.add(id(node))

    # ------------------------------------------------------------ sequences

    def sequence(self, node: Optional[Node], ctx: Context) -> List[n.Stmt]:
        """Statements for `node` and what follows it, up to the context's follow."""
        out: List[n.Stmt] = []
        first = True
        while node is not None:
            node = self.exits.skip(node) if not first else node
            if not first:
                known = self.known(node, ctx)
                if known is not None:
                    out.extend(known)
                    break
                if self.is_small_end(node):
                    out.extend(self.copy_of_end(node))
                    break
                if not self.fits(node, ctx):
                    raise Unstructured("jump to %r out of its region" % node)
            first = False
            region = self.region_to_enter(node, ctx)
            is_loop = node.kind == "for" or id(node) in self.dom.loops
            is_loop = is_loop and not (ctx.loop is not None and ctx.loop.head is node)
            if is_loop and (region is None or not self.exits.holds(region, self.dom.loops.get(id(node), {id(node)}))):
                node, ctx = self.loop(node, ctx, out)
            elif region is not None:
                node, ctx = self.protected(node, region, ctx, out)
            else:
                self.enter(node)
                out.extend(node.stmts)
                if node.kind == "end":
                    break
                if node.kind == "jump":
                    node = node.succs[0]
                elif node.kind == "branch":
                    node, ctx = self.branch(node, ctx, out)
                else:
                    raise Unstructured("loop header %r outside of its loop" % node)
        return out

    def region_to_enter(self, node: Node, ctx: Context) -> Optional[TryRegion]:
        """The outermost region of `node` that the context is not in yet."""
        region = node.region
        if region is ctx.region or region is None:
            return None
        chain = region.chain()
        if ctx.region is None:
            inner = chain[-1]
        elif ctx.region in chain:
            inner = chain[chain.index(ctx.region) - 1]
        else:
            return None  # neutral code of an outer or foreign region
        return None if node.neutral and not self.exits.is_entry(node, inner) else inner

    def follows(self, node: Node, outside: Set[int], ctx: Context) -> List[Node]:
        """The joins that `node` immediately dominates, in order, without those in `outside`.

        Joins behind the context's follow belong to an outer construct that starts at the same node.
        """
        found = []
        last = len(self.dom.order)
        if ctx.follow is not None and self.dom.idom.get(id(ctx.follow)) is node:
            last = self.dom.number[id(ctx.follow)]
        for child in self.dom.children[id(node)]:
            if id(child) in outside or child.is_handler or child is node or self.dom.number[id(child)] >= last:
                continue
            target = self.exits.skip(child)
            ways = [pred for pred in self.dom.preds[id(child)] if not self.dom.dominates(child, pred)]
            if len(ways) > 1 and not self.is_small_end(target) and id(child) not in self.placed:
                found.append(target)
        return sorted(set(found), key=lambda item: self.dom.number.get(id(item), 0))

    def chain(self, joins: List[Node], ctx: Context, out: List[n.Stmt]) -> Tuple[Optional[Node], Context]:
        """Write all joins but the last; go on at the last."""
        for index, join in enumerate(joins[:-1]):
            if id(join) in self.placed:
                continue
            out.extend(self.sequence(join, replace(ctx, follow=joins[index + 1])))
        return (joins[-1] if joins else None), ctx

    # ------------------------------------------------------------ branches

    def branch(self, node: Node, ctx: Context, out: List[n.Stmt]) -> Tuple[Optional[Node], Context]:
        """An if statement."""
        joins = self.follows(node, set(), ctx)
        joins = [join for join in joins if self.known(join, ctx) is None and self.fits(join, ctx)]
        inner = replace(ctx, follow=joins[0]) if joins else ctx
        assert node.test is not None
        test = node.test
        first, second = node.succs
        if first.start > second.start:
            first, second = second, first
            test = negate(test)
        if joins and self.exits.skip(first) is joins[0]:
            first, second, test = second, first, negate(test)
        body = self.go(first, inner)
        if not joins and body and leaves(body):
            statement = n.If(test, body)
            statement.offset = node.offset
            out.append(statement)
            return second, ctx
        orelse = self.go(second, inner)
        if not body and orelse:
            body, orelse, test = orelse, body, negate(test)
        statement = n.If(test, body or [n.Pass()], orelse)
        statement.offset = node.offset
        out.append(statement)
        if body and orelse and leaves(body):
            statement.orelse = []
            out.extend(orelse)
        if joins:
            return self.chain(joins, ctx, out)
        return None, ctx

    # ------------------------------------------------------------ loops

    def loop(self, head: Node, ctx: Context, out: List[n.Stmt]) -> Tuple[Optional[Node], Context]:
        """A for or while statement with the loop header `head`."""
        plan = plan_loop(head, self, ctx)
        inner = replace(ctx, loop=Loop(head, plan.exit), follow=head)
        iterator = peel_iterator(head, out) if head.kind == "for" else None
        statement: n.Stmt
        if head.kind == "for":
            self.enter(head)
            body = self.go(plan.body, inner)
            target, body = take_target(head, body)
            statement = n.For(target, iterator or n.Slot(head.depth - 1), body or [n.Pass()], [], head.is_async)
        elif plan.test is not None:
            self.enter(head)
            body = self.go(plan.body, inner)
            statement = n.While(plan.test, body or [n.Pass()])
        else:
            body = self.sequence(head, inner)
            statement = n.While(n.Constant(True), body or [n.Pass()])
        statement.offset = head.offset
        drop_last_continue(body)
        if plan.normal is not None and plan.normal is not plan.exit:
            after = replace(ctx, follow=plan.exit if plan.exit is not None else ctx.follow)
            orelse = self.go(plan.normal, after)
            if plan.exit is None:
                out.append(statement)
                out.extend(orelse)
                return None, ctx
            assert isinstance(statement, (n.For, n.While))
            statement.orelse = orelse
        out.append(statement)
        return plan.exit, ctx

    # ------------------------------------------------------------ try and with

    def protected(
        self, node: Node, region: TryRegion, ctx: Context, out: List[n.Stmt]
    ) -> Tuple[Optional[Node], Context]:
        """A try or with statement whose body starts at `node`."""
        plan = self.exits.plan(node, region, self, ctx)
        after = plan.after if plan.after is not None else ctx.follow
        body_follow = plan.orelse if plan.orelse is not None else after
        handler = self.flow.handlers[region.handler.id]
        if region.kind == "with":
            enter = peel_enter(out)
            if enter is None:
                raise Unstructured("no with to enter")
            body = self.sequence(node, replace(ctx, follow=body_follow, region=region))
            variable, body = self.entered(node, body)
            item = n.WithItem(enter.args[0], variable)
            statement: n.Stmt = n.With([item], body or [n.Pass()], enter.name == "async_enter")
        elif region.kind == "finally":
            body = self.sequence(node, replace(ctx, follow=body_follow, region=region))
            inside = replace(ctx, handling=(*ctx.handling, region.handler), follow=self.exits.end_of(handler))
            final = self.sequence(handler, inside)
            statement = _finally(body, final)
        elif region.kind == "except":
            body = self.sequence(node, replace(ctx, follow=body_follow, region=region))
            inside = replace(ctx, handling=(*ctx.handling, region.handler), follow=after)
            handlers = clauses(self, handler, inside)
            orelse = [] if plan.orelse is None else self.go(plan.orelse, replace(ctx, follow=after))
            statement = n.Try(body or [n.Pass()], handlers, orelse)
        elif region.kind == "except_star":
            body = self.sequence(node, replace(ctx, follow=body_follow, region=region))
            inside = replace(ctx, handling=(*ctx.handling, region.handler), follow=after)
            groups = star_clauses(self.sequence(handler, inside))
            if groups is None:
                raise Unstructured("a handler of exception groups that is no row of clauses")
            orelse = [] if plan.orelse is None else self.go(plan.orelse, replace(ctx, follow=after))
            statement = n.Try(body or [n.Pass()], groups, orelse, is_star=True)
        else:
            raise Unstructured("protected region of kind %s" % region.kind)
        statement.offset = node.offset
        out.append(statement)
        return plan.after, ctx

    def entered(self, node: Node, body: List[n.Stmt]) -> Tuple[Optional[n.Expr], List[n.Stmt]]:
        """The `as` target of a with: the first statement stores the slot of the entered value."""
        slot = node.depth - 1
        if body and isinstance(body[0], n.Assign):
            first = body[0]
            if isinstance(first.value, n.Slot) and first.value.index == slot and len(first.targets) == 1:
                return first.targets[0], body[1:]
        return None, body


def _finally(body: List[n.Stmt], final: List[n.Stmt]) -> n.Try:
    """try/finally; a body that is one try/except takes the finally itself, which compiles the same."""
    if len(body) == 1 and isinstance(body[0], n.Try) and not body[0].finalbody and body[0].handlers:
        whole = body[0]
        whole.finalbody = final or [n.Pass()]
        return whole
    return n.Try(body or [n.Pass()], [], [], final or [n.Pass()])


def leaves(body: List[n.Stmt]) -> bool:
    """Whether the last statement never completes."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (n.Return, n.Raise, n.Continue, n.Break)):
        return True
    if isinstance(last, n.If) and last.orelse:
        return leaves(last.body) and leaves(last.orelse)
    return False


def drop_last_continue(body: List[n.Stmt]) -> None:
    """A `continue` at the very end of a loop's body says nothing."""
    while len(body) > 1 and isinstance(body[-1], n.Continue):
        body.pop()


__all__ = ["Context", "Loop", "LoopPlan", "Structurer", "Unstructured"]
