"""Compare what a code object says besides its instructions: its arguments, its kind, its docstring, its variables."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Dict, Mapping, Optional, Set, Tuple

from depyf.bytecode.docstring import docstring
from depyf.bytecode.program import Op

from ..scopes import COMPREHENSIONS
from .graph import Graph
from .place import Place

# Flags that change what a call does. NESTED and NOFREE follow from the rest and are not read at run time; the
# __future__ flags act while compiling only.
BEHAVIOUR_FLAGS = (
    ("OPTIMIZED", inspect.CO_OPTIMIZED),
    ("NEWLOCALS", inspect.CO_NEWLOCALS),
    ("VARARGS", inspect.CO_VARARGS),
    ("VARKEYWORDS", inspect.CO_VARKEYWORDS),
    ("GENERATOR", inspect.CO_GENERATOR),
    ("COROUTINE", inspect.CO_COROUTINE),
    ("ITERABLE_COROUTINE", inspect.CO_ITERABLE_COROUTINE),
    ("ASYNC_GENERATOR", inspect.CO_ASYNC_GENERATOR),
)


def argument_names(code: CodeType) -> Tuple[str, ...]:
    """The names of all arguments, `*args` and `**kwargs` last."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def renamed_arguments(original: CodeType, again: CodeType) -> Dict[str, str]:
    """Arguments of `original` whose name cannot be written (a comprehension's `.0`), with their name in `again`."""
    pairs = zip(argument_names(original), argument_names(again))
    return {name: other for name, other in pairs if not name.isidentifier() and name != other}


def header_difference(
    original: CodeType,
    again: CodeType,
    version: Optional[Tuple[int, int]],
    places: Optional[Tuple[Place, Place]],
    renamed: Mapping[str, str],
) -> Optional[str]:
    """The first difference between the headers in words, or None.

    `places`: the outermost code objects, for nested ones. The outermost's own name does not count: what the caller
    calls a function is his business. `renamed`: arguments of `original` that have another name in `again`.
    """
    for name, flag in BEHAVIOUR_FLAGS:
        if (original.co_flags ^ again.co_flags) & flag:
            return f"flag {name} is {bool(original.co_flags & flag)}, compiled again {bool(again.co_flags & flag)}"
    pairs = [
        ("number of arguments", original.co_argcount, again.co_argcount),
        ("number of positional-only arguments", original.co_posonlyargcount, again.co_posonlyargcount),
        ("number of keyword-only arguments", original.co_kwonlyargcount, again.co_kwonlyargcount),
        ("argument names", tuple(renamed.get(name, name) for name in argument_names(original)), argument_names(again)),
    ]
    if original.co_name not in COMPREHENSIONS:  # nobody sees the function object of a comprehension
        pairs.append(("docstring", docstring(original, version), docstring(again, version)))
    if places is not None:
        pairs.insert(0, ("name", original.co_name, again.co_name))
        if set(original.co_freevars) == set(again.co_freevars):  # the order of the closure's cells
            pairs.append(("free variables", original.co_freevars, again.co_freevars))
        qualified = (getattr(original, "co_qualname", ""), getattr(again, "co_qualname", ""))  # 3.11 on
        pairs.insert(1, ("qualified name", places[0].inside(qualified[0]), places[1].inside(qualified[1])))
    for what, left, right in pairs:
        if left != right:
            return f"{what}: {left!r}, compiled again {right!r}"
    return None


VARIABLE_OPS = (
    Op.LOAD_DEREF,
    Op.STORE_DEREF,
    Op.DELETE_DEREF,
    Op.LOAD_CLASSDEREF,
    Op.LOAD_CLOSURE,
)


def variable_difference(original: Graph, again: Graph) -> Tuple[Optional[str], bool]:
    """The first difference among the free and cell variables in words, or None, and whether it can do harm.

    A cell that no instruction reads, writes or passes on is no difference to the program (Dynamo keeps those of the
    function that it rewrote), but for `__class__`, which a bare `super()` reads from the frame.
    """
    first, second = original.program.code, again.program.code
    for kind in ("co_freevars", "co_cellvars"):
        missing: Set[str] = set(getattr(first, kind)) ^ set(getattr(second, kind))
        if missing:
            used = {instr.arg for graph in (original, again) for instr in graph.instrs if instr.op in VARIABLE_OPS}
            what = "free" if kind == "co_freevars" else "cell"
            names = ", ".join(sorted(missing))
            return f"only one side has the {what} variables {names}", bool(missing & used) or "__class__" in missing
    return None, False
