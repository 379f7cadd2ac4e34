"""The Python interpreters of this machine that the decompiler works for.

Looks at `python3.N` on the PATH, at pyenv's versions and at the interpreters named in DEPYF_PYTHONS (separated by
colons).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, Optional, Tuple

OLDEST, NEWEST = 8, 15

Version = Tuple[int, int]


def candidates() -> Iterator[str]:
    yield from filter(None, os.environ.get("DEPYF_PYTHONS", "").split(":"))
    yield sys.executable
    for minor in range(OLDEST, NEWEST + 1):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        yield from map(str, sorted(Path(root, "versions").glob("3.*/bin/python")))


def version_of(python: str) -> Optional[Version]:
    """None when it does not run (such as a pyenv shim of a version that is not active)."""
    ask = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(answer[0]), int(answer[1])


def found_pythons() -> Dict[Version, str]:
    """The first interpreter found of each version that the decompiler runs on."""
    found: Dict[Version, str] = {}
    for python in candidates():
        version = version_of(python)
        if version and version[0] == 3 and OLDEST <= version[1] <= NEWEST:
            found.setdefault(version, python)
    return dict(sorted(found.items()))
