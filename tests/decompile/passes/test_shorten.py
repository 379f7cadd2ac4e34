"""Short names stand for one long one each."""

from __future__ import annotations

from depyf.decompile import passes
from tests.decompile.passes.rewriting import code_of, only, rewritten, statements

UUID = "09498b39_24d0_4d8a_acba_ef588c01e60f"


def shortened(source: str) -> passes.Scope:
    body = statements(source)
    scope = passes.Scope(code_of(source, True), body)
    passes.run(body, scope, only("shorten"))
    return scope


def test_a_graph_loses_its_uuid() -> None:
    assert (
        rewritten(f"return __compiled_fn_7_{UUID}(a)", only("shorten"), generated=True) == "return __compiled_fn_7(a)"
    )
    assert shortened(f"__compiled_fn_7_{UUID}(a)").aliases == {"__compiled_fn_7": f"__compiled_fn_7_{UUID}"}


def test_a_name_that_is_taken_stays() -> None:
    other = UUID.replace("0", "1")
    source = f"return __compiled_fn_7_{UUID}(__compiled_fn_7_{other}(a), __compiled_fn_7_{UUID})"
    expected = f"return __compiled_fn_7(__compiled_fn_7_{other}(a), __compiled_fn_7)"
    assert rewritten(source, only("shorten"), generated=True) == expected
    assert not shortened(f"__compiled_fn_7_{UUID}(__compiled_fn_7)").aliases


def test_temporaries_are_numbered_as_they_appear() -> None:
    source = "__temp_9 = a\n__temp_3 = __temp_9\nreturn __temp_3"
    assert rewritten(source, only("shorten")) == "__temp_0 = a\n__temp_1 = __temp_0\nreturn __temp_1"
