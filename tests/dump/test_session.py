"""`session.json` is read back as it was, without torch, and bad files give a clear error."""

from __future__ import annotations

import json

import pytest

from depyf.decompile.result import SourceMap
from depyf.session import SCHEMA, SessionFormatError, load, save
from tests.dump.test_dump import a_session


def test_round_trip() -> None:
    session = a_session()
    entry = session.functions[0].entries[0]
    entry.source_map = SourceMap({0: (1, 2), 8: (3, 4)}, {2: SourceMap({0: (5, 0)})})
    loaded = load(save(session))
    assert loaded == session


def test_fields_of_later_versions_are_ignored() -> None:
    data = json.loads(save(a_session()))
    data["session"]["new_field"] = 1
    data["session"]["functions"][0]["entries"][0]["other"] = {}
    assert load(json.dumps(data)) == a_session()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "no schema"),
        ('{"schema": %d}' % SCHEMA, "no schema"),
        ('{"schema": 999, "session": {}}', "schema 999"),
        ('{"schema": %d, "session": {}}' % SCHEMA, "damaged"),
        ('{"schema": %d, "session": {"id": "", "started": "", "functions": [3]}}' % SCHEMA, "damaged"),
    ],
)
def test_bad_files(text: str, reason: str) -> None:
    with pytest.raises(SessionFormatError, match=reason):
        load(text)
