"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
import uuid
from contextlib import contextmanager
from typing import Iterator


class DumpDirectoryError(OSError):
    """The dump directory can't be used. The message names it and says why, in one line."""


def write_atomically(path: str, data: str | bytes) -> None:
    """Write a file under a temporary name in its directory, then rename it. Raises OSError.

    Text is written as UTF-8 with \\n line ends; what UTF-8 cannot hold (lone surrogates) is escaped.
    """
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    temporary = "%s.%s.tmp" % (path, uuid.uuid4().hex[:8])
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def make_directory(path: str) -> None:
    """Create the directory if needed and prove that files can be written. Raises DumpDirectoryError."""
    try:
        os.makedirs(path, exist_ok=True)
        handle, probe = tempfile.mkstemp(prefix=".depyf_", suffix=".tmp", dir=path)
        os.close(handle)
        os.unlink(probe)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DumpDirectoryError(error.errno or 0, "cannot write to the dump directory: %s" % reason, path) from error


@contextmanager
def directory_lock(path: str) -> Iterator[None]:
    """Keep other processes from claiming the directory meanwhile; without the filelock package there is no lock."""
    try:  # optional: torch brings it along
        from filelock import FileLock, Timeout
    except ImportError:
        yield
        return
    lock = FileLock(os.path.join(path, ".depyf.lock"), timeout=10)
    try:
        lock.acquire()
    except Timeout:
        yield  # somebody died holding it, or is very slow: better no lock than no dump
        return
    try:
        yield
    finally:
        lock.release()
