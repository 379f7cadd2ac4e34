"""The only module that names torch's internals.

`TABLE` lists every private name with the versions that have it, where each version keeps it, and what is lost
without it. `RECORDS` lists the kinds of structured-trace records. A torch that moved something needs a new row
here and nothing anywhere else. Nothing in this module raises because a name is missing: the functions below then
answer None or nothing, and `missing()` says what is lost.
"""

from __future__ import annotations

import importlib
import logging
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple


@dataclass(frozen=True)
class Name:
    """One private name: the places to look, newest torch first, as "module:attribute.path"."""

    places: Tuple[str, ...]
    versions: str
    lost: str


TABLE: Mapping[str, Name] = {
    "trace_logger": Name(
        ("torch._logging._internal:trace_log",), "2.3 on", "graphs, kernels, guards as text, breaks, timings"
    ),
    "interned_names": Name(
        ("torch._logging.structured:INTERN_TABLE",), "2.3 on", "file names in stacks sent before the capture began"
    ),
    "register_hook": Name(
        ("torch._dynamo.convert_frame:register_bytecode_hook",), "2.2 on", "transformed code of new compilations"
    ),
    "cache_entries": Name(
        ("torch._dynamo.eval_frame:_debug_get_cache_entry_list",), "2.2 on", "guards; functions compiled before"
    ),
    "compile_context": Name(("torch._guards:CompileContext",), "2.2 on", "which compilation the hook belongs to"),
    "origin_of": Name(("torch._dynamo.utils:orig_code_map",), "2.2 on", "functions compiled before the capture began"),
    "resume_metadata": Name(
        ("torch._dynamo.resume_execution:ContinueExecutionCache.generated_code_metadata",),
        "2.2 on",
        "which function a resume function continues, unless its caller was seen",
    ),
    "format_graph": Name(
        ("torch.fx._utils:lazy_format_graph_code", "torch._dynamo.utils:lazy_format_graph_code"),
        "2.2 on",
        "graphs that libraries log themselves",
    ),
    "set_eval_frame": Name(
        ("torch._dynamo.eval_frame:set_eval_frame", "torch._C._dynamo.eval_frame:set_eval_frame"),
        "2.2 on",
        "nothing; records that arrive at run time cost a little more",
    ),
}

# Where libraries look the graph formatter up at call time; both are replaced while a capture runs.
FORMATTER_PLACES = ("torch._dynamo.utils:lazy_format_graph_code", "torch.fx._utils:lazy_format_graph_code")

# Settings that make every stage visible: with a warm cache torch skips passes and never sends their graphs. The
# one switch for all caches (`force_disable_caches`) is not used: it makes torch warn, and turns off more than this.
FRESH_SETTINGS = (
    ("torch._inductor.config", "fx_graph_cache", False),  # 2.2 on
    ("torch._inductor.config", "fx_graph_remote_cache", False),  # 2.3 on
    ("torch._functorch.config", "enable_autograd_cache", False),  # 2.4 on
    ("torch._functorch.config", "enable_remote_autograd_cache", False),  # 2.6 on
)
PRECOMPILES = "torch._dynamo.config:caching_precompile"  # 2.9 on

# Local variables of torch's frames, by function: what is read from the stack while torch calls us.
FRAME_GRAPH_NAME = (("compile_and_call_fx_graph", "name"),)  # 2.2 on
FRAME_GLOBALS = (("_compile", "globals"),)  # 2.2 on
FRAME_DIRECTION = (("codegen_and_compile", "graph_kwargs"), ("fx_codegen_and_compile", "graph_kwargs"))

GRAPH_FUNCTION_PREFIX = "__compiled_fn_"
RESUME_FUNCTION_PREFIX = "__resume_at_"
RESUME_NAME = "torch_dynamo_resume_in_"


@dataclass(frozen=True)
class Record:
    """What a record of the structured trace means to us. `use` names the method of the reader that takes it."""

    use: str
    stage: Optional[str] = None
    direction: Optional[str] = None


RECORDS: Mapping[str, Record] = {
    "str": Record("interned"),
    "dynamo_start": Record("start"),
    "dynamo_output_graph": Record("graph", "Captured_Graph"),
    "aot_joint_graph": Record("graph", "Joint_graph"),
    "aot_forward_graph": Record("graph", "Forward_graph", "forward"),
    "aot_backward_graph": Record("graph", "Backward_graph", "backward"),
    "aot_inference_graph": Record("graph", "Forward_graph", "forward"),
    "compiled_autograd_graph": Record("graph", "Compiled_autograd_graph", "backward"),
    "before_pre_grad_graph": Record("graph", "BEFORE_PRE_GRAD"),
    "after_pre_grad_graph": Record("graph", "AFTER_PRE_GRAD"),
    "before_joint_graph": Record("graph", "BEFORE_JOINT"),
    "after_joint_graph": Record("graph", "AFTER_JOINT"),
    "before_post_grad_graph": Record("graph", "BEFORE_POST_GRAD"),
    "inductor_post_grad_graph": Record("graph", "AFTER_POST_GRAD"),
    "fx_graph_runnable": Record("graph", "Runnable_script"),
    "inductor_output_code": Record("kernel"),
    "dynamo_cpp_guards_str": Record("cpp_guards"),
    "dynamo_guards": Record("cpp_guards"),
    "dynamo_graph_break_reason": Record("graph_break"),
    "recompile_reasons": Record("recompile"),
    "dynamo_error": Record("error"),
    "compilation_metrics": Record("metrics"),
    "bwd_compilation_metrics": Record("backward_metrics"),
    "chromium_event": Record("phase"),
    "fx_graph_cache_miss": Record("cache"),
    "fx_graph_cache_hit": Record("cache"),
    "fx_graph_cache_bypass": Record("cache"),
    "describe_storage": Record("drop"),
    "describe_tensor": Record("drop"),
    "describe_source": Record("drop"),
    "dump_file": Record("drop"),
}


def _find(key: str) -> Any:
    for place in TABLE[key].places:
        found = _resolve(place)
        if found is not None:
            return found
    return None


def _resolve(place: str) -> Any:
    module, _, path = place.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def missing() -> List[str]:
    """What this torch lacks, in words: one line per name of the table that was not found."""
    return ["%s not found: lost: %s" % (name, row.lost) for name, row in TABLE.items() if _find(name) is None]


def torch_version() -> Optional[str]:
    """The version of the torch that can be imported, or None."""
    try:
        import torch
    except ImportError:
        return None
    return str(torch.__version__)


def process_rank() -> Tuple[Optional[int], Optional[int]]:
    """(rank, world size) under an initialised torch.distributed, else (None, None)."""
    distributed = _resolve("torch:distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None, None
    return int(distributed.get_rank()), int(distributed.get_world_size())


# ---------------------------------------------------------------- hooks


def attach_handler(handler: logging.Handler) -> Callable[[], None]:
    """Put the handler first on the structured-trace logger; returns what takes it off again.

    First, because torch's own lazy handler removes itself during its first record while the logging module
    iterates over the list, so that the handler after it would miss that record.
    """
    logger = _find("trace_logger")
    if logger is None:
        return lambda: None
    logger.handlers.insert(0, handler)

    def detach() -> None:
        if handler in logger.handlers:
            logger.handlers.remove(handler)

    return detach


def add_bytecode_hook(hook: Callable[[CodeType, CodeType], Optional[CodeType]]) -> Callable[[], None]:
    """Register Dynamo's bytecode hook; returns what removes it."""
    register = _find("register_hook")
    if register is None:
        return lambda: None
    handle = register(hook)
    return lambda: handle.remove()


def add_graph_listener(listener: Callable[[str, Any], None]) -> Callable[[], None]:
    """Call `listener(name, graph module)` when a library formats a graph for its log; returns what stops that.

    Calls by torch itself don't count: the structured trace has those graphs. A module that is imported meanwhile may
    keep our wrapper for good: after the end it only passes calls on.
    """
    active = [True]
    undo: List[Callable[[], None]] = []
    for place in FORMATTER_PLACES:
        original = _resolve(place)
        module = sys.modules.get(place.partition(":")[0])
        if original is None or module is None:
            continue
        attribute = place.partition(":")[2]

        def wrapper(name: str, gm: Any, *args: Any, _original: Any = original, **kwargs: Any) -> Any:
            if active[0] and not _is_torch(sys._getframe(1)):
                listener(name, gm)
            return _original(name, gm, *args, **kwargs)

        setattr(module, attribute, wrapper)
        undo.append(_restorer(module, attribute, wrapper, original))

    def stop() -> None:
        active[0] = False
        for restore in undo:
            restore()

    return stop


def _is_torch(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "torch"


def _restorer(module: Any, attribute: str, ours: Any, original: Any) -> Callable[[], None]:
    def restore() -> None:
        if getattr(module, attribute, None) is ours:
            setattr(module, attribute, original)

    return restore


def compile_everything() -> Callable[[], None]:
    """Make torch skip its on-disk caches, so that each stage's graph is produced; returns what sets it back.

    Left alone where the program precompiles, since torch refuses that without its caches.
    """
    if _resolve(PRECOMPILES):
        return lambda: None
    changed: List[Tuple[Any, str, Any]] = []
    for module_name, setting, value in FRESH_SETTINGS:
        if _resolve(module_name + ":" + setting) is None:
            continue  # not in this version, or left to torch to decide
        config = sys.modules[module_name]
        changed.append((config, setting, getattr(config, setting)))
        setattr(config, setting, value)

    def restore() -> None:
        for config, setting, previous in reversed(changed):
            setattr(config, setting, previous)

    return restore


def outside_dynamo(function: Callable[..., None]) -> Callable[..., None]:
    """The function, run with frame evaluation off: our own frames are never candidates for compilation."""
    switch = _find("set_eval_frame")
    if switch is None:
        return function

    def call(*args: Any) -> None:
        previous = switch(None)
        try:
            function(*args)
        finally:
            switch(previous)

    return call


# ---------------------------------------------------------------- what is going on


def current_compile_id() -> Tuple[Optional[str], int]:
    """(compile id, attempt) of the compilation that runs now; (None, 0) outside of one."""
    context = _find("compile_context")
    trace_id = context.current_trace_id() if context is not None else None
    if trace_id is None:
        return None, 0
    return str(trace_id.compile_id), int(trace_id.attempt)


def compile_id_of(metadata: Mapping[str, Any]) -> Optional[str]:
    """The compile id of a structured-trace record, spelled as torch spells it; None if it has none."""
    autograd, frame, number = (
        metadata.get("compiled_autograd_id"),
        metadata.get("frame_id"),
        metadata.get("frame_compile_id"),
    )
    if frame is None:
        return None if autograd is None else "!%s" % autograd
    prefix = "" if autograd is None else "!%s/" % autograd
    return "%s%s/%s" % (prefix, frame, number)


def _frames() -> Iterator[FrameType]:
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _local(rows: Tuple[Tuple[str, str], ...]) -> Any:
    for frame in _frames():
        for function, variable in rows:
            if frame.f_code.co_name == function and variable in frame.f_locals:
                return frame.f_locals[variable]
    return None


def graph_name_on_stack() -> Optional[str]:
    """The name (`__compiled_fn_1_...`) of the graph that Dynamo is handing to the backend, if it is."""
    name = _local(FRAME_GRAPH_NAME)
    return name if isinstance(name, str) else None


def direction_on_stack() -> Optional[str]:
    """ "forward" or "backward": what inductor is generating code for, if it is."""
    options = _local(FRAME_DIRECTION)
    if not isinstance(options, dict) or "is_backward" not in options:
        return None
    return "backward" if options["is_backward"] else "forward"


def compiled_globals() -> Dict[str, Any]:
    """The global variables of the function being compiled; empty where unknown."""
    found = _local(FRAME_GLOBALS)
    return found if isinstance(found, dict) else {}


def interned_names() -> Dict[int, str]:
    """Number -> file name, of all that torch has sent so far (it sends each only once per process)."""
    table = _find("interned_names")
    return {} if table is None else {number: name for name, number in dict(table).items()}


# ---------------------------------------------------------------- resume functions


def resume_origin(code: CodeType) -> Optional[CodeType]:
    """The user's code object that this resume function continues, or None if it is none."""
    metadata = _find("resume_metadata")
    found = None if metadata is None else metadata.get(code)
    seen = {id(code)}
    origin: Optional[CodeType] = None
    while found is not None and isinstance(getattr(found, "code", None), CodeType) and id(found.code) not in seen:
        origin = found.code
        seen.add(id(origin))
        found = metadata.get(origin)
    return origin


def resume_code(value: Any) -> Optional[CodeType]:
    """The code of a resume function, given what its global variable holds.

    That is a function; or, with free variables, the code itself (to 2.11) or a factory that makes the function.
    """
    code = value if isinstance(value, CodeType) else getattr(value, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    if code.co_name.startswith((RESUME_NAME, "resume_in_")):
        return code
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_name.startswith((RESUME_NAME, "resume_in_")):
            return constant
    return None


def resume_line(code: CodeType) -> Optional[int]:
    """The user's line at which a resume function continues, from its name; None if the name has none."""
    tail = code.co_name.rpartition("_at_")[2]
    return int(tail) if code.co_name.startswith(RESUME_NAME) and tail.isdigit() else None


# ---------------------------------------------------------------- the cache


@dataclass
class LiveEntry:
    """An entry of torch's cache, as found: `code` is what runs, `guards` (kind, text) pairs."""

    code: CodeType
    compile_id: Optional[str]
    guards: List[Tuple[str, str]]


def live_entries(code: CodeType) -> List[LiveEntry]:
    """The cache entries of this code object in the order in which torch tries them."""
    listing = _find("cache_entries")
    if listing is None:
        return []
    found = []
    for entry in listing(code):
        compile_id = getattr(entry, "compile_id", None)
        found.append(LiveEntry(entry.code, None if compile_id is None else str(compile_id), _guards(entry)))
    return found


def compiled_so_far() -> List[CodeType]:
    """The original code of everything that torch compiled so far and still holds, each once."""
    table = _find("origin_of")
    # The table maps the id of a transformed code object to the original one, and has no public iteration.
    store = getattr(table, "values", None)
    originals = list(store.values()) if isinstance(store, dict) else []
    return list({id(code): code for code in originals if isinstance(code, CodeType)}.values())


def _guards(entry: Any) -> List[Tuple[str, str]]:
    manager = getattr(entry, "guard_manager", None) or getattr(entry, "check_fn", None)
    root = getattr(manager, "root", manager)
    found: List[Tuple[str, str]] = []
    if hasattr(root, "get_leaf_guards"):
        _walk_guards(root, found)
        epilogue = getattr(root, "get_epilogue_lambda_guards", list)()
        for guard in epilogue:
            found.extend((type(guard).__name__, str(part)) for part in guard.verbose_code_parts())
    else:
        found.extend(("GUARD", str(part)) for part in getattr(manager, "code_parts", None) or ())
    return found


def _walk_guards(manager: Any, found: List[Tuple[str, str]]) -> None:
    for guard in manager.get_leaf_guards():
        found.extend((type(guard).__name__, str(part)) for part in guard.verbose_code_parts())
    children = list(manager.get_child_managers())
    if hasattr(manager, "get_key_value_managers"):
        for pair in manager.get_key_value_managers().values():
            children.extend(child for child in pair if child is not None)
    for child in children:
        _walk_guards(child, found)
