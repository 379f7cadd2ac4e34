"""Which line of a printed graph is which line of the graph's running source.

torch prints a graph for people (types, comments, one class inside another) and runs another text made from the same
graph. Statement by statement they are the same; that is checked here, and it gives the lines.
"""

from __future__ import annotations

import ast
from typing import Dict, List, Mapping, Optional, Tuple

Path = Tuple[str, ...]
Statement = Tuple[str, ast.stmt]


def printed_forwards(text: str) -> Dict[Path, ast.FunctionDef]:
    """The `forward` functions in a printed graph, by the names of the classes around them below the outermost one.

    Empty if the text isn't Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: Dict[Path, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            _collect(node, (), found)
        elif isinstance(node, ast.FunctionDef) and node.name == "forward":
            found.setdefault((), node)
    return found


def _collect(node: ast.ClassDef, path: Path, found: Dict[Path, ast.FunctionDef]) -> None:
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
            found.setdefault(path, inner)
        elif isinstance(inner, ast.ClassDef):
            _collect(inner, (*path, inner.name), found)


def matching_lines(source: str, printed: ast.FunctionDef) -> Optional[Mapping[int, int]]:
    """Line of the running `source` -> line of the printed function; None if they aren't the same graph.

    A backend may have its graphs take all arguments in one list, so that it can empty it; the statements that
    take the list apart then belong to the printed function's first statement.
    """
    running = printed_forwards(source).get(())
    if running is None:
        return None
    ours, theirs = _statements(running), _statements(printed)
    unpacking: List[Statement] = []
    if _arguments(running) != _arguments(printed):
        taken = _taken_from_list(running, ours)
        if taken is None or taken != _arguments(printed)[1:]:
            return None
        unpacking, ours = ours[: len(taken) + 2], ours[len(taken) + 2 :]
    if not theirs or [text for text, _ in ours] != [text for text, _ in theirs]:
        return None
    lines: Dict[int, int] = {running.lineno: printed.lineno}
    first = theirs[0][1].lineno
    pairs = [(one, first) for _, one in unpacking]
    pairs += [(one, other.lineno) for (_, one), (_, other) in zip(ours, theirs)]
    for statement, line in pairs:
        for own in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            lines.setdefault(own, line)
    return lines


def _arguments(function: ast.FunctionDef) -> List[str]:
    return [argument.arg for argument in function.args.args]


def _taken_from_list(function: ast.FunctionDef, statements: List[Statement]) -> Optional[List[str]]:
    """The names that a function takes from its only argument, a list, before it empties that; None if it does not.

    `it = iter(args)`, then `name = next(it)` for each name, then `args.clear()`.
    """
    arguments = _arguments(function)
    if len(arguments) != 2:
        return None
    whole = arguments[1]
    iterator: Optional[str] = None
    names: List[str] = []
    for _, statement in statements:
        text = ast.dump(statement)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if text == _dumped("%s.clear()" % whole):
            return names if iterator is not None else None
        if not isinstance(target, ast.Name):
            return None
        if iterator is None and text == _dumped("%s = iter(%s)" % (target.id, whole)):
            iterator = target.id
        elif iterator is not None and text == _dumped("%s = next(%s)" % (target.id, iterator)):
            names.append(target.id)
        else:
            return None
    return None


def _dumped(text: str) -> str:
    return ast.dump(ast.parse(text).body[0])


def _statements(function: ast.FunctionDef) -> List[Statement]:
    """The statements with their text in a form without annotations and layout."""
    found: List[Statement] = []
    for statement in function.body:
        plain: ast.stmt = statement
        if isinstance(statement, ast.AnnAssign):
            if statement.value is None:
                continue
            plain = ast.Assign(targets=[statement.target], value=statement.value)
        found.append((ast.dump(plain), statement))
    return found
