"""Builds the text of the generated functions."""

from __future__ import annotations

import textwrap

HEAD = "def f(a, b, c, log):\n"


def block(text: str, depth: int = 1) -> str:
    """`text` without its own margin, indented by `depth` levels."""
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "    " * depth) + "\n"


def function(body: str) -> str:
    return HEAD + block(body)


def fill(template: str, **parts: str) -> str:
    """`template` with each `<name>` line replaced by the block of that name, at that line's indentation.

    A line with nothing but `<name>` goes away when the block is empty; `<name>` inside a line is replaced as it is.
    """
    lines = []
    for line in textwrap.dedent(template).strip("\n").split("\n"):
        word = line.strip()
        if word.startswith("<") and word.endswith(">") and word[1:-1] in parts:
            if parts[word[1:-1]]:
                margin = line[: len(line) - len(line.lstrip())]
                lines.append(textwrap.indent(textwrap.dedent(parts[word[1:-1]]).strip("\n"), margin))
            continue
        for name, part in parts.items():
            line = line.replace(f"<{name}>", part)
        lines.append(line)
    return "\n".join(lines)
