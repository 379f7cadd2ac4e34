"""`full_code_for_*.py`: one function's whole story in one valid Python file."""

from __future__ import annotations

from typing import Iterator, List, Set, Tuple

from depyf.dump import names
from depyf.dump.pages import VERDICTS
from depyf.dump.text import comment, header, valid_python
from depyf.session.model import CacheEntry, Function, Session


def full_code_pages(session: Session) -> Iterator[Tuple[Function, str, str]]:
    """(function, file name, text) for each function of the user's that was compiled, or resumed into."""
    counts: dict[str, int] = {}
    for function in session.functions:
        if function.resume_of is not None:
            continue
        number = counts.get(function.name, 0)
        counts[function.name] = number + 1
        yield function, names.full_code(function, number), page(function, session)


def page(function: Function, session: Session) -> str:
    """The text: the original source, then what runs instead, in the order in which torch tries it."""
    head = [
        "%s (%s:%d) under torch.compile: the source first, then what runs in its place."
        % (function.qualname, function.filename, function.line)
    ]
    parts = [header(head)]
    if function.source is not None:
        parts.append(valid_python(function.source, "the source as it stands in its file"))
    elif function.decompiled is not None:
        parts.append(comment("no source at hand; decompiled:") + function.decompiled)
    else:
        parts.append(comment("(no source at hand)"))
    parts.extend(_versions(function, session, set()))
    return "\n".join(parts)


def _versions(function: Function, session: Session, done: Set[int]) -> Iterator[str]:
    if function.key in done:
        return
    done.add(function.key)
    entries = sorted(function.entries, key=_order)
    if len(entries) > 1:
        yield "\n" + comment(
            "%s was compiled %d times. On a call torch takes the first version below whose guards hold."
            % (function.name, len(entries))
        )
    for entry in entries:
        yield _version(entry, function, session)
        for resumed in session.functions:
            if resumed.resume_of == function.key and set(resumed.global_names) & set(entry.calls):
                yield from _versions(resumed, session, done)
    for resumed in session.resumes(function.key):  # those whose caller is unknown
        yield from _versions(resumed, session, done)


def _order(entry: CacheEntry) -> Tuple[int, int]:
    return (entry.position if entry.position is not None else 10**9, entry.number)


def _version(entry: CacheEntry, function: Function, session: Session) -> str:
    lines: List[str] = ["", "-" * 100]
    called = " (called as %s)" % ", ".join(function.global_names) if function.global_names else ""
    origin = "compilation %s" % entry.compile_id if entry.compile_id else "compiled before the dump began"
    lines.append("%s%s, %s" % (function.name, called, origin))
    if entry.in_cache is False:
        lines.append("(no longer in torch's cache)")
    lines.append("Runs when:" if entry.guards else "Guards: not known")
    lines.extend("  - " + words for words in dict.fromkeys(guard.words or guard.text for guard in entry.guards))
    for recompile in session.recompiles:
        if recompile.compile_id == entry.compile_id:
            lines.append("Compiled again because:")
            lines.extend("  - " + reason for reason in recompile.reasons)
    for graph_break in session.graph_breaks:
        if graph_break.compile_id == entry.compile_id:
            lines.append("Graph break: " + graph_break.reason)
    for name in entry.graphs:
        files = [g.file for g in session.graphs if g.name == name and g.file]
        files += [k.file for k in session.kernels if k.name == name and k.file]
        lines.append("%s: %s" % (name, ", ".join(files) if files else "not seen"))
    if "transformed" in entry.files:
        lines.append("File: %s" % entry.files["transformed"])
    if entry.status not in ("exact", "equivalent"):
        lines.append(VERDICTS.get(entry.status, entry.status))
    text = comment("\n".join(lines))
    body = entry.decompiled or comment("(could not be decompiled)")
    return text + valid_python(body, "the decompiled text")
