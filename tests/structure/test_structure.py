"""The rules that keep the parts apart and the files small, read from the source itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List, Optional, Set, Tuple

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGE = SOURCE / "depyf"
FILES = sorted(PACKAGE.rglob("*.py"))

# What each part may import from this package. Parts not named here (the public modules at the top) may import all.
ALLOWED = {
    "bytecode": set(),
    "decompile": {"bytecode"},
    "capture": {"bytecode", "decompile", "session", "version"},
    "session": {"bytecode", "decompile"},
    "dump": {"bytecode", "decompile", "session"},
    "debugger": {"bytecode", "decompile", "capture", "session", "dump"},
    "cli": {"bytecode", "decompile", "session", "dump", "debugger", "version"},
}
# Generated tables: one row per opcode of a version.
GENERATED = PACKAGE / "bytecode" / "tables"
LINES_AT_MOST = 650


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> Iterator[Tuple[str, int]]:
    """(absolute module name, line) of every import in the file, also those inside functions."""
    package = [*path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module, node.lineno
            for alias in node.names:
                yield f"{module}.{alias.name}", node.lineno


def our_part(module: str) -> Optional[str]:
    names = module.split(".")
    return names[1] if names[0] == "depyf" and len(names) > 1 else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    if part not in ALLOWED:
        return
    wrong = [
        f"line {line}: {module}"
        for module, line in imported(path)
        if our_part(module) not in (None, part, *ALLOWED[part])
    ]
    assert not wrong, f"{path.relative_to(SOURCE)} imports what it must not: {wrong}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_small(path: Path) -> None:
    if GENERATED in path.parents:
        return
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_AT_MOST


def opcode_names() -> Set[str]:
    """CPython's own opcode names of every version, those that are not also canonical operations."""
    from depyf.bytecode.program import Op

    names: Set[str] = set()
    for table in GENERATED.glob("py3_*.py"):
        names |= set(re.findall(r"[\"']([A-Z][A-Z0-9_]+)[\"']", table.read_text(encoding="utf-8")))
    assert len(names) > 150, "the tables are not where this test looks for them"
    return {name for name in names if "_" in name} - set(Op.__members__)


def test_only_bytecode_names_opcodes() -> None:
    names = opcode_names()
    found: List[str] = []
    for path in FILES:
        if part_of(path) == "bytecode":
            continue
        for node in ast.walk(tree(path)):
            word = node.value if isinstance(node, ast.Constant) else getattr(node, "id", getattr(node, "attr", None))
            if isinstance(word, str) and word in names:
                found.append(f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', '?')}: {word}")
    assert not found, found


def mentions(path: Path, *dotted: str) -> List[str]:
    """Lines of attribute accesses such as `sys.version_info` in the code (comments and strings do not count)."""
    return [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.dump(node) in {dump_of(name) for name in dotted}
    ]


def dump_of(dotted: str) -> str:
    return ast.dump(ast.parse(dotted, mode="eval").body)


def test_the_decompiler_tests_no_python_version() -> None:
    assert not [hit for path in FILES if part_of(path) == "decompile" for hit in mentions(path, "sys.version_info")]


def test_one_module_knows_torch_versions() -> None:
    """`torch.__version__` is read in one file."""
    files = {hit.split(":")[0] for path in FILES for hit in mentions(path, "torch.__version__")}
    assert len(files) <= 1, files


def test_one_package_names_torch_internals() -> None:
    """torch's private modules are imported in capture/ only, and in few of its files."""
    inside = re.compile(r"torch\._|torch\..*\._")
    found = {p.relative_to(PACKAGE) for p in FILES for module, _ in imported(p) if inside.search(module)}
    assert {path.parts[0] for path in found} <= {"capture"}, found


def test_no_file_called_utils() -> None:
    assert not [path for path in FILES if path.stem in ("utils", "util", "helpers", "misc", "common")]


def test_no_swallowed_exceptions() -> None:
    """No `except:` or `except Exception:` whose body is `pass`."""
    found = []
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and all(isinstance(child, ast.Pass) for child in node.body):
                if node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException"):
                    found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert not found, found


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_import_brings_in_no_other_package() -> None:
    """`import depyf` and the decompiler need the standard library only, and torch is not imported."""
    third_party = run_python(
        "import sys; before = set(sys.modules)\n"
        "import depyf, depyf.bytecode, depyf.decompile\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new - {'depyf'} - set(getattr(sys, 'stdlib_module_names', new))))"
    )
    assert third_party.split() == []
    loaded = run_python("import sys, depyf; print('torch' in sys.modules, 'depyf.capture' in sys.modules)")
    assert loaded.split() == ["False", "False"]


def test_import_is_fast() -> None:
    """The best of five is under the promised 100 ms, with room for a busy machine."""
    code = "import time; start = time.perf_counter(); import depyf; print(time.perf_counter() - start)"
    assert min(float(run_python(code)) for _ in range(5)) < 0.1


def test_every_module_says_what_it_is_for() -> None:
    undocumented = [
        str(path.relative_to(SOURCE)) for path in FILES if tree(path).body and not ast.get_docstring(tree(path))
    ]
    assert not undocumented
