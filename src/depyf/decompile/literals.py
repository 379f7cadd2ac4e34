"""Spelling constants so that compiling the text gives exactly the same constant."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from types import CodeType, ModuleType
from typing import Any, Container, Optional, Tuple

from depyf.decompile.printing import Prec

_DECIMAL_DIGITS_SAFE = 4000  # CPython refuses longer decimal literals (by default from 4,301 digits on)
_INFINITY = "1e999"

QUOTES = ("'", '"', "'''", '"""')


def literal(value: Any) -> Optional[Tuple[str, Prec]]:
    """The literal for `value` and how tightly it binds, or None if Python has no literal that gives this constant.

    Types are compared exactly: an instance of a subclass of `int` or `str` has no literal.
    """
    kind = type(value)
    if value is None or value is Ellipsis or kind is bool:
        return ("..." if value is Ellipsis else repr(value)), Prec.ATOM
    if kind is int:
        return _integer(value)
    if kind is float:
        return _real(value)
    if kind is complex:
        return _complex(value)
    if kind is str:
        return string_literal(value), Prec.ATOM
    if kind is bytes:
        return repr(value), Prec.ATOM
    if kind is tuple:
        return _tuple(value)
    return None


def has_literal(value: Any) -> bool:
    """Whether `literal(value)` gives a text, without building it for big constants."""
    if type(value) is tuple:
        return all(has_literal(element) for element in value)
    return value is None or value is Ellipsis or type(value) in (bool, int, float, complex, str, bytes)


def set_literal(value: Any) -> Optional[str]:
    """A set display for a frozenset that stands where the compiler turns a display into a frozenset constant."""
    if type(value) is not frozenset or not value or not has_literal(tuple(value)):
        return None
    return "{" + ", ".join(_element(element) for element in value) + "}"


def _element(value: Any) -> str:
    spelled = literal(value)
    assert spelled is not None, "callers check has_literal first"
    return spelled[0]


def _tuple(value: Tuple[Any, ...]) -> Optional[Tuple[str, Prec]]:
    if not has_literal(value):
        return None
    if len(value) == 1:
        return f"({_element(value[0])},)", Prec.ATOM
    return "(" + ", ".join(_element(element) for element in value) + ")", Prec.ATOM


def _integer(value: int) -> Tuple[str, Prec]:
    # Hexadecimal text has no length limit and is linear to read and write.
    text = hex(value) if value.bit_length() > _DECIMAL_DIGITS_SAFE * 3 else repr(value)
    return text, (Prec.FACTOR if value < 0 else Prec.ATOM)


def _real(value: float) -> Tuple[str, Prec]:
    if math.isnan(value):
        return _nan(value), Prec.ATOM
    text = _magnitude(value)
    return (f"-{text}", Prec.FACTOR) if _negative(value) else (text, Prec.ATOM)


def _negative(value: float) -> bool:
    return math.copysign(1.0, value) < 0


def _magnitude(value: float) -> str:
    return _INFINITY if math.isinf(value) else repr(abs(value))


def _nan(value: float) -> str:
    # The compiler folds inf - inf. Its sign is the processor's choice, so it is compared with what this one gives.
    infinity = float("inf")
    text = f"({_INFINITY} - {_INFINITY})"
    return text if _negative(infinity - infinity) == _negative(value) else f"(-{text})"


def _complex(value: complex) -> Optional[Tuple[str, Prec]]:
    """A sum that folds to `value` on every version: 3.14 changed what real +- complex gives for zeros."""
    real, imag = value.real, value.imag
    if math.isnan(real) or math.isnan(imag):
        if math.isnan(imag):
            return None
        return f"({_nan(real)} {'-' if _negative(imag) else '+'} {_imaginary(imag)})", Prec.ATOM
    if real == 0.0:
        if not _negative(real) and not _negative(imag):
            return _imaginary(imag), Prec.ATOM
        if _negative(real) and _negative(imag):
            return f"-{_imaginary(imag)}", Prec.FACTOR
        if imag == 0.0:
            return ("(-0j * 1j)" if _negative(imag) else "(-(-0j * 1j))"), Prec.ATOM
        if _negative(real):
            return f"(-(0.0 - {_imaginary(imag)}))", Prec.ATOM
        return f"(0.0 - {_imaginary(imag)})", Prec.ATOM
    sign = "-" if _negative(real) else ""
    if not _negative(imag):
        return f"({sign}{_magnitude(real)} + {_imaginary(imag)})", Prec.ATOM
    if imag != 0.0:
        return f"({sign}{_magnitude(real)} - {_imaginary(imag)})", Prec.ATOM
    opposite = "" if sign else "-"
    return f"(-({opposite}{_magnitude(real)} + 0j))", Prec.ATOM


def _imaginary(imag: float) -> str:
    text = _magnitude(imag)
    return (text[:-2] if text.endswith(".0") else text) + "j"


# ---------------------------------------------------------------- strings


def string_literal(
    value: str, allowed: Tuple[str, ...] = QUOTES, escapes: bool = True, line_breaks: bool = False
) -> str:
    """A string literal for `value`, quoted with one of `allowed`.

    With `escapes` false (inside a replacement field before 3.12) no backslash may be used; `line_breaks` then tells
    whether the literal may span lines. Raises ValueError when that is impossible.
    """
    if escapes:
        single = [quote for quote in allowed if len(quote) == 1]
        for quote in single:
            if quote not in value:
                return quote + escape(value, quote) + quote
        for quote in single or allowed:
            return quote + escape(value, quote) + quote
        raise ValueError("no quote left")
    for quote in allowed:
        spelled = escape(value, quote, keep_newlines=line_breaks and len(quote) == 3)
        if spelled == value and not value.endswith(quote[0]):
            return quote + value + quote
    raise ValueError("the string needs a backslash")


def escape(value: str, quote: str, keep_newlines: bool = False) -> str:
    """`value` as it is written between `quote`s: control characters, bidirectional marks, surrogates escaped."""
    pieces = []
    for index, char in enumerate(value):
        if char == "\\":
            pieces.append("\\\\")
        elif char == "\n" and keep_newlines:
            pieces.append(char)
        elif char == quote[0] and (len(quote) == 1 or _ends_triple(value, index, quote)):
            pieces.append("\\" + char)
        elif char.isprintable():
            pieces.append(char)
        else:
            pieces.append(_ESCAPES.get(char) or _numeric(char))
    return "".join(pieces)


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _numeric(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _ends_triple(value: str, index: int, quote: str) -> bool:
    """Whether the quote character at `index` would end a triple-quoted text, or touch its end."""
    return value.startswith(quote, index) or set(value[index:]) == {quote[0]}


def docstring_literal(value: str, indent: str, dedented: bool) -> str:
    """A triple-quoted literal for a docstring, over several lines where the text has them.

    With `dedented` the compiler removes the common indentation again, so it is added when that is sure to give
    `value` back; otherwise the lines are written exactly as they are.
    """
    lines = value.split("\n")
    plain = all(char.isprintable() or char == "\n" for char in value)
    if not plain or len(lines) == 1:
        return '"""' + escape(value, '"""') + '"""'
    if dedented:
        rest = [line for line in lines[1:] if line.strip()]
        margin = min((len(line) - len(line.lstrip(" ")) for line in rest), default=None)
        if margin == 0 and not lines[0].startswith((" ", "\t")) and all(_steady(line) for line in lines[1:-1]):
            last = lines[-1]
            if last.strip() or not last:
                body = [lines[0], *(indent + line if line else line for line in lines[1:-1])]
                body.append(indent + last)
                return '"""' + escape("\n".join(body), '"""', keep_newlines=True) + '"""'
        return '"""' + escape(value, '"""') + '"""'
    return '"""' + escape(value, '"""', keep_newlines=True) + '"""'


def _steady(line: str) -> bool:
    """Whether removing the indentation that is added to `line` gives `line` back: no blank line of mere blanks."""
    return bool(line.strip()) or not line


# ---------------------------------------------------------------- names for what has no literal


def name_for(value: Any, taken: Container[str]) -> str:
    """A readable name, not in `taken`, for a constant that has no literal."""
    if isinstance(value, ModuleType):
        base = value.__name__
    elif isinstance(value, CodeType):
        base = f"code_{value.co_name}"
    elif isinstance(value, (type, type(name_for), type(len))):
        base = getattr(value, "__qualname__", None) or value.__name__
    else:
        base = type(value).__name__
        text = str(value) if type(value).__module__ == "torch" else ""
        base = text.replace("torch.", f"{base}_") if re.fullmatch(r"torch\.\w+", text) else base
    base = re.sub(r"\W+", "_", base, flags=re.ASCII).strip("_") or "constant"
    if base[0].isdigit():
        base = f"constant_{base}"
    if keyword.iskeyword(base):
        base += "_"
    name, number = base, 1
    while name in taken or getattr(builtins, name, value) is not value:  # `list` must not be some list
        number += 1
        name = f"{base}_{number}"
    return name
