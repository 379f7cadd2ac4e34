"""A dialect: everything that the decoder has to know about one CPython version.

Numbers come from the generated `tables`; meaning is by opcode name, in the *rows*. A row is either `Plain`, for an
opcode that always becomes one canonical instruction, or a function (`Special`), for everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

from depyf.bytecode.program import Op

if TYPE_CHECKING:
    from depyf.bytecode.walk import Walk

# What the argument of an instruction stands for
FIXED, NUMBER, NAME, CONSTANT, LOCAL, CELL = range(6)


class Plain(NamedTuple):
    """One opcode, one canonical instruction. `pushes` is a shape; `fixed` the argument when `kind` is FIXED."""

    op: Op
    kind: int = FIXED
    pops: int = 0
    pushes: str = ""
    fixed: Any = None


# (walk, code unit, argument, shape before) -> shape after on the fall-through edge, None when it never falls through
Special = Callable[["Walk", int, int, str], Optional[str]]
Row = Union[Plain, Special]


@dataclass(frozen=True)
class Dialect:
    """One version. `rows` may hold names that the version does not have; the opcode table decides."""

    version: Tuple[int, int]
    opcodes: Tuple[Tuple[int, str, int, str], ...]
    rows: Mapping[str, Row]
    operators: Tuple[str, ...] = ()
    comparisons: Tuple[str, ...] = ()
    comparison_shift: int = 0  # bits below the index of a comparison
    intrinsics_1: Tuple[str, ...] = ()
    intrinsics_2: Tuple[str, ...] = ()
    common_constants: Tuple[str, ...] = ()
    special_methods: Tuple[str, ...] = ()
    shared_locals: bool = False  # locals, cells and free variables share one array (3.11)
    jump_in_bytes: bool = False  # jump arguments count bytes, not code units (to 3.9)
    block_stack: bool = False  # exceptions go by SETUP_* blocks, not by a table (to 3.10)
    finally_calls: bool = False  # finally bodies are shared, and entered like subroutines (3.8)
    null_above: bool = False  # the NULL beside a callable lies above it, not below (3.13)
    line_format: str = "locations"  # "lnotab", "ranges" (3.10) or "locations" (3.11)
    names: Dict[int, str] = field(init=False)
    row_of: List[Optional[Row]] = field(init=False)
    caches: List[int] = field(init=False)
    jumps: List[str] = field(init=False)

    def __post_init__(self) -> None:
        names: Dict[int, str] = {}
        row_of: List[Optional[Row]] = [None] * 256
        caches = [0] * 256
        jumps = [""] * 256
        for number, name, cache_count, jump in self.opcodes:
            names[number] = name
            row_of[number] = self.rows.get(name)
            caches[number] = cache_count
            jumps[number] = jump
        for attribute, value in (("names", names), ("row_of", row_of), ("caches", caches), ("jumps", jumps)):
            object.__setattr__(self, attribute, value)
