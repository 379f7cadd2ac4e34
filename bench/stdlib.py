"""Decompile every plain function of a fixed sample of the standard library, and say how it went.

    python bench/stdlib.py                          the whole sample
    python bench/stdlib.py --module textwrap --list-inexact
    python bench/stdlib.py --module textwrap --show TextWrapper.fill
    python bench/stdlib.py --peer VENV/bin/python   depyf 0.20.0 beside ours, same sample, same judge
                                                    (VENV: pip install depyf==0.20.0)
    python bench/stdlib.py --floor 95 --max-seconds 1    exit code 1 when a floor is not met

Each text is compiled again and compared with the original by `depyf.decompile.verify`. Results go to
`.bench/stdlib.json`.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
sys.path[:0] = [str(HERE), str(SOURCE)]

from report import markdown_table, write_report  # noqa: E402
from sample import MODULES, Function, functions_of  # noqa: E402

Row = Dict[str, Any]
GOOD = ("exact", "equivalent")
ORDER = ("exact", "equivalent", "unverified", "refuted", "no compile", "raised", "out of time", "crashed")
BROKEN = ("refuted", "no compile", "raised", "out of time", "crashed")


def decompile_all(engine: str, python: str, modules: List[str], limit: float) -> List[Row]:
    """Run the worker over `modules`; a worker that dies costs one function, and another goes on after it."""
    rows: List[Row] = []
    total = sum(len(functions_of(module)) for module in modules)
    environment = dict(os.environ)
    if engine == "ours":
        environment["PYTHONPATH"] = str(SOURCE)
    while len(rows) < total:
        command = [python, str(HERE / "worker.py"), engine, str(limit), str(len(rows)), *modules]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        assert worker.stdout is not None and worker.stderr is not None
        begun: Optional[str] = None
        with ThreadPoolExecutor(1) as reader:
            errors = reader.submit(worker.stderr.read)
            try:
                for line in worker.stdout:
                    row = json.loads(line)
                    begun = row.get("begin")
                    if begun is None:
                        rows.append(row)
            except BaseException:
                worker.kill()  # else its errors would be waited for
                raise
            code = worker.wait()
        if begun is not None:
            rows.append({"key": begun, "seconds": limit, "status": "crashed", "difference": f"exit code {code}"})
        elif code:
            raise SystemExit(f"{engine}: the worker did not run ({python}):\n{errors.result()[-2000:]}")
    return rows


def split(modules: List[str], parts: int) -> List[List[str]]:
    """Share the modules out so that the parts have about the same number of functions."""
    shares: List[List[str]] = [[] for _ in range(parts)]
    sizes = [0] * parts
    for module in sorted(modules, key=lambda m: -len(functions_of(m))):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(module)
        sizes[smallest] += len(functions_of(module))
    return [share for share in shares if share]


def in_parallel(engine: str, python: str, modules: List[str], limit: float, jobs: int) -> List[Row]:
    """`decompile_all` in `jobs` workers at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda share: decompile_all(engine, python, share, limit), split(modules, jobs))
        return [row for part in parts for row in part]


def judged(rows: List[Row], functions: Dict[str, Function]) -> List[Row]:
    """Give a status to the rows that have only a text."""
    from judge import judge

    for row in rows:
        if "status" not in row:
            row["status"], row["difference"] = judge(functions[row["key"]].code, row["text"])
    return rows


def contradictions(rows: List[Row]) -> List[Row]:
    """Rows whose decompiler claimed more than the judge finds."""
    return [row for row in rows if row.get("claim") in GOOD and row["status"] not in GOOD]


def summary(rows: List[Row], wall: float) -> Dict[str, Any]:
    counts = collections.Counter(row["status"] for row in rows)
    times = sorted(row["seconds"] for row in rows)
    return {
        "functions": len(rows),
        "counts": {status: counts[status] for status in ORDER if counts[status]},
        "exact_percent": round(100 * counts["exact"] / len(rows), 2),
        "dispatch": sum(bool(row.get("dispatch")) for row in rows),
        "contradictions": len(contradictions(rows)),
        "seconds_total": round(sum(times), 3),
        "seconds_median": round(times[len(times) // 2], 5),
        "seconds_slowest": round(times[-1], 3),
        "seconds_wall": round(wall, 1),
    }


def print_table(summaries: Dict[str, Dict[str, Any]]) -> None:
    engines = list(summaries)
    print(f"{'':24}" + "".join(f"{engine:>16}" for engine in engines))
    for status in ORDER:
        numbers = [summaries[engine]["counts"].get(status, 0) for engine in engines]
        if any(numbers):
            shares = (f"{n:>8} {100 * n / summaries[e]['functions']:>6.2f}%" for n, e in zip(numbers, engines))
            print(f"{status:24}" + "".join(shares))
    for label, key in (
        ("functions", "functions"),
        ("in dispatch form", "dispatch"),
        ("claimed too much", "contradictions"),
        ("seconds, total", "seconds_total"),
        ("seconds, median", "seconds_median"),
        ("seconds, slowest", "seconds_slowest"),
    ):
        print(f"{label:24}" + "".join(f"{summaries[engine][key]:>16}" for engine in engines))


NAMES = {"ours": "depyf", "peer": "depyf 0.20.0"}
EXPLAINED = (
    ("exact", "the same program"),
    ("equivalent", "a program that does the same, proven"),
    ("unverified", "not compared (the marked plain form)"),
    ("refuted", "another program"),
    ("no compile", "a text that does not compile"),
    ("raised", "an error instead of a text"),
    ("out of time", "no text in time"),
    ("crashed", "a crash of the interpreter"),
)


def write_markdown(path: Path, summaries: Dict[str, Dict[str, Any]], functions: int, modules: int) -> None:
    """The table of the README: the shares, and the time."""
    engines = list(summaries)
    rows: List[List[object]] = []
    seen = {status for summary_ in summaries.values() for status in summary_["counts"]}
    words = dict(EXPLAINED)
    for status in (one for one in ORDER if one in seen):
        counts = [summaries[engine]["counts"].get(status, 0) for engine in engines]
        rows.append([words.get(status, status), *(f"{count} ({100 * count / functions:.1f}%)" for count in counts)])
    rows.append(["seconds, all", *(f"{summaries[engine]['seconds_total']:.1f}" for engine in engines)])
    rows.append(["seconds, slowest function", *(f"{summaries[engine]['seconds_slowest']:.2f}" for engine in engines)])
    head = [f"{functions} functions of {modules} standard library modules, given back as", *(NAMES[e] for e in engines)]
    write_report(path, markdown_table(head, rows), "make compare")


def print_slowest(engine: str, rows: List[Row], count: int) -> None:
    print(f"\nslowest ({engine}):")
    for row in sorted(rows, key=lambda row: -row["seconds"])[:count]:
        print(f"  {row['seconds']:8.3f} s  {row['key']}  {row['status']}")


def print_inexact(rows: List[Row]) -> None:
    print("\nnot exact:")
    for row in sorted(rows, key=lambda row: ORDER.index(row["status"])):
        if row["status"] != "exact" or row.get("dispatch"):
            form = " (dispatch)" if row.get("dispatch") else ""
            claim = f" (claimed {row['claim']})" if row.get("claim", row["status"]) != row["status"] else ""
            print(f"  {row['status']}{form}{claim}  {row['key']}\n      {row.get('difference')}")


def failures(options: argparse.Namespace, ours: Dict[str, Any], peer: Optional[Dict[str, Any]]) -> List[str]:
    """The floors that are not met, in words."""
    found = []
    if options.floor is not None:
        if ours["exact_percent"] < options.floor:
            found.append(f"{ours['exact_percent']}% exact, less than {options.floor}%")
        found += [f"{ours['counts'][status]} {status}" for status in BROKEN if status in ours["counts"]]
        if ours["contradictions"]:
            found.append(f"{ours['contradictions']} claimed more than the judge finds")
    if options.max_seconds is not None and ours["seconds_slowest"] > options.max_seconds:
        found.append(f"the slowest function took {ours['seconds_slowest']} s, more than {options.max_seconds} s")
    if options.max_ratio is not None and peer is not None:
        ratio = ours["seconds_total"] / peer["seconds_total"]
        if ratio > options.max_ratio:
            found.append(f"{ratio:.3f} of the peer's time, more than {options.max_ratio}")
    return found


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", action="append", metavar="M", help="only this module (repeatable)")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N modules of the sample")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="worker processes (times suffer; default 1)")
    parser.add_argument("--limit", type=float, default=30.0, metavar="S", help="seconds per function (default 30)")
    parser.add_argument("--peer", metavar="PYTHON", help="also run the depyf 0.20.0 installed for this interpreter")
    parser.add_argument("--list-inexact", action="store_true", help="names of what is not exact, with the difference")
    parser.add_argument("--show", metavar="NAME", help="print the decompiled text of this function and stop")
    parser.add_argument("--slowest", type=int, default=5, metavar="N", help="how many slow functions to name")
    parser.add_argument("--floor", type=float, metavar="PERCENT", help="least share of exact results, none broken")
    parser.add_argument("--max-seconds", type=float, metavar="S", help="most time for any one function")
    parser.add_argument("--max-ratio", type=float, metavar="R", help="most time in all, as a share of the peer's")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="write the table as Markdown, too")
    parser.add_argument("--json", type=Path, default=HERE.parent / ".bench" / "stdlib.json", metavar="FILE")
    return parser.parse_args(argv)


def check_peer(python: str) -> None:
    """Raises SystemExit unless `python` runs the same Python version as this one and has depyf 0.20.0."""
    ask = "import sys, importlib.metadata as m; print('%d.%d' % sys.version_info[:2], m.version('depyf'))"
    try:
        answer = subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"--peer: {python} does not run or has no depyf: {error}") from None
    here = "%d.%d" % sys.version_info[:2]
    if answer != [here, "0.20.0"]:
        raise SystemExit(f"--peer: wanted Python {here} with depyf 0.20.0, found {' '.join(answer)}")


def main(argv: Optional[List[str]] = None) -> int:
    options = parse(argv)
    modules = options.module or list(MODULES)[: options.first]
    functions = {f.key: f for module in modules for f in functions_of(module)}
    if not functions:
        raise SystemExit("no functions in " + ", ".join(modules))
    if options.peer:
        check_peer(options.peer)

    results: Dict[str, List[Row]] = {}
    summaries: Dict[str, Dict[str, Any]] = {}
    for engine, python in (("ours", sys.executable), ("peer", options.peer)):
        if python:
            start = time.perf_counter()
            rows = in_parallel(engine, python, modules, options.limit, max(options.jobs, 1))
            wall = time.perf_counter() - start
            results[engine] = judged(rows, functions)
            summaries[engine] = summary(rows, wall)

    if options.show:
        for row in results["ours"]:
            if functions[row["key"]].path == options.show:
                print(f"# {row['key']}: {row['status']}  {row.get('difference') or ''}\n{row.get('text', '')}")
        return 0

    print(f"{len(functions)} functions of {len(modules)} modules, Python {platform.python_version()}\n")
    print_table(summaries)
    for engine, rows in results.items():
        if options.slowest:
            print_slowest(engine, rows, options.slowest)
    if options.list_inexact:
        print_inexact(results["ours"])
    if "peer" in summaries:
        ratio = summaries["ours"]["seconds_total"] / summaries["peer"]["seconds_total"]
        print(f"\nours took {ratio:.4f} of the peer's time (its own check included)")

    options.json.parent.mkdir(parents=True, exist_ok=True)
    for row in (row for rows in results.values() for row in rows):
        row.pop("text", None)
    report = {"python": platform.python_version(), "modules": modules, "summary": summaries, "functions": results}
    options.json.write_text(json.dumps(report, indent=1))

    if options.write:
        write_markdown(options.write, summaries, len(functions), len(modules))
    missed = failures(options, summaries["ours"], summaries.get("peer"))
    for line in missed:
        print(f"floor not met: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
