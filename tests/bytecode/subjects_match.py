"""Match statements (3.10 and later); see `subjects`."""

from __future__ import annotations


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def kinds(log, subject):
    match subject:
        case 0 | 1:
            return "small"
        case "text":
            return "text"
        case [a, b]:
            return ("pair", a, b)
        case [a, *rest, 9]:
            return ("ends with nine", a, rest)
        case {"k": [v, *_], "n": n}:
            return ("nested", v, n)
        case {"k": v, **rest}:
            return ("mapping", v, rest)
        case Point(0, y=y) if y:
            return ("point", y)
        case Point(x=x) as point:
            return ("any point", x, point.y)
        case None:
            log.append("none")
        case other:
            return ("other", other)
    return "end"


SUBJECTS = (
    0,
    1,
    2,
    "text",
    [1, 2],
    [1, 2, 3],
    [1, 2, 9],
    {"k": [4, 5], "n": 6},
    {"k": 1, "z": 2},
    {"n": 1},
    {},
    Point(0, 3),
    Point(0, 0),
    Point(2, 1),
    None,
    2.5,
)
CALLS = {kinds: tuple((subject,) for subject in SUBJECTS)}
