"""The dispatch form: correct code for any instruction sequence (see `form`)."""

from __future__ import annotations

from .builder import UnknownOperation
from .form import dispatch_body

__all__ = ["UnknownOperation", "dispatch_body"]
