"""Match statements: `match_patterns` before the flow graph is built, `match_statements` after structuring."""

from .rewrite import match_patterns
from .statements import match_statements

__all__ = ["match_patterns", "match_statements"]
