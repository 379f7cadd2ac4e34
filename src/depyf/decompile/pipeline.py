"""From a code object to its text: structured, checked, and in the dispatch form where that fails."""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from ..bytecode import BytecodeError, normalise
from ..bytecode.program import Program
from . import nodes as n
from . import passes
from .body import FAILURES, names_in, structured
from .constants import name_constants
from .dispatch import UnknownOperation, dispatch_body
from .enclosing import enclosed, written_outside
from .functions import Structured, function_statement, module_body
from .printing import WriteError
from .recompile import recompile
from .result import DecompilationError, Decompiled, Part, Status, Verdict
from .source_map import source_map
from .tree import walk
from .verify import compare
from .writer import Positions, write

_CO_OPTIMIZED = 1  # functions, as opposed to modules and class bodies


def decompile_code(
    code: CodeType,
    *,
    name: Optional[str] = None,
    verify: bool = True,
    view: str = "readable",
    made: Optional[n.MakeFunction] = None,
    generated: bool = False,
) -> Decompiled:
    """Decompile one code object: of a function to a `def` (called `name`, if given), of a module to its text.

    `view`: "readable" folds what provably makes no difference (see `passes`), "faithful" keeps every effect. `made`
    gives a function's defaults. `generated`: Dynamo made this code (by default its names tell). Raises
    DecompilationError if `code` is not valid bytecode.
    """
    try:
        return _Decompilation(code, name, made, verify, view == "readable", generated).run()
    except BytecodeError as error:
        raise DecompilationError("%s is not valid bytecode: %s" % (code.co_name, error)) from error


class _Choice:
    """How to go about one code object: with which passes, or in the dispatch form (`checked`: and compared).

    A `function` may be tried with each pass left out. For a module that would be many times all that is in it.
    """

    def __init__(self, readable: bool, function: bool) -> None:
        every = passes.PASSES if readable else ()
        fewer = [tuple(each for each in every if each is not left_out) for left_out in every if function]
        self._left: List[Sequence[passes.Pass]] = [every, *fewer, *([()] if readable else [])]
        self.dispatch = False
        self.checked = True

    @property
    def passes(self) -> Sequence[passes.Pass]:
        """The passes to run."""
        return self._left[0]

    def next(self, passes_matter: bool) -> bool:
        """Try something plainer; False if there is nothing left. Passes that do nothing need not be tried without."""
        if self.dispatch:
            was, self.checked = self.checked, False
            return was
        del self._left[0]
        self.dispatch = not passes_matter or not self._left
        return True


class _Decompilation:
    """Decompiles a code object, those inside it included, each in the most readable way that passes the check."""

    def __init__(
        self,
        code: CodeType,
        name: Optional[str],
        made: Optional[n.MakeFunction],
        verify: bool,
        readable: bool,
        generated: bool,
    ) -> None:
        self.code = code
        self.name = name
        self.made = made
        self.verify = verify
        self.readable = readable
        self.generated = generated
        self.choices: Dict[int, _Choice] = {}
        self.codes: Dict[int, CodeType] = {}
        self.causes: List[str] = []

    def run(self) -> Decompiled:
        """The text and its verdict."""
        while True:
            text = _Text(self)
            try:
                result, refuted = text.write()
            except WriteError as error:
                owner = self.code if error.node is None or error.node.owner is None else error.node.owner
                if not self.choice(owner).next(False):
                    raise DecompilationError("%s: %s" % (owner.co_name, error)) from error
                self.causes.append("%s: %s" % (owner.co_name, error))
                continue
            except RecursionError:
                self._give_up_deepest()
                continue
            if result.verdict.status is not Status.REFUTED:
                result.causes = self.causes
                return result
            difference = result.verdict.difference or "refuted"
            faulty = [each for each in refuted if id(each) in self.choices] or [self.code]
            self.causes.append("%s: %s" % (faulty[0].co_name, difference))
            # All of them at once, so that the number of attempts does not grow with the size of a module.
            moved = [self.choices[id(each)].next(id(each) in text.rewritten) for each in faulty]
            if not any(moved):
                raise DecompilationError("%s could not be decompiled: %s" % (self.code.co_name, difference))

    def _give_up_deepest(self) -> None:
        """Something was nested too deeply: the largest code object without dispatch form is the likely one."""
        left = [code for code in self.codes.values() if not self.choices[id(code)].dispatch]
        if not left:
            raise DecompilationError("%s is nested too deeply" % self.code.co_name)
        largest = max(left, key=lambda code: len(code.co_code))
        self.causes.append("%s: nested too deeply" % largest.co_name)
        self.choices[id(largest)].next(False)

    def choice(self, code: CodeType) -> _Choice:
        """How to go about `code` this time."""
        self.codes[id(code)] = code
        return self.choices.setdefault(id(code), _Choice(self.readable, bool(code.co_flags & _CO_OPTIMIZED)))


class _Text:
    """One attempt: the text as the choices of a decompilation have it."""

    def __init__(self, decompilation: _Decompilation) -> None:
        self.all = decompilation
        self.dispatched: List[CodeType] = []
        self.rewritten: Set[int] = set()  # ids of the code objects that passes had anything to do with
        self.cut = False  # whether the profiler's calls were left out
        self.aliases: Dict[str, str] = {}
        self.droppable: Set[str] = set()

    def write(self) -> Tuple[Decompiled, List[CodeType]]:
        """The text with its verdict, and the code objects that were refuted."""
        code = self.all.code
        top = self._structure(code)
        if code.co_flags & _CO_OPTIMIZED:
            function = function_statement(top, self._structure, self.all.name, self.all.made)
            statements: List[n.Stmt] = [enclosed(function, code) if written_outside(code) else function]
        else:
            statements = module_body(top, self._structure)
        names = name_constants(statements, _all_names(code))
        statements[:0] = map(n.Comment, [*_described(names), *self._remarks()])
        text, positions = write(n.Module(statements), top.program.version)
        parts: List[Part] = []
        verdict = Verdict(Status.UNVERIFIED)
        if self.all.verify:
            try:
                verdict = self._compare(recompile(code, text), names, parts)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                verdict = Verdict(Status.REFUTED, "the text does not compile: %s" % error)
                owner = self._owner_at(getattr(error, "lineno", None) or 1, statements, positions)
                parts.append(Part(owner, verdict))
        mapped = source_map(statements, positions, code)
        result = Decompiled(text, verdict, mapped, bool(self.dispatched), names, self.aliases, parts=parts)
        return result, [part.code for part in parts if part.verdict.status is Status.REFUTED]

    def _remarks(self) -> List[str]:
        """What a reader must know of how the text differs from what runs."""
        remarks = ["%s is short for %s" % pair for pair in sorted(self.aliases.items())]
        if self.cut:
            remarks.append(passes.COMMENT)
        if self.dispatched:
            which = [code.co_name for code in self.dispatched if code is not self.all.code]
            found = "no structured form of %s was found" % (", ".join(which) if which else "this code")
            remarks.append("dispatch form: %s" % found)
        return remarks

    def _structure(self, nested: CodeType) -> Structured:
        program = normalise(nested)
        shown = passes.cut_profiling(program) if self.all.readable else program
        self.cut = self.cut or shown is not program
        body = self._body(shown, self.all.choice(nested))
        if nested is not self.all.code:
            for node in walk(body):
                node.owner = nested
        return Structured(program, body)

    def _body(self, program: Program, choice: _Choice) -> List[n.Stmt]:
        """Structured statements, or the dispatch form when that is chosen or there are none."""
        while not choice.dispatch:
            try:
                body = structured(program)
                return self._rewritten(body, program.code, choice)
            except FAILURES as failure:
                self.all.causes.append("%s: %s" % (program.code.co_name, failure or type(failure).__name__))
                choice.next(isinstance(failure, passes.PassFailed))
            except RecursionError:  # the dispatch form nests nothing deeply
                self.all.causes.append("%s: nested too deeply" % program.code.co_name)
                choice.next(False)
        self.dispatched.append(program.code)
        try:
            return dispatch_body(program)
        except (UnknownOperation, ValueError) as error:
            raise DecompilationError("%s cannot be written: %s" % (program.code.co_name, error)) from error

    def _rewritten(self, body: List[n.Stmt], code: CodeType, choice: _Choice) -> List[n.Stmt]:
        """The statements after the passes of `choice`."""
        scope = passes.Scope(code, body, self.all.generated and code is self.all.code)
        if choice.passes and passes.needs_passes(body, scope):
            self.rewritten.add(id(code))
            body = passes.run(body, scope, choice.passes)
            self.aliases.update(scope.aliases)
            self.droppable |= scope.own
        return body

    def _owner_at(self, line: int, statements: List[n.Stmt], positions: Positions) -> CodeType:
        """The code object whose text stands at `line`."""
        best, owner = 0, self.all.code
        for node in walk(statements):
            at = positions.get(id(node), (0, 0))[0]
            if best < at <= line:
                best, owner = at, node.owner or self.all.code
        return owner

    def _compare(self, again: CodeType, names: Dict[str, Any], parts: List[Part]) -> Verdict:
        """Compare the programs; the verdicts on the single code objects are appended to `parts`."""
        return compare(
            self.all.code,
            again,
            names=names,
            droppable=self.droppable,
            unchecked=[code for code in self.dispatched if not self.all.choice(code).checked],
            parts=parts,
            aliases=self.aliases,
            prepare=passes.cut_profiling if self.all.readable else None,
        )


def _described(names: Dict[str, Any]) -> List[str]:
    """What stands for constants that have no literal, in words. Runs no code of the values' own."""
    remarks = []
    for name, value in names.items():
        safe = isinstance(value, _SAFE_TO_SHOW) or type(value).__module__ == "torch"
        text = repr(value) if safe else "an object of type %s.%s" % (type(value).__module__, type(value).__qualname__)
        remarks.append("%s is the constant %.150s" % (name, " ".join(text.split())))
    return remarks


_SAFE_TO_SHOW = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType)


def _all_names(code: CodeType) -> Set[str]:
    names: Set[str] = set()
    todo = [code]
    while todo:
        item = todo.pop()
        names |= names_in(item)
        todo.extend(const for const in item.co_consts if isinstance(const, CodeType))
    return names
