"""Decompile damaged .pyc files and code objects: each must give text, or an error that says what is wrong.

    python tools/damage.py [--count 10000] [--seed N] [--python PYTHON]

Real modules of the standard library are compiled and damaged at random: bytes of the .pyc file, or parts of one of
its code objects (instructions, exception table, constants, names, sizes, flags). Faults: any other exception than
DecompilationError and PycError, more than 2 seconds (of processor time), more than 500 MB, a crash of the interpreter.
The seeds are printed; `--seed N --count 1` tries one again. The exit code is 1 when there are faults.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import marshal
import opcode
import os
import random
import re
import resource
import signal
import subprocess
import sys
import sysconfig
import time
import traceback
import warnings
from pathlib import Path
from types import CodeType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

MODULES = (
    "abc argparse ast bisect calendar contextlib copy csv dataclasses difflib enum fnmatch functools heapq inspect "
    "json/decoder locale nturl2path operator pickle queue random re/_parser reprlib shlex statistics string "
    "tempfile textwrap threading tokenize types typing uuid warnings weakref zipfile"
).split()
SECONDS = 2.0
MEGABYTES = 500


class OutOfTime(BaseException):
    """Not an Exception, so that no `except Exception` swallows it."""


def sources() -> Iterator[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in MODULES:
        path = library / (name + ".py")
        if path.exists():
            yield path


def modules() -> List[CodeType]:
    """The code of the modules, compiled here."""
    return [compile(path.read_bytes(), path.name, "exec", 0, True) for path in sources()]


# ---------------------------------------------------------------- damage


def damaged_bytes(data: bytes, choice: random.Random) -> bytes:
    """A few bytes changed, left out, put in, doubled or cut off."""
    found = bytearray(data)
    for _ in range(choice.choice((1, 1, 1, 2, 4, 16))):
        at = choice.randrange(len(found)) if found else 0
        kind = choice.randrange(6)
        if kind == 0:
            found[at : at + 1] = bytes([choice.randrange(256)])
        elif kind == 1:
            del found[at : at + choice.randrange(1, 9)]
        elif kind == 2:
            found[at:at] = bytes(choice.randrange(256) for _ in range(choice.randrange(1, 9)))
        elif kind == 3 and found:
            found[at] ^= 1 << choice.randrange(8)
        elif kind == 4:
            found[at:at] = found[at : at + choice.randrange(1, 40)]
        elif choice.randrange(8) == 0:
            del found[at:]
    return bytes(found)


def damaged_units(data: bytes, choice: random.Random) -> bytes:
    """The same, two bytes at a time: instructions remain instructions."""
    units = [data[at : at + 2] for at in range(0, len(data), 2)]
    for _ in range(choice.choice((1, 1, 2, 3, 8))):
        at, other = choice.randrange(len(units)), choice.randrange(len(units))
        kind = choice.randrange(5)
        if kind == 0:
            units[at] = bytes([units[at][0], choice.randrange(256)])
        elif kind == 1:
            units[at] = bytes([choice.randrange(256), units[at][1]])
        elif kind == 2:
            units[at], units[other] = units[other], units[at]
        elif kind == 3:
            units[at] = units[other]
        else:
            units[at:at] = units[other : other + choice.randrange(1, 6)]
    return b"".join(units)


def odd_value(choice: random.Random) -> Any:
    """A constant that may be where none like it belongs."""
    deep: Any = ()
    for _ in range(500):
        deep = (deep,)
    return choice.choice(
        (None, -1, 2**70, "", "x", b"y", (), ("a",), frozenset({1}), deep, 1e999, 3j, object(), [1], {})
    )


def damaged_code(code: CodeType, choice: random.Random) -> CodeType:
    """`code`, or one of the code objects in it, with one of its parts damaged."""
    inner = [at for at, constant in enumerate(code.co_consts) if isinstance(constant, CodeType)]
    if inner and choice.randrange(5):
        at = choice.choice(inner)
        constants = list(code.co_consts)
        constants[at] = damaged_code(constants[at], choice)
        return code.replace(co_consts=tuple(constants))
    # CPython clears the caches of the last instruction without looking whether there are that many.
    padding = bytes((opcode.opmap["NOP"], 0)) * 16 if hasattr(code, "co_exceptiontable") else b""
    fields: Dict[str, Callable[[], Any]] = {
        "co_code": lambda: choice.choice((damaged_bytes, damaged_units, damaged_units))(code.co_code, choice) + padding,
        "co_consts": lambda: _damaged_tuple(code.co_consts, choice, lambda: odd_value(choice)),
        "co_names": lambda: _damaged_tuple(code.co_names, choice, lambda: choice.choice(("", "x", "1", "if", "a b"))),
        "co_stacksize": lambda: choice.choice((0, 1, 2, 1000, 2**30)),
        "co_flags": lambda: code.co_flags ^ 1 << choice.randrange(27),
        "co_firstlineno": lambda: choice.choice((0, 1, 2**31 - 1)),
        "co_name": lambda: choice.choice(("", "1", "if", "<lambda>", "<module>", "<listcomp>", "a b", "\\ud800")),
    }
    if hasattr(code, "co_exceptiontable"):
        fields["co_exceptiontable"] = lambda: damaged_bytes(code.co_exceptiontable, choice)
    table = "co_linetable" if hasattr(code, "co_linetable") else "co_lnotab"
    fields[table] = lambda: damaged_bytes(getattr(code, table), choice)
    name = choice.choice([*fields, *["co_code"] * len(fields)])
    try:
        return code.replace(**{name: fields[name]()})
    except (ValueError, TypeError, OverflowError, SystemError):
        return code  # the interpreter itself refuses it


def _damaged_tuple(items: Tuple[Any, ...], choice: random.Random, new: Callable[[], Any]) -> Tuple[Any, ...]:
    found = list(items)
    at = choice.randrange(len(found) + 1)
    kind = choice.randrange(4)
    if kind == 0:
        found[at : at + 1] = []
    elif kind == 1:
        found[at:at] = [new()]
    elif kind == 2:
        found[at : at + 1] = [new()]
    else:
        choice.shuffle(found)
    return tuple(found)


def subject(codes: List[CodeType], seed: int) -> Callable[[], Any]:
    """What the seed stands for: a function that reads the damaged input, if it is a file, and decompiles it."""
    from depyf.bytecode.pyc import read_pyc
    from depyf.decompile import decompile_code

    choice = random.Random(seed)
    code = choice.choice(codes)
    if seed % 2:
        data = bytes(damaged_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code), choice))
        return lambda: decompile_code(read_pyc(data)[0])
    damaged = damaged_code(code, choice)
    return lambda: decompile_code(damaged)


# ---------------------------------------------------------------- the worker


def attempt(run: Callable[[], Any]) -> Tuple[str, str, float]:
    """(how it went, the fault in words, seconds)"""
    from depyf.bytecode.pyc import PycError
    from depyf.decompile.result import DecompilationError

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    status, what = "text", ""
    try:
        run()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except OutOfTime:
        status, what = "hang", "".join(traceback.format_exc().splitlines(True)[-7:-1])
    except (DecompilationError, PycError) as error:
        status = type(error).__name__
        if "\n" in str(error):
            status, what = "bad message", str(error)
    except (Exception, RecursionError, MemoryError) as error:  # whatever else it raises is what we look for
        where = traceback.extract_tb(error.__traceback__)[-1]
        name = Path(where.filename).name
        status, what = "raised", f"{type(error).__name__}: {str(error)[:200]} at {name}:{where.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    return ("memory", f"{grown} MB more", seconds) if grown > MEGABYTES else (status, what, seconds)


def work(first: int, count: int) -> None:
    warnings.simplefilter("ignore")

    def out_of_time(signum: int, frame: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGVTALRM, out_of_time)
    codes = modules()
    for seed in range(first, first + count):
        print(json.dumps({"begin": seed}), flush=True)
        status, what, seconds = attempt(subject(codes, seed))
        print(json.dumps({"seed": seed, "status": status, "what": what, "seconds": seconds}), flush=True)


# ---------------------------------------------------------------- the parent


def run_all(python: str, first: int, count: int) -> List[Dict[str, Any]]:
    """One row per seed. A worker that dies costs one, and another goes on after it."""
    rows: List[Dict[str, Any]] = []
    end = first + count
    while first < end:
        command = [python, str(Path(__file__).resolve()), "--work", str(first), str(end - first)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=os.environ)
        assert process.stdout is not None
        begun: Optional[int] = None
        for line in process.stdout:
            fields = json.loads(line)
            if "begin" in fields:
                begun = fields["begin"]
            else:
                rows.append(fields)
                begun = None
        code = process.wait()
        if begun is None:
            if code:
                raise SystemExit(f"the worker ended with {code}")
            break
        rows.append({"seed": begun, "status": "crash", "what": f"ended with {code}", "seconds": 0.0})
        first = begun + 1
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000, metavar="N", help="how many inputs (default 10000)")
    parser.add_argument("--seed", type=int, metavar="N", help="the first seed (default: by chance)")
    parser.add_argument("--python", default=sys.executable, help="which Python (default: this one)")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return 0
    seed = random.randrange(10**9) if options.seed is None else options.seed
    rows = run_all(options.python, seed, options.count)
    counts = collections.Counter(row["status"] for row in rows)
    print(
        f"seeds {seed} to {seed + options.count - 1}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common())
    )
    print(f"slowest: {max(row['seconds'] for row in rows):.2f} s")
    faults: Dict[str, List[Dict[str, Any]]] = {}
    for row in rows:
        if row["status"] not in ("text", "DecompilationError", "PycError"):
            kind = re.sub(r"\d+", "_", row["status"] + " " + row["what"])
            faults.setdefault(kind[:60] + kind[-20:], []).append(row)
    for same in sorted(faults.values(), key=lambda rows: -len(rows)):
        print(f"{len(same)} times: {same[0]['what']}\n    seeds " + ", ".join(str(row["seed"]) for row in same[:5]))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
