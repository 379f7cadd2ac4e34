"""From a code object to its text: structured, checked, and in the dispatch form where that fails."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import CodeType
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set

from ..bytecode import BytecodeError, normalise
from ..bytecode.program import Program
from . import nodes as n
from . import passes
from .body import FAILURES, names_in, structured
from .constants import name_constants
from .functions import Structured, function_statement, module_body
from .result import DecompilationError, Decompiled, Status, Verdict
from .source_map import source_map
from .tree import walk
from .verify import compare
from .writer import write

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
        program = normalise(code)
    except BytecodeError as error:
        raise DecompilationError("%s is not valid bytecode: %s" % (code.co_name, error)) from error
    why = ""
    structured_fails = False
    for plan in _plans(view):
        if structured_fails and plan.form == "structured":
            continue
        attempt = _Attempt(program, plan, name, made, verify, generated)
        try:
            result = attempt.run()
        except FAILURES as error:
            why = why or str(error) or type(error).__name__
            structured_fails = not isinstance(error, passes.PassFailed)
            continue
        if result.dispatch and result.verdict.status is Status.REFUTED:
            # blocks chosen by number are beyond the comparison; the form is right by construction, and says what it is
            return replace(result, verdict=Verdict(Status.UNVERIFIED, "dispatch form: not compared"))
        if result.verdict.status is not Status.REFUTED:
            return result
        why = result.verdict.difference or "refuted"
        structured_fails = not attempt.rewritten
    raise DecompilationError("%s could not be decompiled: %s" % (code.co_name, why))


class _Plan(NamedTuple):
    """How to go about it: in which form, with which passes (see `passes`), with the profiler's calls or without."""

    form: str
    passes: Sequence[passes.Pass]
    profiling: bool


def _plans(view: str) -> List[_Plan]:
    """What to try in turn. A pass whose result is refuted is left out, alone if possible."""
    dispatch = _Plan("dispatch", (), True)
    if view == "faithful":
        return [_Plan("structured", (), True), dispatch]
    every = passes.PASSES
    fewer = [tuple(each for each in every if each is not left_out) for left_out in every]
    return [_Plan("structured", chosen, False) for chosen in (every, *fewer, ())] + [dispatch]


class _Attempt:
    """One way of decompiling a code object, nested ones included."""

    def __init__(
        self,
        program: Program,
        plan: _Plan,
        name: Optional[str],
        made: Optional[n.MakeFunction],
        verify: bool,
        generated: bool,
    ) -> None:
        self.program = program
        self.plan = plan
        self.name = name
        self.made = made
        self.verify = verify
        self.generated = generated
        self.dispatched = False
        self.cut = False  # whether the profiler's calls were left out
        self.rewritten = False  # whether passes had anything to do
        self.aliases: Dict[str, str] = {}
        self.droppable: Set[str] = set()

    def run(self) -> Decompiled:
        """The text and its verdict. Raises one of FAILURES where the plan leads to no text."""
        code = self.program.code
        top = self._structure(code)
        if code.co_flags & _CO_OPTIMIZED:
            statements: List[n.Stmt] = [function_statement(top, self._structure, self.name, self.made)]
        else:
            statements = module_body(top, self._structure)
        names = name_constants(statements, _all_names(code))
        statements[:0] = map(n.Comment, self._remarks())
        text, positions = write(n.Module(statements), self.program.version)
        verdict = self._check(text, names) if self.verify else Verdict(Status.UNVERIFIED)
        mapped = source_map(statements, positions, code)
        return Decompiled(text, verdict, mapped, self.dispatched, names, self.aliases)

    def _remarks(self) -> List[str]:
        """What a reader must know of how the text differs from what runs."""
        remarks = ["%s is short for %s" % pair for pair in sorted(self.aliases.items())]
        if self.cut:
            remarks.append(passes.COMMENT)
        if self.dispatched:
            remarks.append("dispatch form: no structured form of this code was found")
        return remarks

    def _structure(self, nested: CodeType) -> Structured:
        program = self.program if nested is self.program.code else normalise(nested)
        body = self._body(program)
        for node in walk(body):
            if nested is not self.program.code:
                node.owner = nested
        return Structured(program, body)

    def _body(self, program: Program) -> List[n.Stmt]:
        """Structured statements, or the dispatch form when asked for or when there are none."""
        try:
            shown = program if self.plan.profiling else passes.cut_profiling(program)
            body = structured(shown)
        except FAILURES:
            if self.plan.form != "dispatch":
                raise
            self.dispatched = True
            from .dispatch import dispatch_body

            return dispatch_body(program)
        self.cut = self.cut or shown is not program
        generated = self.generated and program.code is self.program.code
        scope = passes.Scope(program.code, body, generated)
        self.rewritten = self.rewritten or passes.needs_passes(body, scope)
        body = passes.run(body, scope, self.plan.passes)
        self.aliases.update(scope.aliases)
        self.droppable |= scope.own
        return body

    def _check(self, text: str, names: Dict[str, Any]) -> Verdict:
        """Compile the text again and compare the programs."""
        code = self.program.code
        try:
            again = _compiled(code, text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Verdict(Status.REFUTED, "the text does not compile: %s" % error)
        prepare = None if self.plan.profiling else passes.cut_profiling
        return compare(code, again, names=names, droppable=self.droppable, aliases=self.aliases, prepare=prepare)


def _all_names(code: CodeType) -> Set[str]:
    names: Set[str] = set()
    todo = [code]
    while todo:
        item = todo.pop()
        names |= names_in(item)
        todo.extend(const for const in item.co_consts if isinstance(const, CodeType))
    return names


def _compiled(code: CodeType, text: str) -> CodeType:
    """The code object that the text compiles to, in the surroundings that the original had."""
    flags = code.co_flags & _FUTURES
    if not code.co_flags & _CO_OPTIMIZED:
        module: CodeType = compile(text, "<decompiled>", "exec", flags, True)
        return module
    tree: ast.Module = compile(text, "<decompiled>", "exec", flags | ast.PyCF_ONLY_AST, True)
    function = next(item for item in tree.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)))
    depth = 1
    if "__class__" in code.co_freevars:  # a class called `_` mangles no private names
        tree.body = [ast.ClassDef("_", [], [], tree.body, [], **_EXTRA)]
        depth += 1
    free = [item for item in code.co_freevars if item != "__class__"]
    if free:
        outer = ast.parse("def outer(%s): pass" % ", ".join(free)).body[0]
        assert isinstance(outer, ast.FunctionDef)
        outer.body = tree.body
        tree.body = [outer]
        depth += 1
    compiled: CodeType = compile(ast.fix_missing_locations(tree), "<decompiled>", "exec", flags, True)
    for _ in range(depth - 1):
        compiled = next(item for item in compiled.co_consts if isinstance(item, CodeType))
    return next(item for item in compiled.co_consts if isinstance(item, CodeType) and item.co_name == function.name)


_EXTRA: Dict[str, Any] = {"type_params": []} if "type_params" in ast.ClassDef._fields else {}
_FUTURES = 0x1FF0000  # CO_FUTURE_* bits that compile() takes (Include/cpython/code.h)
