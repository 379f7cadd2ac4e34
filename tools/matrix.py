"""Run the decompiler's tests under every Python from 3.8 that is found here, and say which those were.

    python tools/matrix.py [--list] [--only 3.10,3.13] [--skip 3.11] [-- PYTEST ARGUMENTS]

`pythons` says where they are looked for. Each gets a virtual environment `.venvs/3.N` with pytest in it; no torch.
The exit code is 1 when the tests of any of them fail, or when none was found.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

from pythons import NEWEST, OLDEST, Version, found_pythons

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/bytecode", "tests/structure"]
# The decompiler behind the bytecode, from this version on; 3.11 runs all tests (`make test`).
DECOMPILER_TESTS = ["tests/decompile"]
DECOMPILER_SINCE = (3, 9)
# The test of changed functions counts on how much of a module comes in structured form, which so far holds for 3.11;
# and older compilers leave in what is never run, where a change makes no difference. `make test` runs it.
NOT_HERE = "tests/decompile/test_mutations.py"
PACKAGES = ["pytest", "pytest-timeout", "hypothesis"]


def environment(version: Version, python: str) -> Path:
    """The interpreter of a virtual environment with what the tests need; made on the first use."""
    folder = ROOT / ".venvs" / "{}.{}".format(*version)
    inside, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        # Without pip inside: some distributions' Pythons lack ensurepip. The pip of this Python installs into it.
        subprocess.run([python, "-m", "venv", "--without-pip", "--clear", str(folder)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(inside), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.touch()
    return inside


def run(version: Version, python: Path, arguments: List[str]) -> bool:
    paths = TESTS + (DECOMPILER_TESTS if version >= DECOMPILER_SINCE else [])
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [str(python), "-m", "pytest", "-q", *paths, f"--ignore={NOT_HERE}", *arguments]
    code = subprocess.run(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, check=False).returncode
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only say which Pythons are found")
    parser.add_argument("--only", default="", metavar="3.N,...", help="these versions only")
    parser.add_argument("--skip", default="", metavar="3.N,...", help="all but these versions")
    parser.add_argument("pytest", nargs="*", metavar="ARGUMENT", help="further arguments for pytest, after --")
    options = parser.parse_args()
    pythons = found_pythons()
    only, skip = (set(filter(None, text.split(","))) for text in (options.only, options.skip))
    results: Dict[str, str] = {}
    for version, python in pythons.items():
        name = "{}.{}".format(*version)
        if (only and name not in only) or name in skip:
            continue
        print(f"== Python {name}: {python}", flush=True)
        if not options.list:
            results[name] = "passed" if run(version, environment(version, python), options.pytest) else "FAILED"
    missing = [f"3.{n}" for n in range(OLDEST, NEWEST + 1) if (3, n) not in pythons]
    if missing:
        print("not found here: " + ", ".join(missing))
    for name, result in results.items():
        print(f"Python {name}: {result}")
    if not options.list and not results:
        print("no Python to test with", file=sys.stderr)
        return 1
    return int("FAILED" in results.values())


if __name__ == "__main__":
    sys.exit(main())
