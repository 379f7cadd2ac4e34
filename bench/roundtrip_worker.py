"""Decompiles whole modules, one at a time, and prints one JSON line for each.

Run by `roundtrip.py` under the Python whose modules they are. Lines: {"begin": file} before each module, then what
became of it: {"file", "seconds", "counts": {status: code objects}, "worst": [[status, name, difference], ...]}, or
{"file", "skipped": reason} for what this Python itself cannot compile.

usage: roundtrip_worker.py SECONDS_PER_MODULE < FILES (one path a line)
"""

from __future__ import annotations

import collections
import faulthandler
import json
import os
import signal
import sys
import time
import warnings
from types import CodeType
from typing import Any, Counter, Dict, Iterator, List


class OutOfTime(BaseException):
    """Not an Exception, so that nothing swallows it."""


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """`code` and all code objects inside it."""
    todo = [code]
    while todo:
        item = todo.pop()
        yield item
        todo.extend(const for const in item.co_consts if isinstance(const, CodeType))


def look_at(path: str) -> Dict[str, Any]:
    """Decompile one module."""
    from depyf.decompile import DecompilationError, decompile_code

    with open(path, "rb") as file:
        source = file.read()
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"skipped": "%s: %s" % (type(error).__name__, error)}
    everything = list(codes_in(code))
    start = time.perf_counter()
    try:
        result = decompile_code(code)
    except DecompilationError as error:
        return {"counts": {"raised": len(everything)}, "worst": [["raised", "<module>", str(error)]]}
    seconds = time.perf_counter() - start
    counts: Counter[str] = collections.Counter(part.verdict.status.value for part in result.parts)
    worst: List[List[Any]] = [
        [part.verdict.status.value, part.code.co_name, part.code.co_firstlineno, part.verdict.difference]
        for part in result.parts
        if part.verdict.status.value != "exact"
    ]
    missing = len(everything) - len(result.parts)
    if missing > 0:  # inside a dispatch form, without a counterpart that was found
        counts["unverified"] += missing
    return {"seconds": seconds, "counts": counts, "worst": worst, "causes": result.causes[:20]}


def main() -> None:
    limit = float(sys.argv[1])

    def out_of_time(signum: int, frame: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, out_of_time)
    warnings.simplefilter("ignore")  # about the modules' own source
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin.read().splitlines():
        print(json.dumps({"begin": line}), file=results, flush=True)
        faulthandler.dump_traceback_later(limit + 20, exit=True)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            row = look_at(line)
        except OutOfTime:
            row = {"counts": {"out of time": 1}, "worst": [["out of time", "<module>", 1, None]]}
        except Exception as error:  # any failure of the decompiler is a result
            row = {"counts": {"crashed": 1}, "worst": [["crashed", "<module>", 1, repr(error)[:300]]]}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
        print(json.dumps({"file": line, **row}), file=results, flush=True)


if __name__ == "__main__":
    main()
