"""torch's guard texts as plain sentences, where the form is known. Guard text is data: it is never evaluated."""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Tuple

from depyf.session.model import Guard

_ADDRESS = re.compile(r"\b\d{12,}\b|0x[0-9a-fA-F]{6,}")
_TREE_LINE = re.compile(r"^[| ]*\+- (?P<kind>[A-Z][A-Z_]+): (?P<text>.*)$")
_TENSOR = re.compile(
    r"check_tensor\((?P<what>.+), (?P<type>[\w.]+), DispatchKeySet\((?P<keys>[^)]*)\), (?P<dtype>[\w.]+), "
    r"device=(?P<device>.+?), requires_grad=(?P<grad>\w+), size=\[(?P<size>.*?)\], stride=\[(?P<stride>.*?)\]\)"
)
_TYPE = re.compile(r"___check_type_id\((?P<what>.+), \d+\)(?:, type=<class '(?P<type>[^']+)'>)?")
_OBJECT = re.compile(r"___check_obj_id\((?P<what>.+), \d+\)(?:, type=<class '(?P<type>[^']+)'>)?")
_ALIAS = re.compile(r"check_no_aliasing\((?P<what>.+)\)$")
_LOCAL = re.compile(r"\bL\['(\w+)'\]")
_GLOBAL = re.compile(r"\bG\['(\w+)'\]")
_EQUAL = re.compile(r"(?P<left>.+?) == (?P<right>.+)$")
_HASATTR = re.compile(r"hasattr\((?P<what>.+), '(?P<name>\w+)'\) == (?P<value>True|False)$")


def read_guards(pairs: Iterable[Tuple[str, str]]) -> List[Guard]:
    """(kind, torch's text) pairs as guards; the same text is listed once."""
    found = []
    seen = set()
    for kind, raw in pairs:
        text, _, source = raw.partition("  # ")
        text = _ADDRESS.sub("...", text.strip())
        if (kind, text) in seen:
            continue
        seen.add((kind, text))
        found.append(Guard(text=text, words=in_words(kind, raw.partition("  # ")[0].strip()), source=source or None))
    return found


def guard_lines(tree: str) -> List[Tuple[str, str]]:
    """(kind, text) of the guards in torch's printed guard tree."""
    found = []
    for line in tree.splitlines():
        match = _TREE_LINE.match(line)
        if match:
            found.append((match["kind"], match["text"]))
    return found


def in_words(kind: str, text: str) -> Optional[str]:
    """What a guard asks for, as a sentence; None where its form is not known."""
    match = _TENSOR.match(text)
    if match:
        return _tensor(match)
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        match = _HASATTR.match(text)
        if match:
            if match["value"] == "False":
                return "%s has no marks for dynamic dimensions" % _named(match["what"])
            return "%s is marked %s" % (_named(match["what"]), match["name"].replace("_dynamo_", ""))
    match = _TYPE.match(text)
    if match and match["type"]:
        return "%s has exactly the type %s" % (_named(match["what"]), match["type"])
    match = _OBJECT.match(text)
    if match:
        kind_of = " (a %s)" % match["type"] if match["type"] else ""
        return "%s is still the same object%s" % (_named(match["what"]), kind_of)
    match = _ALIAS.match(text)
    if match:
        return "none of %s are the same object" % _named(match["what"])
    if text.startswith("___check_global_state()"):
        return "torch's global state (grad mode, autocast, default dtype, threads, ...) is as it was"
    if text.startswith("___check_torch_function_mode_stack()"):
        return "the same torch function modes are active"
    if text.startswith("utils_device.CURRENT_DEVICE"):
        return "torch's default device is %s" % text.rpartition("==")[2].strip()
    if "top_saved_tensors_hooks ids == None" in text:
        return "no hooks for saved tensors are active"
    match = _EQUAL.match(text)
    if match and kind in ("EQUALS_MATCH", "LENGTH_CHECK"):
        return "%s is %s" % (_named(match["left"]), _ADDRESS.sub("...", match["right"].strip()))
    if kind == "LAMBDA_GUARD" and ".size()[" in text:
        return _named(text)
    return None


def _named(text: str) -> str:
    """`L['a']` as `a`, `G['torch']` as `torch` (a global)."""
    text = _GLOBAL.sub(r"\1", _LOCAL.sub(r"\1", text))
    return _ADDRESS.sub("...", text)


def _tensor(match: re.Match[str]) -> str:
    size = [part.strip() for part in match["size"].split(",") if part.strip()]
    stride = [part.strip() for part in match["stride"].split(",") if part.strip()]
    shape = "[%s]" % ", ".join("any" if part == "None" else part for part in size)
    device = match["keys"].split(",")[0].strip()
    return "%s is a %s %s tensor of shape %s, strides [%s], %s" % (
        _named(match["what"]),
        device,
        match["dtype"].replace("torch.", ""),
        shape,
        ", ".join("any" if part == "None" else part for part in stride),
        "requires grad" if match["grad"] == "True" else "no grad needed",
    )
