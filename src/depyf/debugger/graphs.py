"""Graph modules that run point into the dumped file of their graph.

The text of the file is the graph as torch prints it. A module's function keeps its bytecode; its code object gets the
file's name and lines.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

from depyf.capture.torch_fx import child_graphs, compiled_forward, when_compiled
from depyf.debugger.relocate import into_lines
from depyf.debugger.same_graph import Path, matching_lines, printed_forwards

Report = Callable[[BaseException], None]


def point_graphs(modules: Iterable[Any], text: str, filename: str, first: int, report: Report) -> None:
    """Make those of `modules` that are the graph printed in `text` point into the file `filename`.

    The file holds `text` from its line `first` on. A module that isn't compiled yet is pointed when it is; one that is
    not the same graph is left alone. What goes wrong later is given to `report`; nothing is raised then.
    """
    file = _GraphFile(text, filename, first, report)
    for module in modules:
        for path, inner in _with_children(module, ()):
            when_compiled(inner, functools.partial(file.point, path))


class _GraphFile:
    """A printed graph in its file. The text is read when the first module asks: most graphs never run as they are."""

    def __init__(self, text: str, filename: str, first: int, report: Report) -> None:
        self._text = text
        self._filename = filename
        self._shift = first - 1
        self._report = report
        self._printed: Optional[Dict[Path, ast.FunctionDef]] = None

    def point(self, path: Path, module: Any) -> None:
        """Make the module point to its place, if it is the graph printed at `path`."""
        try:
            self._point(path, module)
        except Exception as error:  # we run inside the user's call
            self._report(error)

    def _point(self, path: Path, module: Any) -> None:
        if self._printed is None:
            self._printed = printed_forwards(self._text)
        compiled = compiled_forward(module)
        printed = self._printed.get(path)
        if compiled is None or printed is None:
            return
        function, source = compiled
        lines = matching_lines(source, printed)
        if lines is not None and function.__code__.co_filename != self._filename:
            shifted = {own: line + self._shift for own, line in lines.items()}
            first = printed.lineno + self._shift
            function.__code__ = into_lines(function.__code__, self._filename, shifted, first)


def _with_children(module: Any, path: Path) -> Iterator[Tuple[Path, Any]]:
    yield path, module
    for name, child in child_graphs(module):
        yield from _with_children(child, (*path, name))
