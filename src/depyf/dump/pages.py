"""The files about one thing each: transformed code, a graph, generated code. Pure text."""

from __future__ import annotations

from typing import List, Tuple

from depyf.dump.text import compiles, header, valid_python
from depyf.session.model import CacheEntry, Function, Graph, Kernel, Session

STAGES = {
    "Captured_Graph": "the graph as Dynamo captured it from the Python code",
    "Joint_graph": "forward and backward in one graph, before the two are split",
    "Forward_graph": "the forward graph that the backend compiles (operations of torch.ops.aten)",
    "Backward_graph": "the backward graph that the backend compiles",
    "BEFORE_PRE_GRAD": "the captured graph before inductor's passes that run before autograd",
    "AFTER_PRE_GRAD": "the captured graph after inductor's passes that run before autograd",
    "BEFORE_JOINT": "the joint graph before inductor's passes on it",
    "AFTER_JOINT": "the joint graph after inductor's passes on it",
    "BEFORE_POST_GRAD": "before inductor's passes that run after autograd",
    "AFTER_POST_GRAD": "after inductor's passes that run after autograd: what code is generated from",
    "Runnable_script": "a program of its own that compiles this graph; see torch's notes on repro scripts",
    "Compiled_autograd_graph": "the backward pass as compiled autograd captured it",
}

VERDICTS = {
    "exact": "checked: compiling this text again gives the same program",
    "equivalent": "checked: compiling this text again gives an equivalent program",
    "unverified": "NOT checked against the bytecode that runs",
    "refuted": "WRONG: differs from the bytecode that runs",
}


def transformed(entry: CacheEntry, function: Function, session: Session) -> Tuple[str, int]:
    """(text of the file, line at which the decompiled code begins)."""
    head = ["What runs in place of %s (%s:%d)." % (function.qualname, function.filename, function.line)]
    if not entry.seen_compiling:
        head.append("Compiled before this dump began, so that its graphs were not seen.")
    else:
        head.append("Compilation %s." % entry.compile_id)
    if function.resume_of is not None:
        origin = session.function(function.resume_of)
        head.append("It continues %s after a graph break%s." % (origin.name, _at(function.resume_line)))
    if entry.decompiled is not None:
        verdict = VERDICTS.get(entry.status, entry.status)
        head.append("Decompiled from bytecode; %s." % verdict)
        if entry.difference and entry.status not in ("exact", "equivalent"):
            head.append("First difference: " + entry.difference)
    for name in entry.graphs:
        captured = [g for g in session.graphs if g.name == name]
        head.append("Graph %s: %s" % (name, captured[0].file if captured and captured[0].file else "not captured"))
    for name in entry.calls:
        head.append("%s continues after the graph break, in a function of its own." % name)
    text = header(head)
    body = entry.decompiled
    if body is None:
        return text + "# The code could not be decompiled; session.json says why.\n", text.count("\n") + 1
    if not compiles(text + body):
        body = valid_python(body, "the text")
    return text + body, text.count("\n") + 1


def graph(record: Graph, session: Session) -> Tuple[str, int]:
    """(text of the file, line at which the graph begins)."""
    head = [
        "%s, stage %s: %s." % (record.name, record.stage, STAGES.get(record.stage, "a graph logged by a library")),
        "Compilation %s%s." % (record.compile_id, ", " + record.direction if record.direction else ""),
    ]
    head.extend(_previous(record, session))
    head.extend(_callers(record.compile_id, session))
    text = header(head)
    return text + valid_python(record.text, "the graph's text"), text.count("\n") + 1


def _previous(record: Graph, session: Session) -> List[str]:
    before = [g for g in session.graphs if g.name == record.name and g is not record and g.file]
    return ["The graph before it: %s" % before[-1].file] if before else []


def _callers(compile_id: str, session: Session) -> List[str]:
    """Where to read on: the function whose compilation this belongs to."""
    compilation = session.compilations.get(compile_id)
    stack = compilation.stack if compilation is not None else []
    if not stack:
        return []
    return ["Part of %s (%s:%d); read full_code_for_*.py first." % (stack[-1].name, stack[-1].filename, stack[-1].line)]


def kernel(record: Kernel, session: Session) -> str:
    """The text of the file."""
    graphs = [g for g in session.graphs if g.name == record.name and g.file]
    head = [
        "Generated code of %s%s, compilation %s."
        % (record.name, " (%s)" % record.direction if record.direction else "", record.compile_id)
    ]
    if record.origin:
        head.append("torch runs its own copy of this file: %s" % record.origin)
    if graphs:
        head.append("Generated from %s" % graphs[-1].file)
    head.extend(_callers(record.compile_id, session))
    body = valid_python(record.text, "the generated code")
    # A `from __future__` import must stay first; comments before it are fine.
    return header(head) + body


def _at(line: int | None) -> str:
    return " at line %d" % line if line is not None else ""
