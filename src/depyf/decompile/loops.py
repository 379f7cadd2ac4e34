"""What kind of loop a header makes, and where the loop goes when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, List, Optional, Set, Tuple

from ..bytecode.program import Op
from . import nodes as n
from .cfg import Block
from .flow import Node
from .reduce import negate, tests_pattern
from .transient import GetIter

if TYPE_CHECKING:
    from .structure import Context, Structurer


@dataclass
class LoopPlan:
    """What a loop looks like.

    `body`: first node of the body. `test`: of a while, or None. `normal`: where the loop goes when it is exhausted or
    its test fails, or None. `exit`: where `break` leads; equal to `normal` when there is no else clause.
    """

    body: Node
    test: Optional[n.Expr]
    normal: Optional[Node]
    exit: Optional[Node]


def plan_loop(head: Node, structurer: Structurer, ctx: Context) -> LoopPlan:
    """Decide what the loop at `head` looks like."""
    inside = structurer.dom.loops.get(id(head), {id(head)})  # a for statement may never come round
    skip = structurer.exits.skip
    body, test, normal = head, None, None
    if head.kind == "for":
        body, normal = head.succs[0], skip(head.succs[1])
        if len(inside) == 1:
            return LoopPlan(body, None, normal, normal)
    elif _only_tests(head):
        assert head.test is not None
        in_loop = [id(succ) in inside or id(skip(succ)) in inside for succ in head.succs]
        if in_loop == [True, False]:
            body, test, normal = head.succs[0], head.test, skip(head.succs[1])
        elif in_loop == [False, True]:
            body, test, normal = head.succs[1], negate(head.test), skip(head.succs[0])
    inside = inside | _handlers_inside(inside, structurer, ctx)
    if head.kind == "for" and not head.is_async:
        inside = inside | _with_iterator(head, inside, structurer)
    leaving = [node for node in _breaks(head, inside, structurer, ctx) if _after_break(head, node)]
    return LoopPlan(body, test, normal, _exit(head, normal, leaving, inside, structurer, ctx))


def _handlers_inside(inside: Set[int], structurer: Structurer, ctx: Context) -> Set[int]:
    """The nodes of handlers of regions that begin in the loop: part of its body, though they may never come round."""
    outer = ctx.region.chain() if ctx.region is not None else []
    handlers: Set[Block] = set()
    for ident in inside:
        region = structurer.dom.nodes[ident].region
        if region is not None:
            handlers.update(each.handler for each in region.chain() if each not in outer)
    return {id(node) for handler in handlers for node in structurer.exits.handling(handler)}


def _with_iterator(head: Node, inside: Set[int], structurer: Structurer) -> Set[int]:
    """Nodes that the body leads to with the iterator still on the stack: they leave the loop later, or the function."""
    found: Set[int] = set()
    todo = [node for node in structurer.dom.in_order(inside) if node is not head]
    while todo:
        for succ in todo.pop().succs:
            if id(succ) in inside or id(succ) in found or succ.depth < head.depth or succ.kind == "end":
                continue
            if structurer.dom.dominates(head.succs[0], succ):
                found.add(id(succ))
                todo.append(succ)
    return found


def _only_tests(head: Node) -> bool:
    """Whether the loop header can be the test of a while statement."""
    return head.kind == "branch" and not head.stmts and not tests_pattern(head.test)


def _breaks(head: Node, inside: Set[int], structurer: Structurer, ctx: Context) -> List[Node]:
    """Targets of the edges that leave the loop from within its body."""
    found: List[Node] = []
    for node in structurer.dom.in_order(inside):
        if node is head and head.kind == "for":
            continue
        for succ in node.succs:
            target = structurer.exits.skip(succ)
            if id(succ) not in inside and id(target) not in inside and target not in found:
                if not (node is head and _only_tests(head)):
                    found.append(target)
    return found


def _after_break(head: Node, node: Node) -> bool:
    """Whether `node` may follow a `break`. Leaving a for statement drops the iterator first; `return` does so later,
    behind its value, and `raise` not at all."""
    if head.kind != "for" or head.is_async:
        return True
    return node.depth < head.depth or bool(node.instrs) and node.instrs[0].op is Op.POP


def _exit(
    head: Node,
    normal: Optional[Node],
    leaving: List[Node],
    inside: Set[int],
    structurer: Structurer,
    ctx: Context,
) -> Optional[Node]:
    if normal is not None and (normal in leaving or not leaving):
        return normal
    if ctx.follow is not None and ctx.follow in leaving:
        return ctx.follow
    joins = structurer.follows(head, inside, ctx)
    if normal is not None:
        others = [join for join in joins if join is not normal]
        if normal in joins:
            return normal
        if others:
            return others[0]
        if ctx.follow is not None and normal is not ctx.follow and _reaches(leaving, ctx.follow, inside, structurer):
            return ctx.follow
        later = [node for node in leaving if node.start > normal.start and not structurer.is_small_end(node)]
        if later and structurer.dom.dominates(head, later[0]) and structurer.fits(later[0], ctx):
            return min(later, key=lambda node: node.start)
        return normal
    if joins:
        return joins[0]
    last = max(structurer.dom.nodes[ident].start for ident in inside)
    loose = [node for node in leaving if not structurer.is_small_end(node) and structurer.fits(node, ctx)]
    outer = [node for node in leaving if structurer.known(node, ctx) is not None]
    if outer:
        return outer[0]
    behind = [node for node in loose if node.start > last and node.kind != "end"]
    if behind:
        return min(behind, key=lambda node: node.start)
    behind = [node for node in loose if node.start > last]
    if behind:
        return max(behind, key=lambda node: node.start)
    if ctx.follow is not None and _reaches(leaving, ctx.follow, inside, structurer):
        return ctx.follow
    return None


def _reaches(starts: List[Node], goal: Node, avoid: Set[int], structurer: Structurer) -> bool:
    """Whether `goal` can be reached from one of `starts` without passing the loop."""
    seen: Set[int] = set()
    todo = list(starts)
    while todo:
        node = todo.pop()
        if structurer.exits.skip(node) is goal:
            return True
        if id(node) in seen or id(node) in avoid:
            continue
        seen.add(id(node))
        todo.extend(node.succs)
    return False


def peel_iterator(head: Node, out: List[n.Stmt]) -> Optional[n.Expr]:
    """The iterable of a for statement: the last statement so far stores its iterator in the loop's slot."""
    if out and isinstance(out[-1], n.Assign):
        last = out[-1]
        target = last.targets[0]
        if len(last.targets) == 1 and isinstance(target, n.Slot) and target.index == head.depth - 1:
            if isinstance(last.value, GetIter) and last.value.kind in ("iter", "aiter"):
                out.pop()
                return last.value.value
            if isinstance(last.value, n.Name) and last.value.id == ".0":
                out.pop()
                return last.value
    return None


def take_target(head: Node, body: List[n.Stmt]) -> Tuple[n.Expr, List[n.Stmt]]:
    """The target of a for statement: the body's first statement stores the item's slot."""
    slot = head.depth
    if body and isinstance(body[0], n.Assign):
        first = body[0]
        if isinstance(first.value, n.Slot) and first.value.index == slot and len(first.targets) == 1:
            return first.targets[0], body[1:]
    return n.Slot(slot), body
