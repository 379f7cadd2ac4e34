"""Decompile generated programs under several Pythons, for a given time, and minimise what goes wrong.

    python tools/fuzz.py [--seconds 600] [--seed N] [--only 3.11,3.14] [--source codegen] [--dispatch]
    python tools/fuzz.py --replay 3.11 FILE

Programs come from pysource-codegen and hypothesmith. Each is compiled, decompiled, compiled again and compared. A
fault is an error, a text that does not compile, a text that is refuted, no result within 10 seconds, or a crash;
with `--dispatch` also code that has no structured form. One program of each kind of fault is minimised (with
pysource-minimize) and written to `.bench/fuzz/`. The seeds are printed: `--seed` starts there again. The exit code is
1 when there are faults.

Looks for Pythons as `matrix.py` does; each gets a virtual environment `.venvs/fuzz/3.N` with the generators in it.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

from matrix import ROOT, Version, found_pythons

PACKAGES = ["pysource-codegen", "pysource-minimize", "hypothesmith"]
WORKER = Path(__file__).resolve().parent / "fuzz_worker.py"
OUT = ROOT / ".bench" / "fuzz"
OLDEST: Version = (3, 11)
SOURCES = ("codegen", "hypothesmith")
FINE = ("exact", "equivalent", "invalid")
MINIMISE_SECONDS = 60.0


def environment(version: Version, python: str) -> Path:
    """The interpreter of a virtual environment with the generators; made on the first use."""
    folder = ROOT / ".venvs" / "fuzz" / "{}.{}".format(*version)
    inside, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        subprocess.run([python, "-m", "venv", "--without-pip", "--clear", str(folder)], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(inside), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.touch()
    return inside


def call(python: Path, *arguments: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"}
    command = [str(python), str(WORKER), *arguments]
    return subprocess.Popen(command, env=environ, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def run(python: Path, source: str, seed: int, seconds: float) -> List[Dict[str, Any]]:
    """One row per program. A worker that dies is a fault of the program that it was at."""
    process = call(python, "generate", source, str(seed), str(seconds))
    assert process.stdout is not None
    rows: List[Dict[str, Any]] = []
    begun: Dict[str, Any] = {}
    for line in process.stdout:
        fields = json.loads(line)
        if "begin" in fields:
            begun = fields
        else:
            rows.append({**fields, "text": begun["text"]})
            begun = {}
    if process.wait() != 0 or begun:
        what = "the worker ended with %d" % process.returncode
        rows.append({"seed": begun.get("begin", seed), "status": "crash", "kind": "crash", "what": what, **begun})
    return rows


def minimised(python: Path, text: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        answer = call(python, "minimise", file.name, str(MINIMISE_SECONDS)).communicate()[0]
    return str(json.loads(answer)["text"]) if answer else text


def report(name: str, python: Path, source: str, rows: List[Dict[str, Any]], dispatch: bool) -> int:
    """Print how it went, write one minimised program of each kind of fault; the number of faults."""
    counts = collections.Counter(row["status"] for row in rows)
    shown = ", ".join("%d %s" % (count, status) for status, count in counts.most_common())
    slowest = max((row.get("seconds", 0.0) for row in rows), default=0.0)
    seeds = "seeds %d to %d" % (rows[0]["seed"], rows[-1]["seed"]) if rows else "no programs"
    print(f"Python {name}, {source}, {seeds}: {shown}; slowest {slowest:.2f} s", flush=True)
    fine = FINE if dispatch else (*FINE, "dispatch")
    faults = [row for row in rows if row["status"] not in fine]
    kinds: Dict[str, List[Dict[str, Any]]] = {}
    for row in faults:
        kinds.setdefault(row["kind"], []).append(row)
    for same in sorted(kinds.values(), key=lambda rows: -len(rows)):
        smallest = min(same, key=lambda row: len(row.get("text", "")))
        text = smallest.get("text", "")
        if text and smallest["status"] != "crash":
            text = minimised(python, text)
        OUT.mkdir(parents=True, exist_ok=True)
        path = OUT / f"{name}-{source}-{smallest['seed']}.py"
        path.write_text(text, encoding="utf-8")
        seeds = ", ".join(str(row["seed"]) for row in same[:5])
        print(f"  {len(same)} times: {smallest['what']}\n    {path} (seeds {seeds})", flush=True)
        print("".join(f"    | {line}\n" for line in text.splitlines()[:12]), flush=True)
    return len(faults)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, metavar="S", help="time in all (default 600)")
    parser.add_argument("--seed", type=int, metavar="N", help="the first seed (default: by chance)")
    parser.add_argument("--only", default="", metavar="3.N,...", help="these versions only")
    parser.add_argument("--source", action="append", choices=SOURCES, help="only this generator (repeatable)")
    parser.add_argument("--dispatch", action="store_true", help="code without a structured form is a fault, too")
    parser.add_argument("--replay", nargs=2, metavar=("3.N", "FILE"), help="only say how the program of FILE fares")
    options = parser.parse_args()
    pythons = {"{}.{}".format(*v): (v, python) for v, python in found_pythons().items() if v >= OLDEST}
    if options.replay:
        version, python = pythons[options.replay[0]]
        print(call(environment(version, python), "try", options.replay[1]).communicate()[0], end="")
        return 0
    only = set(filter(None, options.only.split(",")))
    chosen = {name: each for name, each in pythons.items() if not only or name in only}
    if not chosen:
        print("no Python to test with", file=sys.stderr)
        return 1
    seed = random.randrange(10**9) if options.seed is None else options.seed
    sources = options.source or list(SOURCES)
    share = options.seconds / len(chosen) / len(sources)
    faults = 0
    for name, (version, python) in chosen.items():
        inside = environment(version, python)
        for source in sources:
            faults += report(name, inside, source, run(inside, source, seed, share), options.dispatch)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
