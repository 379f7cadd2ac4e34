"""A capture: listens to torch while it is on, and builds the session.

Promise: the program that is watched computes, raises and recompiles as it would without us. Every entry point that
torch calls catches what goes wrong and records it as a failure of the session.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import threading
import traceback
import uuid
from types import CodeType
from typing import Any, Callable, Dict, List, Mapping, Optional

from depyf.capture import messages, torch_internals
from depyf.capture.code_objects import all_names, same_interface
from depyf.capture.guard_text import guard_lines, read_guards
from depyf.capture.sources import signature_of, source_of
from depyf.capture.trace import TraceHandler
from depyf.decompile.result import Decompiled
from depyf.session.model import (
    CacheEntry,
    Compilation,
    Environment,
    Failure,
    Function,
    Graph,
    Kernel,
    OtherRecord,
    Recompile,
    Session,
)
from depyf.version import __version__

OnTransformed = Callable[[CacheEntry, Function, Optional[Decompiled]], Optional[CodeType]]
OnGraph = Callable[[Graph], None]
OnKernel = Callable[[Kernel], None]
OnFunction = Callable[[Function], None]

LARGE_PAYLOAD = 20_000  # cache events repeat the key's components; such payloads say nothing else
_SHORT = re.compile(r"(%s\d+)" % re.escape(torch_internals.GRAPH_FUNCTION_PREFIX))


def new_session() -> Session:
    """An empty session of this process."""
    rank, world = torch_internals.process_rank()
    return Session(
        id=uuid.uuid4().hex[:12],
        started=_now(),
        environment=Environment(
            python=platform.python_version(),
            platform=platform.platform(terse=True),
            torch=torch_internals.torch_version(),
            depyf=__version__,
            pid=os.getpid(),
            rank=rank,
            world_size=world,
        ),
    )


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class Capture:
    """Listens between `start()` and `stop()`; `session` is what it saw.

    - `decompile(code)` gives the text of transformed code.
    - `on_transformed(entry, function, decompiled)` runs inside Dynamo's bytecode hook, before the code runs; it may
      return the code object that is to run (same bytecode, another file name and line table), or None.
    - `on_function`, `on_graph`, `on_kernel` run as soon as the thing is known.
    - `fresh`: torch skips its on-disk caches meanwhile; with a warm cache it doesn't send the graphs of all stages.
    Exceptions of the callbacks are recorded, never passed on.
    """

    def __init__(
        self,
        session: Optional[Session] = None,
        *,
        decompile: Callable[[CodeType], Decompiled],
        on_transformed: Optional[OnTransformed] = None,
        on_function: Optional[OnFunction] = None,
        on_graph: Optional[OnGraph] = None,
        on_kernel: Optional[OnKernel] = None,
        fresh: bool = True,
    ) -> None:
        self.session = session if session is not None else new_session()
        self._decompile = decompile
        self._on_transformed = on_transformed
        self._on_function = on_function
        self._on_graph = on_graph
        self._on_kernel = on_kernel
        self._fresh = fresh
        self._lock = threading.RLock()
        self._undo: List[Callable[[], None]] = []
        self._names: Dict[int, str] = {}  # interned file names
        self._ids: Dict[str, str] = {}  # torch's compile id -> ours (torch reuses ids after a reset)
        self._graph_of: Dict[str, str] = {}  # compile id -> full name of its graph function
        self._short: Dict[str, str] = {}  # full name of a graph function -> the name that we show
        self._counts: Dict[Any, int] = {}
        self._by_code: Dict[int, Function] = {}  # id of a code object (kept alive by the function) -> function
        self._resumes: Dict[int, Any] = {}  # id of a resume function's code -> (code, caller, global name)
        self._phases: List[str] = []
        self._running = False

    # ------------------------------------------------------------ on and off

    def start(self) -> None:
        """Attach to torch. If a part can't be attached, the others are, and the session says what is lost."""
        if self._running:
            raise RuntimeError("this capture is already running")
        self._running = True
        for line in torch_internals.missing():
            self._note(Failure(where="capture", message=line))
        self._names.update(torch_internals.interned_names())
        handler = TraceHandler(torch_internals.outside_dynamo(self._record), self._failed)
        if self._fresh:
            self._attach("cache settings", torch_internals.compile_everything)
        self._attach("structured trace", lambda: torch_internals.attach_handler(handler))
        self._attach("bytecode hook", lambda: torch_internals.add_bytecode_hook(self._hook))
        self._attach("graph listener", lambda: torch_internals.add_graph_listener(self._library_graph))

    def _attach(self, what: str, attach: Callable[[], Callable[[], None]]) -> None:
        try:
            self._undo.append(attach())
        except Exception as error:
            self._failed(what, error)

    def stop(self) -> None:
        """Detach from torch, then read the guards of what is in its cache. Safe to call twice."""
        if not self._running:
            return
        self._running = False
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:
                self._failed("detaching", error)
        try:
            self.refresh()
            self._read_phases()
        except Exception as error:
            self._failed("reading the cache", error)
        self.session.ended = _now()

    def refresh(self) -> None:
        """Read guards and order of all entries that are in torch's cache now; adds entries compiled before."""
        with self._lock:
            known = [function.code for function in self.session.functions if function.code is not None]
            codes = {id(code): code for code in [*known, *torch_internals.compiled_so_far()]}
            for code in codes.values():
                live = torch_internals.live_entries(code)
                if live or id(code) in self._by_code:
                    self._read_entries(code, live)
            for entry in self.session.entries():
                compilation = self.session.compilations.get(entry.compile_id)
                if not entry.guards and compilation is not None and compilation.cpp_guards:
                    entry.guards = read_guards(guard_lines(compilation.cpp_guards))
                    entry.guards_from = "trace"

    def _read_entries(self, code: CodeType, live: List[torch_internals.LiveEntry]) -> None:
        """Bring the entries of one function up to date with those that torch has now."""
        function = self._function(code)
        for entry in function.entries:
            entry.in_cache, entry.position = False, None
        for position, found in enumerate(live):
            entry = self._known_entry(function, found) or self._found_compiled(function, found.code)
            entry.in_cache, entry.position = True, position
            entry.guards, entry.guards_from = read_guards(found.guards), "cache"
            entry.compile_id = entry.compile_id or found.compile_id or ""

    def _known_entry(self, function: Function, found: torch_internals.LiveEntry) -> Optional[CacheEntry]:
        """Our record of a live entry. A hook after ours may have put other code in, so the compile id counts too."""
        compile_id = self._ids.get(found.compile_id or "", found.compile_id)
        for entry in function.entries:
            if entry.running_code is found.code or (entry.seen_compiling and entry.compile_id == compile_id):
                return entry
        return None

    # ------------------------------------------------------------ transformed code

    def _hook(self, original: CodeType, transformed: CodeType) -> Optional[CodeType]:
        """Dynamo's bytecode hook."""
        try:
            with self._lock:
                return self._transformed(original, transformed)
        except Exception as error:
            self._failed("bytecode hook for %s" % original.co_name, error)
            return None

    def _transformed(self, original: CodeType, transformed: CodeType) -> Optional[CodeType]:
        torch_id, _ = torch_internals.current_compile_id()
        compile_id = self._ids.get(torch_id or "", torch_id or "")
        function = self._function(original)
        if compile_id:
            compilation = self._compilation(compile_id)
            compilation.function = function.key
            compilation.outcome = "compiled"
        return self._add_entry(function, compile_id, transformed, seen=True)

    def _found_compiled(self, function: Function, transformed: CodeType) -> CacheEntry:
        """Record an entry that was compiled before we listened."""
        self._add_entry(function, "", transformed, seen=False)
        return function.entries[-1]

    def _add_entry(
        self, function: Function, compile_id: str, transformed: CodeType, *, seen: bool
    ) -> Optional[CodeType]:
        entry = CacheEntry(
            compile_id=compile_id,
            function=function.key,
            number=self._count(("entry", function.name)),
            seen_compiling=seen,
            original_code=function.code,
            transformed_code=transformed,
            running_code=transformed,
        )
        names = all_names(transformed)
        prefix = torch_internals.GRAPH_FUNCTION_PREFIX
        entry.graphs = [self._shorten(name) for name in names if name.startswith(prefix)]
        entry.calls = [name for name in names if name.startswith(torch_internals.RESUME_FUNCTION_PREFIX)]
        if seen:
            self._learn_resumes(function, entry.calls)
        function.entries.append(entry)
        decompiled = self._text_of(entry, transformed)
        if self._on_transformed is None:
            return None
        try:
            running = self._on_transformed(entry, function, decompiled)
        except Exception as error:
            self._failed("output for %s" % function.name, error, compile_id)
            return None
        if running is None or not seen:
            return None
        difference = same_interface(transformed, running)
        if difference is not None:
            self._note(Failure("debugger", "code for %s not used: %s" % (function.name, difference), compile_id))
            return None
        entry.running_code = running
        return running

    def _text_of(self, entry: CacheEntry, transformed: CodeType) -> Optional[Decompiled]:
        try:
            decompiled = self._decompile(transformed)
        except Exception as error:
            self._failed("decompiling %s" % transformed.co_name, error, entry.compile_id)
            return None
        entry.decompiled = decompiled.text
        entry.status = decompiled.verdict.status.value
        entry.difference = decompiled.verdict.difference
        entry.dispatch = decompiled.dispatch
        entry.source_map = decompiled.source_map
        return decompiled

    def _learn_resumes(self, function: Function, names: List[str]) -> None:
        if not names:
            return
        variables = torch_internals.compiled_globals()
        for name in names:
            code = torch_internals.resume_code(variables.get(name))
            if code is not None:
                self._resumes[id(code)] = (code, function.key, name)

    def _function(self, code: CodeType) -> Function:
        found = self._by_code.get(id(code))
        if found is not None:
            return found
        origin = torch_internals.resume_origin(code)
        source = source_of(origin if origin is not None else code)
        found = Function(
            key=len(self.session.functions),
            name=code.co_name,
            qualname=getattr(code, "co_qualname", code.co_name),
            filename=code.co_filename,
            line=code.co_firstlineno,
            source=source,
            signature=signature_of(source),
            code=code,
        )
        learnt = self._resumes.get(id(code))
        if learnt is not None:
            found.resume_of = learnt[1]
            found.global_names = [learnt[2]]
        elif origin is not None:
            found.resume_of = self._function(origin).key
            found.key = len(self.session.functions)
        if found.resume_of is not None:
            found.resume_line = torch_internals.resume_line(code)
        self._by_code[id(code)] = found
        self.session.functions.append(found)
        self._call(self._on_function, found)
        return found

    # ------------------------------------------------------------ the structured trace

    def _record(self, kind: str, metadata: Mapping[str, Any], payload: Optional[str]) -> None:
        with self._lock:
            if not self._running:
                return
            detail = metadata[kind]
            if kind == "artifact" and isinstance(detail, dict) and "name" in detail:
                kind = str(detail["name"])
            meaning = torch_internals.RECORDS.get(kind)
            if meaning is None:
                self._other(kind, metadata, payload)
                return
            reader = getattr(self, "_read_" + meaning.use)
            reader(kind, metadata, detail, payload)

    def _read_interned(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        name, number = detail
        self._names[number] = name

    def _read_drop(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        """Bulky, and said better elsewhere."""

    def _read_start(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        torch_id = torch_internals.compile_id_of(metadata)
        if torch_id is None:
            return
        attempt = int(metadata.get("attempt") or 0)
        compile_id = self._ids.get(torch_id, torch_id)
        known = self.session.compilations.get(compile_id)
        if known is not None and attempt == 0 and known.outcome != "started":
            compile_id = "%s#%d" % (torch_id, self._count(("id", torch_id)) + 2)
            self._ids[torch_id] = compile_id
        compilation = self._compilation(compile_id)
        compilation.attempts = max(compilation.attempts, attempt + 1)
        if isinstance(detail, dict):
            compilation.stack = messages.stack(detail.get("stack"), self._names)

    def _read_graph(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        meaning = torch_internals.RECORDS[kind]
        assert meaning.stage is not None
        compile_id = self._id_of(metadata)
        if kind == "dynamo_output_graph":
            name = torch_internals.graph_name_on_stack()
            if name is not None:
                self._graph_of[compile_id] = name
        direction = meaning.direction or torch_internals.direction_on_stack() or self._late(compile_id)
        self._add_graph(compile_id, meaning.stage, kind, payload or "", direction)

    def _late(self, compile_id: str) -> Optional[str]:
        """What a frame's compilation is asked for after it ended is its backward."""
        known = self.session.compilations.get(compile_id)
        return "backward" if known is not None and known.outcome == "compiled" else None

    def _add_graph(self, compile_id: str, stage: str, kind: str, text: str, direction: Optional[str]) -> None:
        full_name = self._graph_name(compile_id)
        name = self._shorten(full_name)
        graph = Graph(
            name=name,
            full_name=full_name,
            compile_id=compile_id,
            stage=stage,
            number=self._count(("graph", name, stage)),
            kind=kind,
            text=messages.graph_text(text),
            direction=direction,
        )
        self.session.graphs.append(graph)
        graphs = self._compilation(compile_id).graphs
        if name not in graphs:
            graphs.append(name)
        self._call(self._on_graph, graph)

    def _library_graph(self, title: str, module: Any) -> None:
        """A library logs a graph of its own (e.g. a graph that it split)."""
        try:
            with self._lock:
                torch_id, _ = torch_internals.current_compile_id()
                compile_id = self._ids.get(torch_id or "", torch_id or "")
                text = module.print_readable(print_output=False)
                stage = re.sub(r"\W+", "_", title).strip("_") or "graph"
                self._add_graph(compile_id, stage, "lazy_format_graph_code", text, None)
        except Exception as error:
            self._failed("graph logged by a library", error)

    def _read_kernel(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        compile_id = self._id_of(metadata)
        full_name = self._graph_name(compile_id)
        name = self._shorten(full_name)
        kernel = Kernel(
            name=name,
            full_name=full_name,
            compile_id=compile_id,
            number=self._count(("kernel", name)),
            text=payload or "",
            origin=detail.get("filename") if isinstance(detail, dict) else None,
            direction=torch_internals.direction_on_stack() or self._late(compile_id),
        )
        self.session.kernels.append(kernel)
        self._call(self._on_kernel, kernel)

    def _read_cpp_guards(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        self._compilation(self._id_of(metadata)).cpp_guards = payload

    def _read_graph_break(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        self.session.graph_breaks.append(messages.graph_break(self._id_of(metadata), payload or ""))

    def _read_recompile(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        self.session.recompiles.append(Recompile(self._id_of(metadata), messages.recompile_reasons(payload)))

    def _read_error(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        compile_id = self._id_of(metadata)
        self._compilation(compile_id).outcome = "failed"
        self.session.failures.append(Failure("torch", payload or "", compile_id))

    def _read_metrics(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        compilation = self._compilation(self._id_of(metadata))
        compilation.metrics = dict(detail) if isinstance(detail, dict) else {"text": str(detail)}
        if compilation.metrics.get("fail_type") and compilation.outcome != "compiled":
            compilation.outcome = "failed"

    def _read_backward_metrics(
        self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]
    ) -> None:
        compilation = self._compilation(self._id_of(metadata))
        compilation.backward_metrics.append(dict(detail) if isinstance(detail, dict) else {"text": str(detail)})

    def _read_phase(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        if payload is not None and len(payload) < LARGE_PAYLOAD:
            self._phases.append(payload)

    def _read_cache(self, kind: str, metadata: Mapping[str, Any], detail: Any, payload: Optional[str]) -> None:
        """Key and state only: the components of the key are most of the trace's bytes."""
        self._other(kind, metadata, messages.without_components(payload))

    def _other(self, kind: str, metadata: Mapping[str, Any], payload: Optional[str]) -> None:
        torch_id = torch_internals.compile_id_of(metadata)
        record = OtherRecord(kind, torch_id, dict(metadata), payload)
        if torch_id is None:
            self.session.others.append(record)
        else:
            self._compilation(self._ids.get(torch_id, torch_id)).others.append(record)

    def _read_phases(self) -> None:
        for torch_id, found in messages.phases(self._phases).items():
            compilation = self.session.compilations.get(torch_id or "")
            if compilation is not None:
                compilation.phases.extend(found)
        self._phases.clear()

    # ------------------------------------------------------------ small things

    def _id_of(self, metadata: Mapping[str, Any]) -> str:
        torch_id = torch_internals.compile_id_of(metadata) or ""
        return self._ids.get(torch_id, torch_id)

    def _compilation(self, compile_id: str) -> Compilation:
        found = self.session.compilations.get(compile_id)
        if found is None:
            found = self.session.compilations[compile_id] = Compilation(compile_id)
        return found

    def _graph_name(self, compile_id: str) -> str:
        """The name of this compilation's graph function; made from the compile id where torch gave none."""
        known = self._graph_of.get(compile_id)
        if known is not None:
            return known
        return "graph_of_" + (re.sub(r"\W+", "_", compile_id).strip("_") or "no_compilation")

    def _shorten(self, full_name: str) -> str:
        """`__compiled_fn_1_<uuid>` as `__compiled_fn_1`; a second graph of that number gets a letter more."""
        known = self._short.get(full_name)
        if known is not None:
            return known
        match = _SHORT.match(full_name)
        short = match.group(1) if match else full_name
        taken = set(self._short.values())
        candidate, number = short, 2
        while candidate in taken:
            candidate, number = "%s_again_%d" % (short, number), number + 1
        self._short[full_name] = candidate
        return candidate

    def _count(self, key: Any) -> int:
        number = self._counts.get(key, 0)
        self._counts[key] = number + 1
        return number

    def _call(self, callback: Optional[Callable[[Any], None]], value: Any) -> None:
        if callback is None:
            return
        try:
            callback(value)
        except Exception as error:
            self._failed("output", error, getattr(value, "compile_id", None))

    def _failed(self, where: str, error: Exception, compile_id: Optional[str] = None) -> None:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self._note(Failure(where, "%s: %s" % (type(error).__name__, error), compile_id, text))

    def _note(self, failure: Failure) -> None:
        if not any((f.where, f.message) == (failure.where, failure.message) for f in self.session.failures):
            self.session.failures.append(failure)
