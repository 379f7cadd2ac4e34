"""Make running code point into a file: the bytecode stays as it is, only its positions change.

Any debugger then finds its lines in that file, and so do tracebacks.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Dict, Mapping, Tuple

from depyf.bytecode.lines import decode, with_positions
from depyf.decompile.result import SourceMap

Places = Dict[int, Tuple[int, int]]


def into_text(code: CodeType, filename: str, text: str, source_map: SourceMap, first: int = 1) -> CodeType:
    """`code`, pointing at its decompiled `text`, which begins at line `first` of the file `filename`.

    Returns a copy of `code` that differs only in file name, first line and line tables (nested code too). Where the
    source map has no place for an instruction, it belongs to the line before it; the instructions before the first
    statement have none, and take that statement's line, so that a call's first stop is there.
    """
    places = _shifted(source_map.offsets, first - 1)
    nested = {index: _shift(inner, first - 1) for index, inner in source_map.nested.items()}
    definition, statement = _heading(text, code.co_name)
    places = _past_heading(places, first - 1 + definition, first - 1 + statement)
    return with_positions(code, filename, first - 1 + definition, places, nested)


def into_lines(code: CodeType, filename: str, lines: Mapping[int, int], firstlineno: int) -> CodeType:
    """`code`, with each line replaced as `lines` says and the file named `filename`; a line not there is left out."""
    places: Places = {}
    for start, end, position in decode(code):
        if position.line in lines:
            line = lines[position.line]
            places.update((offset, (line, 0)) for offset in range(start, end, 2))
    return with_positions(code, filename, firstlineno, places)


def _shifted(offsets: Mapping[int, Tuple[int, int]], by: int) -> Places:
    return {offset: (line + by, column) for offset, (line, column) in offsets.items()}


def _shift(source_map: SourceMap, by: int) -> SourceMap:
    nested = {index: _shift(inner, by) for index, inner in source_map.nested.items()}
    return SourceMap(_shifted(source_map.offsets, by), nested)


def _heading(text: str, name: str) -> Tuple[int, int]:
    """(line of the `def`, line of its first statement) in `text`; (1, 1) if it defines no function."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return 1, 1
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    named = [node for node in functions if node.name == name] or functions
    if not named:
        return 1, 1
    return named[0].lineno, named[0].body[0].lineno


def _past_heading(places: Places, definition: int, statement: int) -> Places:
    """Positions on the heading moved to the first statement that has instructions of its own.

    A line event on the `def` line would make a debugger stop twice at each call.
    """
    body = {offset: place for offset, place in places.items() if not definition <= place[0] < statement}
    first = body[min(body)] if body else (statement, 0)
    moved = {offset: body.get(offset, first) for offset in places}
    moved.setdefault(0, first)
    return moved
