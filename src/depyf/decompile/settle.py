"""Between reduction and structuring: nothing is left on the stack between nodes, copied loop tests are one again."""

from __future__ import annotations

from dataclasses import fields
from typing import Dict, List, Optional, Set, Tuple

from . import nodes as n
from .effects import is_timeless, walk
from .flow import Flow, Node
from .simulate import SimulationError, State
from .transient import Dup, Marker, UnpackItem


def settle(flow: Flow) -> None:
    """Private copies of value returns, values on the stack into slots, loop tests joined."""
    for node in flow.nodes:
        if node.state is None:
            flow.simulate(node)
    _private_returns(flow)
    for node in flow.nodes:
        _store_stack(flow, node)
    flow.link()
    _join_loop_tests(flow)
    flow.link()


def _private_returns(flow: Flow) -> None:
    """Write `return <top of stack>` where its value is made."""
    for node in list(flow.nodes):
        if node.kind != "jump":
            continue
        end = node.succs[0].resolve()
        if end.id < 0 and end.depth > 0 and len(end.instrs) == 1:
            assert node.state is not None
            for event in end.events:
                event(node.state)
            node.events = [*node.events, *end.events]
            node.instrs = node.instrs + end.instrs
            node.kind, node.succs = "end", []
    flow.link()


def _store_stack(flow: Flow, node: Node) -> None:
    """Append assignments of what is on the stack at the end to the slots that the successors read."""
    if node.kind == "end":
        return
    state = node.state
    assert state is not None
    stack = state.stack
    moves: List[Tuple[int, n.Expr]] = []
    for index in range(len(stack)):
        value = stack[index]
        if isinstance(value, UnpackItem):
            value = stack[index] = state.as_value(value)
        if isinstance(value, Marker) or isinstance(value, n.Slot) and value.index == index:
            continue
        moves.append((index, state.as_value(value)))
    if node.test is not None:
        moves = _stored_in_test(node.test, moves)
    written = {index for index, _ in moves}
    if any(_reads(value, written, index) for index, value in moves) or (
        node.test is not None and _reads(node.test, written, -1)
    ):
        names = []
        for index, value in moves:
            name = flow.temporaries.fresh()
            state.stmts.append(n.Assign([name], value.value if isinstance(value, Dup) else value))
            _replace_dup(value, n.Name(name.id))
            names.append((index, n.Name(name.id)))
        if node.test is not None and not isinstance(node.test, (n.Constant, Dup)):
            name = flow.temporaries.fresh()
            state.stmts.append(n.Assign([name], node.test))
            node.test = n.Name(name.id)
        for index, value in names:
            state.stmts.append(n.Assign([n.Slot(index)], value))
        return
    for index, value in moves:
        state.stmts.append(n.Assign([n.Slot(index)], value.value if isinstance(value, Dup) else value))
        _replace_dup(value, n.Slot(index))


def _stored_in_test(test: n.Expr, moves: List[Tuple[int, n.Expr]]) -> List[Tuple[int, n.Expr]]:
    """A value that the test itself makes, and that is kept too, is stored where the test makes it.

    The other moves are returned. Raises SimulationError where that would change the order of evaluation.
    """
    inside = {id(part) for part in walk(test)}
    rest: List[Tuple[int, n.Expr]] = []
    stored = False
    for index, value in moves:
        if isinstance(value, Dup) and value is not test and id(value) in inside and not is_timeless(value):
            value.value = n.NamedExpr(n.Name("__stack_%d" % index), value.value)
            stored = True
        elif stored and not is_timeless(value):
            raise SimulationError("a value is made after one that the test makes")
        else:
            rest.append((index, value))
    return rest


def _replace_dup(value: n.Expr, by: n.Expr) -> None:
    if isinstance(value, Dup):
        value.value = by


def _reads(value: n.Expr, written: Set[int], own: int) -> bool:
    return any(isinstance(node, n.Slot) and node.index in written and node.index != own for node in walk(value))


def same(one: object, two: object) -> bool:
    """Structurally equal expressions."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if isinstance(one, n.Node):
        if isinstance(one, n.Constant):
            assert isinstance(two, n.Constant)
            return type(one.value) is type(two.value) and (one.value is two.value or repr(one.value) == repr(two.value))
        return all(same(getattr(one, part.name), getattr(two, part.name)) for part in fields(one))  # type: ignore[arg-type]
    if isinstance(one, list):
        assert isinstance(two, list)
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


def _join_loop_tests(flow: Flow) -> None:
    """From 3.10 on the test of a while loop is compiled twice, at the top and at the bottom; keep the top one."""
    by_body: Dict[int, List[Node]] = {}
    for node in flow.nodes:
        if node.kind == "branch":
            for succ in node.succs:
                by_body.setdefault(id(succ.resolve()), []).append(node)
    for node in reversed(flow.nodes):
        if node.kind != "branch" or node.test is None:
            continue
        for position in (0, 1):
            body = node.succs[position].resolve()
            if body.start > node.start:
                continue
            top = _top_test(by_body.get(id(body), []), node, position, body)
            if top is not None:
                head = _test_only(flow, top)
                node.kind, node.test, node.succs = "jump", None, [head]
                break


def _top_test(candidates: List[Node], bottom: Node, position: int, body: Node) -> Optional[Node]:
    for top in candidates:
        if top is bottom or top.kind != "branch" or top.start >= body.start or top.depth > bottom.depth + 1:
            continue
        if (
            top.succs[position].resolve() is not body
            or top.region is not bottom.region
            or top.handling != bottom.handling
        ):
            continue
        if top.succs[1 - position].resolve() is not bottom.succs[1 - position].resolve():
            continue
        if top.test is None or any(isinstance(item, (n.Slot, Dup)) for item in walk(top.test)):
            continue
        if same(top.test, bottom.test):
            return top
    return None


def _test_only(flow: Flow, top: Node) -> Node:
    """The node that only tests; split off if `top` has statements too."""
    if not top.stmts:
        return top
    head = Node(max(node.id for node in flow.nodes) + 1, top.start, len(top.stack))
    head.start = top.start + max(1, len(top.instrs) - 1)
    head.kind, head.test, head.succs = "branch", top.test, top.succs
    head.region, head.handling, head.lines = top.region, top.handling, top.lines
    head.neutral = False
    head.state = State([n.Slot(index) for index in range(head.depth)], flow.temporaries)
    top.kind, top.test, top.succs = "jump", None, [head]
    flow.nodes.append(head)
    return head
