"""Does the text that was decompiled mean the same as the original? Compare the two code objects.

Two comparisons. The exact one (`exact`) walks both canonical programs in step. Where it finds a difference, the
symbolic one (`symbolic`) runs both on abstract values and asks for the same effects with the same operands in the
same order; it accepts, for instance, a temporary variable in place of a value kept on the stack.
"""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any, Callable, Collection, List, Mapping, Optional, Set, Tuple

from depyf.bytecode import normalise
from depyf.bytecode.program import Program
from depyf.decompile.result import Part, Status, Verdict, worst

from . import exact, symbolic
from .constants import CodePair, same_constant
from .graph import Graph
from .header import header_difference, renamed_arguments, variable_difference
from .place import Place

__all__ = ["compare"]


def compare(
    original: CodeType,
    again: CodeType,
    *,
    names: Optional[Mapping[str, Any]] = None,
    version: Optional[Tuple[int, int]] = None,
    droppable: Collection[str] = (),
    unchecked: Collection[CodeType] = (),
    parts: Optional[List[Part]] = None,
    aliases: Optional[Mapping[str, str]] = None,
    prepare: Optional[Callable[[Program], Program]] = None,
) -> Verdict:
    """Compare `original` with `again`, the code object of the decompiled text, nested code objects included.

    `names`: globals of the text that stand for constants without a literal. `droppable`: local variables of
    `original` that the text need not keep (temporaries of whoever generated the bytecode). `unchecked`: code objects
    in `original` whose instructions are not compared (their text is in the dispatch form): the verdict is then at
    best UNVERIFIED. `aliases`: what globals of the text are really called. `prepare` leaves out of a program of
    `original` what the text leaves out on purpose. `parts`, if given, gets the verdict on each code object, without
    those inside a refuted one; else the comparison ends with the first difference. The name of the outermost code
    object is not compared. Raises `BytecodeError` for invalid bytecode only.
    """
    return _Comparison(original, again, names or {}, version, droppable, unchecked, aliases or {}, prepare).run(parts)


class _Comparison:
    def __init__(
        self,
        original: CodeType,
        again: CodeType,
        names: Mapping[str, Any],
        version: Optional[Tuple[int, int]],
        droppable: Collection[str],
        unchecked: Collection[CodeType],
        aliases: Mapping[str, str],
        prepare: Optional[Callable[[Program], Program]],
    ) -> None:
        self._outermost = (original, again)
        self._names = names
        self._version = version
        self._droppable = droppable
        self._unchecked = {id(code) for code in unchecked}
        self._aliases = aliases
        self._prepare = prepare or (lambda program: program)
        self._places = (Place(original), Place(again))
        self._renamed: Set[int] = set()  # code objects of `original` that have another name in the text, or lie in one

    def run(self, parts: Optional[List[Part]]) -> Verdict:
        """The verdict on the outermost pair and all pairs inside it."""
        notes: List[Part] = []
        work: List[Tuple[CodeType, CodeType, str]] = [(*self._outermost, "")]
        compared = set()
        while work:
            left, right, path = work.pop()
            if (id(left), id(right)) in compared:
                continue
            compared.add((id(left), id(right)))
            verdict, codes = self._compare(left, right)
            if verdict.difference is not None:
                verdict = Verdict(verdict.status, path + verdict.difference)
            if verdict.status is Status.REFUTED and parts is None:
                return verdict
            notes.append(Part(left, verdict))
            if id(left) in self._renamed:
                self._renamed.update(id(a) for a, _ in codes)
            work.extend((a, b, f"{path}in {a.co_name}: ") for a, b in reversed(codes))
        if parts is not None:
            parts.extend(notes)
        return worst(notes)

    def _compare(self, original: CodeType, again: CodeType) -> Tuple[Verdict, List[CodePair]]:
        """The verdict on one pair of code objects, and the pairs of code objects among their constants."""
        outermost = original is self._outermost[0]
        free = outermost or id(original) in self._renamed
        renamed = renamed_arguments(original, again) if free else {}
        places = None if free else self._places
        difference = header_difference(original, again, self._version, places, renamed)
        if difference is not None:
            return Verdict(Status.REFUTED, difference), []
        if id(original) in self._unchecked:
            pairs = _namesakes(original, again)
            self._renamed.update(id(left) for left, right in pairs if left.co_name != right.co_name)
            return Verdict(Status.UNVERIFIED, "dispatch form, not compared"), pairs
        codes: List[CodePair] = []
        if _same_bytes(original, again, codes):
            return Verdict(Status.EXACT), codes
        first = Graph(self._prepare(normalise(original, self._version)), self._places[0], renamed)
        second = Graph(normalise(again, self._version), self._places[1], globals_=self._aliases)
        variables, harm = variable_difference(first, second)
        walk = exact.walk(first, second, self._names)
        if walk.difference is None and not harm:
            odd = next(iter(renamed), None)
            note = walk.named or variables or (odd and f"argument {odd!r} is called {renamed[odd]!r}")
            return Verdict(Status.EXACT if note is None else Status.EQUIVALENT, note), walk.codes
        difference = walk.difference or variables
        outcome = symbolic.walk(first, second, self._names, self._droppable)
        if outcome.difference is None:
            return Verdict(Status.EQUIVALENT, difference), outcome.codes
        return Verdict(Status.REFUTED, f"{outcome.difference} (first difference: {difference})"), []


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


def _namesakes(original: CodeType, again: CodeType) -> List[CodePair]:
    """Nested code objects of both sides that belong together: by name, and by their arguments where names repeat.

    A lambda or comprehension is a function with a name like its own in the dispatch form.
    """
    left = [const for const in original.co_consts if isinstance(const, CodeType)]
    right = [const for const in again.co_consts if isinstance(const, CodeType)]
    pairs: List[CodePair] = []
    for code in left:
        plain = code.co_name.strip("<>")
        same = [other for other in right if other.co_name == code.co_name]
        if plain != code.co_name:
            same += [other for other in right if other.co_name.startswith(plain)]
        fits = [other for other in same if _shape(other) == _shape(code)]
        found = next(iter(fits if plain != code.co_name else fits or same), None)
        if found is not None:
            right.remove(found)
            pairs.append((code, found))
    return pairs


def _shape(code: CodeType) -> Tuple[object, ...]:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    return (*counts, code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR))
