"""Put expressions back together that the compiler spread over several basic blocks.

`and`, `or`, `not`, conditional expressions and chained comparisons, as values and as tests. A node takes its successors
over as long as one of the rules below applies; conditions are never evaluated again or reordered.
"""

from __future__ import annotations

from typing import List, Optional

from . import nodes as n
from .effects import is_plain
from .flow import Event, Flow, Node, mentions_slot
from .simulate import State
from .transient import Dup, Marker, PatternTest


def reduce(flow: Flow) -> None:
    """Apply the rules until none fits. Afterwards every node is simulated."""
    later = [*flow.handlers.values(), flow.entry]
    while later:
        todo = [later.pop()]
        while todo:
            node = todo[-1]
            if node.settled:
                todo.pop()
            elif node.state is None:
                flow.simulate(node)
            elif not _absorb_next(flow, node):
                waiting = _arms(node)
                if waiting:
                    todo.extend(waiting)
                elif node.kind != "branch" or not _reduce_branch(flow, node):
                    node.settled = True
                    later.extend(succ for succ in node.succs if not succ.settled)
    flow.link()


def _arms(node: Node) -> List[Node]:
    """Successors of a branch that only it leads to and that are not reduced yet."""
    if node.kind != "branch":
        return []
    return [succ for succ in node.succs if not succ.settled and _only_from(succ, node)]


def _only_from(succ: Node, node: Node) -> bool:
    if succ is node or succ.is_handler or succ.is_entry:
        return False
    return len(succ.preds) == 1 and succ.preds[0] is node


def _absorb_next(flow: Flow, node: Node) -> bool:
    """Take over the only successor that has no other predecessor."""
    if node.kind != "jump":
        return False
    succ = node.succs[0]
    if not _only_from(succ, node) or succ.kind == "for" or succ is node or succ is flow.entry:
        return False
    if succ.is_stub():
        after = succ.succs[0]
        node.succs = [after]
        after.preds = [node if pred is succ else pred for pred in after.preds]
        return True
    assert node.state is not None
    if node.state.stack and isinstance(node.state.stack[-1], Marker) and node.state.stack[-1].kind == "entered":
        return False
    if node.region is not succ.region or node.handling != succ.handling:
        if succ.state is None:
            flow.simulate(succ)
        assert succ.state is not None
        if not (succ.neutral and succ.state.low < succ.depth):
            return False
    for event in succ.events:
        event(node.state)
    node.events.extend(succ.events)
    node.instrs = node.instrs + succ.instrs
    node.kind = succ.kind
    node.neutral = node.neutral and succ.neutral
    node.lines |= succ.lines
    node.succs = succ.succs
    for after in succ.succs:
        after.preds = [node if pred is succ else pred for pred in after.preds]
    flow.finish(node)
    return True


def _change(flow: Flow, node: Node, event: Event, kind: str, succs: List[Node], gone: List[Node]) -> bool:
    """Rewrite a branch node: the test goes back on the stack, then `event` runs."""
    assert node.state is not None and node.test is not None
    node.state.stack.append(node.test)
    event(node.state)
    node.events.append(event)
    node.instrs = node.instrs + [instr for other in gone for instr in other.instrs]
    for other in gone:
        node.lines |= other.lines
        node.neutral = node.neutral and other.neutral
    old = node.succs
    node.kind, node.succs = kind, succs
    touched = {id(item): item for item in [*old, *succs, *(succ for other in gone for succ in other.succs)]}
    for item in touched.values():
        item.preds = [pred for pred in item.preds if pred is not node and not any(pred is other for other in gone)]
    for item in succs:
        item.preds.append(node)
    freed = _forget_unreachable(flow, list(touched.values()))
    for item in (*touched.values(), *freed):
        if len(item.preds) == 1 and item.preds[0].kind == "jump":
            item.preds[0].settled = False  # it can take the item over now
    flow.finish(node)
    return True


def _forget_unreachable(flow: Flow, candidates: List[Node]) -> List[Node]:
    """Nodes that nothing leads to any more are no predecessors. Returns the nodes that lost one."""
    freed: List[Node] = []
    while candidates:
        item = candidates.pop()
        if item.preds or item.is_handler or item is flow.entry:
            continue
        for succ in item.succs:
            if item in succ.preds:
                succ.preds = [pred for pred in succ.preds if pred is not item]
                candidates.append(succ)
                freed.append(succ)
    return freed


def _is_pure(succ: Node, node: Node) -> bool:
    """Only expressions, reached only from `node`."""
    if not _only_from(succ, node) or succ.state is None or succ.kind in ("for", "end"):
        return False
    if succ.region is not node.region and not succ.neutral:
        return False
    return not succ.state.stmts and not tests_pattern(succ.test)


def tests_pattern(test: Optional[n.Expr]) -> bool:
    """Whether a condition asks for a pattern first: that is the head of a case, and no part of another expression."""
    if isinstance(test, n.BoolOp):
        test = test.values[0]
    if isinstance(test, n.UnaryOp):
        test = test.operand
    return isinstance(test, PatternTest)


def _untouched(succ: Node) -> bool:
    assert succ.state is not None
    return succ.state.low == succ.depth and len(succ.state.stack) == succ.depth


def _pushed(succ: Node) -> Optional[n.Expr]:
    """The one value that a node pushes, if that is all it does."""
    assert succ.state is not None
    if succ.kind != "jump" or succ.state.low < succ.depth or len(succ.state.stack) != succ.depth + 1:
        return None
    value = succ.state.stack[-1]
    return None if isinstance(value, (Marker, Dup, n.Slot)) else succ.state.as_value(value)


def _reduce_branch(flow: Flow, node: Node) -> bool:
    return (
        _short_circuit(flow, node)
        or _conditional_test(flow, node)
        or _conditional_value(flow, node)
        or _or_value(flow, node)
        or _kept_value(flow, node)
        or _chain_test(flow, node)
        or _chain_value(flow, node)
    )


_OPPOSITE = {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}


def negate(test: n.Expr) -> n.Expr:
    """`not test`, right where only the truth is used: the same tests are made in the same order.

    A double `not` is dropped, `is` and `in` are turned round, and `not (not a and b)` becomes `a or not b`.
    """
    if isinstance(test, n.UnaryOp) and test.op == "not":
        return test.operand
    if isinstance(test, n.Compare) and len(test.ops) == 1 and test.ops[0] in _OPPOSITE:
        return n.Compare(test.left, [_OPPOSITE[test.ops[0]]], test.comparators)
    if isinstance(test, n.BoolOp) and any(_is_negative(value) for value in test.values):
        return n.BoolOp("or" if test.op == "and" else "and", [negate(value) for value in test.values])
    return n.UnaryOp("not", test)


def _is_negative(test: n.Expr) -> bool:
    if isinstance(test, n.Compare):
        return len(test.ops) == 1 and test.ops[0] in ("is not", "not in")
    return isinstance(test, n.UnaryOp) and test.op == "not"


def join(op: str, left: n.Expr, right: n.Expr) -> n.Expr:
    """`left op right`, flattened."""
    values: List[n.Expr] = []
    for part in (left, right):
        if isinstance(part, n.BoolOp) and part.op == op:
            values.extend(part.values)
        else:
            values.append(part)
    return n.BoolOp(op, values)


def _ends_chain(node: Node) -> bool:
    """Whether the node only makes the last comparison of a chain; the chain takes it over before anything else does."""
    assert node.state is not None
    top = node.depth - 1
    return not node.state.stmts and len(node.state.stack) == top and _continues(node.test, top) is not None


def _short_circuit(flow: Flow, node: Node) -> bool:
    """test `a` to X or (test `b` to X or Y)  ->  test `a and b`, `a or b`, with `not` where the arms are crossed."""
    if _ends_chain(node):
        return False
    for position in (0, 1):
        inner, other = node.succs[position], node.succs[1 - position]
        if (
            inner.kind != "branch"
            or not _is_pure(inner, node)
            or not _untouched(inner)
            or inner.resolve() is other.resolve()
        ):
            continue
        assert inner.test is not None
        right = inner.test
        true, false = inner.succs
        goal = other.resolve()
        if position == 0:  # b is tested when a is true
            if false.resolve() is goal:
                op, flip, succs = "and", False, [true, false]
            elif true.resolve() is goal:
                op, flip, succs = "or", True, [true, false]
            else:
                continue
        elif true.resolve() is goal:
            op, flip, succs = "or", False, [true, false]
        elif false.resolve() is goal:
            op, flip, succs = "and", True, [true, false]
        else:
            continue

        def event(state: State, op: str = op, flip: bool = flip, right: n.Expr = right) -> None:
            left = state.pop()
            state.push(join(op, negate(left) if flip else left, right))

        return _change(flow, node, event, "branch", succs, [inner])
    return False


def _conditional_test(flow: Flow, node: Node) -> bool:
    """test `c`, then test `a` or test `b` with the same arms  ->  test `a if c else b`."""
    one, two = node.succs
    if one is two or not (_is_pure(one, node) and _is_pure(two, node)) or one.kind != "branch" or two.kind != "branch":
        return False
    if not (_untouched(one) and _untouched(two)):
        return False
    goals, others = [s.resolve() for s in one.succs], [s.resolve() for s in two.succs]
    assert one.test is not None and two.test is not None
    if goals[0] is others[0] and goals[1] is others[1]:
        body, orelse = one.test, two.test
    elif goals[0] is others[1] and goals[1] is others[0]:
        body, orelse = one.test, negate(two.test)
    else:
        return False

    def event(state: State) -> None:
        state.push(n.IfExp(state.pop(), body, orelse))

    return _change(flow, node, event, "branch", list(one.succs), [one, two])


def _conditional_value(flow: Flow, node: Node) -> bool:
    """test `c`, each arm pushes one value, same successor  ->  `a if c else b`."""
    one, two = node.succs
    if one is two or not (_is_pure(one, node) and _is_pure(two, node)):
        return False
    body, orelse = _pushed(one), _pushed(two)
    if body is None or orelse is None or one.succs[0].resolve() is not two.succs[0].resolve():
        return False
    target = one.succs[0].resolve()
    lines = {line for line in one.lines | two.lines if line}
    if target.kind == "end" and target.id < 0 and len(lines) > 1:
        return False  # two return statements

    swapped = one.start > two.start and isinstance(node.test, n.UnaryOp) and node.test.op == "not"

    def event(state: State) -> None:
        test = state.pop()
        if swapped:
            state.push(n.IfExp(negate(test), orelse, body))
        else:
            state.push(n.IfExp(test, body, orelse))

    return _change(flow, node, event, "jump", [one.succs[0]], [one, two])


def _or_value(flow: Flow, node: Node) -> bool:
    """test `a`, kept when it decides, else `b`  ->  `a or b`, `a and b`."""
    test = node.test
    assert node.state is not None
    stack = node.state.stack
    if not (isinstance(test, Dup) or test is not None and is_plain(test)) or not stack or stack[-1] is not test:
        return False
    depth = len(stack)
    for position, op in ((0, "or"), (1, "and")):
        kept, other = node.succs[position], node.succs[1 - position]
        if not _is_pure(other, node) or other.kind != "jump":
            continue
        assert other.state is not None
        if (
            len(other.state.stack) != depth
            or other.state.low != depth - 1
            or other.succs[0].resolve() is not kept.resolve()
        ):
            continue
        right = other.state.as_value(other.state.stack[-1])
        if mentions_slot(right, depth - 1) or isinstance(right, Marker):
            continue

        def event(state: State, op: str = op, right: n.Expr = right) -> None:
            state.pop()
            left = state.pop()
            state.push(join(op, left.value if isinstance(left, Dup) else left, right))

        return _change(flow, node, event, "jump", [other.succs[0]], [other])
    return False


def _drops_top(succ: Node, depth: int) -> bool:
    """Whether a node only drops the top of its entry stack of `depth` values."""
    if succ.state is None or succ.kind != "jump" or succ.state.stmts or succ.is_handler:
        return False
    return succ.depth == depth and len(succ.state.stack) == depth - 1 and succ.state.low == depth - 1


def _kept(inner: Node, node: Node) -> Optional[Dup]:
    """The value that `inner` pushes and tests, keeping a copy."""
    if inner.kind != "branch" or not _is_pure(inner, node):
        return None
    assert inner.state is not None
    test = inner.test
    if not isinstance(test, Dup) or len(inner.state.stack) != inner.depth + 1 or inner.state.low < inner.depth:
        return None
    return test if inner.state.stack[-1] is test else None


def _kept_value(flow: Flow, node: Node) -> bool:
    """test `a` to C or (`b`, tested and kept, to M or dropped to C)  ->  `a and b` tested and kept."""
    for position in (0, 1):
        inner, other = node.succs[position], node.succs[1 - position]
        value = _kept(inner, node)
        if value is None:
            continue
        for side in (0, 1):
            drop = inner.succs[side]
            if drop.state is None:
                flow.simulate(drop)
            if not _drops_top(drop, inner.depth + 1) or drop.succs[0].resolve() is not other.resolve():
                continue
            # position 0: b runs when a is true; side 1: C is reached when b is false
            op = "and" if side == 1 else "or"
            flip = (position == 0) != (side == 1)

            def event(state: State, op: str = op, flip: bool = flip, value: Dup = value) -> None:
                left = state.pop()
                both = Dup(join(op, negate(left) if flip else left, value.value))
                state.push(both)
                state.push(both)

            return _change(flow, node, event, "branch", list(inner.succs), [inner])
    return _kept_conditional(flow, node)


def _kept_conditional(flow: Flow, node: Node) -> bool:
    """test `c`, each arm pushes a value, tests and keeps it alike  ->  `a if c else b` tested and kept."""
    one, two = node.succs
    if one is two:
        return False
    body, orelse = _kept(one, node), _kept(two, node)
    if body is None or orelse is None:
        return False
    for mine, theirs in zip(one.succs, two.succs):
        for side in (mine, theirs):
            if side.state is None:
                flow.simulate(side)
        if mine.resolve() is theirs.resolve():
            continue
        drops = _drops_top(mine, one.depth + 1) and _drops_top(theirs, one.depth + 1)
        if not drops or mine.succs[0].resolve() is not theirs.succs[0].resolve():
            return False

    def event(state: State) -> None:
        both = Dup(n.IfExp(state.pop(), body.value, orelse.value))
        state.push(both)
        state.push(both)

    return _change(flow, node, event, "branch", list(one.succs), [one, two])


def _compare_of(test: Optional[n.Expr]) -> Optional[n.Compare]:
    """The comparison in `test` if its last operand was duplicated."""
    if isinstance(test, Dup):
        test = test.value
    if isinstance(test, n.Compare) and (isinstance(test.comparators[-1], Dup) or is_plain(test.comparators[-1])):
        return test
    return None


def _continues(test: Optional[n.Expr], slot: int) -> Optional[n.Compare]:
    """The comparison in `test` if it starts with entry slot `slot`."""
    if isinstance(test, n.Compare) and isinstance(test.left, n.Slot) and test.left.index == slot:
        if not any(mentions_slot(item, slot) for item in test.comparators):
            return test
    return None


def _chained(first: n.Compare, second: n.Compare) -> n.Compare:
    middle = first.comparators[-1]
    middle = middle.value if isinstance(middle, Dup) else middle
    return n.Compare(first.left, [*first.ops, *second.ops], [*first.comparators[:-1], middle, *second.comparators])


def _chain_test(flow: Flow, node: Node) -> bool:
    """`a < b` with `b` kept, tested; then `b < c` tested  ->  `a < b < c` tested."""
    return _chain_tested(flow, node, False) or _chain_tested(flow, node, True)


def _turned(test: Optional[n.Compare]) -> Optional[n.Compare]:
    """`a is not b` of `a is b`, and the like (see `bytecode.truth`)."""
    turned = None if test is None or len(test.ops) > 1 else negate(test)
    return turned if isinstance(turned, n.Compare) else None


def _chain_tested(flow: Flow, node: Node, turned: bool) -> bool:
    """`turned`: the first comparison is tested for being false."""
    first = _turned(_compare_of(node.test)) if turned else _compare_of(node.test)
    assert node.state is not None
    stack = node.state.stack
    if first is None or isinstance(node.test, Dup) or not stack or stack[-1] is not first.comparators[-1]:
        return False
    slot = len(stack) - 1
    inner, drop = reversed(node.succs) if turned else node.succs
    if drop.state is None:
        flow.simulate(drop)
    if inner.kind != "branch" or not _is_pure(inner, node) or not _drops_top(drop, slot + 1):
        return False
    assert inner.state is not None
    second = _continues(inner.test, slot)
    if second is None or len(inner.state.stack) != slot:
        return False
    for position in (0, 1):
        if inner.succs[position].resolve() is drop.succs[0].resolve():
            break
    else:
        return False
    succs = list(inner.succs)
    if position == 0:
        second = _turned(second)
        succs.reverse()
        if second is None:
            return False
    whole = _chained(first, second)

    def event(state: State) -> None:
        state.pop()
        state.pop()
        state.push(whole)

    return _change(flow, node, event, "branch", succs, [inner])


def _chain_value(flow: Flow, node: Node) -> bool:
    """The same as a value: when `a < b` is false, it is the result."""
    first = _compare_of(node.test)
    assert node.state is not None
    stack = node.state.stack
    if first is None or not isinstance(node.test, Dup) or len(stack) < 2:
        return False
    if stack[-1] is not node.test or stack[-2] is not first.comparators[-1]:
        return False
    slot = len(stack) - 2
    inner, keep = node.succs
    if keep.state is None:
        flow.simulate(keep)
    if not _is_pure(inner, node) or inner.kind != "jump" or keep.kind != "jump" or keep.is_handler:
        return False
    assert inner.state is not None and keep.state is not None
    if keep.state.stmts or keep.depth != slot + 2 or len(keep.state.stack) != slot + 1:
        return False
    result = keep.state.stack[-1]
    if not (isinstance(result, n.Slot) and result.index == slot + 1) or len(inner.state.stack) != slot + 1:
        return False
    second = _continues(inner.state.stack[-1], slot)
    if second is None or inner.succs[0].resolve() is not keep.succs[0].resolve():
        return False

    def event(state: State) -> None:
        for _ in range(3):
            state.pop()
        state.push(_chained(first, second))

    return _change(flow, node, event, "jump", [inner.succs[0]], [inner])
