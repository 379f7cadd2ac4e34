"""The list of files that a dump wrote, so that the next one removes those and nothing of the user's."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import List, Optional

from depyf.dump import names
from depyf.dump.writer import write_atomically


@dataclass
class Manifest:
    """`session` and `pid` say who wrote the files; `open` is true while that session may still write."""

    session: str
    pid: int
    open: bool = True
    files: List[str] = field(default_factory=list)

    def save(self, directory: str) -> None:
        """Write it into the directory. Raises OSError."""
        text = json.dumps(
            {"session": self.session, "pid": self.pid, "open": self.open, "files": self.files}, indent=1
        )
        write_atomically(os.path.join(directory, names.MANIFEST), text + "\n")


def read(directory: str) -> Optional[Manifest]:
    """The manifest of the directory; None if there is none or it is damaged (then nothing is removed)."""
    try:
        with open(os.path.join(directory, names.MANIFEST), encoding="utf-8") as file:
            data = json.load(file)
        files = [name for name in data["files"] if isinstance(name, str)]
        return Manifest(str(data["session"]), int(data["pid"]), bool(data["open"]), files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def in_use(manifest: Manifest) -> bool:
    """Whether the session that wrote it is still running."""
    if not manifest.open:
        return False
    if manifest.pid == os.getpid():
        return True
    try:
        os.kill(manifest.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove_files(directory: str, manifest: Manifest) -> None:
    """Remove the files that the manifest lists, if they are plain files directly in the directory."""
    for name in manifest.files:
        if os.path.basename(name) != name:
            continue
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            os.unlink(path)
