"""Read marshal data of 3.8 to 3.15 under any Python, without trusting it.

The interpreter's own `marshal` reads only its own version's code objects, and may crash on malformed data. Sizes are
checked against what is left of the data before anything is allocated, depth is limited, and references may only name
finished objects.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Tuple

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.foreign_code import ForeignCode
from depyf.bytecode.versions import dialect_of

REFERENCE = 0x80
MOST_DEPTH = 200
DIGIT_BITS = 15
# kinds of fast locals, from 3.11 on
LOCAL, CELL, FREE = 0x20, 0x40, 0x80


class PycError(BytecodeError):
    """The data is no valid .pyc of a supported Python. The message says why, in one line."""


class _Unfinished:
    """Stands in the table of references for an object that is still being read."""


class _End:
    """What ends a dict."""


class MarshalReader:
    """Reads one value from `data`, written by CPython `version`."""

    def __init__(self, data: bytes, version: Tuple[int, int], start: int = 0) -> None:
        self.data = data
        self.version = version
        self.at = start
        self.depth = 0
        self.references: List[Any] = []
        self.readers: Dict[str, Callable[[], Any]] = {
            "i": self._int,
            "l": self._long,
            "f": self._text_float,
            "g": self._float,
            "x": self._text_complex,
            "y": self._complex,
            "s": self._bytes,
            "t": self._text,
            "u": self._text,
            "a": self._ascii,
            "A": self._ascii,
            "z": self._short_ascii,
            "Z": self._short_ascii,
            "(": self._tuple,
            ")": self._small_tuple,
            "[": self._list,
            "<": self._set,
            ">": self._frozenset,
            "{": self._dict,
            "}": self._dict,
            "c": self._code,
            ":": self._slice,
            "I": self._long_int,
        }
        self.constants = {"N": None, "F": False, "T": True, ".": ..., "S": StopIteration}

    def read(self) -> Any:
        """The next value. Raises PycError."""
        start = self.at
        tag = self._take(1)[0]
        kind = chr(tag & ~REFERENCE)
        if kind in self.constants:
            return self.constants[kind]
        if kind == "0":
            return _End
        if kind == "r":
            return self._referred(start)
        reader = self.readers.get(kind)
        if reader is None:
            raise self._error(start, "unknown type code %d" % tag)
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self._error(start, "values are nested too deeply")
        place = -1
        if tag & REFERENCE:
            place = len(self.references)
            self.references.append(_Unfinished)
        value = reader()
        if place >= 0:
            self.references[place] = value
        self.depth -= 1
        return value

    def _error(self, at: int, what: str) -> PycError:
        return PycError("%s at byte %d" % (what, at))

    def _take(self, count: int) -> bytes:
        if count < 0 or count > len(self.data) - self.at:
            raise self._error(self.at, "the data ends too early: %d more bytes wanted" % count)
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def _value(self) -> Any:
        """A value inside of another: not the mark that ends a dict."""
        at = self.at
        value = self.read()
        if value is _End:
            raise self._error(at, "a value is missing")
        return value

    def _count(self) -> int:
        """A number of items, each of which takes at least a byte."""
        at = self.at
        count = self._int()
        if count < 0 or count > len(self.data) - self.at:
            raise self._error(at, "a size of %d is more than there is data" % count)
        return count

    def _referred(self, start: int) -> Any:
        index = self._int()
        if not 0 <= index < len(self.references):
            raise self._error(start, "reference %d to nothing" % index)
        value = self.references[index]
        if value is _Unfinished:
            raise self._error(start, "a value contains itself")
        return value

    def _int(self) -> int:
        number: int = struct.unpack("<i", self._take(4))[0]
        return number

    def _long_int(self) -> int:
        number: int = struct.unpack("<q", self._take(8))[0]
        return number

    def _long(self) -> int:
        at = self.at
        size = self._int()
        digits = struct.unpack("<%dH" % abs(size), self._take(2 * abs(size)))
        if any(digit >> DIGIT_BITS for digit in digits):
            raise self._error(at, "a digit of an integer is too large")
        bits = "".join(format(digit, "015b") for digit in reversed(digits))
        value = int(bits or "0", 2)
        return -value if size < 0 else value

    def _text_float(self) -> float:
        at = self.at
        text = self._take(self._take(1)[0])
        try:
            return float(text)
        except ValueError:
            raise self._error(at, "a float is malformed") from None

    def _float(self) -> float:
        number: float = struct.unpack("<d", self._take(8))[0]
        return number

    def _text_complex(self) -> complex:
        real = self._text_float()
        return complex(real, self._text_float())

    def _complex(self) -> complex:
        return complex(*struct.unpack("<dd", self._take(16)))

    def _bytes(self) -> bytes:
        return self._take(self._count())

    def _text(self) -> str:
        at = self.at
        try:
            return self._bytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._error(at, "a string is no valid UTF-8") from None

    def _ascii(self) -> str:
        return self._bytes().decode("latin-1")

    def _short_ascii(self) -> str:
        return self._take(self._take(1)[0]).decode("latin-1")

    def _items(self, count: int) -> List[Any]:
        return [self._value() for _ in range(count)]

    def _tuple(self) -> Tuple[Any, ...]:
        return tuple(self._items(self._count()))

    def _small_tuple(self) -> Tuple[Any, ...]:
        return tuple(self._items(self._take(1)[0]))

    def _list(self) -> List[Any]:
        return self._items(self._count())

    def _set(self) -> Any:
        return self._hashed(set)

    def _frozenset(self) -> Any:
        return self._hashed(frozenset)

    def _hashed(self, kind: Callable[[List[Any]], Any]) -> Any:
        at = self.at
        try:
            return kind(self._items(self._count()))
        except TypeError:
            raise self._error(at, "a set holds something unhashable") from None

    def _dict(self) -> Dict[Any, Any]:
        at = self.at
        result: Dict[Any, Any] = {}
        while True:
            key = self.read()
            if key is _End:
                return result
            try:
                result[key] = self._value()
            except TypeError:
                raise self._error(at, "a dict has an unhashable key") from None

    def _slice(self) -> slice:
        return slice(*self._items(3))

    def _typed(self, what: str, kind: type) -> Any:
        at = self.at
        value = self._value()
        if not isinstance(value, kind):
            raise self._error(at, "%s of a code object is a %s" % (what, type(value).__name__))
        return value

    def _names(self, what: str) -> Tuple[str, ...]:
        at = self.at
        names = self._typed(what, tuple)
        if not all(isinstance(name, str) for name in names):
            raise self._error(at, "%s of a code object hold something that is no name" % what)
        return tuple(names)

    def _code(self) -> ForeignCode:
        fields: Dict[str, Any] = {"version": self.version}
        dialect = dialect_of(self.version)
        shared_locals = dialect.shared_locals
        fields["co_argcount"] = self._int()
        fields["co_posonlyargcount"] = self._int()
        fields["co_kwonlyargcount"] = self._int()
        if not shared_locals:
            self._int()  # the number of locals, which their names repeat
        fields["co_stacksize"] = self._int()
        fields["co_flags"] = self._int()
        fields["co_code"] = self._typed("the bytecode", bytes)
        fields["co_consts"] = self._typed("the constants", tuple)
        fields["co_names"] = self._names("the names")
        if shared_locals:
            self._shared_locals(fields)
        else:
            fields["co_varnames"] = self._names("the locals")
            fields["co_freevars"] = self._names("the free variables")
            fields["co_cellvars"] = self._names("the cells")
        fields["co_filename"] = self._typed("the file name", str)
        fields["co_name"] = self._typed("the name", str)
        fields["co_qualname"] = self._typed("the qualified name", str) if shared_locals else fields["co_name"]
        fields["co_firstlineno"] = self._int()
        table = "co_lnotab" if dialect.line_format == "lnotab" else "co_linetable"
        fields[table] = self._typed("the line table", bytes)
        if shared_locals:
            fields["co_exceptiontable"] = self._typed("the exception table", bytes)
        arguments = fields["co_argcount"], fields["co_posonlyargcount"], fields["co_kwonlyargcount"]
        if min(arguments) < 0 or arguments[1] > arguments[0] or fields["co_stacksize"] < 0:
            raise self._error(self.at, "a code object has sizes that make no sense")
        if arguments[0] + arguments[2] > len(fields["co_varnames"]):
            raise self._error(self.at, "a code object has more arguments than locals")
        return ForeignCode(**fields)

    def _shared_locals(self, fields: Dict[str, Any]) -> None:
        at = self.at
        names = self._names("the locals")
        kinds = self._typed("the kinds of locals", bytes)
        if len(names) != len(kinds):
            raise self._error(at, "a code object has %d locals and %d kinds" % (len(names), len(kinds)))
        pairs = list(zip(names, kinds))
        fields["co_varnames"] = tuple(name for name, kind in pairs if kind & LOCAL)
        fields["co_cellvars"] = tuple(name for name, kind in pairs if kind & CELL)
        fields["co_freevars"] = tuple(name for name, kind in pairs if kind & FREE)
