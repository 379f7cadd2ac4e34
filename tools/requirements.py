"""Print the requirements of one extra in pyproject.toml, only those of the named packages, for pip's command line.

usage: requirements.py EXTRA [PACKAGE...]

Runs under any Python 3.8+ (no tomllib there), so it asks the installed package's metadata.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import requires


def of_extra(extra: str, packages: list[str]) -> list[str]:
    """The requirements without their markers."""
    wanted = re.compile(r"""extra\s*==\s*["']%s["']""" % re.escape(extra))
    found = [line.split(";")[0].strip() for line in requires("depyf") or [] if wanted.search(line)]
    return [line for line in found if not packages or re.split(r"[<>=!~\[ ]", line)[0] in packages]


if __name__ == "__main__":
    print("\n".join(of_extra(sys.argv[1], sys.argv[2:])))
