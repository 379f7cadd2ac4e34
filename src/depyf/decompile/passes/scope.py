"""What passes know of the code object whose statements they rewrite."""

from __future__ import annotations

from types import CodeType
from typing import Dict, FrozenSet, List, Set

from .. import nodes as n
from ..tree import walk
from .generated import is_generated, is_part, own_variables

_PREFIXES = ("__temp_", "__stack_")


class Scope:
    """One code object: which names are temporaries, and new ones.

    `generated`: Dynamo made the code. `own`: the variables that it added. `aliases`: short names of globals, with the
    real ones.
    """

    def __init__(self, code: CodeType, body: List[n.Stmt], generated: bool = False) -> None:
        self.code = code
        self.generated = generated or is_generated(code)
        self.own: FrozenSet[str] = own_variables(code) if self.generated else frozenset()
        self._known: Set[str] = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self._used = {node.id for node in walk(body) if isinstance(node, n.Name)} | self._known
        self._count = 0
        self.aliases: Dict[str, str] = {}

    def is_temporary(self, name: str) -> bool:
        """Whether the decompiler made this name up, or Dynamo did for a part of an expression."""
        if name in self.own:
            return is_part(name)
        return name.startswith(_PREFIXES) and name not in self._known

    def is_timeless(self, value: n.Expr) -> bool:
        """Whether `value` may be evaluated later or twice, as long as no variable in it is bound again."""
        if isinstance(value, n.Constant) or isinstance(value, n.Intrinsic) and value.name == "cell":
            return True  # the cell of a variable is always the same object
        return isinstance(value, n.Name) and (
            self.is_temporary(value.id) or value.id in self.own or getattr(value, "local", False)
        )

    def fresh(self) -> str:
        """The name of a new temporary."""
        while True:
            name = "__temp_%d" % self._count
            self._count += 1
            if name not in self._used:
                self._used.add(name)
                return name

    def alias(self, short: str, name: str) -> str:
        """What to call the global `name`: `short`, unless that is something else."""
        if short in self._used or self.aliases.get(short, name) != name:
            return name
        self.aliases[short] = name
        return short
