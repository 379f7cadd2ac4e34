"""Fill the README's generated parts: the example's output, and the table of comparison.

    python tools/readme.py           rewrite README.md
    python tools/readme.py --check   exit with 1 if it would change (what differs from run to run aside)

Needs torch for the example. The comparison is what `bench/stdlib.py --peer` wrote last, to `bench/results/stdlib.md`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
COMPARISON = ROOT / "bench" / "results" / "stdlib.md"
RUN = """
import sys
sys.path[:0] = [{root!r} + "/examples", {root!r} + "/src"]
import depyf, toy_example
with depyf.prepare_debug({folder!r}):
    toy_example.main()
"""


def example_output() -> Dict[str, str]:
    """The transformed code of the example without the comments about this very run, and the names of the files."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", RUN.format(root=str(ROOT), folder=folder)]
        subprocess.run(command, check=True, capture_output=True)
        text = Path(folder, "__transformed_code_0_for_toy_example.py").read_text(encoding="utf-8")
        names = sorted(path.name for path in Path(folder).iterdir() if not path.name.startswith("."))
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip("\n")
    return {"transformed": f"```python\n{code}\n```", "files": "```\n" + "\n".join(names) + "\n```"}


def parts() -> Dict[str, str]:
    """All generated parts by name."""
    table = COMPARISON.read_text(encoding="utf-8").strip()
    return {**example_output(), "comparison": table}


def filled(text: str, generated: Dict[str, str]) -> str:
    """`text` with the generated parts between their markers."""
    for name, part in generated.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = pattern.subn(lambda match, part=part: f"{match[1]}{part}\n{match[2]}", text)
        if count != 1:
            raise SystemExit(f"README.md: no single part {name!r} between markers")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the README is up to date")
    options = parser.parse_args()
    before = README.read_text(encoding="utf-8")
    after = filled(before, parts())
    if options.check:
        print("README.md is up to date" if before == after else "README.md is out of date: run tools/readme.py")
        return int(before != after)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
