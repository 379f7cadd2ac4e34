"""Short names: globals of Dynamo's without their UUID, and temporaries numbered as they appear.

Before: `__compiled_fn_1_09498b39_24d0_4d8a_acba_ef588c01e60f(a, b)`. After: `__compiled_fn_1(a, b)`.

Requires: nothing. Guarantees: one short name stands for one long one, and is used for nothing else; the pairs are in
`Scope.aliases`, and verification reads the short name as the long one.

Sound because: the text stands for bytecode that looks up the long name; the header of the text says so.
"""

from __future__ import annotations

import re
from typing import Dict, List

from .. import nodes as n
from ..tree import walk
from .scope import Scope

_LONG = re.compile(r"(__compiled_fn_\d+)(_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12})")


def shorten_names(body: List[n.Stmt], scope: Scope) -> List[n.Stmt]:
    """The statements with short names."""
    numbers: Dict[str, str] = {}
    for node in walk(body):
        if not isinstance(node, n.Name):
            continue
        if scope.is_temporary(node.id) and node.id.startswith("__temp_"):
            node.id = numbers.setdefault(node.id, "__temp_%d" % len(numbers))
        else:
            match = _LONG.fullmatch(node.id)
            if match and not getattr(node, "local", False):
                node.id = scope.alias(match.group(1), node.id)
    return body
