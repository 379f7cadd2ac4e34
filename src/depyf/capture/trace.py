"""The handler on torch's structured trace: hands every record on, and never lets an exception out."""

from __future__ import annotations

import json
import logging
from typing import Any, Callable, Mapping, Optional

Take = Callable[[str, Mapping[str, Any], Optional[str]], None]


class TraceHandler(logging.Handler):
    """Calls `take(kind, metadata, payload)` for each record; what it raises goes to `failed(where, error)`.

    torch calls handlers in the middle of compiling, so an exception here would reach the user's program.
    """

    def __init__(self, take: Take, failed: Callable[[str, Exception], None]) -> None:
        super().__init__(level=logging.NOTSET)
        self._take = take
        self._failed = failed

    def createLock(self) -> None:  # noqa: N802 (a method of logging.Handler)
        """No lock: the receiver has one of its own, and two could deadlock."""
        self.lock = None

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record. KeyboardInterrupt and the like pass; nothing else does."""
        kind = "?"
        try:
            metadata = getattr(record, "metadata", None)
            if not isinstance(metadata, dict) or not metadata:
                return
            kind = str(next(iter(metadata)))
            self._take(kind, metadata, _text(getattr(record, "payload", None)))
        except Exception as error:
            self._failed("trace record %s" % kind, error)


def _text(payload: Any) -> Optional[str]:
    if payload is None or isinstance(payload, str):
        return payload
    if isinstance(payload, bytes):
        return payload.decode("utf-8", "replace")
    return json.dumps(payload, default=str)
