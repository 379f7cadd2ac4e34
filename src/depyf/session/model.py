"""What happened while torch compiled: functions, cache entries, graphs, breaks, recompiles, failures.

Everything that shows something (dump, report, debugger) reads this model and nothing else. The classes hold plain
data. Fields marked "live" hold objects of the running process: they are not saved and are None after loading.
A compile id is torch's own, as text: "frame/compilation", e.g. "0/1"; "!2/0/0" inside compiled autograd.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Dict, Iterator, List, Optional

from depyf.decompile.result import SourceMap

LIVE = {"live": True}


@dataclass
class Environment:
    """Where the session ran."""

    python: str = ""
    platform: str = ""
    torch: Optional[str] = None
    depyf: str = ""
    pid: int = 0
    rank: Optional[int] = None
    world_size: Optional[int] = None


@dataclass
class StackFrame:
    """One line of a user's stack, outermost first in a list."""

    filename: str
    line: int
    name: str
    source: Optional[str] = None


@dataclass
class Guard:
    """One condition under which a cache entry is used. `text` is torch's own, `words` a plain sentence or None."""

    text: str
    words: Optional[str] = None
    source: Optional[str] = None  # the user's line that asked for it


@dataclass
class CacheEntry:
    """One result of compiling a function: used when its guards hold.

    `decompiled` is the readable text of the transformed code; `status` is the verdict about it ("exact",
    "equivalent", "unverified", "refuted"), `dispatch` says that it is in the plainer dispatch form.
    """

    compile_id: str
    function: int
    number: int  # among the entries of functions with this name: the n of `__transformed_code_<n>_for_<name>.py`
    seen_compiling: bool = True  # False: compiled before the capture began, found in torch's cache
    in_cache: Optional[bool] = None  # whether it was still in torch's cache when last asked; None: not asked
    position: Optional[int] = None  # order in which torch tries it, 0 first
    decompiled: Optional[str] = None
    status: str = "unverified"
    difference: Optional[str] = None
    dispatch: bool = False
    source_map: Optional[SourceMap] = None
    first_line: int = 1  # line of the dumped file at which `decompiled` begins; source map lines count from there
    graphs: List[str] = field(default_factory=list)  # names of the graph functions that the transformed code calls
    calls: List[str] = field(default_factory=list)  # names of the resume functions that it calls
    guards: List[Guard] = field(default_factory=list)
    guards_from: Optional[str] = None  # "cache" (the live entry), "trace" (torch's record) or None
    files: Dict[str, str] = field(default_factory=dict)  # what -> file name within the dump
    original_code: Optional[CodeType] = field(default=None, repr=False, metadata=LIVE)
    transformed_code: Optional[CodeType] = field(default=None, repr=False, metadata=LIVE)
    running_code: Optional[CodeType] = field(default=None, repr=False, metadata=LIVE)


@dataclass
class Function:
    """A code object that torch compiled at least once: a function of the user's, or a resume function."""

    key: int
    name: str
    qualname: str
    filename: str
    line: int
    source: Optional[str] = None  # the user's source text, for a resume function that of its origin
    signature: Optional[str] = None
    resume_of: Optional[int] = None  # key of the function that it continues
    resume_line: Optional[int] = None
    global_names: List[str] = field(default_factory=list)  # names under which transformed code calls it
    entries: List[CacheEntry] = field(default_factory=list)
    decompiled: Optional[str] = None  # of the original code, where no source is to be had
    files: Dict[str, str] = field(default_factory=dict)
    code: Optional[CodeType] = field(default=None, repr=False, metadata=LIVE)


@dataclass
class Graph:
    """The text of one graph at one stage. `name` is what transformed code calls it, shortened: `__compiled_fn_1`."""

    name: str
    full_name: str
    compile_id: str
    stage: str  # "Captured_Graph", "Forward_graph", ...
    number: int  # among the texts of this name and stage
    kind: str  # torch's name of the record
    text: str
    direction: Optional[str] = None  # "forward", "backward" where known
    file: Optional[str] = None
    first_line: int = 1  # line of the file at which `text` begins


@dataclass
class Kernel:
    """One file of generated code."""

    name: str
    full_name: str
    compile_id: str
    number: int
    text: str
    origin: Optional[str] = None  # path of torch's own file
    direction: Optional[str] = None
    file: Optional[str] = None


@dataclass
class GraphBreak:
    """Why a graph ended early."""

    compile_id: str
    reason: str
    explanation: Optional[str] = None
    hints: Optional[str] = None
    link: Optional[str] = None
    stack: List[StackFrame] = field(default_factory=list)
    text: str = ""  # torch's own message, whole


@dataclass
class Recompile:
    """Why existing cache entries did not fit and a function was compiled again."""

    compile_id: str
    reasons: List[str] = field(default_factory=list)
    function: Optional[str] = None


@dataclass
class Failure:
    """Something that went wrong. `where`: "torch" for a failed compilation, else the part of depyf."""

    where: str
    message: str
    compile_id: Optional[str] = None
    traceback: Optional[str] = None


@dataclass
class Phase:
    """One timed phase of a compilation, microseconds."""

    name: str
    start: float
    duration: Optional[float]
    depth: int = 0


@dataclass
class OtherRecord:
    """A record of torch's that has no place of its own above, kept as it came."""

    kind: str
    compile_id: Optional[str]
    metadata: Any = None
    payload: Optional[str] = None


@dataclass
class Compilation:
    """One run of the compiler over one frame."""

    compile_id: str
    function: Optional[int] = None
    attempts: int = 1
    stack: List[StackFrame] = field(default_factory=list)
    outcome: str = "started"  # "compiled", "failed", "started" (nothing more was heard)
    graphs: List[str] = field(default_factory=list)
    cpp_guards: Optional[str] = None  # torch's printed guard tree
    metrics: Dict[str, Any] = field(default_factory=dict)
    backward_metrics: List[Dict[str, Any]] = field(default_factory=list)
    phases: List[Phase] = field(default_factory=list)
    others: List[OtherRecord] = field(default_factory=list)


@dataclass
class Session:
    """Everything that one capture saw."""

    id: str
    started: str
    environment: Environment = field(default_factory=Environment)
    ended: Optional[str] = None
    functions: List[Function] = field(default_factory=list)
    compilations: Dict[str, Compilation] = field(default_factory=dict)
    graphs: List[Graph] = field(default_factory=list)
    kernels: List[Kernel] = field(default_factory=list)
    graph_breaks: List[GraphBreak] = field(default_factory=list)
    recompiles: List[Recompile] = field(default_factory=list)
    failures: List[Failure] = field(default_factory=list)
    others: List[OtherRecord] = field(default_factory=list)

    def entries(self) -> Iterator[CacheEntry]:
        """All cache entries, in the order of their functions."""
        for function in self.functions:
            yield from function.entries

    def function(self, key: int) -> Function:
        """The function with this key; KeyError if there is none."""
        for function in self.functions:
            if function.key == key:
                return function
        raise KeyError(key)

    def resumes(self, key: int) -> List[Function]:
        """The resume functions that continue the function with this key."""
        return [f for f in self.functions if f.resume_of == key]
