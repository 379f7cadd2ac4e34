"""Does the text that was decompiled mean the same as the original? Compare the two code objects.

Two comparisons. The exact one (`exact`) walks both canonical programs in step. Where it finds a difference, the
symbolic one (`symbolic`) runs both on abstract values and asks for the same effects with the same operands in the
same order; it accepts, for instance, a temporary variable in place of a value kept on the stack.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Collection, List, Mapping, Optional, Tuple

from depyf.bytecode import normalise
from depyf.decompile.result import Status, Verdict

from . import exact, symbolic
from .constants import CodePair, same_constant
from .graph import Graph
from .header import header_difference, variable_difference

__all__ = ["compare"]


def compare(
    original: CodeType,
    again: CodeType,
    *,
    names: Optional[Mapping[str, Any]] = None,
    version: Optional[Tuple[int, int]] = None,
    droppable: Collection[str] = (),
) -> Verdict:
    """Compare `original` with `again`, the code object of the decompiled text, nested code objects included.

    `names`: globals of the text that stand for constants without a literal. `droppable`: local variables of
    `original` that the text need not keep (temporaries of whoever generated the bytecode). The name of the outermost
    code object is not compared. Raises `BytecodeError` for invalid bytecode only; the difference names both
    instructions.
    """
    harmless: Optional[str] = None
    work: List[Tuple[CodeType, CodeType, str]] = [(original, again, "")]
    compared = set()
    while work:
        left, right, path = work.pop()
        if (id(left), id(right)) in compared:
            continue
        compared.add((id(left), id(right)))
        verdict, codes = _compare_one(left, right, bool(path), names or {}, version, droppable)
        if verdict.status is Status.REFUTED:
            return Verdict(Status.REFUTED, f"{path}{verdict.difference}")
        if verdict.status is Status.EQUIVALENT and harmless is None:
            harmless = f"{path}{verdict.difference}"
        for a, b in reversed(codes):
            work.append((a, b, f"{path}in {a.co_name}: "))
    return Verdict(Status.EXACT) if harmless is None else Verdict(Status.EQUIVALENT, harmless)


def _compare_one(
    original: CodeType,
    again: CodeType,
    nested: bool,
    names: Mapping[str, Any],
    version: Optional[Tuple[int, int]],
    droppable: Collection[str],
) -> Tuple[Verdict, List[CodePair]]:
    """The verdict on one pair of code objects, and the pairs of code objects among their constants."""
    codes: List[CodePair] = []
    difference = header_difference(original, again, version, nested)
    if difference is not None:
        return Verdict(Status.REFUTED, difference), codes
    if _same_bytes(original, again, codes):
        return Verdict(Status.EXACT), codes
    graphs = Graph(normalise(original, version)), Graph(normalise(again, version))
    variables, harm = variable_difference(*graphs)
    walk = exact.walk(graphs[0], graphs[1], names)
    if walk.difference is None and not harm:
        note = walk.named or variables
        return Verdict(Status.EXACT if note is None else Status.EQUIVALENT, note), walk.codes
    difference = walk.difference or variables
    outcome = symbolic.walk(graphs[0], graphs[1], names, droppable)
    if outcome.difference is None:
        return Verdict(Status.EQUIVALENT, difference), outcome.codes
    return Verdict(Status.REFUTED, f"{outcome.difference} (first difference: {difference})"), codes


def _same_bytes(original: CodeType, again: CodeType, codes: List[CodePair]) -> bool:
    """Whether two code objects hold the same bytecode, names and constants: then nothing need be normalised."""
    for name in ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable"):
        if getattr(original, name, None) != getattr(again, name, None):
            return False
    found: List[CodePair] = []
    if not same_constant(original.co_consts, again.co_consts, found):
        return False
    codes.extend(found)
    return True
