"""What the canonical instructions do is what the bytecode does: both are run and compared, call by call."""

from __future__ import annotations

import sys

import pytest

from depyf.bytecode import normalise

from . import interpreter, subjects

CALLS = dict(subjects.CALLS)
if sys.version_info >= (3, 10):
    from . import subjects_match

    CALLS.update(subjects_match.CALLS)


def outcome(run, args):
    log = []
    try:
        result = run(log, *args)
    except BaseException as error:
        if getattr(error, "ours", False):
            raise
        return "raised", type(error), log
    return "returned", result, log


def by_program(function):
    program = normalise(function.__code__)
    return lambda *args: interpreter.call(program, function, *args)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_function(function):
    for args in CALLS[function]:
        assert outcome(by_program(function), args) == outcome(function, args), args


def drive(make, args):
    """What a generator yields for a few sends, and then when it is thrown into or closed; and its log."""
    events = []
    for end in ("exhaust", "throw", "close"):
        log = []
        generator = make(log, *args)
        try:
            events.append(next(generator))
            events.append(generator.send("sent"))
            if end == "throw":
                events.append(generator.throw(ValueError("thrown")))
            elif end == "close":
                generator.close()
            while True:
                events.append(next(generator))
        except Exception as error:
            if getattr(error, "ours", False):
                raise
            events.append((type(error), getattr(error, "value", None)))
        events.append(log)
    return events


@pytest.mark.parametrize("function", subjects.GENERATORS, ids=lambda function: function.__name__)
def test_generator(function):
    program = normalise(function.__code__)
    for args in subjects.GENERATORS[function]:
        ours = drive(lambda *given: interpreter.run(program, function, *given), args)
        assert ours == drive(function, args), args
