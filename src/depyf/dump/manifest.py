"""The list of files that a dump wrote, so that the next one removes those and nothing of the user's.

One JSON value a line: first who writes, then each file's name *before* it is written (so that a crash leaves no file
unlisted), at the end `{"closed": true}`. Lines are appended, since a big model has thousands of files.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import List, Optional

from depyf.dump import names
from depyf.dump.writer import write_atomically


@dataclass
class Manifest:
    """What an earlier dump left: `session` and `pid` say who wrote; `closed` is false while it may still write."""

    session: str
    pid: int
    closed: bool = False
    files: List[str] = field(default_factory=list)


class ManifestFile:
    """The manifest of a dump that is being written. All methods raise OSError."""

    def __init__(self, directory: str, session: str) -> None:
        self._path = os.path.join(directory, names.MANIFEST)
        self._listed = {names.MANIFEST}
        write_atomically(self._path, json.dumps({"session": session, "pid": os.getpid()}) + "\n")

    def add(self, file: str) -> None:
        """List a file, before it is written."""
        if file not in self._listed:
            self._append(file)
            self._listed.add(file)

    def close(self) -> None:
        """No more files come."""
        self._append({"closed": True})

    def _append(self, value: object) -> None:
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")


def read(directory: str) -> Optional[Manifest]:
    """The manifest of the directory; None if there is none or it is damaged (then nothing is removed)."""
    try:
        with open(os.path.join(directory, names.MANIFEST), encoding="utf-8") as file:
            first, *rest = [json.loads(line) for line in file]
        found = Manifest(str(first["session"]), int(first["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    for value in rest:
        if isinstance(value, str):
            found.files.append(value)
        elif isinstance(value, dict) and value.get("closed"):
            found.closed = True
    return found


def in_use(manifest: Manifest) -> bool:
    """Whether the session that wrote it is still running."""
    if manifest.closed:
        return False
    try:
        os.kill(manifest.pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # it exists, but is not ours
    return True


def remove_files(directory: str, manifest: Manifest) -> None:
    """Remove the files that the manifest lists, if they are plain files directly in the directory."""
    for name in manifest.files:
        if os.path.basename(name) != name:
            continue
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            os.unlink(path)
