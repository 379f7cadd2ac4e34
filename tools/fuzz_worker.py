"""Generates programs, decompiles each, and prints one JSON line before and one after each. Run by `fuzz.py`.

Runs under the Python that is tested, in a virtual environment with the generators.

usage: fuzz_worker.py generate SOURCE FIRST_SEED SECONDS     programs from SOURCE, one per seed
       fuzz_worker.py try FILE                               how the program of FILE fares
       fuzz_worker.py minimise FILE SECONDS                  the smallest program with the same fault
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from depyf.decompile import decompile_code
from depyf.decompile.recompile import recompile
from depyf.decompile.result import Status
from depyf.decompile.verify import compare

HANG_SECONDS = 10
FINE = ("exact", "equivalent", "dispatch")


class OutOfTime(BaseException):
    """Not an Exception, so that no `except Exception` swallows it."""


class Outcome(NamedTuple):
    """How a program fared. `status`: exact, equivalent, dispatch, or a fault. `what`: the fault in words."""

    status: str
    what: str = ""
    seconds: float = 0.0

    @property
    def kind(self) -> str:
        """The same for faults that look alike: without names, numbers and what is quoted."""
        words = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "_", self.what)
        return "%s %s" % (self.status, words[:60])


def attempt(source: str) -> Optional[Outcome]:
    """None if the program does not compile to begin with."""
    try:
        code = compile(source, "<generated>", "exec", 0, True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        result = decompile_code(code)
        signal.setitimer(signal.ITIMER_REAL, 0)
        seconds = time.perf_counter() - start
    except OutOfTime:
        return Outcome("hang", "no text within %d s" % HANG_SECONDS)
    except Exception as error:  # whatever it raises is what we look for
        return Outcome("raised", "%s: %s" % (type(error).__name__, error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # The product's verdict is not taken for granted: compare again, with nothing left unchecked.
    try:
        verdict = compare(code, recompile(code, result.text), names=result.names)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Outcome("no compile", "%s: %s" % (type(error).__name__, error), seconds)
    if result.dispatch:
        return Outcome("dispatch", result.causes[0], seconds)
    if verdict.status is Status.REFUTED or result.verdict.status is Status.UNVERIFIED:
        return Outcome("refuted", verdict.difference or "", seconds)
    return Outcome(verdict.status.value, verdict.difference or "", seconds)


def from_codegen(first: int) -> Iterator[str]:
    from pysource_codegen import generate

    seed = first
    while True:
        try:
            yield generate(seed, node_limit=200 + seed % 7 * 150, depth_limit=4 + seed % 6)
        except (ValueError, RecursionError):
            yield "("  # a program that ast.unparse cannot write: counted as invalid
        seed += 1


def from_hypothesmith(first: int) -> Iterator[str]:
    import hypothesmith
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: List[str] = []
    seed = first
    while True:
        found.clear()

        @seeded(seed)
        @settings(
            max_examples=3,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(hypothesmith.from_node())
        def collect(source: str) -> None:
            found.append(source)

        collect()
        yield found[-1]  # the first ones of hypothesis are the smallest
        seed += 1


SOURCES: Dict[str, Callable[[int], Iterator[str]]] = {"codegen": from_codegen, "hypothesmith": from_hypothesmith}


def say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def generate(source: str, first: int, seconds: float) -> None:
    """Programs until the time is over. The parent sees from the last line which one killed us."""
    end = time.monotonic() + seconds
    for seed, text in enumerate(SOURCES[source](first), first):
        if time.monotonic() > end:
            return
        say(begin=seed, text=text)
        outcome = attempt(text)
        if outcome is None:
            say(seed=seed, status="invalid")
        else:
            say(seed=seed, status=outcome.status, kind=outcome.kind, what=outcome.what, seconds=outcome.seconds)


def minimise(text: str, seconds: float) -> str:
    """The smallest program found with the same kind of fault."""
    from pysource_minimize import CouldNotMinimize, minimize

    wanted = attempt(text)
    if wanted is None:
        return text
    end = time.monotonic() + seconds
    best = text

    def same(candidate: str) -> bool:
        nonlocal best
        if time.monotonic() > end:
            return False
        outcome = attempt(candidate)
        found = outcome is not None and outcome.kind == wanted.kind
        if found and len(candidate) < len(best):
            best = candidate
        return found

    with contextlib.suppress(CouldNotMinimize):  # the fault is gone once the program is written anew
        minimize(text, same, retries=1)
    return best


def main(argv: List[str]) -> None:
    warnings.simplefilter("ignore")  # the compiler's, about odd programs

    def out_of_time(signum: int, frame: Any) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, out_of_time)
    if argv[0] == "generate":
        generate(argv[1], int(argv[2]), float(argv[3]))
        return
    with open(argv[1], encoding="utf-8") as file:
        text = file.read()
    if argv[0] == "minimise":
        say(text=minimise(text, float(argv[2])))
    else:
        outcome = attempt(text)
        say(**({"status": "invalid"} if outcome is None else outcome._asdict()))


if __name__ == "__main__":
    main(sys.argv[1:])
