"""Code objects of a sample of the standard library, for tests that need real ones."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import asyncio.tasks
import contextlib
import inspect
import json.decoder
import subprocess
import tempfile
import types
import typing
import unittest.mock

MODULES = (
    argparse,
    ast,
    asyncio.base_events,
    asyncio.tasks,
    contextlib,
    inspect,
    json.decoder,
    subprocess,
    tempfile,
    typing,
    unittest.mock,
)


def code_objects(modules=MODULES):
    for module in modules:
        with open(module.__file__, "rb") as file:
            pending = [compile(file.read(), module.__file__, "exec", dont_inherit=True)]
        while pending:
            code = pending.pop()
            yield code
            pending.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
