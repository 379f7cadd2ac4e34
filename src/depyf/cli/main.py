"""Parses the command line and runs one command.

Exit codes: 0 done, 1 the command found something wrong with its input or could not write, 2 a wrong command line.
Errors are one line on stderr.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import List, NamedTuple, Optional

from depyf.cli.errors import CommandError
from depyf.version import __version__


class Command(NamedTuple):
    """A command: the module `depyf.cli.<module>` has `add_arguments(parser)` and `run(options) -> None`."""

    name: str
    module: str
    summary: str


COMMANDS = (Command("decompile", "decompile", "the Python source of a .pyc file or of a function"),)


def main(argv: Optional[List[str]] = None) -> int:
    """Run `argv` (default: the process's arguments) and return the exit code.

    Raises SystemExit on a wrong command line.
    """
    arguments = sys.argv[1:] if argv is None else argv
    parser = build_parser(arguments)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        options.run(options)
        sys.stdout.flush()
    except CommandError as error:
        print(f"depyf: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


def build_parser(arguments: List[str]) -> argparse.ArgumentParser:
    """The parser; only the command named in `arguments` is imported and given its arguments."""
    parser = argparse.ArgumentParser(prog="depyf", description="Read what torch.compile, and Python, really run.")
    parser.add_argument("--version", action="version", version=f"depyf {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        one = commands.add_parser(command.name, help=command.summary, description=command.summary.capitalize() + ".")
        if command.name in arguments:
            module = importlib.import_module(f"depyf.cli.{command.module}")
            module.add_arguments(one)
            one.set_defaults(run=module.run)
    return parser
