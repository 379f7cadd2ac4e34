"""One model of what happened: plain data, saved as `session.json`, loadable without torch."""

from depyf.session.model import (
    CacheEntry,
    Compilation,
    Environment,
    Failure,
    Function,
    Graph,
    GraphBreak,
    Guard,
    Kernel,
    OtherRecord,
    Phase,
    Recompile,
    Session,
    StackFrame,
)
from depyf.session.store import SCHEMA, SessionFormatError, load, save

__all__ = [
    "SCHEMA",
    "CacheEntry",
    "Compilation",
    "Environment",
    "Failure",
    "Function",
    "Graph",
    "GraphBreak",
    "Guard",
    "Kernel",
    "OtherRecord",
    "Phase",
    "Recompile",
    "Session",
    "SessionFormatError",
    "StackFrame",
    "load",
    "save",
]
