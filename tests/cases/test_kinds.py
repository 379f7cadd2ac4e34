"""Every function of every kind, decompiled, does what the original does on several inputs."""

from __future__ import annotations

import sys
from typing import Any, Dict, Tuple

import pytest

from depyf.decompile import decompile_code
from depyf.decompile.result import Status
from tests.cases.kinds import KINDS, Sample, samples
from tests.cases.outcome import Log, assert_trusted, outcome

INPUTS = [(0, 0, 0), (0, 1, 2), (1, 0, 0), (1, 1, 1), (1, 2, 0), (2, 0, 1), (2, 1, 2), (2, 2, 1), (0, 2, 1)]
SAMPLES = [sample for kind in KINDS for sample in samples(kind, sys.version_info[:2])]


def namespace_of(sample: Sample) -> Dict[str, Any]:
    namespace: Dict[str, Any] = {"__name__": "sample"}
    exec(compile(sample.source, sample.name, "exec", dont_inherit=True), namespace)
    return namespace


def outcomes(namespace: Dict[str, Any]) -> list[Tuple[Tuple[int, ...], Any]]:
    return [(values, outcome(namespace["f"], (*values, Log()))) for values in INPUTS]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_same_behaviour(sample: Sample) -> None:
    module = compile(sample.source, sample.name, "exec", dont_inherit=True)
    result = decompile_code(module)
    assert_trusted(result)
    again: Dict[str, Any] = {"__name__": "sample", **result.names}
    exec(compile(result.text, "<decompiled>", "exec", dont_inherit=True), again)
    assert outcomes(again) == outcomes(namespace_of(sample)), result.text


def test_there_are_many() -> None:
    assert len(SAMPLES) >= 300


@pytest.mark.timeout(300)
def test_nearly_all_are_exact() -> None:
    """At least 95 in 100 come back as the very same program, none in the dispatch form."""
    results = {s: decompile_code(compile(s.source, s.name, "exec", dont_inherit=True)) for s in SAMPLES}
    inexact = [s.name for s, result in results.items() if result.verdict.status is not Status.EXACT]
    dispatch = [s.name for s, result in results.items() if result.dispatch]
    assert not dispatch
    assert len(inexact) <= len(SAMPLES) // 20, inexact


@pytest.mark.timeout(120)
def test_samples_reach_their_end() -> None:
    """A sample that raises on every input tests little: there are only a few, on purpose."""
    raising = [s.name for s in SAMPLES if all(how == "raised" for _, (how, _, _) in outcomes(namespace_of(s)))]
    assert len(raising) <= len(SAMPLES) // 50, raising
