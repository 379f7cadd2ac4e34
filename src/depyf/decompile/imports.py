"""Import statements from the instructions that the compiler makes of them.

import a.b            LOAD_CONST level, LOAD_CONST None, IMPORT_NAME a.b, STORE a
import a.b as c       ..., IMPORT_NAME a.b, IMPORT_FROM b, STORE c, POP
import a.b.c as d     ..., IMPORT_NAME a.b.c, IMPORT_FROM b, SWAP 2, POP, IMPORT_FROM c, STORE d, POP
from m import a as b  LOAD_CONST level, LOAD_CONST ("a",), IMPORT_NAME m, IMPORT_FROM a, STORE b, POP
from m import *       ..., IMPORT_NAME m, IMPORT_STAR
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from ..bytecode.program import Instr, Op
from . import nodes as n

_STORES = frozenset({Op.STORE_NAME, Op.STORE_FAST, Op.STORE_GLOBAL, Op.STORE_DEREF})

Folded = Tuple[Union[n.Import, n.ImportFrom], int]


def fold_imports(instrs: Sequence[Instr], i: int) -> Optional[Folded]:
    """The import statement that starts at `instrs[i]`, and the index behind it; None if there is none."""
    if i + 3 >= len(instrs) or instrs[i + 2].op is not Op.IMPORT_NAME:
        return None
    if instrs[i].op is not Op.LOAD_CONST or instrs[i + 1].op is not Op.LOAD_CONST:
        return None
    level, names = instrs[i].arg, instrs[i + 1].arg
    name, lazy = instrs[i + 2].arg
    if type(level) is not int or level < 0:
        return None
    folded = _plain(instrs, i + 3, name, lazy) if names is None else _names(instrs, i + 3, name, names, level, lazy)
    if folded is not None and names is None and level:
        return None
    if folded is not None:
        folded[0].offset = instrs[i + 2].offset
    return folded


def _plain(instrs: Sequence[Instr], i: int, name: str, lazy: bool) -> Optional[Folded]:
    """`import name` with or without `as`; `i` is behind IMPORT_NAME."""
    parts = name.split(".")
    first = instrs[i]
    if first.op in _STORES:
        if first.arg == parts[0]:
            return n.Import([n.Alias(name)], lazy), i + 1
        return (n.Import([n.Alias(name, first.arg)], lazy), i + 1) if len(parts) == 1 else None
    for index, part in enumerate(parts[1:]):
        if index:
            if not _is(instrs, i, Op.SWAP, 2) or not _is(instrs, i + 1, Op.POP):
                return None
            i += 2
        if not _is(instrs, i, Op.IMPORT_FROM, part):
            return None
        i += 1
    if i + 1 < len(instrs) and instrs[i].op in _STORES and _is(instrs, i + 1, Op.POP) and len(parts) > 1:
        return n.Import([n.Alias(name, instrs[i].arg)], lazy), i + 2
    return None


def _names(instrs: Sequence[Instr], i: int, module: str, names: Any, level: int, lazy: bool) -> Optional[Folded]:
    """`from module import names`; `i` is behind IMPORT_NAME."""
    if type(names) is not tuple or not names or not all(type(name) is str for name in names):
        return None
    if names == ("*",):
        if not _is(instrs, i, Op.IMPORT_STAR):
            return None
        return n.ImportFrom(module or None, [n.Alias("*")], level, lazy), i + 1
    aliases: List[n.Alias] = []
    for name in names:
        if not _is(instrs, i, Op.IMPORT_FROM, name) or i + 1 >= len(instrs) or instrs[i + 1].op not in _STORES:
            return None
        target = instrs[i + 1].arg
        aliases.append(n.Alias(name, None if target == name else target))
        i += 2
    if not _is(instrs, i, Op.POP):
        return None
    return n.ImportFrom(module or None, aliases, level, lazy), i + 1


def _is(instrs: Sequence[Instr], i: int, op: Op, arg: Any = None) -> bool:
    return i < len(instrs) and instrs[i].op is op and (arg is None or instrs[i].arg == arg)
