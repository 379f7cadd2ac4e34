"""Results as Markdown files, each with the command, the date, the machine and the versions that they come from."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path
from typing import List, Sequence


def machine() -> str:
    """This computer and this Python in words."""
    return f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, Python {platform.python_version()}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> List[str]:
    """The lines of a table; all columns but the first are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return lines


def write_report(path: Path, lines: Sequence[str], command: str, versions: str = "") -> None:
    """Write `lines` and where they come from."""
    today = datetime.date.today().isoformat()
    source = f"`{command}` on {today}: {machine()}{', ' if versions else ''}{versions}."
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "", source]) + "\n", encoding="utf-8")
