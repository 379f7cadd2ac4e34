"""Which files a debugger can stop in, asked of torch's cache."""

from __future__ import annotations

import os
from typing import List, Sequence

from depyf.capture.torch_internals import compiled_so_far, live_entries

_SHOWN = 12


def steppable_files() -> List[str]:
    """The existing files into which code in torch's cache points, where that is not the file it was compiled from."""
    found = {}
    for original in compiled_so_far():
        for entry in live_entries(original):
            name = entry.code.co_filename
            if name != original.co_filename and os.path.isfile(name):
                found.setdefault(name, None)
    return list(found)


def message(files: Sequence[str]) -> str:
    """What to tell a person about them."""
    if not files:
        return "depyf: nothing to step through yet: first run the program under depyf.prepare_debug(directory)"
    lines = ["depyf: the compiled code that runs is in these files; set breakpoints by file and line:"]
    lines += ["  " + name for name in files[:_SHOWN]]
    if len(files) > _SHOWN:
        lines.append("  ... and %d more" % (len(files) - _SHOWN))
    folder = os.path.dirname(files[0])
    lines.append("  (and, for backends that run graphs as Python, %s)" % os.path.join(folder, "__compiled_fn_*.py"))
    return "\n".join(lines)
