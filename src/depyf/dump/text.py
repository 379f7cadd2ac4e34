"""Making any text a valid Python file."""

from __future__ import annotations

import warnings
from typing import Iterable, List


def comment(text: str) -> str:
    """The text as comment lines, ending in a newline."""
    return "".join(("# " + line).rstrip() + "\n" for line in _lines(text) or [""])


def header(lines: Iterable[str]) -> str:
    """Lines as the comment at the head of a file, with an empty line after it."""
    return "".join(comment(line) for line in lines) + "\n"


def compiles(text: str) -> bool:
    """Whether this Python accepts the text as a module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<dump>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        return False
    return True


def valid_python(text: str, what: str) -> str:
    """The text itself if it compiles, else the same as comments, saying so; line numbers shift by one then."""
    text = printable(text)
    if text and not text.endswith("\n"):
        text += "\n"
    if compiles(text):
        return text
    return "# (%s is not valid Python; shown as comments)\n%s" % (what, comment(text))


def printable(text: str) -> str:
    """The text with the characters escaped that no Python file may hold."""
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def _lines(text: str) -> List[str]:
    """Lines as Python's tokenizer sees them: form feeds and the like don't end a comment, returns do."""
    return printable(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
