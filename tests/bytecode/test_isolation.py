"""Only `bytecode/` knows versions: no other part names an opcode that the canonical set lacks, or tests a version."""

from __future__ import annotations

import ast
import pathlib

from depyf.bytecode import Op
from depyf.bytecode.versions import NEWEST, OLDEST, dialect_of

PACKAGE = pathlib.Path(__file__).parents[2] / "src" / "depyf"


def raw_names():
    names = set()
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        names |= set(dialect_of((3, minor)).names.values())
    # names that the canonical set has too say nothing
    return {name for name in names if "_" in name and name not in Op.__members__}


def sources(*excluded):
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in excluded:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_no_opcode_names_outside():
    names = raw_names()
    assert "LOAD_FAST_BORROW" in names
    found = []
    for path, tree in sources("bytecode"):
        for node in ast.walk(tree):
            text = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
            if isinstance(text, str) and text in names:
                found.append((str(path.relative_to(PACKAGE)), node.lineno, text))
    assert found == []


def test_the_decompiler_tests_no_version():
    found = []
    for path, tree in sources("bytecode", "capture", "session", "dump", "debugger", "cli"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "version_info":
                found.append((str(path.relative_to(PACKAGE)), node.lineno))
    assert found == []


def test_the_host_s_tables_are_never_used():
    found = []
    for path in sorted((PACKAGE / "bytecode").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            if {"dis", "opcode", "_opcode"} & set(modules):
                found.append(str(path))
    assert found == []


def test_every_opcode_of_every_version_has_a_meaning():
    """All but those that no code object holds when it is compiled, or that the walk never comes to."""
    never = {"CACHE", "EXTENDED_ARG", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK"}
    never |= {"ENTER_EXECUTOR", "TRACE_RECORD"}
    inside_send_loops = {"CLEANUP_THROW"}
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        dialect = dialect_of((3, minor))
        missing = {name for number, name in dialect.names.items() if dialect.row_of[number] is None}
        assert missing - never - inside_send_loops == set(), minor
