"""The tree -> text, for a target version of Python, with the place of every node.

The writer holds an explicit stack of items (see `printing`), so deep trees need no recursion. It adds parentheses,
indentation and line breaks and keeps count of lines and columns; what is written where comes from
`spell_expressions`, `spell_statements` and `fstrings`.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from depyf.bytecode.grammar import grammar
from depyf.decompile import nodes as n
from depyf.decompile import spell_expressions, spell_statements
from depyf.decompile.breaking import break_line
from depyf.decompile.printing import Child, Fragment, Group, Item, Layout, Line, Mark, Piece, Prec
from depyf.decompile.spell_expressions import Context

_INDENT = 4

Positions = Dict[int, n.Position]


def write(module: n.Module, version: Tuple[int, int]) -> Tuple[str, Positions]:
    """The text of `module` for Python `version`, and `id(node)` -> where the node's own operation is written.

    For binary operators, comparisons, attributes and subscripts that is the operator, attribute name or bracket;
    for everything else its start. Raises WriteError for what has no syntax: unresolved `Slot`s, `Intrinsic`s,
    `MakeFunction`s, and constants without a literal (see `constants.name_constants`).
    """
    writer = _Writer(Context(grammar(version)))
    statements = list(module.body)
    items: List[Item] = []
    if statements and spell_statements.is_docstring(statements[0]):
        items.append(Line(spell_statements.Docstring(statements.pop(0))))
        items += [Layout.GAP] if statements else []
    writer.run([*items, *spell_statements.block(statements)])
    return writer.text(), writer.positions


def write_expression(node: n.Expr, context: Context, prec: Prec = Prec.TEST) -> Tuple[str, Positions]:
    """The text of one expression in a place that demands `prec`, and the places of its nodes from (1, 0) on."""
    writer = _Writer(context)
    writer.run([Child(node, prec)])
    return writer.text(), writer.positions


class _Writer:
    def __init__(self, context: Context) -> None:
        self.positions: Positions = {}
        self._context = context
        self._pieces: List[str] = []
        self._pending: List[Piece] = []  # of the line being written
        self._line, self._column = 1, 0
        self._depth = 0
        self._fresh = True  # at the start of the text or of a block: no gap wanted

    def text(self) -> str:
        """What has been written."""
        self._end_line()
        return "".join(self._pieces)

    def run(self, items: Sequence[Item]) -> None:
        """Write `items`."""
        stack: List[Item] = list(reversed(items))
        while stack:
            item = stack.pop()
            if isinstance(item, (str, Mark, Fragment, Group)):
                self._pending.append(item)
            elif isinstance(item, Child):
                prec, inner = spell_expressions.spell(item.node, self._context)
                # `:=` is allowed bare only in the places that name it.
                if prec < item.prec or prec is Prec.NAMED is not item.prec:
                    inner = ["(", *inner, ")"]
                stack.extend(reversed(inner))
            elif isinstance(item, Line):
                if isinstance(item.node, spell_statements.Docstring):
                    self._docstring(item.node)
                else:
                    stack.extend(reversed(spell_statements.spell(item.node)))
            else:
                self._layout(item)

    def _end_line(self) -> None:
        """Write out the line that is pending."""
        pending, self._pending = self._pending, []
        break_line(pending, _INDENT * self._depth, self._add, self._place)

    def _place(self, piece: Piece) -> None:
        if isinstance(piece, Mark):
            self.positions.setdefault(id(piece.node), (self._line, self._column))
        elif isinstance(piece, Fragment):
            self._fragment(piece)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        newlines = text.count("\n")
        if newlines:
            self._line += newlines
            self._column = len(text) - text.rfind("\n") - 1
        else:
            self._column += len(text)

    def _layout(self, command: Layout) -> None:
        if command is Layout.BEGIN:
            self._add(" " * _INDENT * self._depth)
            self._fresh = False
        elif command is Layout.END:
            self._end_line()
            self._add("\n")
        elif command is Layout.INDENT:
            self._depth += 1
            self._fresh = True
        elif command is Layout.DEDENT:
            self._depth -= 1
        elif not self._fresh:
            self._add("\n" if self._depth else "\n\n")
            self._fresh = True

    def _docstring(self, node: spell_statements.Docstring) -> None:
        indent = " " * _INDENT * self._depth
        self._layout(Layout.BEGIN)
        self.positions[id(node.statement)] = (self._line, self._column)
        self._add(node.text(indent, self._context.grammar.docstring_dedented))
        self._layout(Layout.END)

    def _fragment(self, fragment: Fragment) -> None:
        line, column = self._line, self._column
        for key, (inner_line, inner_column) in fragment.positions:
            self.positions[key] = (line + inner_line - 1, inner_column + (column if inner_line == 1 else 0))
        self._add(fragment.text)
