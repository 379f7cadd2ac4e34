"""Decompile whole modules under every Python found, and count how many code objects come back as the same program.

    python bench/roundtrip.py                       the standard library of each Python, its `test` package included
    python bench/roundtrip.py --only 3.11,3.14      these Pythons
    python bench/roundtrip.py --tenth               a fixed tenth of the files
    python bench/roundtrip.py --only 3.11 --path DIR_OR_FILE...     these files instead
    python bench/roundtrip.py --list                name each code object that is not exact
    python bench/roundtrip.py --write               write the counts to results/roundtrip.json and roundtrip.md
    python bench/roundtrip.py --tenth --check       exit code 1 if a count is worse than the one written

Each Python decompiles its own modules: it compiles a module, decompiles the code object, compiles the text, and
compares the two programs with `depyf.decompile.verify`. "exact", "equivalent": see docs/decompiler.md. "unverified": in
the dispatch form. Files that the Python itself cannot compile (the test package has some) are left out and counted.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Counter, Dict, List, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

from pythons import found_pythons  # noqa: E402
from report import markdown_table, write_report  # noqa: E402

Row = Dict[str, Any]
RECORD = HERE / "results" / "roundtrip.json"
LEFT_OUT = {"site-packages", "__pycache__"}
BAD = ("raised", "out of time", "crashed", "refuted")
SECONDS = 120.0  # for one module


def stdlib_files(python: str) -> List[str]:
    """All modules of the Python's standard library, its test package included."""
    ask = "import os; print(os.path.dirname(os.path.abspath(os.__file__)))"
    root = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    return files_below(root)


def files_below(path: str) -> List[str]:
    """The Python files in a folder, or the file itself, in a fixed order."""
    if os.path.isfile(path):
        return [path]
    found: List[str] = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        found.extend(os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))
    return [path for path in found if os.path.isfile(path)]  # some distributions have links to nowhere


def in_tenth(path: str) -> bool:
    """Whether a file is in the fixed tenth: by its name, so that the same ones are taken everywhere."""
    return zlib.crc32("/".join(Path(path).parts[-2:]).encode()) % 10 == 0


def run(python: str, files: List[str]) -> List[Row]:
    """One worker over `files`; when it dies, that file is "crashed" and another worker goes on."""
    rows: List[Row] = []
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src"), "PYTHONHASHSEED": "0"}
    left = list(files)
    while left:
        command = [python, str(HERE / "roundtrip_worker.py"), str(SECONDS)]
        worker = subprocess.run(
            command, input="\n".join(left), capture_output=True, text=True, env=environment, check=False
        )
        lines = [json.loads(line) for line in worker.stdout.splitlines()]
        done = [line for line in lines if "file" in line]
        if not lines:
            raise SystemExit(f"the worker did not run ({python}):\n{worker.stderr[-2000:]}")
        rows.extend(done)
        if len(done) < len(left):
            worst = [["crashed", "<module>", 1, worker.stderr[-300:]]]
            rows.append({"file": left[len(done)], "counts": {"crashed": 1}, "worst": worst})
        left = left[len(done) + 1 :]
    return rows


def run_all(python: str, files: List[str], jobs: int) -> List[Row]:
    """`files` shared out over `jobs` workers, the big ones first."""
    files = sorted(files, key=lambda path: -os.path.getsize(path))
    shares = [files[number::jobs] for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        rows = [row for part in pool.map(lambda share: run(python, share), shares) for row in part]
    return sorted(rows, key=lambda row: row["file"])


def summary(rows: List[Row]) -> Dict[str, Any]:
    """Counts over all files."""
    counts: Counter[str] = collections.Counter()
    modules: Counter[str] = collections.Counter()
    for row in rows:
        if "skipped" in row:
            modules["left out"] += 1
            continue
        counts.update(row["counts"])
        modules["all"] += 1
        modules["exact"] += set(row["counts"]) == {"exact"}
        modules["text"] += not any(bad in row["counts"] for bad in BAD)
    seconds = sum(row.get("seconds", 0) for row in rows)
    return {"codes": dict(sorted(counts.items())), "modules": dict(modules), "seconds": round(seconds)}


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "-"


def table(results: Dict[str, Any]) -> List[str]:
    """The Markdown table of the summaries per Python."""
    rows = []
    for version, found in sorted(results.items(), key=lambda item: tuple(map(int, item[0].split(".")))):
        codes, modules = found["codes"], found["modules"]
        whole = sum(codes.values())
        bad = sum(codes.get(name, 0) for name in BAD)
        rows.append(
            [
                version,
                f"{whole:,}",
                share(codes.get("exact", 0), whole),
                share(codes.get("equivalent", 0), whole),
                share(codes.get("unverified", 0), whole),
                bad,
                f"{modules.get('all', 0):,}",
                share(modules.get("text", 0), modules.get("all", 0)),
                share(modules.get("exact", 0), modules.get("all", 0)),
            ]
        )
    head = ["Python", "code objects", "exact", "equivalent", "dispatch form", "failed"]
    return markdown_table([*head, "modules", "give text", "wholly exact"], rows)


def worse(now: Dict[str, Any], before: Dict[str, Any]) -> Optional[str]:
    """What is worse than before, if anything. Pythons differ in their patch release: shares are compared."""
    pairs = []
    for found in (now, before):
        codes = found["codes"]
        whole = max(1, sum(codes.values()))
        good = codes.get("exact", 0) + codes.get("equivalent", 0)
        bad = sum(codes.get(name, 0) for name in BAD)
        pairs.append((codes.get("exact", 0) / whole, good / whole, -bad / whole))
    names = ("exact", "exact or equivalent", "not failed")
    for name, this, that in zip(names, *pairs):
        if this < that - 0.0002:
            return f"{name}: {abs(this):.4%}, before {abs(that):.4%}"
    return None


def show(rows: List[Row], everything: bool) -> None:
    for row in rows:
        for worst in row.get("worst", ()):
            if everything or worst[0] in BAD:
                status, name, *rest = worst
                print(f"  {row['file']}:{rest[0] if rest else ''} {name}: {status}: {str(rest[-1])[:200]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="3.N,...")
    parser.add_argument("--tenth", action="store_true")
    parser.add_argument("--path", nargs="+", metavar="PATH")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    kind = "tenth" if options.tenth else "whole"
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    results: Dict[str, Any] = {}
    failed = False
    for version, python in found_pythons().items():
        name = "{}.{}".format(*version)
        if only and name not in only:
            continue
        files = [f for path in options.path for f in files_below(path)] if options.path else stdlib_files(python)
        if options.tenth:
            files = [path for path in files if in_tenth(path)]
        rows = run_all(python, files, options.jobs)
        results[name] = summary(rows)
        print(f"Python {name}: {json.dumps(results[name])}", flush=True)
        show(rows, options.list)
        before = record.get(kind, {}).get(name)
        if options.check and not options.path:
            verdict = worse(results[name], before) if before else None
            failed = failed or verdict is not None
            print(f"  {verdict or ('as before' if before else 'nothing to compare with')}")
    print("\n".join(table(results)))
    if options.write and not options.path:
        record.setdefault(kind, {}).update(results)
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
        if kind == "whole":
            command = "python bench/roundtrip.py --write"
            write_report(HERE / "results" / "roundtrip.md", table(record[kind]), command)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
