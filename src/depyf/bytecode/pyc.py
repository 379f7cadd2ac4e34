"""Read .pyc files of every supported version under every supported Python."""

from __future__ import annotations

import marshal
import struct
from types import CodeType
from typing import Optional, Tuple, cast

from depyf.bytecode.foreign_code import ForeignCode
from depyf.bytecode.marshal_reader import MarshalReader, PycError
from depyf.bytecode.versions import dialect_of, host_version

# The magic number of each release; those in between belong to pre-releases, whose bytecode differed
RELEASES = {
    3413: (3, 8),
    3425: (3, 9),
    3439: (3, 10),
    3495: (3, 11),
    3531: (3, 12),
    3571: (3, 13),
    3627: (3, 14),
    3666: (3, 15),
}
HEADER_SIZE = 16

__all__ = ["ForeignCode", "PycError", "read_pyc", "read_pyc_file"]


def read_pyc(data: bytes, filename: Optional[str] = None) -> Tuple[CodeType, Tuple[int, int]]:
    """The code object in the bytes of a .pyc file, and the Python version that wrote it.

    The code object is a real one if that is the running Python, else a `ForeignCode`, which has the same attributes.
    Raises PycError; its message names `filename`, if given, and the cause.
    """
    try:
        return _read(data)
    except PycError as error:
        if filename is None:
            raise
        raise PycError("%s: %s" % (filename, error)) from None


def read_pyc_file(path: str) -> Tuple[CodeType, Tuple[int, int]]:
    """The same for a file by name. Raises PycError, also if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise PycError("%s: %s" % (path, error.strerror or error)) from None
    return read_pyc(data, path)


def _read(data: bytes) -> Tuple[CodeType, Tuple[int, int]]:
    if len(data) < HEADER_SIZE:
        raise PycError("no .pyc file: it is only %d bytes long" % len(data))
    if data[2:4] != b"\r\n":
        raise PycError("no .pyc file: it does not begin with a magic number")
    magic: int = struct.unpack("<H", data[:2])[0]
    version = RELEASES.get(magic)
    if version is None:
        raise PycError("written by an unsupported Python (magic number %d); releases 3.8 to 3.15 are read" % magic)
    reader = MarshalReader(data, version, HEADER_SIZE)
    try:
        code = reader.read()
    except RecursionError:
        raise PycError("values are nested too deeply") from None
    if not isinstance(code, ForeignCode):
        raise PycError("it holds no code object")
    if version == host_version():
        _check_caches(code, version)
        # well-formed, as our own reader went through it, so the interpreter's may have it; what is in it may still be
        # odd enough for the interpreter to refuse, with a SystemError where its own compiler could not have made it
        try:
            return marshal.loads(data[HEADER_SIZE:]), version
        except (ValueError, TypeError, EOFError, OverflowError, SystemError) as error:
            raise PycError("the code object is invalid: %s" % " ".join(str(error).split())) from None
    return cast(CodeType, code), version


def _check_caches(outermost: ForeignCode, version: Tuple[int, int]) -> None:
    """Raises PycError if the caches of an instruction reach past the end of its code.

    CPython clears caches in a copy of the code without looking where that ends, and so would overwrite other memory.
    """
    dialect = dialect_of(version)
    todo = [outermost]
    while todo:
        code = todo.pop()
        todo.extend(constant for constant in code.co_consts if isinstance(constant, ForeignCode))
        unit, units = 0, len(code.co_code) // 2
        while unit < units:
            number = code.co_code[2 * unit]
            if number not in dialect.names:  # it may be that of a specialised instruction, which has caches, too
                raise PycError("byte %d of %s begins no instruction" % (2 * unit, code.co_name))
            unit += 1 + dialect.caches[number]
        if unit > units:
            raise PycError("the code of %s ends in the middle of an instruction" % code.co_name)
