"""Listening to torch.compile: hooks, records, guards. `Capture` builds a `depyf.session.Session`.

Importing this package does not import torch; `Capture.start()` does.
"""

from depyf.capture.capture import Capture, new_session

__all__ = ["Capture", "new_session"]
