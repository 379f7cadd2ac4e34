"""One logical line -> one or more lines of text, broken inside brackets where it would get too long.

A line arrives as pieces: text, marks and fragments as in `printing`, and the bounds of groups (`Group`): a bracketed
list whose items can stand on lines of their own. A group that does not fit is broken at all its separators; those
inside it are looked at again, with the room that they have then.
"""

from __future__ import annotations

from typing import Callable, List, Sequence

from depyf.decompile.printing import Fragment, Group, Piece

WIDTH = 120
_INDENT = 4


def break_line(
    pieces: Sequence[Piece], indent: int, add: Callable[[str], None], place: Callable[[Piece], None]
) -> None:
    """Write the `pieces` of a line that is indented by `indent` columns.

    Text goes to `add`, marks and fragments to `place`.
    """
    if indent + sum(map(_width, pieces)) <= WIDTH or Group.NEXT not in pieces or any(map(_has_lines, pieces)):
        for piece in pieces:
            _flat(piece, add, place)
        return
    ends = _ends(pieces)
    column = 0
    indents = [indent]
    broken: List[bool] = []
    for index, piece in enumerate(pieces):
        if piece is Group.OPEN:
            inside = sum(map(_width, pieces[index : ends[index]]))
            fits = column + inside + _tail(pieces, ends[index]) <= WIDTH
            broken.append(not fits)
            if not fits:
                indents.append(indents[-1] + _INDENT)
                column = _new_line(indents[-1], add)
        elif piece is Group.CLOSE:
            if broken.pop():
                indents.pop()
                column = _new_line(indents[-1], add)
        elif piece is Group.NEXT and broken[-1]:
            column = _new_line(indents[-1], add)
        else:
            _flat(piece, add, place)
            column += _width(piece)


def _flat(piece: Piece, add: Callable[[str], None], place: Callable[[Piece], None]) -> None:
    if isinstance(piece, str):
        add(piece)
    elif piece is Group.NEXT:
        add(" ")
    elif not isinstance(piece, Group):
        place(piece)


def _new_line(indent: int, add: Callable[[str], None]) -> int:
    add("\n" + " " * indent)
    return indent


def _tail(pieces: Sequence[Piece], start: int) -> int:
    """The width of what follows a group up to where the line can be broken next."""
    width = 0
    for piece in pieces[start + 1 :]:
        if isinstance(piece, Group):
            break
        width += _width(piece)
    return width


def _width(piece: Piece) -> int:
    if isinstance(piece, str):
        return len(piece)
    if isinstance(piece, Fragment):
        return len(piece.text)
    return 1 if piece is Group.NEXT else 0


def _has_lines(piece: Piece) -> bool:
    text = piece if isinstance(piece, str) else piece.text if isinstance(piece, Fragment) else ""
    return "\n" in text


def _ends(pieces: Sequence[Piece]) -> List[int]:
    """For each OPEN, the index of its CLOSE."""
    ends = [0] * len(pieces)
    open_: List[int] = []
    for index, piece in enumerate(pieces):
        if piece is Group.OPEN:
            open_.append(index)
        elif piece is Group.CLOSE:
            ends[open_.pop()] = index
    return ends
