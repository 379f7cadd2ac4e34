"""Code objects as files: the bytecode in words, and a .pyc that other tools can read."""

from __future__ import annotations

import dis
import importlib.util
import io
import marshal
from types import CodeType
from typing import Iterator, Tuple, Union

from depyf.dump import names
from depyf.dump.text import comment
from depyf.session.model import CacheEntry, Function

_FACTS = ("co_argcount", "co_varnames", "co_names", "co_freevars", "co_cellvars", "co_flags", "co_stacksize")


def write_code_files(entry: CacheEntry, function: Function) -> Iterator[Tuple[str, Union[str, bytes]]]:
    """(file name, content) of the code objects before and after, as far as they are at hand."""
    for which, code in (("original", entry.original_code), ("transformed", entry.transformed_code)):
        if code is None:
            continue
        stem = names.bytecode(entry, function, which)
        yield stem + ".py", _listing(code, which, function)
        packed = _packed(code)
        if packed is not None:
            yield stem + ".pyc", packed


def _listing(code: CodeType, which: str, function: Function) -> str:
    out = io.StringIO()
    dis.dis(code, file=out)
    head = "%s bytecode of %s (%s:%d)" % (which, function.qualname, function.filename, function.line)
    facts = "\n".join(
        "%s: %r" % (field, getattr(code, field))
        for field in (
            "co_argcount",
            "co_varnames",
            "co_names",
            "co_freevars",
            "co_cellvars",
            "co_flags",
            "co_stacksize",
        )
    )
    return comment(head) + comment(facts) + "#\n" + comment(out.getvalue())


def _packed(code: CodeType) -> bytes | None:
    """A .pyc of the code; None where a constant can't be stored (Dynamo puts live objects among them)."""
    try:
        return importlib.util.MAGIC_NUMBER + b"\0" * 12 + marshal.dumps(code)
    except ValueError:
        return None
