"""Run one compiled version of a model directly, without torch's guards in the way.

For programs that know by themselves which compiled code fits, as inference servers do.
"""

from __future__ import annotations

import abc
import contextlib
import weakref
from types import CodeType
from typing import Any, Callable, Iterator, List, Optional

from depyf.capture.torch_frames import locals_being_compiled
from depyf.capture.torch_internals import add_bytecode_hook

__all__ = ["TorchCompileWrapperWithCustomDispatcher"]


class TorchCompileWrapperWithCustomDispatcher(abc.ABC):
    """Base class of a callable whose `forward` is compiled by torch, and which may choose among the compiled versions.

    Use: derive, write `forward`, and pass the compiled `forward` to `__init__` (or nothing: then it is compiled here
    with the default backend). By default a call goes through torch.compile: guards are checked, and what doesn't fit
    is compiled. Each version that torch makes of `forward` is kept in `compiled_codes`. A subclass that overrides
    `__call__` can then run version `i` without any check:

        with self.dispatch_to_code(i):
            return self.forward(x)

    `compilation_counter`: after how many calls `use_custom_dispatcher` becomes true, for subclasses that want to
    warm up first; 0: as soon as there is something to dispatch to.
    """

    def __init__(self, compiled_callable: Optional[Callable[..., Any]] = None, compilation_counter: int = 0) -> None:
        if compiled_callable is None:
            import torch

            compiled_callable = torch.compile(self.forward)
        self.compiled_callable: Callable[..., Any] = compiled_callable
        self.original_code_object: CodeType = type(self).forward.__code__
        self.compiled_codes: List[CodeType] = []
        self.compilation_counter = compilation_counter
        self.calls = 0
        _hook_while_alive(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs through torch.compile. Subclasses override it to dispatch by their own rule."""
        self.calls += 1
        return self.compiled_callable(*args, **kwargs)

    @abc.abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What is compiled."""

    @property
    def use_custom_dispatcher(self) -> bool:
        """Whether there is a compiled version to dispatch to and the warm-up calls are over."""
        return bool(self.compiled_codes) and self.calls >= self.compilation_counter

    def bytecode_hook(self, old_code: CodeType, new_code: CodeType) -> None:
        """Called by torch for everything that it compiles; keeps the versions of this object's `forward`.

        `forward` belongs to the class; with several objects of one class, the frame being compiled tells whose it is.
        """
        if old_code is not self.original_code_object:
            return
        arguments = locals_being_compiled()
        if arguments is not None and old_code.co_argcount and arguments.get(old_code.co_varnames[0], self) is not self:
            return
        self.compiled_codes.append(new_code)

    @contextlib.contextmanager
    def dispatch_to_code(self, index: int) -> Iterator[None]:
        """Inside, `self.forward` runs `compiled_codes[index]` directly; IndexError if there is no such version.

        The code object of the class's `forward` is exchanged: not for several threads at once.
        """
        function = type(self).forward
        compiled = self.compiled_codes[index]
        previous = function.__code__
        function.__code__ = compiled
        try:
            yield
        finally:
            function.__code__ = previous


def _hook_while_alive(wrapper: TorchCompileWrapperWithCustomDispatcher) -> None:
    """Have torch call `wrapper.bytecode_hook`, without keeping the wrapper alive for it."""
    reference = weakref.ref(wrapper)

    def hook(old_code: CodeType, new_code: CodeType) -> None:
        alive = reference()
        if alive is not None:
            alive.bytecode_hook(old_code, new_code)

    weakref.finalize(wrapper, add_bytecode_hook(hook)).atexit = False
