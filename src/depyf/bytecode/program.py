"""The canonical program: what every CPython's bytecode becomes before anything else looks at it.

An `Instr` has an operation from `Op`, an argument whose type depends on the operation, and the byte offset
of the instruction that it came from. Jumps name the *index* of their target in `Program.instrs`.

Phantom stack entries are gone: no NULLs beside callables, no saved instruction index ("lasti") below a
caught exception, so `COPY`, `SWAP` and `Region.depth` count real values only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, List, Optional, Tuple


class Op(enum.Enum):
    """Canonical operations. In the comments `[a, b] -> [c]` is the top of the stack before and after."""

    __hash__ = object.__hash__  # Enum's own is slow, and operations are looked up all the time

    # stack
    POP = enum.auto()  # [v] -> []
    COPY = enum.auto()  # arg n: push the n-th value from the top (1 = top)
    SWAP = enum.auto()  # arg n: exchange the top with the n-th value from the top
    # constants, names. Arg: the value, or the name (str)
    LOAD_CONST = enum.auto()
    LOAD_FAST = enum.auto()
    STORE_FAST = enum.auto()
    DELETE_FAST = enum.auto()
    LOAD_FAST_AND_CLEAR = enum.auto()  # saves a comprehension's name; pushes the value or nothing-value (3.12)
    LOAD_DEREF = enum.auto()  # cell or free variable
    STORE_DEREF = enum.auto()
    DELETE_DEREF = enum.auto()
    LOAD_CLASSDEREF = enum.auto()  # class namespace, then the cell; [] -> [v] on every version
    LOAD_CLOSURE = enum.auto()  # pushes the cell itself
    LOAD_GLOBAL = enum.auto()
    STORE_GLOBAL = enum.auto()
    DELETE_GLOBAL = enum.auto()
    LOAD_NAME = enum.auto()
    STORE_NAME = enum.auto()
    DELETE_NAME = enum.auto()
    LOAD_CLASSGLOBAL = enum.auto()  # class namespace, then globals (3.12's LOAD_FROM_DICT_OR_GLOBALS)
    LOAD_LOCALS = enum.auto()
    LOAD_BUILD_CLASS = enum.auto()
    LOAD_ASSERTION_ERROR = enum.auto()
    LOAD_COMMON_CONST = enum.auto()  # arg: the name of a builtin the compiler loads directly (3.14: "all", "any"...)
    # attributes and items
    LOAD_ATTR = enum.auto()  # arg name; [o] -> [o.name]; method loads too
    STORE_ATTR = enum.auto()  # [v, o] -> []
    DELETE_ATTR = enum.auto()  # [o] -> []
    LOAD_SUPER_ATTR = enum.auto()  # arg (name, two_args: bool); [super, cls, self] -> [v]
    LOAD_SUBSCR = enum.auto()  # [o, i] -> [o[i]]; slices too, with BUILD_SLICE before
    STORE_SUBSCR = enum.auto()  # [v, o, i] -> []
    DELETE_SUBSCR = enum.auto()  # [o, i] -> []
    # operators. Arg: the operator's Python spelling
    UNARY = enum.auto()  # "-", "+", "~", "not"; [a] -> [v]
    BINARY = enum.auto()  # "+", "//", "@"...; [a, b] -> [v]
    INPLACE = enum.auto()  # "+" for +=...; [a, b] -> [v]
    COMPARE = enum.auto()  # "<", "==", "is", "is not", "in", "not in"...; [a, b] -> [v]
    # displays
    BUILD_TUPLE = enum.auto()  # arg n
    BUILD_LIST = enum.auto()
    BUILD_SET = enum.auto()
    BUILD_MAP = enum.auto()  # arg n pairs; [k1, v1, ..., kn, vn] -> [d]
    BUILD_CONST_KEY_MAP = enum.auto()  # arg tuple of keys; [v1..vn] -> [d] (the keys' LOAD_CONST is dropped)
    BUILD_SLICE = enum.auto()  # arg 2 or 3
    BUILD_STRING = enum.auto()  # arg n
    BUILD_TEMPLATE = enum.auto()  # t-string; [strings, interpolations] -> [t]
    BUILD_INTERPOLATION = enum.auto()  # arg (conversion, has_spec); [value, text(, spec)] -> [i]
    FORMAT = enum.auto()  # arg (conversion in "", "s", "r", "a"; has_spec: bool); [v(, spec)] -> [str]
    LIST_APPEND = enum.auto()  # arg i; [v] -> []; into the i-th value from the top after the pop
    SET_ADD = enum.auto()
    MAP_ADD = enum.auto()  # arg i; [k, v] -> []
    LIST_EXTEND = enum.auto()  # arg i; [iterable] -> []
    SET_UPDATE = enum.auto()
    DICT_UPDATE = enum.auto()  # {**m}
    DICT_MERGE = enum.auto()  # f(**m): duplicates raise
    LIST_TO_TUPLE = enum.auto()
    UNPACK_SEQUENCE = enum.auto()  # arg n; [s] -> [vn, ..., v1] (v1 on top)
    UNPACK_EX = enum.auto()  # arg (before, after)
    # calls, functions, imports
    CALL = enum.auto()  # arg (n_args_in_all, keyword names tuple); [f, a1..an] -> [r]
    CALL_EX = enum.auto()  # arg has_kwargs; [f, args(, kwargs)] -> [r]
    MAKE_FUNCTION = enum.auto()  # arg frozenset of {"defaults","kwdefaults","annotations","closure","annotate"};
    # [present ones in exactly this order: defaults, kwdefaults, annotations|annotate, closure; then code] -> [f]
    IMPORT_NAME = enum.auto()  # arg (name, lazy: bool); [level, fromlist] -> [module]
    IMPORT_FROM = enum.auto()  # arg name; [m] -> [m, v]
    IMPORT_STAR = enum.auto()  # [m] -> []
    # iteration and generators
    GET_ITER = enum.auto()
    GET_AITER = enum.auto()
    GET_ANEXT = enum.auto()  # [ait] -> [ait, awaitable]
    FOR_ITER = enum.auto()  # target: where to go when exhausted. next: [it] -> [it, v]; exhausted: [it] -> []
    END_ASYNC_FOR = enum.auto()  # first of the handler of an async for's anext: [ait, exc] -> []
    GET_YIELD_FROM_ITER = enum.auto()
    GET_AWAITABLE = enum.auto()
    YIELD_FROM = enum.auto()  # the whole send loop; [it, None] -> [result]
    # `await x` is GET_AWAITABLE, LOAD_CONST None, YIELD_FROM
    YIELD = enum.auto()  # [v] -> [sent]
    # control
    JUMP = enum.auto()  # target
    BRANCH_TRUE = enum.auto()  # target; [v] -> []; jumps when true. Tests truth (may raise)
    BRANCH_FALSE = enum.auto()  # target; [v] -> []; jumps when false
    RETURN = enum.auto()  # [v] ->
    RAISE = enum.auto()  # arg 0, 1, 2
    # exceptions. On entry to a handler the stack is cut to Region.depth values and the exception is pushed.
    PUSH_EXC_INFO = enum.auto()  # [exc] -> [previous, exc]; the exception becomes the one being handled
    POP_EXCEPT = enum.auto()  # [previous] -> []
    RERAISE = enum.auto()  # [exc] ->
    CHECK_EXC_MATCH = enum.auto()  # [exc, type] -> [exc, bool]
    CHECK_EG_MATCH = enum.auto()  # [exc, type] -> [rest, match or None]
    PREP_RERAISE_STAR = enum.auto()  # [orig, list] -> [exc or None]
    # with
    BEFORE_WITH = enum.auto()  # [mgr] -> [exit, value]
    BEFORE_ASYNC_WITH = enum.auto()  # [mgr] -> [exit, awaitable of value]
    WITH_EXCEPT_START = enum.auto()  # [exit, previous, exc] -> [exit, previous, exc, result]
    WITH_EXIT = enum.auto()  # normal exit call of a with: [exit] -> [result] (exit(None, None, None))
    # match
    GET_LEN = enum.auto()  # [s] -> [s, len]
    MATCH_MAPPING = enum.auto()  # [s] -> [s, bool]
    MATCH_SEQUENCE = enum.auto()
    MATCH_KEYS = enum.auto()  # [s, keys] -> [s, keys, values or None]
    MATCH_CLASS = enum.auto()  # arg n; [s, cls, names] -> [attrs or None]
    MATCH_PATTERN = enum.auto()  # [s] -> [bool]; a whole pattern, bound names included. No code object has it: it is
    # what decompile/matching puts in place of the instructions of a pattern
    COMPREHENSION = enum.auto()  # arg (name, program, its variables); [iterator] -> [result]: what decompile/inlined
    # makes of a comprehension inside its function
    STAR_MATCH = enum.auto()  # [exc, type] -> [exc, bool]; decompile/exception_groups makes this and the next
    STAR_BODY = enum.auto()  # arg: whether the exception gets a name; [] -> [exc]; begins the body of a clause
    ANNOTATED = enum.auto()  # arg number; [] -> []: decompile/deferred makes it where an annotation is noted
    # scopes
    SETUP_ANNOTATIONS = enum.auto()
    INTRINSIC = enum.auto()  # arg (name, n); pops n, pushes one: "typevar", "paramspec", "typevartuple",
    # "typevar_with_bound", "typevar_with_constraints", "subscript_generic", "typealias", "set_typeparam_default",
    # "set_function_type_params", "print"
    RAW = enum.auto()  # arg (name, oparg): something this version of depyf does not know


@dataclass(frozen=True)
class Position:
    """Where an instruction came from, as far as its code object says. Lines are 1-based, columns 0-based bytes."""

    line: Optional[int]
    end_line: Optional[int] = None
    column: Optional[int] = None
    end_column: Optional[int] = None


@dataclass
class Instr:
    """One canonical instruction. `target` is an index into `Program.instrs` (jumps and FOR_ITER only)."""

    op: Op
    arg: Any = None
    target: Optional[int] = None
    offset: int = -1
    line: Optional[int] = None


@dataclass
class Region:
    """Instructions `start <= index < end` are protected: an exception goes to `handler` with the stack cut to `depth`.

    Regions are disjoint and sorted; each instruction has at most one, the innermost. The handler's own region, if
    any, is where an exception raised inside the handler goes.
    """

    start: int
    end: int
    handler: int
    depth: int


@dataclass
class Program:
    """A code object after normalisation. Version-blind but for `version`, which the writer needs."""

    code: CodeType
    version: Tuple[int, int]
    instrs: List[Instr]
    regions: List[Region] = field(default_factory=list)
