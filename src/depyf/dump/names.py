"""How the files of a dump are named. People know these names and scripts glob for them."""

from __future__ import annotations

import re

from depyf.session.model import CacheEntry, Function, Graph, Kernel

SESSION = "session.json"
MANIFEST = ".depyf_manifest.json"

_MAX = 150  # file systems allow 255 bytes; names of resume functions nest


def safe(name: str) -> str:
    """A name as part of a file name: `<lambda>` as `lambda`."""
    cleaned = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_" if name.startswith("<") else "") or "unnamed"
    return cleaned if len(cleaned) <= _MAX else cleaned[: _MAX // 2] + "__" + cleaned[-_MAX // 2 :]


def transformed(entry: CacheEntry, function: Function) -> str:
    """The file with the code that runs for one cache entry."""
    return "__transformed_code_%d_for_%s.py" % (entry.number, safe(function.name))


def full_code(function: Function, number: int) -> str:
    """The file that tells a function's whole story."""
    return "full_code_for_%s_%d.py" % (safe(function.name), number)


def graph(record: Graph) -> str:
    """The file of one graph at one stage."""
    return "%s.%s.%d.py" % (safe(record.name), safe(record.stage), record.number)


def kernel(record: Kernel) -> str:
    """The file of generated code."""
    return "%s.kernel_%d.py" % (safe(record.name), record.number)


def bytecode(entry: CacheEntry, function: Function, which: str) -> str:
    """Stem of the files that hold a code object; `which` is "original" or "transformed"."""
    return "__%s_bytecode_%d_for_%s" % (which, entry.number, safe(function.name))
