"""Running small programs under a capture, with a decompiler that is not the subject here."""

from __future__ import annotations

from contextlib import contextmanager
from types import CodeType
from typing import Any, Iterator

from depyf.capture import Capture
from depyf.decompile.result import Decompiled, SourceMap, Status, Verdict


def plain_text(code: CodeType) -> Decompiled:
    """Stands in for the decompiler: a function that says its name."""
    return Decompiled("def f():\n    return %r\n" % code.co_name, Verdict(Status.UNVERIFIED), SourceMap())


@contextmanager
def capturing(**options: Any) -> Iterator[Capture]:
    """A running capture."""
    options.setdefault("decompile", plain_text)
    capture = Capture(**options)
    capture.start()
    try:
        yield capture
    finally:
        capture.stop()
