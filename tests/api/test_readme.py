"""The README shows what the example really gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@pytest.mark.timeout(300)
def test_the_readme_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "readme", raising=False)
    import readme

    text = readme.README.read_text(encoding="utf-8")
    for name, part in readme.parts().items():
        assert part in text, f"the part {name!r} is out of date: run tools/readme.py"
