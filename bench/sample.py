"""The fixed sample of the standard library: which modules, and which of their code objects count as plain functions.

Nothing is imported: each module's source is compiled, so that running the sample has no side effects. This file
runs under the peer's Python too and so uses nothing but the standard library.
"""

from __future__ import annotations

import os
import sysconfig
from types import CodeType
from typing import Iterator, List, NamedTuple

MODULES = tuple(
    """
    abc argparse asyncio.base_events asyncio.futures asyncio.locks asyncio.queues asyncio.streams
    asyncio.subprocess asyncio.taskgroups asyncio.tasks asyncio.timeouts base64 bisect bz2 cgi chunk cmd code
    codecs codeop colorsys compileall concurrent.futures._base concurrent.futures.process
    concurrent.futures.thread configparser contextlib copy copyreg cProfile csv ctypes.util dataclasses dbm.dumb
    difflib dis email.generator email.utils enum filecmp fileinput fnmatch fractions ftplib functools
    genericpath getopt getpass gettext glob graphlib gzip hashlib heapq hmac html.parser http.client
    http.cookies http.server imghdr inspect json.decoder json.encoder linecache locale logging.config lzma
    mailcap mimetypes modulefinder multiprocessing.shared_memory netrc ntpath os pickle pickletools pkgutil
    platform posixpath pprint profile py_compile queue quopri random reprlib rlcompleter runpy sched secrets
    selectors shelve shlex shutil site smtplib sndhdr socket statistics string stringprep subprocess symtable
    sysconfig tabnanny telnetlib tempfile textwrap tokenize trace traceback types urllib.parse
    urllib.robotparser uuid venv warnings weakref wsgiref.simple_server zipapp
    """.split()
)


class Function(NamedTuple):
    """One function of the sample. `path` is its qualified name inside the module."""

    module: str
    path: str
    code: CodeType

    @property
    def key(self) -> str:
        return f"{self.module}:{self.path}:{self.code.co_firstlineno}"


def source_of(module: str) -> str:
    """The path of a standard library module's source. Raises FileNotFoundError when this Python has no such module."""
    stem = os.path.join(sysconfig.get_paths()["stdlib"], *module.split("."))
    for path in (stem + ".py", os.path.join(stem, "__init__.py")):
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"no source of the standard library module {module!r} under this Python")


def functions_of(module: str) -> List[Function]:
    """The plain functions of `module`: `def`s at its top level or in a class there, in order of definition.

    Functions nested in functions are not listed: they are part of the one around them.
    """
    path = source_of(module)
    with open(path, "rb") as file:
        top = compile(file.read(), path, "exec", dont_inherit=True)
    return [Function(module, name, code) for name, code in _walk(top, "")]


def _walk(code: CodeType, prefix: str) -> Iterator[tuple[str, CodeType]]:
    optimised = 0x1  # CO_OPTIMIZED: a function's body, not a class's
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and not constant.co_name.startswith("<"):
            name = prefix + constant.co_name
            if constant.co_flags & optimised:
                yield name, constant
            else:
                yield from _walk(constant, name + ".")
