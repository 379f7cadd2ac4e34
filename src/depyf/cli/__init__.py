"""The command line: `depyf COMMAND ...`. One module per command; each is imported only when it is run."""

from __future__ import annotations

from depyf.cli.main import main

__all__ = ["main"]
