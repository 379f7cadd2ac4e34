"""Files on disk: what a session saw, under the names that people know."""

from depyf.dump.dump import Dump
from depyf.dump.writer import DumpDirectoryError, write_atomically

__all__ = ["Dump", "DumpDirectoryError", "write_atomically"]
