"""`session.json`: the model as JSON, and back. No torch is needed to load it."""

from __future__ import annotations

import dataclasses
import json
import typing
from typing import Any, Dict

from depyf.decompile.result import SourceMap
from depyf.session.model import Session

SCHEMA = 1


class SessionFormatError(ValueError):
    """The file is no session that this version can read. The message says why."""


def save(session: Session) -> str:
    """The text of `session.json`."""
    return json.dumps({"schema": SCHEMA, "session": _plain(session)}, indent=1, default=str) + "\n"


def load(text: str) -> Session:
    """The session in this text; live fields are None. Raises SessionFormatError."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SessionFormatError("not JSON: %s" % error) from None
    if not isinstance(data, dict) or "schema" not in data or not isinstance(data.get("session"), dict):
        raise SessionFormatError("not a depyf session (no schema number)")
    if data["schema"] != SCHEMA:
        raise SessionFormatError("schema %r; this depyf reads schema %d" % (data["schema"], SCHEMA))
    try:
        return typing.cast(Session, _build(Session, data["session"]))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SessionFormatError("damaged session: %s" % error) from error


def _plain(value: Any) -> Any:
    if isinstance(value, SourceMap):
        return {
            "offsets": [[offset, line, column] for offset, (line, column) in sorted(value.offsets.items())],
            "nested": {str(index): _plain(inner) for index, inner in value.nested.items()},
        }
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value) if not f.metadata.get("live")}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value != value:
        return None  # JSON has no nan
    return value


def _build(kind: Any, value: Any) -> Any:
    """An object of the annotated type `kind` from its plain form."""
    if value is None:
        return None
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        return _build(next(a for a in arguments if a is not type(None)), value)
    if origin is list:
        return [_build(arguments[0], v) for v in value]
    if origin is dict:
        return {k: _build(arguments[1], v) for k, v in value.items()}
    if kind is SourceMap:
        return _build_map(value)
    if dataclasses.is_dataclass(kind):
        types = typing.get_type_hints(kind)
        known = {f.name for f in dataclasses.fields(kind) if not f.metadata.get("live")}
        return typing.cast(Any, kind)(**{k: _build(types[k], v) for k, v in value.items() if k in known})
    return value


def _build_map(value: Dict[str, Any]) -> SourceMap:
    return SourceMap(
        offsets={offset: (line, column) for offset, line, column in value["offsets"]},
        nested={int(index): _build_map(inner) for index, inner in value["nested"].items()},
    )
