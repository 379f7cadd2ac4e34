"""The walk: follow every path through a code object's bytes and say what each instruction means.

This is one forward dataflow over the *stack shape* (see `shape.py`). It starts at the entry and follows jumps,
fall-through and exception edges, so code that no path reaches is never looked at. The rows of the dialect turn each
instruction, knowing the shape in front of it, into canonical instructions in which phantom slots don't count.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from depyf.bytecode.dialect import CELL, CONSTANT, FIXED, LOCAL, NAME, NUMBER, Dialect, Plain
from depyf.bytecode.effects import can_raise
from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.exception_table import Guard, read_exception_table
from depyf.bytecode.program import Instr, Op
from depyf.bytecode.raw import RawCode
from depyf.bytecode.shape import PHANTOM, VALUE, merge

MAX_STACK = 1_000_000


class Walk:
    """Translate one code object. After `run`, `out` holds the canonical instructions of each code unit.

    `out[u]` is None for units that no path reaches or that belong to another instruction. Targets are still code units.
    """

    def __init__(self, code: CodeType, dialect: Dialect, raw: RawCode) -> None:
        self.code = code
        self.dialect = dialect
        self.numbers = raw.numbers
        self.arguments = raw.arguments
        self.offsets = raw.offsets
        self.lines = raw.lines
        self.targets = raw.targets
        self.units = len(self.numbers)
        self.out: List[Optional[List[Instr]]] = [None] * self.units
        self.shapes: List[Optional[str]] = [None] * self.units
        self.blocks_at: Dict[int, Tuple[Guard, ...]] = {}
        self.blocks: Tuple[Guard, ...] = ()
        self.previous = [-1] * self.units
        self.guards: List[Optional[Guard]] = [None] * self.units
        self.guard_shapes: Dict[Guard, str] = {}
        self.handler_entries: Set[int] = set()  # units that need a PUSH_EXC_INFO in front when an exception comes in
        self.jumped_to: Set[int] = set()
        self.extended: Set[int] = set()  # units whose argument an EXTENDED_ARG before them extends
        self.absorbed: Dict[int, Tuple[int, ...]] = {}
        self.fused: Set[int] = set()  # units that a row before them stands for
        self.converting: Set[int] = set()  # f-string conversions, and the formats that carry them out
        self.converted: Set[int] = set()
        self.shortcuts: Set[int] = set()  # units whose last instruction is a jump that was not in the bytecode
        self.keywords: Dict[int, Tuple[str, ...]] = {}
        self.pending: List[Tuple[int, str, Tuple[Guard, ...]]] = [(0, "", ())]
        cells = code.co_cellvars
        if dialect.shared_locals:
            own = code.co_varnames
            known = set(own)
            local_names = own + tuple(name for name in cells if name not in known) + code.co_freevars
            cell_names = local_names
        else:
            local_names = code.co_varnames
            cell_names = cells + code.co_freevars
        self.tables: Dict[int, Sequence[Any]] = {
            NAME: code.co_names,
            CONSTANT: code.co_consts,
            LOCAL: local_names,
            CELL: cell_names,
        }
        if not dialect.block_stack:
            self._read_guards(code.co_exceptiontable)  # type: ignore[attr-defined,unused-ignore]

    def _read_guards(self, table: bytes) -> None:
        for start, end, guard in read_exception_table(table):
            if not (start < end <= self.units and guard.handler < self.units):
                raise BytecodeError("the exception table of %s names bytes outside of the code" % self.code.co_name)
            if self._is_stop_iteration_handler(guard.handler):
                continue
            for unit in range(start, end):
                if self.guards[unit] is None:
                    self.guards[unit] = guard

    def _is_stop_iteration_handler(self, unit: int) -> bool:
        """3.12+: the handler around a whole generator that turns a leaking StopIteration into RuntimeError."""
        return self.name_at(unit) == "CALL_INTRINSIC_1" and self.dialect.intrinsics_1[self.arguments[unit] :][:1] == (
            "INTRINSIC_STOPITERATION_ERROR",
        )

    # --- the loop -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Walk until no path is left. Raises BytecodeError."""
        while self.pending:
            unit, shape, self.blocks = self.pending.pop()
            self._follow(unit, shape)
        for unit in self.jumped_to & self.extended:
            raise self.error(unit, "is jumped to past the EXTENDED_ARG in front of it")
        if len(self.converting) != len(self.converted):
            raise BytecodeError("%s converts a value for an f-string and then does not format it" % self.code.co_name)

    def _follow(self, unit: int, shape: str) -> None:
        numbers, arguments, units = self.numbers, self.arguments, self.units
        offsets, lines = self.offsets, self.lines
        shapes, out, guards, previous = self.shapes, self.out, self.guards, self.previous
        tables, rows, caches = self.tables, self.dialect.row_of, self.dialect.caches
        block_stack = self.dialect.block_stack
        before = -1
        prefix = 0
        while True:
            if unit >= units:
                raise BytecodeError("the code of %s runs past its end" % self.code.co_name)
            known = shapes[unit]
            if known is not None:
                if block_stack and self.blocks_at.get(unit) != self.blocks:
                    raise self.error(unit, "is reached with different blocks set up")
                if known == shape:
                    return
                merged = merge(known, shape)
                if merged is None:
                    sizes = (len(known), len(shape))
                    raise self.error(unit, "is reached with different stacks (%d and %d deep)" % sizes)
                if merged == known:
                    return
                shape = merged
            shapes[unit] = shape
            if block_stack:
                self.blocks_at[unit] = self.blocks
            number = numbers[unit]
            argument = arguments[unit] | prefix
            row = rows[number]
            if row is None:
                if self.dialect.names.get(number) != "EXTENDED_ARG":
                    raise self.error(unit, "is no instruction of Python %d.%d" % self.dialect.version)
                self.extended.add(unit + 1)
                prefix = argument << 8
                if prefix > 0xFFFFFFFF:
                    raise self.error(unit, "has too long an argument")
                unit += 1
                continue
            prefix = 0
            previous[unit] = before
            entry = shape
            entry_blocks = self.blocks
            if block_stack:
                guards[unit] = entry_blocks[-1] if entry_blocks else None
            if type(row) is Plain:
                op, kind, pops, pushes, value = row
                if pops:
                    depth = len(shape) - pops
                    if depth < 0:
                        raise self.error(unit, "takes more values than there are on the stack")
                    if PHANTOM in shape[depth:]:
                        raise self.error(unit, "uses a stack slot that holds no value")
                    shape = shape[:depth] + pushes
                else:
                    shape += pushes
                if kind == NUMBER:
                    value = argument
                elif kind != FIXED:
                    try:
                        value = tables[kind][argument]
                    except IndexError:
                        raise self.error(unit, "refers to entry %d of a table that is shorter" % argument) from None
                out[unit] = [Instr(op, value, None, offsets[unit], lines[unit])]
                after: Optional[str] = shape
            else:
                out[unit] = []
                after = row(self, unit, argument, shape)  # type: ignore[operator]
            guard = guards[unit]
            if guard is not None and any(can_raise(instr) for instr in out[unit]):  # type: ignore[union-attr]
                self.enter_handler(unit, guard, entry, entry_blocks[:-1])
            if after is None:
                return
            shape = after
            before = unit
            unit += 1 + caches[number]

    def enter_handler(self, unit: int, guard: Guard, shape: str, blocks: Tuple[Guard, ...]) -> None:
        """Take the exception edge from `unit`, which is under `guard` and has `shape` in front of it.

        `blocks` are the blocks below the guard's own (none from 3.11 on).
        """
        if len(shape) < guard.depth:
            raise self.error(unit, "is protected with more values than there are on the stack")
        kept = shape[: guard.depth]
        known = self.guard_shapes.get(guard)
        if known == kept:
            return
        if known is not None:
            merged = merge(known, kept)
            if merged is None:
                raise self.error(unit, "reaches its handler with a different stack")
            kept = merged
        self.guard_shapes[guard] = kept
        self.start_handler(unit, guard, kept, blocks)

    def start_handler(self, unit: int, guard: Guard, kept: str, blocks: Tuple[Guard, ...]) -> None:
        """Go on at the handler: [kept..., saved index?, exception]."""
        self.go(guard.handler, kept + (PHANTOM + VALUE if guard.saves_index else VALUE), unit)

    # --- for the rows -------------------------------------------------------------------------------------------

    def error(self, unit: int, what: str) -> BytecodeError:
        """A BytecodeError about the instruction at `unit`."""
        name = self.name_at(unit) or "opcode %d" % self.numbers[unit]
        return BytecodeError("%s at byte %d of %s %s" % (name, self.offsets[unit], self.code.co_name, what))

    def name_at(self, unit: int) -> str:
        """The opcode's name in this version, '' if there is none."""
        return self.dialect.names.get(self.numbers[unit], "") if unit < self.units else ""

    def next_unit(self, unit: int) -> int:
        """Where the instruction after this one begins."""
        return unit + 1 + self.dialect.caches[self.numbers[unit]]

    def emit(self, unit: int, op: Op, arg: Any = None, target: Optional[int] = None) -> None:
        """Add a canonical instruction to what `unit` becomes. `target` is a code unit."""
        self.out[unit].append(Instr(op, arg, target, self.offsets[unit], self.lines[unit]))  # type: ignore[union-attr]

    def emit_swaps(self, unit: int, swaps: Sequence[int]) -> None:
        for position in swaps:
            self.emit(unit, Op.SWAP, position)

    def target(self, unit: int, argument: int) -> int:
        """The code unit that a jump goes to, extended arguments included. Raises BytecodeError outside of the code."""
        if self.targets is not None:
            known = self.targets[unit]
            if known is None:
                raise self.error(unit, "jumps nowhere")
            return known
        kind = self.dialect.jumps[self.numbers[unit]]
        if self.dialect.jump_in_bytes:
            if argument % 2:
                raise self.error(unit, "jumps into the middle of an instruction")
            argument //= 2
        if kind == "absolute":
            found = argument
        elif kind == "backward":
            found = self.next_unit(unit) - argument
        else:
            found = self.next_unit(unit) + argument
        if not 0 <= found < self.units:
            raise self.error(unit, "jumps out of the code")
        return found

    def go(self, target: int, shape: str, unit: int) -> None:
        """Take an edge from `unit` to `target` with this shape."""
        if self.name_at(target) == "CACHE":
            raise self.error(unit, "jumps into the middle of an instruction")
        self.jumped_to.add(target)
        if self.shapes[target] != shape:
            self.pending.append((target, shape, self.blocks))
        elif self.dialect.block_stack and self.blocks_at[target] != self.blocks:
            raise self.error(target, "is reached with different blocks set up")

    def skip_to(self, unit: int, shape: str) -> None:
        """Go on at `unit`, past instructions that the current one stands for."""
        if unit >= self.units:
            raise BytecodeError("the code of %s runs past its end" % self.code.co_name)
        self.pending.append((unit, shape, self.blocks))

    def in_handler(self) -> bool:
        """Whether the innermost block is that of a running handler (to 3.10)."""
        return bool(self.blocks) and self.blocks[-1].handler >= self.units

    def need(self, unit: int, shape: str, count: int) -> None:
        """Raise BytecodeError unless the stack holds `count` slots."""
        if len(shape) < count:
            raise self.error(unit, "takes more values than there are on the stack")

    def take(self, unit: int, shape: str, count: int) -> str:
        """The shape without its top `count` slots, all of which must be values."""
        if count == 0:
            return shape
        depth = len(shape) - count
        if depth < 0:
            raise self.error(unit, "takes more values than there are on the stack")
        if PHANTOM in shape[depth:]:
            raise self.error(unit, "uses a stack slot that holds no value")
        return shape[:depth]

    def push(self, unit: int, shape: str, count: int) -> str:
        """The shape with `count` more values. Raises BytecodeError when that is absurd (it guards our memory)."""
        if len(shape) + count > min(self.code.co_stacksize, MAX_STACK):
            raise self.error(unit, "needs a deeper stack than the code object asks for")
        return shape + VALUE * count

    def entry(self, unit: int, kind: int, index: int) -> Any:
        """The name or constant that an argument stands for."""
        try:
            return self.tables[kind][index]
        except IndexError:
            raise self.error(unit, "refers to entry %d of a table that is shorter" % index) from None

    def constant_before(self, unit: int, count: int = 1) -> Optional[List[Tuple[int, Any]]]:
        """The `count` instructions in front of `unit` if all are constants, nearest first: (unit, value)."""
        found: List[Tuple[int, Any]] = []
        at = self.previous[unit]
        while len(found) < count:
            made = self.out[at] if at >= 0 else None
            if made is not None and not made:
                at = self.previous[at]  # something that left no trace, such as a prefix to the call
                continue
            if made is None or len(made) != 1 or made[0].op is not Op.LOAD_CONST:
                return None
            found.append((at, made[0].arg))
            at = self.previous[at]
        return found

    def absorb(self, unit: int, units: Sequence[int]) -> None:
        """Let the instruction at `unit` stand for the constants at `units` too."""
        self.absorbed[unit] = tuple(units)
