"""Families of small functions, one family (kind) per file, varied in nesting, order, else-branches and ways out.

Each file has `sources() -> Iterator[str]`: the text of functions `f(a, b, c, log)`. `log(x)` notes x and returns it, and ends
loops that run on, so that the original and the decompiled function can be compared by what they return, raise and note.
"""

from __future__ import annotations

import importlib
from typing import List, NamedTuple, Tuple

KINDS = (
    "loops",
    "conditions",
    "chained",
    "tries",
    "handlers",
    "exception_groups",
    "withs",
    "walrus",
    "comprehensions",
    "calls",
    "unpacking",
    "generators",
    "coroutines",
    "patterns",
    "returns",
    "scopes",
    "values",
)


class Sample(NamedTuple):
    name: str
    source: str


def samples(kind: str, python: Tuple[int, int]) -> List[Sample]:
    """The functions of a kind that the Python version `python` has; an empty list when it lacks the construct."""
    module = importlib.import_module(f"tests.cases.kinds.{kind}")
    if python < getattr(module, "SINCE", (3, 8)):
        return []
    return [Sample(f"{kind}-{number}", text) for number, text in enumerate(module.sources())]
