"""The graph modules of torch.fx: finding live ones, their source, and when they are compiled.

Sibling of `torch_internals`, for torch.fx alone. Names used, all there from torch 2.2 to 2.14: `GraphModule.recompile`
(public), `__deepcopy__` and `_code`; `_LazyGraphModule._real_recompile` and `real_recompile`, which exist where a
module compiles its `forward` at its first call. Without them a graph's frames keep torch's made-up file names; nothing
else is lost.
"""

from __future__ import annotations

import sys
from types import FrameType, FunctionType
from typing import Any, Callable, Iterator, List, Optional, Tuple


def graph_modules_on_stack() -> List[Any]:
    """The graph modules held by the local variables of the nearest frame that holds any, each once.

    While torch logs a graph, its module is a local variable (or a variable of a local closure) of the caller.
    """
    fx = sys.modules.get("torch.fx")
    frame: Optional[FrameType] = sys._getframe(1)
    while fx is not None and frame is not None:
        found = {id(value): value for value in _values(frame) if isinstance(value, fx.GraphModule)}
        if found:
            return list(found.values())
        frame = frame.f_back
    return []


def _values(frame: FrameType) -> Iterator[Any]:
    for value in list(frame.f_locals.values()):
        yield value
        if isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                try:
                    yield cell.cell_contents
                except ValueError:  # the variable has no value yet
                    continue


def child_graphs(module: Any) -> List[Tuple[str, Any]]:
    """(attribute name, graph module) of the graph modules directly inside this one."""
    fx = sys.modules["torch.fx"]
    return [(name, child) for name, child in module.named_children() if isinstance(child, fx.GraphModule)]


def compiled_forward(module: Any) -> Optional[Tuple[FunctionType, str]]:
    """(the function that runs, the source that it was compiled from), or None while that is not compiled."""
    cls = type(module)
    forward = cls.__dict__.get("forward")
    source = module.__dict__.get("_code")
    lazy = getattr(cls, "_lazy_forward", None)
    if not isinstance(forward, FunctionType) or not isinstance(source, str) or forward is lazy:
        return None
    return forward, source


def when_compiled(module: Any, callback: Callable[[Any], None]) -> None:
    """Call `callback(module)` each time the module has compiled its `forward`, and now if it has already.

    The same for its copies: torch compiles some graphs (a lazy backward) from a deep copy. A graph module has a class
    of its own, so the methods that compile and copy are wrapped for this module only. The callback must not raise.
    """
    cls = type(module)
    name = "_real_recompile" if hasattr(cls, "_real_recompile") else "recompile"
    original = getattr(cls, name)

    def compile_and_tell(self: Any) -> Any:
        result = original(self)
        callback(self)
        return result

    copy_module = cls.__deepcopy__

    def copy_and_tell(self: Any, memo: Any = None) -> Any:
        copied = copy_module(self, memo)
        when_compiled(copied, callback)
        return copied

    setattr(cls, name, compile_and_tell)
    cls.__deepcopy__ = copy_and_tell
    if compiled_forward(module) is not None:
        callback(module)
