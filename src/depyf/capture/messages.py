"""Reading torch's messages to people: graph breaks, recompile reasons, timed phases. Text in, plain data out."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from depyf.session.model import GraphBreak, Phase, StackFrame

_LOCATION = re.compile(r"user code at (.+):(\d+)\s*$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>.+?)\s*$')
_LINK = re.compile(r"https?://\S+")
_SECTION = re.compile(r"^\s{0,4}(Explanation|Hint|Developer debug context|Context|For more details)\b[^:]*:\s?")


def graph_break(compile_id: str, text: str) -> GraphBreak:
    """The parts of a graph-break message; whatever has an unknown form stays in `text`."""
    lines = text.splitlines()
    reason = ""
    sections: Dict[str, List[str]] = {}
    current: Optional[str] = None
    for line in lines:
        if line.startswith("Graph Break Reason:"):
            reason = line.partition(":")[2].strip()
            current = None
            continue
        if line.lstrip().startswith("User code traceback"):
            break
        match = _SECTION.match(line)
        if match:
            current = match.group(1)
            sections.setdefault(current, []).append(line[match.end() :].strip())
        elif current is not None and line.strip():
            sections[current].append(line.strip())
    link = _LINK.search(text)
    found = GraphBreak(compile_id=compile_id, reason=reason or (lines[0].strip() if lines else ""), text=text)
    found.explanation = "\n".join(sections.get("Explanation", ())) or None
    found.hints = "\n".join(sections.get("Hint", ())) or None
    found.link = link.group(0) if link else None
    found.stack = _stack(lines)
    if not found.stack and lines:
        place = _LOCATION.search(lines[0])
        if place:
            found.stack = [StackFrame(place.group(1), int(place.group(2)), "")]
    return found


def _stack(lines: Sequence[str]) -> List[StackFrame]:
    frames = []
    for index, line in enumerate(lines):
        match = _FRAME.match(line)
        if match:
            following = lines[index + 1].strip() if index + 1 < len(lines) else ""
            source = following if following and not _FRAME.match(following) else None
            frames.append(StackFrame(match.group("file"), int(match.group("line")), match.group("name"), source))
    return frames


def recompile_reasons(payload: Optional[str]) -> List[str]:
    """The reasons as lines. torch calls the payload JSON, but it may be a bare string."""
    if not payload:
        return []
    try:
        data = json.loads(payload)
    except ValueError:
        data = payload
    if isinstance(data, str):
        return [line.strip() for line in data.splitlines() if line.strip()]
    if isinstance(data, list):
        return [str(item).strip() for item in data]
    return [json.dumps(data, default=str)]


def stack(frames: Any, names: Mapping[int, str]) -> List[StackFrame]:
    """A stack of a trace record, with its interned file names looked up."""
    found = []
    for frame in frames if isinstance(frames, list) else ():
        if not isinstance(frame, dict):
            continue
        filename = frame.get("filename")
        if isinstance(filename, int):
            filename = names.get(filename, "<file %d>" % filename)
        line = frame.get("line")
        found.append(
            StackFrame(str(filename), line if isinstance(line, int) else 0, str(frame.get("name")), frame.get("loc"))
        )
    return found


def phases(payloads: Iterable[str]) -> Dict[Optional[str], List[Phase]]:
    """Begin and end events as phases, by compile id, in the order in which they began."""
    found: Dict[Optional[str], List[Phase]] = {}
    running: Dict[Any, List[Phase]] = {}
    for payload in payloads:
        try:
            event = json.loads(payload)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        arguments = event.get("args") or {}
        key = (event.get("pid"), event.get("tid"))
        open_phases = running.setdefault(key, [])
        if event.get("ph") == "B":
            phase = Phase(str(event.get("name")), float(event.get("ts") or 0), None, len(open_phases))
            open_phases.append(phase)
            found.setdefault(arguments.get("compile_id"), []).append(phase)
        elif event.get("ph") == "E":
            while open_phases:
                phase = open_phases.pop()
                if phase.name == event.get("name"):
                    phase.duration = float(event.get("ts") or 0) - phase.start
                    break
    return found


def graph_text(text: str) -> str:
    """A printed graph as valid Python: its class gets a name that Python accepts.

    `GraphModule.print_readable` (torch/fx/graph_module.py) calls the class as the module's, and AOTAutograd's modules
    are called `<lambda>`. All else is left as it is.
    """
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            word, space, rest = line.partition(" ")
            name, parenthesis, bases = rest.partition("(")
            if word == "class" and parenthesis and not name.isidentifier():
                lines[index] = "class GraphModule(" + bases
                return "".join(lines)
            break
    return text


def without_components(payload: Optional[str]) -> Optional[str]:
    """A cache record without the components of its key, which are most of its bytes."""
    if payload is None:
        return None
    try:
        data = json.loads(payload)
    except ValueError:
        return payload[:1000]
    if isinstance(data, dict):
        data.pop("components", None)
    return json.dumps(data, default=str)
