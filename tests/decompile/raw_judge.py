"""A second judge for tests: compares raw bytecode by `dis`, never by way of the normaliser.

A fault of the normaliser is invisible to the verifier, which sees both programs through it. This judge is looser than
the verifier (it does not ask which handler protects an instruction that only one side protects) and knows 3.11 only.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType
from typing import Any, Dict, List, Optional, Set, Tuple

JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
IDLE = {"NOP", "RESUME", "CACHE", "EXTENDED_ARG", "COPY_FREE_VARS", "MAKE_CELL", "PRECALL", "PUSH_NULL"}
ENDS = {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}
CALLS = {"CALL", "CALL_FUNCTION_EX", "BINARY_OP", "LOAD_ATTR", "LOAD_METHOD"}
OPPOSITE = {
    "POP_JUMP_IF_TRUE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_NOT_NONE": "POP_JUMP_IF_NONE",
}


class RawCode:
    """One side: instructions by offset."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions: Dict[int, dis.Instruction] = {}
        self.after: Dict[int, int] = {}
        offsets = []
        for instruction in dis.get_instructions(code):
            self.instructions[instruction.offset] = instruction
            offsets.append(instruction.offset)
        self.after = dict(zip(offsets, [*offsets[1:], -1]))
        self.handlers = dis._parse_exception_table(code)  # type: ignore[attr-defined]

    def settle(self, offset: int) -> int:
        """Past what does nothing, and along jumps."""
        seen: Set[int] = set()
        while offset in self.instructions and offset not in seen:
            seen.add(offset)
            instruction = self.instructions[offset]
            if instruction.opname in JUMPS:
                offset = instruction.argval
            elif instruction.opname in IDLE:
                offset = self.after[offset]
            else:
                break
        return offset

    def handler(self, offset: int) -> Optional[Tuple[int, int]]:
        """Where an exception goes, and the stack depth there."""
        for entry in self.handlers:
            if entry.start <= offset < entry.end:
                return self.settle(entry.target), entry.depth
        return None


def difference(original: CodeType, again: CodeType) -> Optional[str]:
    """The first difference between two code objects and the code objects inside them, or None."""
    work: List[Tuple[CodeType, CodeType]] = [(original, again)]
    while work:
        left, right = work.pop()
        found = _difference(RawCode(left), RawCode(right), work)
        if found is not None:
            return f"in {left.co_name}: {found}"
    return None


def _difference(left: RawCode, right: RawCode, nested: List[Any]) -> Optional[str]:
    arguments = [inspect.getargs(side.code) for side in (left, right)]
    if arguments[0] != arguments[1]:
        return f"{arguments[0]} / {arguments[1]}"
    start = (left.settle(0), right.settle(0))
    seen, todo = {start}, [start]

    def visit(i: int, j: int) -> None:
        pair = (left.settle(i), right.settle(j))
        if pair not in seen:
            seen.add(pair)
            todo.append(pair)

    while todo:
        i, j = todo.pop()
        if i == -1 and j == -1:
            continue
        one, two = left.instructions[i], right.instructions[j]
        if one.opname in JUMPS and two.opname in JUMPS:
            continue  # both loop for ever
        names = [_plain(one.opname), _plain(two.opname)]
        if names[0] != names[1]:
            return f"{one.opname} at {i} / {two.opname} at {j}"
        if one.opname in ("CONTAINS_OP", "IS_OP") and one.argval != two.argval:
            # `in` with exchanged arms is `not in`
            i, j = left.settle(left.after[i]), right.settle(right.after[j])
            one, two = left.instructions[i], right.instructions[j]
            if "POP_JUMP" not in one.opname or "POP_JUMP" not in two.opname:
                return f"{one.opname} at {i} / {two.opname} at {j}"
            arms = [_arms(one, left), _arms(two, right)[::-1]]
            visit(arms[0][0], arms[1][0])
            visit(arms[0][1], arms[1][1])
            continue
        if "JUMP" in one.opname or one.opname in ("FOR_ITER", "SEND"):
            arms = [_arms(one, left), _arms(two, right)]
            visit(arms[0][0], arms[1][0])
            visit(arms[0][1], arms[1][1])
            continue
        if isinstance(one.argval, CodeType) and isinstance(two.argval, CodeType):
            nested.append((one.argval, two.argval))
        elif not _same(one, two):
            return f"{one.opname} {one.argval!r} at {i} / {two.argval!r} at {j}"
        if one.opname not in ENDS:
            visit(left.after[i], right.after[j])
        handlers = left.handler(i), right.handler(j)
        if one.opname in CALLS and (handlers[0] is None) != (handlers[1] is None):
            return f"{one.opname} is protected on one side only at {i} / {j}"
        if handlers[0] is not None and handlers[1] is not None:
            if handlers[0][1] != handlers[1][1]:
                return f"handlers at other depths at {i} / {j}"
            visit(handlers[0][0], handlers[1][0])
    return None


def _arms(item: dis.Instruction, side: RawCode) -> Tuple[int, int]:
    """Where a jump goes when it is false and when it is true (in this order for POP_JUMP_IF_FALSE)."""
    taken, fallthrough = item.argval, side.after[item.offset]
    return (fallthrough, taken) if _is_opposite(item.opname) else (taken, fallthrough)


def _plain(name: str) -> str:
    # Whether a call loads its function as a method depends on the imports around it, and is no difference.
    name = name.replace("_FORWARD", "").replace("_BACKWARD", "").replace("LOAD_METHOD", "LOAD_ATTR")
    return OPPOSITE.get(name, name)


def _is_opposite(name: str) -> bool:
    return name.replace("_FORWARD", "").replace("_BACKWARD", "") in OPPOSITE


def _same(one: dis.Instruction, two: dis.Instruction) -> bool:
    if one.opname == "LOAD_CONST":
        if isinstance(one.argval, str) and "<locals>" in one.argval:
            return True  # a qualified name
        return repr(one.argval) == repr(two.argval)
    return one.argval == two.argval
