"""Write one table of opcode numbers, for the Python that runs this script.

Run it under each supported Python, from the root of the repository:

    python3.11 tools/generate_opcode_tables.py

It (re)writes `src/depyf/bytecode/tables/py3_11.py`. The tables hold numbers and names only; what an opcode means is
said in `src/depyf/bytecode/versions/`. The result is committed, and never edited by hand.
"""

import dis
import opcode
import os
import platform
import sys


def cache_sizes():
    """Number of cache entries that follow each opcode, by name."""
    entries = getattr(dis, "_inline_cache_entries", None) or getattr(opcode, "_inline_cache_entries", None) or {}
    if hasattr(entries, "items"):
        return dict(entries)
    return {opcode.opname[number]: size for number, size in enumerate(entries)}


def jump_kind(number, name):
    """'forward', 'backward', 'absolute' or '' (no jump)."""
    if number in opcode.hasjabs:
        return "absolute"
    if number not in opcode.hasjrel:
        return ""
    if name == "END_ASYNC_FOR":
        return ""  # 3.14 lists it for the sake of monitoring; it never jumps
    return "backward" if "JUMP_BACKWARD" in name else "forward"


def lookup(*names):
    for name in names:
        if hasattr(opcode, name):
            return [getattr(value, "__name__", value) for value in getattr(opcode, name)]
        if hasattr(dis, name):
            return [getattr(value, "__name__", value) for value in getattr(dis, name)]
    return []


def main():
    version = "%d.%d" % sys.version_info[:2]
    caches = cache_sizes()
    lines = [
        '"""Opcodes of CPython %s. Written by tools/generate_opcode_tables.py under %s; do not edit."""'
        % (version, platform.python_version()),
        "",
        "from __future__ import annotations",
        "",
        "from typing import Tuple",
        "",
        "# number, name, cache entries that follow, kind of jump",
        "OPCODES: Tuple[Tuple[int, str, int, str], ...] = (",
    ]
    for name, number in sorted(opcode.opmap.items(), key=lambda item: item[1]):
        if number > 255 or name.startswith("INSTRUMENTED_"):
            continue  # never in a code object's bytes as seen from Python
        lines.append('    (%d, "%s", %d, "%s"),' % (number, name, caches.get(name, 0), jump_kind(number, name)))
    lines.append(")")
    for title, values in (
        ("OPERATORS", [symbol for _, symbol in getattr(opcode, "_nb_ops", [])]),
        ("COMPARISONS", list(opcode.cmp_op)),
        ("INTRINSICS_1", lookup("_intrinsic_1_descs")),
        ("INTRINSICS_2", lookup("_intrinsic_2_descs")),
        ("COMMON_CONSTANTS", lookup("_common_constants")),
        ("SPECIAL_METHODS", lookup("_special_method_names")),
    ):
        lines.append("%s: Tuple[str, ...] = (" % title)
        lines.extend('    "%s",' % value for value in values)
        lines.append(")")
    text = "\n".join(lines) + "\n"
    text = text.replace(": Tuple[str, ...] = (\n)", ": Tuple[str, ...] = ()")
    path = os.path.join("src", "depyf", "bytecode", "tables", "py%d_%d.py" % sys.version_info[:2])
    with open(path, "w") as file:
        file.write(text)
    print(path)


if __name__ == "__main__":
    main()
