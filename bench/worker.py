"""Decompiles functions of the sample, one at a time, and prints one JSON line for each.

Run by `stdlib.py` in a process of its own, under the Python that has the decompiler: "ours" (this checkout's depyf)
or "peer" (depyf 0.20.0 in a venv of its own). Lines: {"begin": key} before each function, then its result.

usage: worker.py ENGINE LIMIT_SECONDS SKIP MODULE...
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import sys
import time
from typing import Any, Callable, Dict

from sample import Function, functions_of

Engine = Callable[[Function], Dict[str, Any]]


class OutOfTime(BaseException):
    """Not an Exception, so that no `except Exception` of a decompiler swallows it."""


def ours() -> Engine:
    """This checkout's decompiler: its own verdict, and the judge's beside it."""
    from judge import judge

    from depyf.decompile import decompile_code

    def decompile(function: Function) -> Dict[str, Any]:
        start = time.perf_counter()
        result = decompile_code(function.code)
        seconds = time.perf_counter() - start
        signal.setitimer(signal.ITIMER_REAL, 0)  # the limit is the decompiler's, not the judge's
        status, difference = judge(function.code, result.text, result.names)
        if result.dispatch and status == "refuted":
            status = "unverified"  # the dispatch form has a shape of its own; it is tested by running it
        return {
            "seconds": seconds,
            "text": result.text,
            "dispatch": result.dispatch,
            "claim": result.verdict.status.value,
            "status": status,
            "difference": result.verdict.difference or difference,
        }

    return decompile


def peer() -> Engine:
    """depyf 0.20.0: only the text; it is judged by the caller, which has the judge."""
    from depyf.decompiler import decompile as peer_decompile

    def decompile(function: Function) -> Dict[str, Any]:
        start = time.perf_counter()
        text = peer_decompile(function.code)
        return {"seconds": time.perf_counter() - start, "text": text}

    return decompile


def run(engine: Engine, function: Function, limit: float) -> Dict[str, Any]:
    """The engine's result, or a status of "raised" or "out of time"."""
    start = time.perf_counter()
    faulthandler.dump_traceback_later(limit + 20, exit=True)  # for a hang inside C, where no signal arrives
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return engine(function)
    except OutOfTime:
        status, difference = "out of time", f"no result within {limit:g} s"
    except Exception as error:  # any failure of the decompiler under test is a result
        status, difference = "raised", " ".join(f"{type(error).__name__}: {error}"[:500].split())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
    return {"seconds": time.perf_counter() - start, "status": status, "difference": difference}


def main(argv: list[str]) -> None:
    engine = {"ours": ours, "peer": peer}[argv[0]]()
    limit, skip, modules = float(argv[1]), int(argv[2]), argv[3:]

    def out_of_time(signum: int, frame: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, out_of_time)
    results = os.fdopen(os.dup(1), "w")  # results go out by themselves; what a decompiler prints is no result
    os.dup2(2, 1)
    functions = [function for module in modules for function in functions_of(module)]
    gc.freeze()  # the sample's own code objects are not the decompiler's to collect
    for function in functions[skip:]:
        print(json.dumps({"begin": function.key}), file=results, flush=True)
        print(json.dumps({"key": function.key, **run(engine, function, limit)}), file=results, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
