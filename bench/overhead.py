"""What observing costs: a small GPT-2's training steps, compiled with and without `depyf.prepare_debug`.

    python bench/overhead.py                      inductor, caches off
    python bench/overhead.py --backend aot_eager  in seconds instead of minutes
    python bench/overhead.py --max-compile 1.1 --max-call 1.02

Every measurement is a process of its own, the two ways in turn. Compile time is the processor time of the first steps
at two sequence lengths (so that there is a recompilation); call time is that of the fastest of many later steps, still
inside `prepare_debug`. The ratio is that of the best of each. Results go to `.bench/overhead.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))
from report import markdown_table, write_report  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WAYS = ("plain", "observed")


def processor_seconds() -> float:
    """Processor time of this process and of those that it has waited for (the C++ compiler), which other work on the
    machine changes far less than the time on the wall."""
    usages = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(way: str, backend: str, calls: int) -> Dict[str, float]:
    """Run in the child: compile and call the model one way."""
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    import torch
    from tests.models.programs import PROGRAMS

    import depyf

    torch._logging.set_logs(dynamo=50)  # the model's own graph breaks are no news here
    torch.compiler.config.force_disable_caches = True
    (program,) = (one for one in PROGRAMS if one.name == "gpt2")
    torch.manual_seed(0)
    model = torch.compile(program.build(), backend=backend)
    batches = list(program.batches())

    def step(batch: Dict[str, Any]) -> float:
        start = time.perf_counter()
        program.loss(model(**batch)).backward()
        return time.perf_counter() - start

    with contextlib.ExitStack() as stack:
        if way == "observed":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            stack.enter_context(depyf.prepare_debug(folder))
        started = processor_seconds()
        for batch in batches:
            step(batch)
        compiling = processor_seconds() - started
        for batch in batches * 3:
            step(batch)
        later = [step(batches[0]) for _ in range(calls)]
    return {"compile": compiling, "call": min(later)}


def in_child(way: str, options: argparse.Namespace) -> Dict[str, float]:
    command = [sys.executable, __file__, "--child", way, "--backend", options.backend, "--calls", str(options.calls)]
    # Compiling in this process and not in a pool of others lets its processor time be seen.
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"the {way} run failed:\n{done.stderr[-3000:]}")
    result: Dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="measurements of each way (default 2)")
    parser.add_argument("--calls", type=int, default=300, metavar="N", help="steps after compilation (default 300)")
    parser.add_argument("--max-compile", type=float, metavar="R", help="highest ratio of compile times")
    parser.add_argument("--max-call", type=float, metavar="R", help="highest ratio of call times")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="write the table as Markdown, too")
    parser.add_argument("--json", type=Path, default=ROOT / ".bench" / "overhead.json", metavar="FILE")
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.child:
        print(json.dumps(measure(options.child, options.backend, options.calls)))
        return 0

    runs: Dict[str, List[Dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(options.rounds):
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            runs[way].append(in_child(way, options))
    report: Dict[str, Any] = {"backend": options.backend, "runs": runs}
    print(f"GPT-2, {options.backend}: best of {options.rounds}\n{'':10}{'plain':>12}{'observed':>12}{'ratio':>8}")
    failed = False
    for what, limit in (("compile", options.max_compile), ("call", options.max_call)):
        plain, observed = (min(run[what] for run in runs[way]) for way in WAYS)
        report[what] = {"plain": plain, "observed": observed, "ratio": round(observed / plain, 4)}
        print(f"{what:10}{plain:>10.4f} s{observed:>10.4f} s{observed / plain:>8.3f}")
        if limit is not None and observed / plain > limit:
            print(f"ceiling not met: {what} takes {observed / plain:.3f} times as long, more than {limit}")
            failed = True
    if options.write:
        rows = [
            [what, f"{report[what]['plain']:.4f}", f"{report[what]['observed']:.4f}", f"{report[what]['ratio']:.3f}"]
            for what in ("compile", "call")
        ]
        head = [f"GPT-2 training step, {options.backend}, in seconds", "plain", "under prepare_debug", "ratio"]
        command = f"python bench/overhead.py --backend {options.backend} --rounds {options.rounds}"
        write_report(options.write, markdown_table(head, rows), command, "torch " + importlib.metadata.version("torch"))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=1))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
