"""torch's log of bytecode: what `TORCH_LOGS="+bytecode"` turns on.

Names used, all there from torch 2.2 to 2.14: `torch._logging.getArtifactLogger` and the artifact "bytecode" of the
module `torch._dynamo.convert_frame`. Without them nothing is logged; nothing else is lost.
"""

from __future__ import annotations

import logging
from typing import Optional

_MODULE = "torch._dynamo.convert_frame"
_ARTIFACT = "bytecode"


def bytecode_log() -> Optional[logging.Logger]:
    """The logger to which torch writes bytecode, if that is turned on now; else None."""
    try:
        from torch._logging import getArtifactLogger
    except ImportError:
        return None
    logger: logging.Logger = getArtifactLogger(_MODULE, _ARTIFACT)
    return logger if logger.isEnabledFor(logging.DEBUG) else None
