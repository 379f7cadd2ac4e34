"""Dominators and natural loops of a flow graph, exception edges included.

Dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Set, Tuple

from .flow import Flow, Node


class Dominators:
    """`order`: reverse postorder, then-arms first. `number`: position in it. `idom`, `children`: the dominator tree."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.order: List[Node] = []
        self.succs: Dict[int, List[Node]] = {}
        self.preds: Dict[int, List[Node]] = {}
        self._number()
        self.number = {id(node): index for index, node in enumerate(self.order)}
        self.idom: Dict[int, Node] = {}
        self._solve()
        self.children: Dict[int, List[Node]] = {id(node): [] for node in self.order}
        for node in self.order:
            if node is not flow.entry:
                self.children[id(self.idom[id(node)])].append(node)
        self.nodes = {id(node): node for node in self.order}
        self._preorder: List[Node] = []
        self._span: Dict[int, Tuple[int, int]] = {}  # where the dominated nodes lie in `_preorder`
        self._walk_tree()
        self.loops = self._loops()

    def _edges(self, node: Node) -> List[Node]:
        outs = list(node.succs)
        if node.region is not None:
            outs.append(self.flow.handlers[node.region.handler.id])
        return outs

    def _number(self) -> None:
        post: List[Node] = []
        seen: Set[int] = {id(self.flow.entry)}
        stack = [(self.flow.entry, self._ordered(self.flow.entry))]
        while stack:
            node, rest = stack[-1]
            if rest:
                succ = rest.pop()
                if id(succ) not in seen:
                    seen.add(id(succ))
                    stack.append((succ, self._ordered(succ)))
            else:
                post.append(node)
                stack.pop()
        self.order = post[::-1]
        for node in self.order:
            outs = self._edges(node)
            self.succs[id(node)] = outs
            for succ in outs:
                self.preds.setdefault(id(succ), []).append(node)
        self.preds.setdefault(id(self.flow.entry), [])

    def _ordered(self, node: Node) -> List[Node]:
        """Successors in source order (popped from the end: the last in source is visited first)."""
        return sorted(self._edges(node), key=lambda item: item.start)

    def _solve(self) -> None:
        entry = self.flow.entry
        self.idom[id(entry)] = entry
        changed = True
        while changed:
            changed = False
            for node in self.order[1:]:
                new = None
                for pred in self.preds[id(node)]:
                    if id(pred) in self.idom:
                        new = pred if new is None else self._meet(pred, new)
                assert new is not None
                if self.idom.get(id(node)) is not new:
                    self.idom[id(node)] = new
                    changed = True

    def _meet(self, one: Node, two: Node) -> Node:
        while one is not two:
            while self.number[id(one)] > self.number[id(two)]:
                one = self.idom[id(one)]
            while self.number[id(two)] > self.number[id(one)]:
                two = self.idom[id(two)]
        return one

    def _walk_tree(self) -> None:
        starts: Dict[int, int] = {}
        todo = [self.flow.entry]
        while todo:
            node = todo[-1]
            if id(node) in starts:
                todo.pop()
                self._span[id(node)] = (starts[id(node)], len(self._preorder))
            else:
                starts[id(node)] = len(self._preorder)
                self._preorder.append(node)
                todo.extend(reversed(self.children[id(node)]))

    def dominates(self, one: Node, two: Node) -> bool:
        """Whether every path to `two` passes `one`."""
        start, end = self._span[id(one)]
        return start <= self._span[id(two)][0] < end

    def dominated(self, node: Node) -> List[Node]:
        """`node` and all that it dominates."""
        start, end = self._span[id(node)]
        return self._preorder[start:end]

    def in_order(self, ids: Iterable[int]) -> List[Node]:
        """The nodes with these ids, in order."""
        return [self.order[number] for number in sorted(self.number[ident] for ident in ids)]

    def _loops(self) -> Dict[int, Set[int]]:
        """Natural loops: id of the header -> ids of the nodes in it."""
        loops: Dict[int, Set[int]] = {}
        for node in self.order:
            for succ in self.succs[id(node)]:
                if self.number[id(succ)] <= self.number[id(node)] and self.dominates(succ, node):
                    inside = loops.setdefault(id(succ), {id(succ)})
                    todo = [node]
                    while todo:
                        item = todo.pop()
                        if id(item) not in inside:
                            inside.add(id(item))
                            todo.extend(self.preds[id(item)])
        return loops
