"""Qualified names, as seen from the code object that a comparison started with.

A function that is decompiled alone is compiled again outside of its class or outer function, so the qualified names
of everything in it begin differently.
"""

from __future__ import annotations

from types import CodeType


class Place:
    """The outermost code object of one side."""

    def __init__(self, outermost: CodeType) -> None:
        self._name = outermost.co_name
        self._qualified = getattr(outermost, "co_qualname", None)  # 3.11 on

    def inside(self, qualified: str) -> str:
        """The part of a qualified name that lies inside the outermost code object; all of it for another's name."""
        if self._name == "<module>":
            return qualified
        if self._qualified is not None:
            inside = qualified.startswith(self._qualified + ".")
            return qualified[len(self._qualified) :] if inside else qualified
        parts = qualified.split(".")
        if self._name not in parts[:-1]:
            return qualified
        return ".".join(["", *parts[parts.index(self._name) + 1 :]])
