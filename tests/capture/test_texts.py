"""Reading torch's messages: plain text in, plain data out; no torch needed."""

from __future__ import annotations

import pytest

from depyf.capture.guard_text import guard_lines, in_words, read_guards
from depyf.capture.messages import graph_break, graph_text, phases, recompile_reasons, stack, without_components
from depyf.capture.sources import signature_of, source_of

BREAK = """Graph break in user code at /home/me/model.py:12
Graph Break Reason: Something is not supported
  Explanation: It is hard.
      A second line.
  Hint: Do this.
  Hint: Or that.

  Developer debug context: call foo

 For more details about this graph break, please visit: https://example.org/gb1.html

User code traceback:
  File "/home/me/main.py", line 3, in <module>
    run(x)
    ^^^^^^
  File "/home/me/model.py", line 12, in forward
    foo(x)
"""


def test_graph_break() -> None:
    found = graph_break("0/0", BREAK)
    assert found.reason == "Something is not supported"
    assert found.explanation == "It is hard.\nA second line."
    assert found.hints == "Do this.\nOr that."
    assert found.link == "https://example.org/gb1.html"
    assert [(f.filename, f.line, f.name, f.source) for f in found.stack] == [
        ("/home/me/main.py", 3, "<module>", "run(x)"),
        ("/home/me/model.py", 12, "forward", "foo(x)"),
    ]


@pytest.mark.parametrize("text", ["", "one line", "Graph break in user code at f.py:3", "\n\n", "  Hint: alone"])
def test_graph_break_of_unknown_form_keeps_its_text(text: str) -> None:
    assert graph_break("0/0", text).text == text


@pytest.mark.parametrize(
    ("payload", "reasons"),
    [
        ('["a", "b"]', ["a", "b"]),
        ('"a\\nb"', ["a", "b"]),
        ("0/0: bare text", ["0/0: bare text"]),
        ('{"x": 1}', ['{"x": 1}']),
        ("", []),
        (None, []),
    ],
)
def test_recompile_reasons(payload: str, reasons: list) -> None:
    assert recompile_reasons(payload) == reasons


def test_stack_looks_names_up() -> None:
    frames = [{"filename": 1, "line": 2, "name": "f"}, {"filename": 9, "line": None, "name": "g", "loc": "x"}, None]
    assert [(f.filename, f.line, f.source) for f in stack(frames, {1: "a.py"})] == [
        ("a.py", 2, None),
        ("<file 9>", 0, "x"),
    ]


def test_phases_pair_up() -> None:
    events = [
        '{"ph": "B", "name": "outer", "ts": 1.0, "args": {"compile_id": "0/0"}}',
        '{"ph": "B", "name": "lost", "ts": 2.0, "args": {"compile_id": "0/0"}}',
        "no json",
        '{"ph": "E", "name": "outer", "ts": 5.5}',
        '{"ph": "E", "name": "never began", "ts": 6}',
    ]
    (outer, lost) = phases(events)["0/0"]
    assert (outer.name, outer.duration, outer.depth) == ("outer", 4.5, 0)
    assert (lost.name, lost.duration, lost.depth) == ("lost", None, 1)


def test_components_go() -> None:
    assert without_components('{"key": 1, "components": [2]}') == '{"key": 1}'
    assert without_components("x" * 5000) == "x" * 1000
    assert without_components(None) is None


TENSOR = (
    "check_tensor(L['self']._modules['a'].x, Parameter, DispatchKeySet(CUDA, BackendSelect), torch.float16, "
    "device=0, requires_grad=True, size=[None, 4], stride=[4, 1])"
)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (
            "TENSOR_MATCH",
            TENSOR,
            "self._modules['a'].x is a CUDA float16 tensor of shape [any, 4], strides [4, 1], requires grad",
        ),
        ("TYPE_MATCH", "___check_type_id(L['n'], 1234), type=<class 'int'>", "n has exactly the type int"),
        ("EQUALS_MATCH", "L['n'] == 2   ", "n is 2"),
        ("LENGTH_CHECK", "len(G['k']['x']) == 1", "len(k['x']) is 1"),
        ("LAMBDA_GUARD", "2 <= L['a'].size()[0]", "2 <= a.size()[0]"),
        ("WHATEVER", "something new", None),
    ],
)
def test_guards_in_words(kind: str, text: str, words: str) -> None:
    assert in_words(kind, text) == words


def test_guards_hide_addresses_and_repetitions() -> None:
    pairs = [
        ("ID_MATCH", "___check_obj_id(G['f'], 139838664629264), type=<class 'function'>  # f(x)  # a.py:3 in g")
    ] * 2
    (guard,) = read_guards(pairs)
    assert "139838664629264" not in guard.text
    assert guard.source == "f(x)  # a.py:3 in g"


def test_guard_tree() -> None:
    tree = (
        "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GuardManager: source=L['a'], type=<class 'int'>\n"
        "| | +- EQUALS_MATCH: L['a'] == 1  # code\n| | +- NO_TENSOR_ALIASING\n"
        "+- LAMBDA_GUARD: 2 <= x\n\nGuard latency = 1 us\n"
    )
    assert guard_lines(tree) == [("EQUALS_MATCH", "L['a'] == 1  # code"), ("LAMBDA_GUARD", "2 <= x")]


def test_sources() -> None:
    def inner(a: int) -> int:
        """Text."""
        return a

    source = source_of(inner.__code__)
    assert source is not None and source.startswith("def inner(a: int) -> int:\n    ") and source.endswith("return a\n")
    assert signature_of(source) == "def inner(a: int) -> int:"
    assert source_of(compile("x = 1", "<nowhere>", "exec")) is None
    assert source_of((lambda: 1).__code__.replace(co_firstlineno=10**6)) is None


@pytest.mark.parametrize(
    "text, valid",
    [
        ("class <lambda>(torch.nn.Module):\n    pass\n", "class GraphModule(torch.nn.Module):\n    pass\n"),
        ("# f()\nclass <lambda>(Module):\n    pass\n", "# f()\nclass GraphModule(Module):\n    pass\n"),
        (
            "# f\n\nclass <lambda>(Module):\n    x = 'class <lambda>('\n",
            "# f\n\nclass GraphModule(Module):\n    x = 'class <lambda>('\n",
        ),
        ("class Mine(torch.nn.Module):\n    pass\n", "class Mine(torch.nn.Module):\n    pass\n"),
        ("def f(x): return 'class <lambda>('", "def f(x): return 'class <lambda>('"),
        ("", ""),
    ],
)
def test_the_class_of_a_printed_graph_gets_a_name(text: str, valid: str) -> None:
    assert graph_text(text) == valid
