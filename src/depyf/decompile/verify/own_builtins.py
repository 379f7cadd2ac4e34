"""What the dispatch form does with builtins, as the operations that it stands for.

    from builtins import iter as __iter, next as __next, object as __object
    __null = __object()
    item = __next(iterator, __null)
    if item is __null: ...

An import of builtins into temporaries of the text, and nowhere else, is silent: the names are those of the
interpreter's own builtins (assumed: that nobody replaces an attribute of `builtins`). Then `__iter(x)` is
GET_ITER and `__next(it, __null)` is FOR_ITER, whose outcome tells whether the result is `__null`: a fresh object
that nothing else holds. Every exception is an instance of `__BaseException`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, List, Optional, Sequence, Tuple

from depyf.bytecode.program import Instr, Op

from .values import Known, State, Values

NULL = Known("null")  # the fresh object
ITEM = Known("item")  # what an iterator gives: any object but that one


@dataclass
class Import:
    """`from builtins import name as variable, ...`: ends before the instruction at `end`."""

    stores: List[Tuple[str, str]]
    end: int


def own_import(instrs: Sequence[Instr], index: int, temporaries: Collection[str]) -> Optional[Import]:
    """The import that begins with the IMPORT_NAME at `index`, if it is one of builtins into temporaries only."""
    if instrs[index].arg != ("builtins", False):
        return None
    found = Import([], index + 1)
    while found.end + 1 < len(instrs) and instrs[found.end].op is Op.IMPORT_FROM:
        store = instrs[found.end + 1]
        if store.op is not Op.STORE_FAST or store.arg not in temporaries:
            return None
        found.stores.append((instrs[found.end].arg, store.arg))
        found.end += 2
    if not found.stores or found.end >= len(instrs) or instrs[found.end].op is not Op.POP:
        return None
    found.end += 1
    return found


def called(instr: Instr, state: State, values: Values) -> Optional[str]:
    """The builtin that the CALL `instr` calls, if it is known to be one."""
    count, keywords = instr.arg
    known = values.known.get(state.stack[-1 - count])
    return known.data if known is not None and known.kind == "builtin" and not keywords else None


def iterates(instr: Instr, state: State, values: Values) -> Optional[Op]:
    """GET_ITER or FOR_ITER for a call of `iter` or `next` that does the same, else None."""
    if instr.op is not Op.CALL:
        return None
    name, count = called(instr, state, values), instr.arg[0]
    if name == "iter" and count == 1:
        return Op.GET_ITER
    return Op.FOR_ITER if name == "next" and count == 2 and values.known.get(state.stack[-1]) == NULL else None


def step(instr: Instr, state: State, values: Values) -> bool:
    """Execute `instr` if it is one of these and silent; False, and nothing changed, if it is not."""
    stack = state.stack
    if instr.op is Op.CALL:
        if instr.arg[0] or called(instr, state, values) != "object":
            return False
        stack[-1] = values.fresh(NULL)
    elif instr.op is Op.COMPARE and instr.arg in ("is", "is not"):
        value, null = stack[-2:]
        if values.known.get(null) != NULL or value != null and values.known.get(value) != ITEM:
            return False
        stack[-2:] = [values.const((value == null) is (instr.arg == "is"))]
    elif instr.op is Op.CHECK_EXC_MATCH:
        if values.known.get(stack[-1]) != Known("builtin", "BaseException"):
            return False
        stack[-1] = values.const(True)
    else:
        return False
    return True
