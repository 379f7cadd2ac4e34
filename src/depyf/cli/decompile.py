"""`depyf decompile`: the Python source of a .pyc file or of a function, with what the check of it found."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

from depyf.cli.errors import CommandError
from depyf.cli.target import load, one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="FILE.pyc | package.module:function", help="what to decompile")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the source there instead of to stdout")
    parser.add_argument("--view", choices=("readable", "faithful"), default="readable", help="default: readable")
    parser.add_argument("-v", "--verbose", action="store_true", help="say on stderr how the result was verified")


def run(options: argparse.Namespace) -> None:
    """Raises CommandError."""
    code, version = load(options.target)
    # Checking the text means compiling it again, which only the Python that it was made for can do.
    can_verify = version is None or version == sys.version_info[:2]

    from depyf.decompile import DecompilationError, decompile_code

    try:
        result = decompile_code(code, view=options.view, verify=can_verify)
    except DecompilationError as error:
        raise CommandError(f"{options.target}: {one_line(error)}") from None
    if options.output:
        write_atomically(options.output, result.text)
    else:
        sys.stdout.write(result.text)
    if options.verbose:
        difference = f": {result.verdict.difference}" if result.verdict.difference else ""
        form = ", in dispatch form" if result.dispatch else ""
        print(f"depyf: {result.verdict.status.value}{form}{difference}", file=sys.stderr)


def write_atomically(path: str, text: str) -> None:
    """Write `text` to `path` so that nobody ever sees half of it. Raises CommandError."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device: no renaming over it
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
            return
        descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with open(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from None
