"""`install()`: the decompiled source beside the bytecode in the output of `TORCH_LOGS="+bytecode"`."""

from __future__ import annotations

import logging
from types import CodeType
from typing import Callable, Optional

from depyf.capture.torch_bytecode_log import bytecode_log
from depyf.capture.torch_internals import add_bytecode_hook

_FORMAT = "DECOMPILED BYTECODE %s %s line %s\n%s\n"


class _Installation:
    """Whether the hook is in place, and how to take it out."""

    def __init__(self) -> None:
        self._remove: Optional[Callable[[], None]] = None

    def install(self) -> None:
        if self._remove is None:
            self._remove = add_bytecode_hook(log_source)

    def uninstall(self) -> None:
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()


_installation = _Installation()


def install() -> None:
    """From now on torch's bytecode log shows the source of each transformed code too. Calling it again does nothing.

    Without `TORCH_LOGS="+bytecode"` (or `torch._logging.set_logs(bytecode=True)`) nothing is logged, nor decompiled.
    Imports torch.
    """
    _installation.install()


def uninstall() -> None:
    """Undo `install()`. Does nothing if it isn't installed."""
    _installation.uninstall()


def log_source(old_code: CodeType, new_code: CodeType) -> None:
    """Dynamo's bytecode hook: logs the source of `new_code` where torch has just logged its bytecode.

    Never raises: an exception would end the user's compilation.
    """
    try:
        log = bytecode_log()
        if log is not None:
            log.debug(_FORMAT, old_code.co_name, old_code.co_filename, old_code.co_firstlineno, _source(new_code))
    except Exception as error:
        logging.getLogger("depyf").warning("no source in torch's bytecode log: %s", error)


def _source(code: CodeType) -> str:
    from depyf.decompile.source import source_of

    try:
        return source_of(code)
    except Exception as error:  # a fault of ours: the log says so, the user's program goes on
        return "# depyf could not decompile this: %s: %s" % (type(error).__name__, error)
