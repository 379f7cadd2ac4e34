"""Capturing real compilations: what is seen, and that nothing changes for the program that is watched."""

from __future__ import annotations

import json
import logging
from types import CodeType
from typing import Any, Callable, Iterator, List, Optional, Tuple

import pytest

torch = pytest.importorskip("torch")

from depyf.session import load, save  # noqa: E402
from tests.capture.support import capturing  # noqa: E402

pytestmark = pytest.mark.torch
trace_logger = logging.getLogger("torch.__trace")


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def branching(a: Any, b: Any) -> Any:
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def train(function: Callable[..., Any], sizes: Tuple[int, ...] = (10, 10, 12, 14)) -> List[Any]:
    """Values and gradients of a few steps."""
    torch.manual_seed(0)
    results = []
    for size in sizes:
        a = torch.randn(size, requires_grad=True)
        for sign in (1, -1):
            out = function(a, torch.rand(size) * sign)
            out.sum().backward()
            results += [out.detach(), a.grad.clone()]
    return results


def compilations_of(run: Callable[[], Any]) -> Tuple[Any, List[str]]:
    """The result, and the name of the function of each compilation."""
    torch._dynamo.reset()
    names: List[str] = []
    handle = torch._dynamo.convert_frame.register_bytecode_hook(lambda old, new: names.append(old.co_name))
    try:
        return run(), names
    finally:
        handle.remove()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_values_gradients_and_recompilations_stay(backend: str) -> None:
    compiled = torch.compile(branching, backend=backend)
    plain, plain_names = compilations_of(lambda: train(compiled))
    with capturing():
        watched, watched_names = compilations_of(lambda: train(compiled))
    after, after_names = compilations_of(lambda: train(compiled))
    assert len(plain_names) > 3
    assert plain_names == watched_names == after_names
    for one, two, three in zip(plain, watched, after):
        assert torch.equal(one, two)
        assert torch.equal(one, three)


def state_of_torch() -> Any:
    import torch._functorch.config
    import torch._inductor.config

    return (
        list(trace_logger.handlers),
        list(torch._dynamo.convert_frame._bytecode_hooks),
        torch._inductor.config.get_config_copy(),
        torch._functorch.config.get_config_copy(),
        torch._dynamo.config.get_config_copy(),
        torch._dynamo.utils.lazy_format_graph_code,
        torch.fx._utils.lazy_format_graph_code,
        logging.getLogger("torch").level,
        trace_logger.level,
    )


def test_torch_is_left_as_it_was() -> None:
    before = state_of_torch()
    with capturing():
        train(torch.compile(branching, backend="eager"))
        assert state_of_torch() != before
    assert state_of_torch() == before
    with pytest.raises(ValueError), capturing():
        raise ValueError
    assert state_of_torch() == before


def test_what_a_training_step_leaves() -> None:
    with capturing() as capture:
        train(torch.compile(branching, backend="aot_eager"))
    session = capture.session
    assert not session.failures
    (function,) = [f for f in session.functions if f.resume_of is None]
    assert function.name == "branching"
    assert function.source is not None and function.source.startswith("def branching(a: Any, b: Any) -> Any:")
    resumed = session.resumes(function.key)
    assert len(resumed) >= 2
    for resume in resumed:
        (name,) = resume.global_names
        assert any(name in entry.calls for entry in function.entries)
    for entry in session.entries():
        assert entry.in_cache
        assert entry.guards and entry.guards_from == "cache"
        (graph,) = entry.graphs
        compilation = session.compilations[entry.compile_id]
        assert compilation.outcome == "compiled"
        assert compilation.graphs == [graph]
        assert compilation.phases and compilation.metrics["co_name"] == session.function(entry.function).name
        stages = [g.stage for g in session.graphs if g.name == graph]
        assert stages[0] == "Captured_Graph"
        assert {"Joint_graph", "Forward_graph", "Backward_graph"} <= set(stages)
    tried = [e.position for e in function.entries]
    assert sorted(p for p in tried if p is not None) == list(range(len(tried)))
    assert {b.reason for b in session.graph_breaks} == {"Data-dependent branching"}
    assert all(b.stack[-1].source == "if b.sum() < 0:" for b in session.graph_breaks)
    (first, *_) = session.recompiles
    assert "size mismatch" in first.reasons[0]


def test_a_session_survives_saving() -> None:
    with capturing() as capture:
        train(torch.compile(branching, backend="eager"), (3, 4))
    text = save(capture.session)
    loaded = load(text)
    assert save(loaded) == text
    assert [e.decompiled for e in loaded.entries()] == [e.decompiled for e in capture.session.entries()]
    assert all(e.transformed_code is None for e in loaded.entries())
    json.loads(text)


def test_the_program_may_raise() -> None:
    def failing(x: Any) -> Any:
        y = x + 1
        if y.sum() > 0:
            raise ValueError("from the program")
        return y

    with pytest.raises(ValueError, match="from the program"), capturing() as capture:
        torch.compile(failing, backend="eager")(torch.ones(2))
    assert [f.name for f in capture.session.functions][0] == "failing"
    assert not [f for f in capture.session.failures if f.where != "torch"]


def test_a_failing_compilation_is_recorded_with_its_cause() -> None:
    def backend(module: Any, inputs: Any) -> Any:
        raise RuntimeError("this backend never works")

    with pytest.raises(Exception, match="this backend never works") as caught, capturing() as capture:
        torch.compile(branching, backend=backend)(torch.ones(2), torch.ones(2))
    assert type(caught.value).__module__.startswith("torch")
    assert "failed" in {c.outcome for c in capture.session.compilations.values()}
    assert any("this backend never works" in f.message for f in capture.session.failures)


@pytest.mark.parametrize("broken", ["decompile", "on_transformed", "on_graph", "on_function"])
def test_our_own_faults_stay_ours(broken: str) -> None:
    def fail(*args: Any) -> Any:
        raise ZeroDivisionError("our fault")

    with capturing(**{broken: fail}) as capture:
        result = train(torch.compile(branching, backend="eager"), (5,))
    assert torch.equal(result[0], train(branching, (5,))[0])
    failures = [f for f in capture.session.failures if "our fault" in f.message]
    assert failures and all(f.traceback and "ZeroDivisionError" in f.traceback for f in failures)


def test_keyboard_interrupt_is_not_ours_to_catch() -> None:
    def interrupt(graph: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), capturing(on_graph=interrupt):
        torch.compile(branching, backend="eager")(torch.ones(2), torch.ones(2))


def renamed(code: CodeType) -> CodeType:
    return code.replace(co_filename="elsewhere.py")


def test_returned_code_runs_if_it_fits() -> None:
    ran: List[CodeType] = []

    def keep(entry: Any, function: Any, decompiled: Any) -> Optional[CodeType]:
        ran.append(renamed(entry.transformed_code))
        return ran[-1]

    with capturing(on_transformed=keep) as capture:
        torch.compile(branching, backend="eager")(torch.ones(2), torch.ones(2))
        live = torch._dynamo.eval_frame._debug_get_cache_entry_list(branching.__code__)
    assert [entry.code.co_filename for entry in live] == ["elsewhere.py"]
    (entry,) = capture.session.functions[0].entries
    assert entry.running_code is ran[0] and entry.in_cache


@pytest.mark.parametrize("wrong", ["text", (lambda: 1).__code__, (lambda b, a: 1).__code__])
def test_returned_code_that_does_not_fit_is_not_used(wrong: Any) -> None:
    with capturing(on_transformed=lambda *_: wrong) as capture:
        result = torch.compile(branching, backend="eager")(torch.ones(2), torch.ones(2))
    assert torch.equal(result, branching(torch.ones(2), torch.ones(2)))
    assert any("not used" in f.message for f in capture.session.failures)


def test_captures_nest() -> None:
    with capturing(on_transformed=lambda entry, *_: renamed(entry.transformed_code)) as outer:
        train(torch.compile(branching, backend="eager"), (3,))
        seen_by_outer_alone = len(outer.session.functions)

        def inner_function(x: Any) -> Any:
            return x + 1

        with capturing(on_transformed=lambda entry, *_: renamed(entry.transformed_code)) as inner:
            torch.compile(inner_function, backend="eager")(torch.ones(3))
        assert trace_logger.handlers
    assert outer.session.functions[-1].name == "inner_function"
    assert len(outer.session.functions) == seen_by_outer_alone + 1
    for capture in (outer, inner):
        assert not capture.session.failures
        assert all(e.in_cache for e in capture.session.entries())
    (entry,) = [f for f in inner.session.functions if f.name == "inner_function"][0].entries
    assert entry.seen_compiling
    assert not [e for f in inner.session.functions if f.name == "branching" for e in f.entries if e.seen_compiling]


def test_what_was_compiled_before_is_reported() -> None:
    compiled = torch.compile(branching, backend="eager")
    compiled(torch.ones(3), torch.ones(3))
    with capturing() as capture:
        compiled(torch.ones(3), torch.ones(3))
    function = next(f for f in capture.session.functions if f.name == "branching")
    (entry,) = function.entries
    assert not entry.seen_compiling
    assert entry.decompiled and entry.guards


def test_guards_survive_a_reset() -> None:
    with capturing() as capture:
        torch.compile(branching, backend="eager")(torch.ones(3), torch.ones(3))
        torch._dynamo.reset()
        torch.compile(branching, backend="eager")(torch.ones(3), torch.ones(3))
    entries = [f for f in capture.session.functions if f.name == "branching"][0].entries
    assert len(entries) == 2
    assert len({entry.compile_id for entry in entries}) == 2
    old, new = entries
    assert (old.in_cache, new.in_cache) == (False, True)
    assert old.guards_from == "trace"
    assert {g.words for g in old.guards} == {g.words for g in new.guards}


def emit(**metadata: Any) -> None:
    record = logging.LogRecord("torch.__trace", logging.DEBUG, __file__, 1, "", (), None)
    payload = metadata.pop("payload", None)
    record.metadata = metadata  # type: ignore[attr-defined]
    record.payload = payload  # type: ignore[attr-defined]
    trace_logger.handle(record)


def test_unknown_kinds_are_kept_verbatim() -> None:
    with capturing() as capture:
        emit(brand_new={"a": [1, {"b": None}]}, payload="text\nof it")
        emit(artifact={"name": "new_artifact"}, frame_id=7, frame_compile_id=1, attempt=0, payload="p")
    (record,) = capture.session.others
    assert (record.kind, record.metadata, record.payload) == (
        "brand_new",
        {"brand_new": {"a": [1, {"b": None}]}},
        "text\nof it",
    )
    (artifact,) = capture.session.compilations["7/1"].others
    assert (artifact.kind, artifact.payload) == ("new_artifact", "p")


def test_malformed_records_harm_nobody() -> None:
    with capturing() as capture:
        emit(str="not a pair")
        emit(inductor_output_code=None, payload=b"\xff")
        emit(dynamo_start={"stack": [None, {"line": "x"}]}, frame_id=1, frame_compile_id=0)
        emit(artifact=None)
        emit()
        trace_logger.handle(logging.LogRecord("torch.__trace", logging.DEBUG, __file__, 1, "no metadata", (), None))
    assert capture.session.kernels[0].text == "\ufffd"
    assert any(f.where == "trace record str" for f in capture.session.failures)


def test_components_of_cache_keys_are_dropped() -> None:
    with capturing() as capture:
        payload = json.dumps({"key": "k", "cache_state": "miss", "components": ["x" * 100_000]})
        emit(artifact={"name": "fx_graph_cache_miss"}, frame_id=0, frame_compile_id=0, payload=payload)
    (record,) = capture.session.compilations["0/0"].others
    assert record.payload is not None
    assert json.loads(record.payload) == {"key": "k", "cache_state": "miss"}


def test_file_names_sent_before_the_capture_are_known() -> None:
    compiled = torch.compile(branching, backend="eager")
    with capturing():
        compiled(torch.ones(3), torch.ones(3))
    torch._dynamo.reset()
    with capturing() as capture:  # torch sends each name once per process
        compiled(torch.ones(3), torch.ones(3))
    stacks = [c.stack for c in capture.session.compilations.values() if c.stack]
    assert stacks and all(stack[-1].filename == __file__ for stack in stacks)


def test_our_handler_comes_before_torchs() -> None:
    other = logging.NullHandler()
    trace_logger.addHandler(other)
    try:
        with capturing():
            assert trace_logger.handlers[-1] is other
            assert len(trace_logger.handlers) >= 2
    finally:
        trace_logger.removeHandler(other)


def test_graphs_that_libraries_log_are_seen() -> None:
    def backend(module: Any, inputs: Any) -> Any:
        from torch._dynamo.utils import lazy_format_graph_code

        lazy_format_graph_code("before split", module)
        return module

    with capturing() as capture:
        torch.compile(branching, backend=backend)(torch.ones(3), torch.ones(3))
    graphs = {(g.name, g.stage) for g in capture.session.graphs}
    captured = {name for name, stage in graphs if stage == "Captured_Graph"}
    assert captured and {name for name, stage in graphs if stage == "before_split"} == captured


@pytest.mark.slow
def test_inductor_sends_every_stage_also_with_a_warm_cache() -> None:
    def step(x: Any) -> Any:
        return (x * 2).sin().sum()

    def run() -> None:
        x = torch.ones(7, requires_grad=True)
        torch.compile(step)(x).backward()

    run()
    torch._dynamo.reset()
    with capturing() as capture:
        run()
    stages = {(g.stage, g.direction) for g in capture.session.graphs}
    for stage in ("BEFORE_PRE_GRAD", "AFTER_PRE_GRAD", "Joint_graph", "Captured_Graph"):
        assert stage in {s for s, _ in stages}
    for direction in ("forward", "backward"):
        for stage in ("BEFORE_POST_GRAD", "AFTER_POST_GRAD", "%s_graph" % direction.capitalize()):
            assert (stage, direction) in stages
        assert [k for k in capture.session.kernels if k.direction == direction and "cpp_fused" in k.text]
    assert len({g.name for g in capture.session.graphs}) == 1
