"""What a command raises when it cannot do what it was asked."""

from __future__ import annotations


class CommandError(Exception):
    """The message is one line for the user, without a traceback."""
