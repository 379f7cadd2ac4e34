"""Drives a real pdb in a process of its own, through its standard input and output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import List, Optional, Tuple

PROMPT = "(Pdb) "
SOURCE = Path(__file__).resolve().parents[2] / "src"


class Driver:
    """A program that has come to a pdb prompt, or has ended."""

    def __init__(self, program: Path, *arguments: str) -> None:
        command = [sys.executable, "-u", "-W", "ignore", str(program), *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        self.log: List[str] = []
        self.read()

    def read(self) -> str:
        """What is printed up to the next prompt, or to the end of the program."""
        assert self._process.stdout is not None
        text = ""
        while not text.endswith(PROMPT):
            character = self._process.stdout.read(1)
            if not character:
                break
            text += character
        self.log.append(text)
        return text[: -len(PROMPT)] if text.endswith(PROMPT) else text

    def do(self, command: str) -> str:
        """Give a command; its output."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self.read()

    def place(self) -> Tuple[str, int, str]:
        """(file name, line, function) where the program stands."""
        frames = re.findall(r"^> (.+)\((\d+)\)([\w<>]+)\(", self.do("where"), re.MULTILINE)
        assert frames, self.log
        path, line, function = frames[-1]
        return Path(path).name, int(line), function

    def end(self, command: Optional[str] = None) -> str:
        """Let the program run to its end; what it prints."""
        text = self.do(command) if command else ""
        assert self._process.stdin is not None
        self._process.stdin.close()
        text += self.read()
        assert self._process.wait(timeout=60) == 0, "".join(self.log)
        return text
