"""depyf: read, check and step through what torch.compile runs.

`decompile(function)` gives the source of any Python function. `prepare_debug(directory)` writes down everything that
torch.compile makes of a program, and `debug()` lets a debugger stop in it. `install()` adds the source to
`TORCH_LOGS="+bytecode"`.

Importing this package imports nothing else; each part comes with its first use, torch only with those about torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

from depyf.version import __version__

if TYPE_CHECKING:
    from depyf.api import debug, prepare_debug
    from depyf.bytecode_log import install, uninstall
    from depyf.decompile.result import DecompilationError
    from depyf.decompiler import decompile

__all__ = [
    "DecompilationError",
    "__version__",
    "debug",
    "decompile",
    "install",
    "prepare_debug",
    "uninstall",
]

# Name -> where it is. A module without an attribute is the value itself.
_PLACES = {
    "DecompilationError": "depyf.decompile.result:DecompilationError",
    "debug": "depyf.api:debug",
    "decompile": "depyf.decompile",
    "decompiler": "depyf.decompiler",
    "install": "depyf.bytecode_log:install",
    "optimization": "depyf.optimization",
    "prepare_debug": "depyf.api:prepare_debug",
    "uninstall": "depyf.bytecode_log:uninstall",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError("module 'depyf' has no attribute %r" % name)
    module_name, _, attribute = place.partition(":")
    module = importlib.import_module(module_name)
    return getattr(module, attribute) if attribute else module


def __dir__() -> List[str]:
    return sorted({*globals(), *_PLACES})
