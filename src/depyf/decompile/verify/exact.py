"""The exact comparison: walk two canonical programs in step, instruction by instruction, along every path.

A bisimulation over pairs of instruction indices. Jumps are followed, not compared; a branch is compared by where
its two arms lead, so `BRANCH_TRUE` and `BRANCH_FALSE` with exchanged arms are the same. Where an instruction can
raise, both must be protected by handlers at the same depth, and the pair of handlers joins the walk. Every pair is
visited once, so the walk takes time linear in the number of pairs, which for programs that are the same is about
the number of instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Tuple

from depyf.bytecode import can_raise
from depyf.bytecode.program import Op

from .constants import CodePair, same_constant
from .graph import FOREVER, Graph

BRANCHES = (Op.BRANCH_TRUE, Op.BRANCH_FALSE)
KEYS = (Op.BUILD_CONST_KEY_MAP,)  # its argument holds constants: 1, 1.0 and True are not the same there
NO_FALLTHROUGH = (Op.RETURN, Op.RAISE, Op.RERAISE)


@dataclass
class Walk:
    """What the walk found: the first `difference`, else the pairs of nested `codes` that remain to be compared.

    `named` is the first constant that the second program reads by a name instead of holding it.
    """

    difference: Optional[str] = None
    codes: List[CodePair] = field(default_factory=list)
    named: Optional[str] = None


def walk(original: Graph, again: Graph, names: Mapping[str, Any]) -> Walk:
    """Compare two programs from their entries on. `names`: globals of `again` that stand for constants."""
    result = Walk()
    first = (original.place(0), again.place(0))
    seen = {first}
    work = [first]

    def visit(pair: Tuple[int, int]) -> None:
        if pair not in seen:
            seen.add(pair)
            work.append(pair)

    while work:
        i, j = work.pop()
        if i == FOREVER and j == FOREVER:
            continue
        if i in (FOREVER, len(original.instrs)) or j in (FOREVER, len(again.instrs)):
            return _different(original, again, i, j)
        left, right = original.instrs[i], again.instrs[j]
        if left.op in BRANCHES and right.op in BRANCHES:
            for pair in zip(original.arms(i), again.arms(j)):
                visit(pair)
        elif left.op is not right.op or left.op is Op.LOAD_CONST:
            if left.op is not Op.LOAD_CONST:
                return _different(original, again, i, j)
            value = right.arg
            if right.op is Op.LOAD_GLOBAL and right.arg in names:
                value = names[right.arg]
                result.named = result.named or f"a constant of type {type(value).__name__} is read as {right.arg!r}"
            elif right.op is not Op.LOAD_CONST:
                return _different(original, again, i, j)
            if not same_constant(left.arg, value, result.codes):
                return _different(original, again, i, j)
            visit((original.place(i + 1), again.place(j + 1)))
        else:
            if left.arg != right.arg or left.op in KEYS and not same_constant(left.arg, right.arg, result.codes):
                return _different(original, again, i, j)
            if left.op not in NO_FALLTHROUGH:
                visit((original.place(i + 1), again.place(j + 1)))
            if left.target is not None and right.target is not None:
                visit((original.place(left.target), again.place(right.target)))
        if can_raise(left):
            a, b = original.region(i), again.region(j)
            if a is not None and b is not None and a.depth == b.depth:
                visit((original.place(a.handler), again.place(b.handler)))
            elif a is not None or b is not None:
                here, there = (_handler(original, i), _handler(again, j))
                return Walk(f"an exception in {original.describe(i)} {here}, compiled again {there}")
    return result


def _handler(graph: Graph, index: int) -> str:
    region = graph.region(index)
    if region is None:
        return "leaves the function"
    return f"goes to {graph.describe(graph.place(region.handler))} with {region.depth} values below"


def _different(original: Graph, again: Graph, i: int, j: int) -> Walk:
    return Walk(f"{original.describe(i)}, compiled again {again.describe(j)}")
