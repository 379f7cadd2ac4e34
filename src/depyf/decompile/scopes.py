"""Scopes: which names a code object must declare `global` or `nonlocal`, and names that a class body mangles."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, List, Optional, Set

from ..bytecode.program import Op, Program
from . import nodes as n
from .inlined import own_instrs
from .tree import walk

CO_OPTIMIZED = inspect.CO_OPTIMIZED
_GLOBAL_WRITES = frozenset({Op.STORE_GLOBAL, Op.DELETE_GLOBAL})
_CELL_WRITES = frozenset({Op.STORE_DEREF, Op.DELETE_DEREF})
_BINDS = _CELL_WRITES | {Op.STORE_FAST, Op.DELETE_FAST}
_CELL_USES = _CELL_WRITES | {Op.LOAD_DEREF, Op.LOAD_CLASSDEREF, Op.LOAD_CLOSURE}

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@dataclass
class Scope:
    """A code object in its place. `private` is the name of the innermost class around it, for mangling."""

    program: Program
    parent: Optional[Scope] = None
    kind: str = "function"  # "module", "class", "function" or "comprehension"
    private: Optional[str] = None
    globals_from_comprehensions: Set[str] = field(default_factory=set)
    nonlocals_from_comprehensions: Set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.instrs = own_instrs(self.program)

    @property
    def code(self) -> CodeType:
        """The code object."""
        return self.program.code

    def child(self, program: Program) -> Scope:
        """The scope of a code object among this one's constants."""
        code = program.code
        if code.co_name in COMPREHENSIONS:
            kind = "comprehension"
        else:
            kind = "function" if code.co_flags & CO_OPTIMIZED else "class"
        private = code.co_name if kind == "class" else self.private
        return Scope(program, self, kind, private)


def global_names(scope: Scope) -> Set[str]:
    """The names that `scope` must declare global."""
    names = {instr.arg for instr in scope.instrs if instr.op in _GLOBAL_WRITES}
    loads = {instr.arg for instr in scope.instrs if instr.op is Op.LOAD_GLOBAL}
    if scope.kind in ("class", "module"):
        names |= loads  # without the declaration a class body or a module looks into its namespace first
    elif scope.kind == "function":
        names |= {name for name in loads if _bound_outside(scope, name)}
    if scope.kind != "module":
        names |= scope.globals_from_comprehensions
    return names


def _bound_outside(scope: Scope, name: str) -> bool:
    """Whether without a declaration `name` would be the variable of a function around `scope`."""
    outer = scope.parent
    while outer is not None:
        code = outer.code
        if outer.kind in ("function", "comprehension"):
            if name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars:
                return True
        outer = outer.parent
    return False


def nonlocal_names(scope: Scope) -> Set[str]:
    """The free variables that `scope` must declare nonlocal: written ones, and ones that nothing else mentions."""
    if scope.parent is None:
        return set()
    free = set(scope.code.co_freevars)
    names = {instr.arg for instr in scope.instrs if instr.op in _CELL_WRITES} & free
    names |= scope.nonlocals_from_comprehensions & free
    used = {instr.arg for instr in scope.instrs if instr.op in _CELL_USES}
    unused = free - used
    if "super" in scope.code.co_names:
        unused.discard("__class__")  # the compiler makes it free wherever `super` is named
    unused.discard("__classdict__")
    return names | unused


def note_comprehension(scope: Scope) -> None:
    """Tell the scope around a comprehension about `:=` targets in it, which that scope owns or declares."""
    outer = scope.parent
    assert outer is not None, "comprehensions have a parent"
    for instr in scope.instrs:
        if instr.op in _GLOBAL_WRITES:
            outer.globals_from_comprehensions.add(instr.arg)
        elif instr.op in _CELL_WRITES and instr.arg in scope.code.co_freevars:
            outer.nonlocals_from_comprehensions.add(instr.arg)
    outer.globals_from_comprehensions |= scope.globals_from_comprehensions
    outer.nonlocals_from_comprehensions |= scope.nonlocals_from_comprehensions


def unbound_names(scope: Scope) -> Set[str]:
    """Variables of a function that no instruction binds: `x: int` alone makes `x` local, or code that was dropped."""
    if scope.kind != "function":
        return set()
    code = scope.code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    instrs = scope.instrs
    names = {instr.arg for instr in instrs if instr.op is Op.LOAD_FAST}
    # A comprehension's variable can be a cell beside a free variable of the same name.
    own_cells = set(code.co_cellvars) - set(code.co_freevars)
    names |= {instr.arg for instr in instrs if instr.op in _CELL_USES and instr.arg in own_cells}
    return names - {instr.arg for instr in instrs if instr.op in _BINDS} - set(code.co_varnames[:count])


def declarations(scope: Scope) -> List[n.Stmt]:
    """The `global` and `nonlocal` statements that `scope` needs, and what makes names local that nothing binds."""
    if scope.kind == "comprehension":
        return []
    statements: List[n.Stmt] = []
    if global_names(scope):
        statements.append(n.Global(sorted(global_names(scope))))
    if nonlocal_names(scope):
        statements.append(n.Nonlocal(sorted(nonlocal_names(scope))))
    statements += [n.AnnAssign(n.Name(name), n.Constant(None), None) for name in sorted(unbound_names(scope))]
    return statements


# ---------------------------------------------------------------- private names


def unmangled(name: str, private: Optional[str]) -> str:
    """`name` as written inside class `private`: `_C__x` in class C is `__x`."""
    stripped = (private or "").lstrip("_")
    prefix = f"_{stripped}__"
    if not stripped or not name.startswith(prefix) or name.endswith("__") or "." in name:
        return name
    return name[len(prefix) - 2 :]


# Attributes of nodes that hold a name subject to mangling.
_NAMED = {
    n.Name: "id",
    n.Attribute: "attr",
    n.Arg: "arg",
    n.ExceptHandler: "name",
    n.FunctionDef: "name",
    n.ClassDef: "name",
    n.MatchStar: "name",
    n.MatchAs: "name",
    n.MatchMapping: "rest",
    n.Alias: "asname",
}


def unmangle(statements: List[Any], private: str) -> None:
    """Write the names below `statements`, all inside class `private`, the way the source has them."""
    for node in walk(statements):
        key = _NAMED.get(type(node))
        value = getattr(node, key) if key is not None else None
        if key is not None and isinstance(value, str):
            setattr(node, key, unmangled(value, private))
        if isinstance(node, n.Alias):
            plain = unmangled(node.name, private)
            if plain != node.name and node.asname in (None, plain):
                node.asname = None
                node.name = plain
        elif isinstance(node, (n.Global, n.Nonlocal)):
            node.names = [unmangled(name, private) for name in node.names]
