"""The symbolic comparison: run both programs in step on abstract values, from event to event (see `machine`).

Two programs are equivalent if along every path the same events come in the same order with the same operands, an
exception at any of them leads to equivalent ends, and at every event that may run foreign code the variables that
both programs know, and the exception being handled, are the same. Variables that only the decompiled text has are
temporaries: places for values, like stack slots.

Where ways join, what is known of both states is joined too (a finite descent, as in any data-flow analysis), and
the walk goes on from there until nothing changes.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, List, Mapping, Optional, Set, Tuple, Union

from depyf.bytecode.program import Op

from .constants import CodePair
from .graph import Graph
from .header import argument_names
from .machine import Event, Machine
from .own_builtins import ITEM
from .relation import Joint, join, match, same_variables
from .values import UNBOUND, GiveUp, Known, State, Values

# Events that read a variable or test a flag: what they can run or raise does not see the function's own variables.
QUIET = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "branch", "leave by exception"})
# Builtins that see the variables of the function that calls them, when called with so many arguments (and eval and exec
# with None for a namespace).
SEES_VARIABLES = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}

Start = Union[int, Event]


@dataclass
class Outcome:
    """`difference` in words, or None if the programs are equivalent given that the pairs of `codes` are."""

    difference: Optional[str] = None
    codes: List[CodePair] = field(default_factory=list)


class _Refuted(Exception):
    """The programs differ; the message says where."""


def walk(original: Graph, again: Graph, names: Mapping[str, Any], droppable: Collection[str]) -> Outcome:
    """Compare two programs from their entries on."""
    comparison = _Comparison(original, again, names, droppable)
    try:
        comparison.run()
    except (_Refuted, GiveUp) as problem:
        return Outcome(str(problem))
    return Outcome(None, comparison.values.codes)


class _Comparison:
    def __init__(self, original: Graph, again: Graph, names: Mapping[str, Any], droppable: Collection[str]) -> None:
        self.graphs = (original, again)
        self.values = Values()
        shared = _shared(original) | _shared(again)
        known = _variables(original) | set(argument_names(again.program.code))
        new = _variables(again)
        self.invented = new - known
        budget = 10000 + 100 * (len(original.instrs) + len(again.instrs))
        self.machines = (
            Machine(original, self.values, shared, set(), {}, budget),
            Machine(again, self.values, shared, self.invented - shared, names, budget),
        )
        self.compared = sorted((known | new) - self.invented - set(droppable) - shared)
        self.states: Dict[Tuple[int, str, int, str], Joint] = {}
        self.work: List[Tuple[Start, State, Start, State]] = []

    def run(self) -> None:
        """Walk until nothing is left to compare. Raises _Refuted or GiveUp."""
        names = argument_names(self.graphs[0].program.code)
        arguments: Dict[str, int] = {}
        for name, written in zip(names, argument_names(self.graphs[1].program.code)):
            # A comprehension's argument comes from GET_ITER, and `iter` of an iterator is that iterator.
            arguments[written] = self.values.fresh(Known("iterator") if name == ".0" else None)
        first, second = State(variables=dict(arguments)), State(variables=dict(arguments))
        self.work.append((self.graphs[0].place(0), first, self.graphs[1].place(0), second))
        while self.work:
            self._compare(*self.work.pop())

    def _compare(self, i: Start, first: State, j: Start, second: State) -> None:
        one, two = self.machines
        left = i if isinstance(i, Event) else one.run(i, first)
        right = j if isinstance(j, Event) else two.run(j, second)
        joins = not isinstance(i, Event) and one.passed_join or not isinstance(j, Event) and two.passed_join
        if joins and _goes_on(left) and _goes_on(right):
            key = (left.at, left.label, right.at, right.label)
            new = Joint(first, second)
            old = self.states.get(key)
            if old is not None:
                joint = join(old, new, self.values)
                if joint is None:
                    return
                new = joint
            self.states[key] = Joint(new.first.copy(), new.second.copy())
            if old is not None:
                first, second = new.first, new.second
                left, right = one.run(left.at, first), two.run(right.at, second)
        self._same_event(left, right, first, second)
        self._follow(left, right, first, second)

    def _same_event(self, left: Event, right: Event, first: State, second: State) -> None:
        """Raises _Refuted unless both events are the same."""
        here, there = self.graphs[0].describe(left.at), self.graphs[1].describe(right.at)
        if (left.label, left.arg, len(left.follow)) != (right.label, right.arg, len(right.follow)):
            labels = "" if left.label == right.label else f" ({left.label}, {right.label})"
            raise _Refuted(f"{here}, compiled again {there}{labels}")
        if not match(left.operands, right.operands, first, second, self.values):
            raise _Refuted(f"{here} works on other values than, compiled again, {there}")
        if left.raises and first.handled != second.handled:  # it would be the context of what is raised
            raise _Refuted(f"at {here} and, compiled again, {there} different exceptions are being handled")
        if left.label == Op.RETURN.name or left.raises and left.label not in QUIET:
            name = same_variables(first, second, self.compared, self.values)
            if name is not None:
                raise _Refuted(f"variable {name!r} differs at {here} and, compiled again, {there}")
        builtin = self._sees_variables(left)
        if builtin is not None:
            if self.invented:
                raise _Refuted(f"{builtin}() at {here} sees the temporary {min(self.invented)!r}")
            held = [[state.variables.get(name, UNBOUND) for name in self.compared] for state in (first, second)]
            match(held[0], held[1], first, second, self.values)  # containers in variables get out by this

    def _sees_variables(self, event: Event) -> Optional[str]:
        """The builtin that `event` calls, if what it calls sees the variables of the function."""
        if event.label not in (Op.CALL.name, Op.CALL_EX.name) or not event.operands:
            return None
        known, arguments = self.values.known.get(event.operands[0]), event.operands[1:]
        if known is None or known.kind != "global":
            return None
        name: str = known.data
        none = self.values.const(None)
        if event.label == Op.CALL.name and len(arguments) != SEES_VARIABLES[name] and none not in arguments:
            return None
        return name

    def _follow(self, left: Event, right: Event, first: State, second: State) -> None:
        """Put what can come after an event on the list of work."""
        one, two = self.machines
        if left.raises or right.raises:
            if self.graphs[0].region(left.at) is not None or self.graphs[1].region(right.at) is not None:
                a, b = first.copy(), second.copy()
                exception = self.values.fresh() if left.exception is None else left.exception
                other = exception if right.exception is None else right.exception
                i, j = one.unwind(left.at, a, exception), two.unwind(right.at, b, other)
                self.work.append((i, a, j, b))
        for outcome in reversed(range(len(left.follow))):
            last = outcome == 0
            a, b = (first, second) if last else (first.copy(), second.copy())
            results = self._results(left)
            one.resume(left, a, outcome, list(results))
            two.resume(right, b, outcome, list(results))
            if left.label == "branch":
                # After `resume`: a branch of the second program may be on the negation of the same bool.
                for old, new in self.values.decide(left.operands[0], outcome == 0):
                    a.replace(old, new)
                    b.replace(old, new)
            self.work.append((left.follow[outcome], a, right.follow[outcome], b))

    def _results(self, event: Event) -> List[int]:
        if event.label == Op.FOR_ITER.name:
            return [self.values.fresh(ITEM)]
        if event.label in ("test of truth", "use of a variable that may be unbound"):
            return [self.values.fresh(Known("bool") if event.label == "test of truth" else None)]
        if event.label in ("LOAD_GLOBAL", "LOAD_NAME") and event.arg in SEES_VARIABLES:
            return [self.values.fresh(Known("global", event.arg))]
        return [self.values.fresh(Known(event.gives) if event.gives else None) for _ in range(event.pushes)]


def _goes_on(event: Event) -> bool:
    return bool(event.follow) or event.raises


def _variables(graph: Graph) -> Set[str]:
    code = graph.program.code
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


def _shared(graph: Graph) -> Set[str]:
    """Free variables, and cells that a closure takes."""
    code = graph.program.code
    if not code.co_flags & inspect.CO_OPTIMIZED:  # a class body: its cells are no local variables
        return {*code.co_freevars, *code.co_cellvars}
    return {*code.co_freevars, *(instr.arg for instr in graph.instrs if instr.op is Op.LOAD_CLOSURE)}
