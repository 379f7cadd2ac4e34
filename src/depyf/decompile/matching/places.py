"""What lies on the stack while a pattern is matched, and the patterns that follow from what is done with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional, Tuple

from .. import nodes as n


class NoPattern(Exception):
    """The instructions are not those of a pattern."""


@dataclass(eq=False)
class Place:
    """A value that is matched: the subject, or a part of it.

    `kind`: "" as long as nothing but captures is known, then "value", "singleton", "sequence", "mapping", "class" or
    "or". `parts`: the places of sub-patterns; of an "or" its alternatives. `star`: index of the starred part. `keys`:
    of a mapping, `names`: attribute names of a class, `test`: the value or the class. `length`, `exactly`: what a
    sequence was tested for. `captured`: names that it was stored under.
    """

    kind: str = ""
    parts: List[Place] = field(default_factory=list)
    star: Optional[int] = None
    keys: List[n.Expr] = field(default_factory=list)
    names: Tuple[str, ...] = ()
    test: Optional[n.Expr] = None
    length: Optional[int] = None
    exactly: bool = False
    captured: List[str] = field(default_factory=list)
    rest: Optional[Rest] = None

    def become(self, kind: str) -> None:
        """Note what the place is tested for. Raises NoPattern if it has been tested for something else."""
        if self.kind:
            raise NoPattern("tested twice")
        self.kind = kind

    def store(self, name: str) -> None:
        """Note that the value is stored under `name`."""
        self.captured.append(name)


@dataclass(eq=False)
class Rest:
    """What a mapping pattern leaves over, while it is put together."""

    captured: List[str] = field(default_factory=list)

    def store(self, name: str) -> None:
        """Note that the dict is stored under `name`."""
        self.captured.append(name)


@dataclass(eq=False)
class Merged:
    """The same capture in every alternative of an or-pattern."""

    places: List[object]

    def store(self, name: str) -> None:
        """Note that the value is stored under `name`."""
        for place in self.places:
            if not isinstance(place, (Place, Rest, Merged)):
                raise NoPattern("an alternative captures something else")
            place.store(name)


@dataclass(eq=False)
class Value:
    """A value that the pattern compares with, a class, names of attributes, or keys."""

    expr: n.Expr


@dataclass(eq=False)
class Length:
    """`len()` of a place; `minus`: less that."""

    place: Place
    minus: int = 0


@dataclass(eq=False)
class Found:
    """The attributes or values that a class or mapping pattern found, or None. `places`: those taken out so far."""

    owner: Place
    count: int
    places: List[Optional[Place]] = field(default_factory=list)

    def part(self, index: int) -> Place:
        """The place of the attribute or value number `index`."""
        if not 0 <= index < self.count:
            raise NoPattern("no such part")
        return self.owner.parts[index]


@dataclass(eq=False)
class Test:
    """A bool on the stack. `success`: the outcome with which the pattern goes on."""

    success: bool = True


def pattern_of(place: Place) -> n.Pattern:
    """The pattern that a place has been matched with."""
    pattern = _tested(place)
    names = list(place.captured)
    if pattern is None:
        pattern = n.MatchAs(None, names.pop(0) if names else None)
    for name in names:
        pattern = n.MatchAs(pattern, name)
    return pattern


def _tested(place: Place) -> Optional[n.Pattern]:
    if place.kind == "value":
        assert place.test is not None
        return n.MatchValue(place.test)
    if place.kind == "singleton":
        assert isinstance(place.test, n.Constant)
        return n.MatchSingleton(place.test.value)
    if place.kind == "or":
        return n.MatchOr([pattern_of(part) for part in place.parts])
    if place.kind == "sequence":
        return n.MatchSequence(_sequence(place))
    if place.kind == "mapping":
        rest = place.rest.captured[0] if place.rest is not None and place.rest.captured else None
        return n.MatchMapping(list(place.keys), [pattern_of(part) for part in place.parts], rest)
    if place.kind == "class":
        assert place.test is not None
        patterns = [pattern_of(part) for part in place.parts]
        positional = len(patterns) - len(place.names)
        return n.MatchClass(place.test, patterns[:positional], list(place.names), patterns[positional:])
    return None


def _sequence(place: Place) -> List[n.Pattern]:
    if place.star is None and not place.exactly and len(place.parts) == 0:
        # Only the length was tested, or nothing: `[_, _, *_]`.
        count = place.length or 0
        return [*(n.MatchAs(None, None) for _ in range(count)), n.MatchStar(None)]
    patterns: List[n.Pattern] = []
    for index, part in enumerate(place.parts):
        if index == place.star:
            patterns.append(n.MatchStar(part.captured[0] if part.captured else None))
        else:
            patterns.append(pattern_of(part))
    while place.exactly and len(patterns) < (place.length or 0):
        patterns.append(n.MatchAs(None, None))
    return patterns
