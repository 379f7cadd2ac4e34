"""Spelling f-strings and t-strings with the quotes that the target version allows.

Before 3.12 a replacement field may hold neither a backslash nor the quotes of the string around it. The quotes of
nested strings are chosen from the outside in; what cannot be written that way (3.11 compiles `"%s" % (x,)` to the same
bytecode as an f-string, so any expression can turn up) becomes a `%` format again, or calls of `format`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import List, Optional, Tuple, Union

from depyf.decompile import nodes as n
from depyf.decompile.literals import QUOTES, escape
from depyf.decompile.printing import Fragment, Prec
from depyf.decompile.spell_expressions import Context, FoldedPercent

_Positions = List[Tuple[int, Tuple[int, int]]]


class _NoQuotes(ValueError):
    """These quotes do not work out."""


def formatted(node: n.Expr, context: Context) -> Union[Fragment, n.Expr]:
    """The f- or t-string for `node`, or an expression with the same value when no f-string can be written."""
    if isinstance(node, n.FormattedValue):
        node = n.JoinedStr([node])
    found = _with_some_quotes(node, context)
    if found is not None:
        return found
    if not context.escapes:
        raise _NoQuotes("nested too deep for this version")
    assert isinstance(node, n.JoinedStr), "t-strings exist only where every quote works"
    # Strings over several lines inside an f-string come last: legal, but hard to read.
    return _percent_format(node) or _with_some_quotes(node, replace(context, line_breaks=True)) or _concatenation(node)


def _with_some_quotes(node: n.Expr, context: Context) -> Optional[Fragment]:
    for quote in _outer_quotes(node, context):
        try:
            return _Builder(quote, context).build(node)
        except _NoQuotes:
            continue
    return None


def _outer_quotes(node: n.Expr, context: Context) -> List[str]:
    """The quotes to try: one without need to escape first, long ones last."""
    text = "".join(part.value for part in getattr(node, "values", ()) if isinstance(part, n.Constant))
    return sorted(context.quotes, key=lambda quote: (len(quote), len(quote) == 1 and quote in text))


def _inner_quotes(quote: str, allowed: Tuple[str, ...]) -> Tuple[str, ...]:
    """The quotes that strings may use inside a field of a string quoted with `quote` (before 3.12)."""
    if len(quote) == 1:
        return tuple(each for each in allowed if quote not in each)
    return tuple(each for each in allowed if each != quote)


class _Builder:
    """Writes one f-string with a given quote."""

    def __init__(self, quote: str, context: Context) -> None:
        self._quote = quote
        self._outer = context
        inner = _inner_quotes(quote, context.quotes)
        if context.grammar.fstring_any_quotes:
            self._inner = replace(context, quotes=(inner or QUOTES))
        else:
            self._inner = replace(context, quotes=inner, escapes=False)
        self._pieces: List[str] = []
        self._positions: _Positions = []
        self._line, self._column = 1, 0

    def build(self, node: n.Expr) -> Fragment:
        """The whole literal."""
        template = isinstance(node, n.TemplateStr)
        self._add(("t" if template else "f") + self._quote)
        for part in node.values:  # type: ignore[attr-defined]
            self._part(part)
        self._add(self._quote)
        return Fragment("".join(self._pieces), tuple(self._positions))

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        newlines = text.count("\n")
        if newlines:
            self._line += newlines
            self._column = len(text) - text.rfind("\n") - 1
        else:
            self._column += len(text)

    def _part(self, part: n.Expr, in_spec: bool = False) -> None:
        if isinstance(part, n.Constant):
            self._text(part.value, in_spec)
        elif isinstance(part, n.JoinedStr):
            for inner in part.values:
                self._part(inner, in_spec)
        elif isinstance(part, n.FormattedValue):
            self._field(part)
        elif isinstance(part, n.Interpolation):
            self._interpolation(part)
        else:
            self._field(n.FormattedValue(part, "", None))

    def _text(self, value: str, in_spec: bool) -> None:
        text = escape(value, self._quote)
        if not self._outer.escapes and "\\" in text:
            raise _NoQuotes("the text needs a backslash")
        if in_spec and ("{" in text or "}" in text):
            raise _NoQuotes("braces in a format specification")
        self._add(text if in_spec else text.replace("{", "{{").replace("}", "}}"))

    def _field(self, part: n.FormattedValue) -> None:
        self._positions.append((id(part), (self._line, self._column)))
        self._add("{")
        text, positions = self._expression(part.value)
        if text.startswith("{"):
            self._add(" ")
        line, column = self._line, self._column
        for key, (inner_line, inner_column) in positions:
            place = (line + inner_line - 1, inner_column + (column if inner_line == 1 else 0))
            self._positions.append((key, place))
        self._add(text)
        self._suffix(part.conversion, part.format_spec)

    def _interpolation(self, part: n.Interpolation) -> None:
        # The text between the braces is a value of the program itself (Interpolation.expression): kept as it is.
        self._positions.append((id(part), (self._line, self._column)))
        self._add("{")
        self._add(part.text)
        self._suffix(part.conversion, part.format_spec)

    def _suffix(self, conversion: str, spec: Optional[n.Expr]) -> None:
        if conversion:
            self._add("!" + conversion)
        if spec is not None:
            self._add(":")
            self._part(spec, in_spec=True)
        self._add("}")

    def _expression(self, node: n.Expr) -> Tuple[str, _Positions]:
        from depyf.decompile.writer import write_expression  # expressions hold f-strings, f-strings expressions

        try:
            # A lambda or conditional could end in `x: spec`; tuples and yields are clearer in parentheses.
            text, positions = write_expression(node, self._inner, Prec.OR)
        except ValueError as error:
            raise _NoQuotes(str(error)) from error
        if not self._inner.escapes and ("\\" in text or "#" in text or self._quote in text):
            raise _NoQuotes("the expression needs what a field may not hold")
        if "\n" in text and not self._inner.escapes and len(self._quote) == 1:
            raise _NoQuotes("the expression spans lines")
        return text, list(positions.items())


def _percent_format(node: n.JoinedStr) -> Optional[n.Expr]:
    """`"..." % (...)`, which 3.11+ compiles like the f-string, if every field has the form that this gives."""
    template: List[str] = []
    values: List[n.Expr] = []
    for part in node.values:
        if isinstance(part, n.Constant):
            template.append(part.value.replace("%", "%%"))
            continue
        if not isinstance(part, n.FormattedValue) or part.conversion not in ("s", "r", "a"):
            return None
        spec = ""
        if part.format_spec is not None:
            if not isinstance(part.format_spec, n.Constant):
                return None
            match = re.fullmatch(r"(>?)(\d*)((?:\.\d*)?)", part.format_spec.value)
            if match is None or bool(match.group(1)) and not match.group(2):
                return None
            spec = ("" if match.group(1) or not match.group(2) else "-") + match.group(2) + match.group(3)
        template.append(f"%{spec}{part.conversion}")
        values.append(part.value)
    return FoldedPercent(n.Constant("".join(template)), "%", n.Tuple_(values)) if values else None


_DIRECTIVE = re.compile(r"%(?:%|-?\d{0,2}(?:\.\d{0,2})?[sra])")


def is_folded(template: str, count: int) -> bool:
    """Whether the compiler turns `template % (...)`, with `count` elements, into an f-string (3.11+)."""
    directives: List[str] = _DIRECTIVE.findall(template)
    if "%" in _DIRECTIVE.sub("", template):
        return False
    return sum(directive != "%%" for directive in directives) == count


def _concatenation(node: n.JoinedStr) -> n.Expr:
    """The same string from `format` calls: other bytecode, the same value."""
    parts = [part if isinstance(part, n.Constant) else _format_call(part) for part in node.values]
    return n.Call(n.Attribute(n.Constant(""), "join"), [n.Tuple_(parts)])


def _format_call(part: n.Expr) -> n.Expr:
    if not isinstance(part, n.FormattedValue):
        return part
    value = part.value
    if part.conversion:
        value = n.Call(n.Name({"s": "str", "r": "repr", "a": "ascii"}[part.conversion]), [value])
    spec = part.format_spec
    return n.Call(n.Name("format"), [value] if spec is None else [value, spec])
