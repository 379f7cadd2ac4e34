"""Real functions with one thing changed are never taken for the original, in the structured form or the other.

A change may happen to make the same program (`while True` and `while (True, 0)`): then the bytecode is the same to
a judge that knows nothing of the canonical program.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import random
import sys
from types import CodeType
from typing import Iterator, List

import pytest

from depyf.decompile import decompile_code
from depyf.decompile.recompile import recompile
from depyf.decompile.result import DecompilationError, Status
from depyf.decompile.verify import compare

from . import raw_judge
from .dispatched import text_of
from .mutations import chosen, mutations
from .test_verify import functions

MODULES = "argparse ast bdb calendar cmd contextlib csv ftplib inspect pickle shutil tarfile threading zipfile".split()


def code_objects(name: str) -> List[CodeType]:
    module = compile(inspect.getsource(importlib.import_module(name)), name, "exec", dont_inherit=True)
    return list(functions(module))


def compiled(code: CodeType, tree: ast.Module) -> Iterator[CodeType]:
    """The changed program's code, unless the change left none that compiles."""
    try:
        yield recompile(code, ast.unparse(tree))
    except (SyntaxError, ValueError, TypeError, AttributeError, StopIteration):
        return


@pytest.mark.skipif(sys.version_info < (3, 9), reason="needs ast.unparse")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", MODULES)
def test_changed_functions_are_refuted(name: str) -> None:
    choice = random.Random(name)
    count = 0
    for code in code_objects(name):
        try:
            result = decompile_code(code)
        except DecompilationError:
            continue  # other tests are about that
        if result.dispatch or result.names or len(result.text) > 6000:
            continue
        for what, tree in chosen(result.text, 24, choice):
            for again in compiled(code, tree):
                count += 1
                verdict = compare(code, again)
                shown = f"{what}: {verdict}\n{ast.unparse(tree)}"
                assert verdict.status in (Status.REFUTED, Status.EXACT), shown
                if verdict.status is Status.EXACT and sys.version_info[:2] == (3, 11):  # what the raw judge reads
                    assert raw_judge.difference(code, again) is None, shown
    assert count > 20


@pytest.mark.skipif(sys.version_info < (3, 9), reason="needs ast.unparse")
@pytest.mark.parametrize("name", ["bisect", "fnmatch", "heapq", "textwrap", "string"])
def test_the_dispatch_form_is_compared(name: str) -> None:
    """Most texts in the dispatch form are proven; one with the arms of a jump exchanged, or another builtin, is not."""
    proven = total = count = 0
    for code in code_objects(name):
        text, names = text_of(code)
        total += 1
        if compare(code, recompile(code, text), names=names).status is not Status.EQUIVALENT:
            continue
        proven += 1
        for what, tree in dispatch_mutations(text):
            for again in compiled(code, tree):
                count += 1
                assert compare(code, again, names=names).status is Status.REFUTED, f"{what}\n{ast.unparse(tree)}"
    assert proven >= 0.8 * total
    assert count > 5


def dispatch_mutations(text: str) -> Iterator[tuple[str, ast.Module]]:
    """One change each: the arms of a jump exchanged, or a builtin imported in the place of another."""
    for what, tree in mutations(text, ("swap",)):
        if "IfExp" in what:
            yield what, tree
    for position, node in enumerate(ast.walk(ast.parse(text))):
        if isinstance(node, ast.alias) and node.asname:
            for other in {"iter", "next", "object"} - {node.name}:
                tree = ast.parse(text)
                alias = list(ast.walk(tree))[position]
                assert isinstance(alias, ast.alias)
                alias.name = other
                yield f"{node.name} is {other}", tree
