"""Sessions for `nox`: the same checks as the Makefile, for those who prefer it."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "decompiler"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
def decompiler(session: nox.Session) -> None:
    """The decompiler's tests, without torch."""
    session.install("pytest", "pytest-timeout", "hypothesis")
    session.install("-e", ".")
    session.run("pytest", "tests/bytecode", "tests/decompile", "tests/cases", "tests/structure", *session.posargs)


@nox.session
def torch(session: nox.Session) -> None:
    """All tests with one PyTorch: `nox -s torch -- torch==2.12.0`."""
    session.install(*(session.posargs or ["torch==2.13.0"]))
    session.install("numpy", "transformers", "pytest", "pytest-timeout", "hypothesis")
    session.install("-e", ".")
    session.run("pytest")


@nox.session
def lint(session: nox.Session) -> None:
    session.install("-e", ".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
