"""The tree that the decompiler builds and the writer prints.

Node and field names are those of the standard `ast` module wherever it has the construct, so that a reader of `ast`
feels at home; the classes are our own because the host's `ast` lacks what newer versions have (3.9 has no Match,
3.13 no TemplateStr), and because every node carries the byte offset of the instruction that it came from.
Operators are their Python spelling ("+", "not in", "and").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any, List, Optional, Tuple


class Node:
    """Base of all nodes.

    `offset` is the byte offset of the instruction that completes this node, or -1. `owner` is the code object that
    the offset belongs to, where that is a nested one (None: the code object being decompiled).
    """

    offset: int = -1
    owner: Optional[CodeType] = None


class Expr(Node):
    """An expression."""


class Stmt(Node):
    """A statement."""


class Pattern(Node):
    """A pattern of a match statement."""


# ---------------------------------------------------------------- expressions


@dataclass(eq=False)
class Constant(Expr):
    value: Any


@dataclass(eq=False)
class Name(Expr):
    id: str


@dataclass(eq=False)
class Slot(Expr):
    """Value number `index` of the stack on entry to a basic block; gone before the writer sees the tree."""

    index: int


@dataclass(eq=False)
class Attribute(Expr):
    value: Expr
    attr: str


@dataclass(eq=False)
class Subscript(Expr):
    value: Expr
    slice: Expr


@dataclass(eq=False)
class Slice(Expr):
    lower: Optional[Expr]
    upper: Optional[Expr]
    step: Optional[Expr]


@dataclass(eq=False)
class UnaryOp(Expr):
    op: str  # "-", "+", "~", "not"
    operand: Expr


@dataclass(eq=False)
class BinOp(Expr):
    left: Expr
    op: str
    right: Expr


@dataclass(eq=False)
class BoolOp(Expr):
    op: str  # "and", "or"
    values: List[Expr]


@dataclass(eq=False)
class Compare(Expr):
    left: Expr
    ops: List[str]
    comparators: List[Expr]


@dataclass(eq=False)
class IfExp(Expr):
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(eq=False)
class Keyword(Node):
    arg: Optional[str]  # None for **value
    value: Expr


@dataclass(eq=False)
class Call(Expr):
    func: Expr
    args: List[Expr]  # Starred among them
    keywords: List[Keyword] = field(default_factory=list)


@dataclass(eq=False)
class Starred(Expr):
    value: Expr


@dataclass(eq=False)
class Tuple_(Expr):
    elts: List[Expr]


@dataclass(eq=False)
class List_(Expr):
    elts: List[Expr]


@dataclass(eq=False)
class Set_(Expr):
    elts: List[Expr]


@dataclass(eq=False)
class Dict_(Expr):
    keys: List[Optional[Expr]]  # None: ** of the value
    values: List[Expr]


@dataclass(eq=False)
class NamedExpr(Expr):
    target: Name
    value: Expr


@dataclass(eq=False)
class FormattedValue(Expr):
    value: Expr
    conversion: str  # "", "s", "r", "a"
    format_spec: Optional[Expr]  # JoinedStr or Constant


@dataclass(eq=False)
class JoinedStr(Expr):
    values: List[Expr]  # Constant(str) and FormattedValue


@dataclass(eq=False)
class Interpolation(Expr):
    value: Expr
    text: str  # the source text between the braces
    conversion: str
    format_spec: Optional[Expr]


@dataclass(eq=False)
class TemplateStr(Expr):
    values: List[Expr]  # Constant(str) and Interpolation


@dataclass(eq=False)
class Await(Expr):
    value: Expr


@dataclass(eq=False)
class Yield(Expr):
    value: Optional[Expr]


@dataclass(eq=False)
class YieldFrom(Expr):
    value: Expr


@dataclass(eq=False)
class Comprehension(Node):
    target: Expr
    iter: Expr
    ifs: List[Expr]
    is_async: bool = False


@dataclass(eq=False)
class ListComp(Expr):
    elt: Expr
    generators: List[Comprehension]


@dataclass(eq=False)
class SetComp(Expr):
    elt: Expr
    generators: List[Comprehension]


@dataclass(eq=False)
class GeneratorExp(Expr):
    elt: Expr
    generators: List[Comprehension]


@dataclass(eq=False)
class DictComp(Expr):
    key: Expr
    value: Expr
    generators: List[Comprehension]


@dataclass(eq=False)
class MakeFunction(Expr):
    """A function object as the bytecode makes it; becomes a lambda, def, class or comprehension."""

    code: CodeType
    defaults: Optional[Expr] = None  # Constant tuple or Tuple_
    kwdefaults: Optional[Expr] = None  # Dict_
    annotations: Optional[Expr] = None  # Tuple_ (name, value, ...) or Dict_, or Constant tuple
    annotate: Optional[Expr] = None  # 3.14's __annotate__ function
    closure: Optional[Expr] = None  # Tuple_ of cells
    type_params: Optional[Expr] = None


@dataclass(eq=False)
class Arg(Node):
    arg: str
    annotation: Optional[Expr] = None


@dataclass(eq=False)
class Arguments(Node):
    posonlyargs: List[Arg] = field(default_factory=list)
    args: List[Arg] = field(default_factory=list)
    vararg: Optional[Arg] = None
    kwonlyargs: List[Arg] = field(default_factory=list)
    kw_defaults: List[Optional[Expr]] = field(default_factory=list)  # one per kwonlyarg; None: no default
    kwarg: Optional[Arg] = None
    defaults: List[Expr] = field(default_factory=list)  # of the last posonlyargs+args


@dataclass(eq=False)
class Lambda(Expr):
    args: Arguments
    body: Expr


@dataclass(eq=False)
class Verbatim(Expr):
    """An expression given as its text: an annotation under `from __future__ import annotations` is only that."""

    text: str


@dataclass(eq=False)
class Intrinsic(Expr):
    """Something without Python syntax of its own, kept until a pass turns it into syntax.

    E.g. `LOAD_BUILD_CLASS`, `WITH_EXCEPT_START`, `typevar`; `name` in lower case.
    """

    name: str
    args: List[Expr] = field(default_factory=list)


# ---------------------------------------------------------------- statements


@dataclass(eq=False)
class ExprStmt(Stmt):
    value: Expr


@dataclass(eq=False)
class Assign(Stmt):
    targets: List[Expr]
    value: Expr


@dataclass(eq=False)
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr


@dataclass(eq=False)
class AnnAssign(Stmt):
    target: Expr
    annotation: Expr
    value: Optional[Expr]
    simple: bool = True  # False: parenthesised target


@dataclass(eq=False)
class Delete(Stmt):
    targets: List[Expr]


@dataclass(eq=False)
class Return(Stmt):
    value: Optional[Expr]


@dataclass(eq=False)
class Raise(Stmt):
    exc: Optional[Expr]
    cause: Optional[Expr]


@dataclass(eq=False)
class Assert(Stmt):
    test: Expr
    msg: Optional[Expr]


@dataclass(eq=False)
class Pass(Stmt):
    pass


@dataclass(eq=False)
class Break(Stmt):
    pass


@dataclass(eq=False)
class Continue(Stmt):
    pass


@dataclass(eq=False)
class Global(Stmt):
    names: List[str]


@dataclass(eq=False)
class Nonlocal(Stmt):
    names: List[str]


@dataclass(eq=False)
class Alias(Node):
    name: str
    asname: Optional[str] = None


@dataclass(eq=False)
class Import(Stmt):
    names: List[Alias]
    lazy: bool = False


@dataclass(eq=False)
class ImportFrom(Stmt):
    module: Optional[str]
    names: List[Alias]
    level: int = 0
    lazy: bool = False


@dataclass(eq=False)
class If(Stmt):
    test: Expr
    body: List[Stmt]
    orelse: List[Stmt] = field(default_factory=list)


@dataclass(eq=False)
class While(Stmt):
    test: Expr
    body: List[Stmt]
    orelse: List[Stmt] = field(default_factory=list)


@dataclass(eq=False)
class For(Stmt):
    target: Expr
    iter: Expr
    body: List[Stmt]
    orelse: List[Stmt] = field(default_factory=list)
    is_async: bool = False


@dataclass(eq=False)
class ExceptHandler(Node):
    type: Optional[Expr]
    name: Optional[str]
    body: List[Stmt]


@dataclass(eq=False)
class Try(Stmt):
    body: List[Stmt]
    handlers: List[ExceptHandler] = field(default_factory=list)
    orelse: List[Stmt] = field(default_factory=list)
    finalbody: List[Stmt] = field(default_factory=list)
    is_star: bool = False


@dataclass(eq=False)
class WithItem(Node):
    context_expr: Expr
    optional_vars: Optional[Expr]


@dataclass(eq=False)
class With(Stmt):
    items: List[WithItem]
    body: List[Stmt]
    is_async: bool = False


@dataclass(eq=False)
class MatchCase(Node):
    pattern: Pattern
    guard: Optional[Expr]
    body: List[Stmt]


@dataclass(eq=False)
class Match(Stmt):
    subject: Expr
    cases: List[MatchCase]


@dataclass(eq=False)
class MatchValue(Pattern):
    value: Expr


@dataclass(eq=False)
class MatchSingleton(Pattern):
    value: Any  # None, True, False


@dataclass(eq=False)
class MatchSequence(Pattern):
    patterns: List[Pattern]


@dataclass(eq=False)
class MatchStar(Pattern):
    name: Optional[str]


@dataclass(eq=False)
class MatchMapping(Pattern):
    keys: List[Expr]
    patterns: List[Pattern]
    rest: Optional[str]


@dataclass(eq=False)
class MatchClass(Pattern):
    cls: Expr
    patterns: List[Pattern]
    kwd_attrs: List[str]
    kwd_patterns: List[Pattern]


@dataclass(eq=False)
class MatchAs(Pattern):
    pattern: Optional[Pattern]
    name: Optional[str]  # both None: `_`


@dataclass(eq=False)
class MatchOr(Pattern):
    patterns: List[Pattern]


@dataclass(eq=False)
class TypeParam(Node):
    kind: str  # "TypeVar", "ParamSpec", "TypeVarTuple"
    name: str
    bound: Optional[Expr] = None  # a Tuple_ for constraints
    default: Optional[Expr] = None


@dataclass(eq=False)
class FunctionDef(Stmt):
    name: str
    args: Arguments
    body: List[Stmt]
    decorators: List[Expr] = field(default_factory=list)
    returns: Optional[Expr] = None
    is_async: bool = False
    type_params: List[TypeParam] = field(default_factory=list)


@dataclass(eq=False)
class ClassDef(Stmt):
    name: str
    bases: List[Expr]
    keywords: List[Keyword]
    body: List[Stmt]
    decorators: List[Expr] = field(default_factory=list)
    type_params: List[TypeParam] = field(default_factory=list)


@dataclass(eq=False)
class TypeAlias(Stmt):
    name: str
    type_params: List[TypeParam]
    value: Expr


@dataclass(eq=False)
class Comment(Stmt):
    """A line of commentary; not a statement to Python (a body needs a real one beside it)."""

    text: str


@dataclass
class Module:
    """Top of the tree: what the writer prints."""

    body: List[Stmt]


Position = Tuple[int, int]  # line (1-based) and column (0-based, in characters) in the written text
