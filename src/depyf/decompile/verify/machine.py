"""One side of the symbolic comparison: run a program on abstract values up to its next event.

An *event* is what the outside could notice or what decides the way on: a call, an operator, a load of a global, a
test of truth, a return, an exception leaving the function. All else is silent: moving values between the stack and
local variables, jumps, constants, building and taking apart containers that nobody else has seen (`virtual`), and
the bookkeeping of exceptions, where what counts is which exception is being handled at each event and in which
handler, if any, an exception ends up. So a clean-up handler that only restores the handled exception and raises
again needs no special case: it is silent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from depyf.bytecode import can_raise
from depyf.bytecode.program import Instr, Op

from . import own_builtins, virtual
from .constants import constant_key
from .graph import FOREVER, Graph
from .values import OUTSIDE, UNBOUND, GiveUp, State, Values

# Events of the plain kind: how many values are read, how many of them are popped, how many pushed.
PLAIN: Dict[Op, Tuple[int, int, int]] = {
    Op.LOAD_GLOBAL: (0, 0, 1),
    Op.STORE_GLOBAL: (1, 1, 0),
    Op.DELETE_GLOBAL: (0, 0, 0),
    Op.LOAD_NAME: (0, 0, 1),
    Op.STORE_NAME: (1, 1, 0),
    Op.DELETE_NAME: (0, 0, 0),
    Op.LOAD_DEREF: (0, 0, 1),
    Op.STORE_DEREF: (1, 1, 0),
    Op.DELETE_DEREF: (0, 0, 0),
    Op.LOAD_CLASSDEREF: (0, 0, 1),
    Op.LOAD_CLASSGLOBAL: (0, 0, 1),
    Op.LOAD_LOCALS: (0, 0, 1),
    Op.LOAD_BUILD_CLASS: (0, 0, 1),
    Op.LOAD_ATTR: (1, 1, 1),
    Op.STORE_ATTR: (2, 2, 0),
    Op.DELETE_ATTR: (1, 1, 0),
    Op.LOAD_SUPER_ATTR: (3, 3, 1),
    Op.LOAD_SUBSCR: (2, 2, 1),
    Op.STORE_SUBSCR: (3, 3, 0),
    Op.DELETE_SUBSCR: (2, 2, 0),
    Op.UNARY: (1, 1, 1),
    Op.BINARY: (2, 2, 1),
    Op.INPLACE: (2, 2, 1),
    Op.COMPARE: (2, 2, 1),
    Op.BUILD_TEMPLATE: (2, 2, 1),
    Op.LIST_TO_TUPLE: (1, 1, 1),
    Op.IMPORT_NAME: (2, 2, 1),
    Op.IMPORT_FROM: (1, 0, 1),
    Op.IMPORT_STAR: (1, 1, 0),
    Op.GET_ITER: (1, 1, 1),
    Op.GET_AITER: (1, 1, 1),
    Op.GET_ANEXT: (1, 0, 1),
    Op.GET_YIELD_FROM_ITER: (1, 1, 1),
    Op.GET_AWAITABLE: (1, 1, 1),
    Op.YIELD_FROM: (2, 2, 1),
    Op.YIELD: (1, 1, 1),
    Op.CHECK_EXC_MATCH: (2, 1, 1),
    Op.CHECK_EG_MATCH: (2, 2, 2),
    Op.PREP_RERAISE_STAR: (2, 2, 1),
    Op.BEFORE_WITH: (1, 1, 2),
    Op.BEFORE_ASYNC_WITH: (1, 1, 2),
    Op.WITH_EXCEPT_START: (3, 0, 1),
    Op.WITH_EXIT: (1, 1, 1),
    Op.GET_LEN: (1, 0, 1),
    Op.MATCH_MAPPING: (1, 0, 1),
    Op.MATCH_SEQUENCE: (1, 0, 1),
    Op.MATCH_KEYS: (2, 0, 1),
    Op.MATCH_CLASS: (3, 3, 1),
    Op.SETUP_ANNOTATIONS: (0, 0, 0),
}
GROW = (Op.LIST_APPEND, Op.SET_ADD, Op.MAP_ADD, Op.LIST_EXTEND, Op.SET_UPDATE, Op.DICT_UPDATE, Op.DICT_MERGE)
GIVES_BOOL = (Op.CHECK_EXC_MATCH, Op.MATCH_MAPPING, Op.MATCH_SEQUENCE)
PLAIN_CONSTANTS = (int, float, complex, bool, str, bytes, tuple, frozenset, type(None), type(Ellipsis))
NEGATED = {"not in": "in", "is not": "is"}


@dataclass
class Event:
    """What happens next on one side, at instruction `at`.

    `label` and `arg` say what, `operands` with which values. `pushes` values result, and go on the stack; the first is
    of the exact type `gives` ("bool", "set"...), if that is known, and is negated first on this side if `negate`. On
    this side None goes on the stack, too, if `gives_none`. `raises`: an exception may come of
    it: `exception` if that is known beforehand. `follow`: where it goes on, one place per outcome (a branch: true,
    false; FOR_ITER: an item, exhausted), none at an end.
    """

    at: int
    label: str
    arg: Any = None
    operands: List[int] = field(default_factory=list)
    pushes: int = 0
    raises: bool = True
    follow: List[int] = field(default_factory=list)
    gives: Optional[str] = None
    gives_none: bool = False
    negate: bool = False
    exception: Optional[int] = None


class Machine:
    """Runs one program. `shared`: cell variables that closures see; the others are as good as local variables.

    `temporaries`: variables that only this program has. `names`: its globals that stand for constants.
    """

    def __init__(
        self,
        graph: Graph,
        values: Values,
        shared: Set[str],
        temporaries: Set[str],
        names: Mapping[str, Any],
        budget: int,
    ) -> None:
        self.graph = graph
        self.values = values
        self.shared = shared
        self.temporaries = temporaries
        self.names = names
        self.budget = budget
        self.passed_join = False  # whether the last run went through a place that several ways lead to
        self._joins = _joins(graph)

    def run(self, index: int, state: State) -> Event:
        """Run silently from `index` on, changing `state`, to the next event. Raises GiveUp if there is no end of it."""
        self.passed_join = False
        limit = 200 + 4 * len(self.graph.instrs)
        seen: Set[Any] = set()
        steps = 0
        while True:
            if index in self._joins:
                self.passed_join = True
            if index == FOREVER or index >= len(self.graph.instrs):
                return Event(index, "forever" if index == FOREVER else "end of code", raises=False)
            steps += 1
            if steps > limit:
                snapshot = (index, tuple(state.stack), tuple(state.variables.items()), state.handled)
                if snapshot in seen:
                    return Event(FOREVER, "forever", raises=False)
                seen.add(snapshot)
                if steps > 2 * limit:
                    raise GiveUp("a long silent loop")
            self.budget -= 1
            if self.budget < 0:
                raise GiveUp("too many paths to compare")
            outcome = self._step(index, self.graph.instrs[index], state)
            if isinstance(outcome, Event):
                return outcome
            index = outcome

    def unwind(self, index: int, state: State, exception: int) -> int | Event:
        """An exception comes out of the instruction at `index`: the place of its handler, or the event of leaving."""
        region = self.graph.region(index)
        if region is None:
            return Event(index, "leave by exception", operands=[exception, state.handled], raises=False)
        del state.stack[region.depth :]
        state.stack.append(exception)
        return self.graph.place(region.handler)

    # ------------------------------------------------------------ one instruction

    def _step(self, index: int, instr: Instr, state: State) -> int | Event:
        """Execute one instruction: where to go on silently, or an event (then its operands are still on the stack)."""
        op, arg, stack, values = instr.op, instr.arg, state.stack, self.values
        after = self.graph.place(index + 1)
        if op is Op.POP:
            stack.pop()
        elif op is Op.COPY:
            stack.append(stack[-arg])
        elif op is Op.SWAP:
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif op is Op.LOAD_CONST:
            stack.append(values.const(arg))
        elif op is Op.LOAD_GLOBAL and arg in self.names:
            stack.append(values.const(self.names[arg]))
        elif op is Op.LOAD_ASSERTION_ERROR:
            stack.append(values.builtin("AssertionError"))
        elif op is Op.LOAD_COMMON_CONST:
            stack.append(values.builtin(arg))
        elif op is Op.LOAD_CLOSURE:
            stack.append(values.cell(arg))
        elif op in (Op.LOAD_FAST, Op.LOAD_FAST_AND_CLEAR) or op is Op.LOAD_DEREF and arg not in self.shared:
            value = state.variables.get(arg, UNBOUND)
            if op is not Op.LOAD_FAST_AND_CLEAR and values.may_be_unbound(value):
                return self._check_bound(index, arg, value)
            stack.append(value)
            if op is Op.LOAD_FAST_AND_CLEAR:
                state.variables[arg] = UNBOUND
        elif op is Op.STORE_FAST or op is Op.STORE_DEREF and arg not in self.shared:
            state.variables[arg] = stack.pop()
        elif op is Op.DELETE_FAST or op is Op.DELETE_DEREF and arg not in self.shared:
            value = state.variables.get(arg, UNBOUND)
            if values.may_be_unbound(value):
                return self._check_bound(index, arg, value)
            state.variables[arg] = UNBOUND
        elif op is Op.GET_ITER and values.is_iterator(stack[-1]):
            pass
        elif op is Op.PUSH_EXC_INFO:
            exception = stack.pop()
            stack += [state.handled, exception]
            state.handled = exception
        elif op is Op.POP_EXCEPT:
            state.handled = stack.pop()
        elif op is Op.RERAISE:
            return self.unwind(index, state, stack.pop())
        elif op is Op.RAISE and arg == 0 and state.handled != OUTSIDE:
            return self.unwind(index, state, state.handled)
        elif op in (Op.BRANCH_TRUE, Op.BRANCH_FALSE):
            return self._branch(index, state)
        elif op is Op.UNARY and arg == "not" and values.is_bool(stack[-1]):
            stack.append(values.negation(stack.pop()))
        elif op is Op.UNARY and arg == "not" and self.truth(state, stack[-1]) is None:
            return self._truth_event(index, stack[-1])
        elif op is Op.MAKE_FUNCTION and "closure" in arg and self._is(after, Op.LOAD_ATTR, "__closure__"):
            # `(lambda: x).__closure__[0]`: the way to write the cell of x
            closure = stack[-2]
            del stack[len(stack) - pops(instr) :]
            stack.append(closure)
            return self.graph.place(after + 1)
        elif op is Op.IMPORT_NAME:
            own = own_builtins.own_import(self.graph.instrs, index, self.temporaries)
            if own is None:
                return self._event(index, instr, state)
            del stack[-2:]
            state.variables.update((variable, values.builtin(name)) for name, variable in own.stores)
            return self.graph.place(own.end)
        elif not virtual.step(instr, state, values) and not own_builtins.step(instr, state, values):
            return self._event(index, instr, state)
        return after

    def _is(self, index: int, op: Op, arg: str) -> bool:
        if not 0 <= index < len(self.graph.instrs):
            return False
        instr = self.graph.instrs[index]
        return instr.op is op and instr.arg == arg

    def truth(self, state: State, value: int) -> Optional[bool]:
        """Whether `value` is true, as far as that is known and asking it is no user code."""
        if self.values.is_const(value):
            constant = self.values.constant(value)
            return bool(constant) if type(constant) in PLAIN_CONSTANTS else None
        known = state.heap.get(value)
        if known is not None and known.kind in ("list", "tuple", "dict", "set"):
            return bool(known.items)
        return None

    def _branch(self, index: int, state: State) -> int | Event:
        arms = self.graph.arms(index)
        value = state.stack[-1]
        truth = self.truth(state, value)
        if truth is not None:
            state.stack.pop()
            return arms[0] if truth else arms[1]
        if not self.values.is_bool(value):
            return self._truth_event(index, value)
        known = self.values.known[value]
        if known.kind == "not":
            value, arms = known.data, (arms[1], arms[0])
        return Event(index, "branch", operands=[value], raises=False, follow=list(arms))

    def _truth_event(self, index: int, value: int) -> Event:
        # The instruction runs again afterwards, and finds a bool in place of the value.
        return Event(index, "test of truth", operands=[value], follow=[index])

    def _check_bound(self, index: int, name: str, value: int) -> Event:
        follow = [] if value == UNBOUND else [index]
        return Event(index, "use of a variable that may be unbound", name, [value], follow=follow)

    def _event(self, index: int, instr: Instr, state: State) -> Event:
        op, arg, stack = instr.op, instr.arg, state.stack
        after = [self.graph.place(index + 1)]
        event = Event(index, op.name, arg, raises=can_raise(instr), follow=after)
        if op in PLAIN:
            read, _, event.pushes = PLAIN[op]
            event.operands = stack[len(stack) - read :]
            event.gives = "bool" if op in GIVES_BOOL else None
            if op is Op.COMPARE and arg in ("in", "is", "not in", "is not"):
                event.arg = NEGATED.get(arg, arg)
                event.gives = "bool"
                event.negate = arg in NEGATED
            if op is Op.STORE_SUBSCR and virtual.exact_type(stack[-2], state, self.values) == "dict":
                event.label, event.operands = Op.MAP_ADD.name, [stack[-2], stack[-1], stack[-3]]
        elif op in GROW:
            count = 2 if op is Op.MAP_ADD else 1
            event.operands = [stack[-arg - count], *stack[len(stack) - count :]]
            event.arg = None
        elif op is Op.RETURN:
            event.operands, event.follow, event.raises = [stack[-1]], [], False
        elif op is Op.RAISE:
            event.operands, event.follow, event.raises = stack[len(stack) - arg :], [], True
        elif op is Op.FOR_ITER:
            assert instr.target is not None
            event.operands = [stack[-1]]
            event.follow = [after[0], self.graph.place(instr.target)]
        elif op is Op.END_ASYNC_FOR:
            event.operands = [stack[-1]]
            event.exception = stack[-1]
        elif op in (Op.CALL, Op.CALL_EX):
            self._call(event, instr, state)
        else:
            event.gives = {Op.BUILD_SET: "set", Op.BUILD_MAP: "dict"}.get(op)
            event.operands = stack[len(stack) - _reads(instr) :]
            event.pushes = _pushes(instr)
            if op is Op.BUILD_CONST_KEY_MAP:
                event.arg = constant_key(arg)
        return event

    def _call(self, event: Event, instr: Instr, state: State) -> None:
        """A call of known arguments is the same however they were packed."""
        stack, heap, values = state.stack, state.heap, self.values
        growing = virtual.growing_call(instr, state)
        if growing is not None:
            event.label, owner = growing
            event.arg, event.operands, event.gives_none = None, [owner, stack[-1]], True
            event.raises = event.label == Op.SET_ADD.name
            return
        event.pushes = 1
        iterates = own_builtins.iterates(instr, state, values)
        if iterates is not None:
            event.label, event.arg, event.operands = iterates.name, None, [stack[-instr.arg[0]]]
            if iterates is Op.FOR_ITER:
                event.follow *= 2
            return
        if instr.op is Op.CALL:
            event.operands = stack[-1 - instr.arg[0] :]
            return
        event.operands = stack[-3:] if instr.arg else stack[-2:]
        args = virtual.items_of(event.operands[1], state, values)
        pairs: Tuple[int, ...] = ()
        if instr.arg:
            mapping = heap.get(event.operands[2])
            if mapping is None or mapping.kind != "dict":
                return
            pairs = mapping.items
        keys = [values.constant(key) if values.is_const(key) else None for key in pairs[0::2]]
        if args is None or len(set(keys)) < len(keys) or not all(type(key) is str for key in keys):
            return
        event.label = "CALL"
        event.arg = (len(args) + len(keys), tuple(keys))
        event.operands = [event.operands[0], *args, *pairs[1::2]]

    # ------------------------------------------------------------ after an event

    def resume(self, event: Event, state: State, outcome: int, results: List[int]) -> None:
        """Bring `state` up to date after `event` had its outcome number `outcome`, with `results` to push."""
        stack = state.stack
        if event.label == "test of truth":
            stack[-1] = results[0]
            return
        if event.label == "use of a variable that may be unbound":
            state.replace(event.operands[0], results[0])
            return
        if event.label == "branch":
            stack.pop()
            return
        instr = self.graph.instrs[event.at]
        if instr.op is Op.FOR_ITER:
            if outcome:
                stack.pop()
            else:
                stack.append(results[0])
            return
        if event.label == Op.FOR_ITER.name and outcome:
            results = [stack[-1]]  # the default of the call of `next`
        del stack[len(stack) - pops(instr) :]
        if event.negate:
            results = [self.values.negation(results[0]), *results[1:]]
        stack += results
        if event.gives_none:
            stack.append(self.values.const(None))


def pops(instr: Instr) -> int:
    """How many values the event of `instr` takes off the stack."""
    if instr.op in PLAIN:
        return PLAIN[instr.op][1]
    if instr.op in GROW:
        return 2 if instr.op is Op.MAP_ADD else 1
    return _reads(instr)


def _reads(instr: Instr) -> int:
    op, arg = instr.op, instr.arg
    if op in (Op.BUILD_TUPLE, Op.BUILD_LIST, Op.BUILD_SET, Op.BUILD_STRING, Op.BUILD_SLICE, Op.RAISE):
        return int(arg)
    if op is Op.BUILD_MAP:
        return 2 * int(arg)
    if op is Op.BUILD_CONST_KEY_MAP:
        return len(arg)
    if op is Op.BUILD_INTERPOLATION:
        return 3 if arg[1] else 2
    if op is Op.FORMAT:
        return 2 if arg[1] else 1
    if op is Op.CALL:
        return int(arg[0]) + 1
    if op is Op.CALL_EX:
        return 3 if arg else 2
    if op is Op.MAKE_FUNCTION:
        return len(arg) + 1
    if op is Op.INTRINSIC:
        return int(arg[1])
    if op is Op.END_ASYNC_FOR:
        return 2
    if op in (Op.UNPACK_SEQUENCE, Op.UNPACK_EX, Op.RETURN):
        return 1
    raise GiveUp(f"{op.name} has no meaning here")


def _pushes(instr: Instr) -> int:
    """How many values the event of an instruction outside of PLAIN pushes."""
    if instr.op is Op.UNPACK_SEQUENCE:
        return int(instr.arg)
    if instr.op is Op.UNPACK_EX:
        return int(instr.arg[0]) + 1 + int(instr.arg[1])
    return 1


def _joins(graph: Graph) -> Set[int]:
    """Places that more than one way may lead to: targets of jumps and handlers."""
    joins = {graph.place(instr.target) for instr in graph.instrs if instr.target is not None}
    joins.update(graph.place(region.handler) for region in graph.program.regions)
    return joins
