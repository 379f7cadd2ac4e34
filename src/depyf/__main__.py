"""`python -m depyf` is the command line."""

import sys

from depyf.cli import main

if __name__ == "__main__":
    sys.exit(main())
