"""Undo the shared finally bodies of 3.8: give each way into one its own copy, as later compilers do.

3.8 has each finally body once. It is entered in three ways, and END_FINALLY at its end goes on accordingly: behind
BEGIN_FINALLY (a normal way in), by CALL_FINALLY (like a subroutine, before a return, break or continue), or by an
exception. Nothing but the stack says which, so the walk could not tell what END_FINALLY does.

Here every instruction is taken together with the *ways in* that lead to it (a tuple of frames, outermost first), and
each such pair becomes an instruction of its own. The copies lie behind the instruction that enters them; where two
that follow each other are no longer neighbours, a jump is added.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from depyf.bytecode.errors import BytecodeError
from depyf.bytecode.raw import RawCode

# Numbers that 3.8 doesn't use, for what its instructions turn into
ADDED_JUMP, RETURN_FROM_FINALLY, SUPPRESSED = 240, 241, 242
ADDED_OPCODES = (
    (ADDED_JUMP, "ADDED_JUMP", 0, "absolute"),
    (RETURN_FROM_FINALLY, "RETURN_FROM_FINALLY", 0, "absolute"),
    (SUPPRESSED, "SUPPRESSED", 0, "absolute"),
)
MOST_FRAMES = 60
MOST_COPIES = 50  # times the size of the code

NORMAL, CALLED, RAISED = "normal", "called", "raised"
SHARED_BODIES = frozenset({"BEGIN_FINALLY", "CALL_FINALLY", "WITH_CLEANUP_FINISH"})  # no copies without one of these
NEVER_FALL = frozenset({"RETURN_VALUE", "RAISE_VARARGS", "JUMP_FORWARD", "JUMP_ABSOLUTE"})


class Frame(NamedTuple):
    """A way into a finally body or handler: how, and by the instruction at (or, RAISED, to the handler at) `unit`."""

    unit: int
    way: str


Place = Tuple[Tuple[Frame, ...], int, bool]  # frames, code unit, whether this is what suppressing an exception adds


class Item(NamedTuple):
    """A place's instruction and the places that it leads to."""

    number: int
    argument: int
    following: Optional[Place]
    target: Optional[Place]


class _Expansion:
    def __init__(self, raw: RawCode, names: Mapping[int, str], jumps: List[str], where: str) -> None:
        self.raw = raw
        self.names = names
        self.jumps = jumps
        self.where = where
        self.units = len(raw.numbers)
        self.items: Dict[Place, Item] = {}

    def error(self, unit: int, what: str) -> BytecodeError:
        name = self.names.get(self.raw.numbers[unit], "opcode %d" % self.raw.numbers[unit])
        return BytecodeError("%s at byte %d of %s %s" % (name, 2 * unit, self.where, what))

    def run(self) -> None:
        start: Place = ((), 0, False)
        pending = [start]
        while pending:
            place = pending.pop()
            if place in self.items:
                continue
            if len(self.items) > MOST_COPIES * self.units or len(place[0]) > MOST_FRAMES:
                raise BytecodeError("%s nests finally bodies without end" % self.where)
            if place[1] >= self.units:
                raise BytecodeError("the code of %s runs past its end" % self.where)
            item = self.items[place] = self._item(place)
            for other in (item.following, item.target):
                if other is not None:
                    pending.append(other)

    def _item(self, place: Place) -> Item:
        frames, unit, is_suppression = place
        number = self.raw.numbers[unit]
        if is_suppression:  # takes the place of the END_FINALLY at `unit`, past which it goes on
            return Item(SUPPRESSED, 0, None, (frames[:-1], unit + 1, False))
        argument = self.raw.arguments[unit]
        opcode_unit = unit
        while self.names.get(number) == "EXTENDED_ARG":
            opcode_unit += 1
            if opcode_unit >= self.units or argument > 0xFFFFFF:
                raise self.error(unit, "has no instruction to extend")
            number = self.raw.numbers[opcode_unit]
            argument = (argument << 8) | self.raw.arguments[opcode_unit]
        name = self.names.get(number)
        if name is None:
            raise self.error(opcode_unit, "is no instruction of Python 3.8")
        after = opcode_unit + 1
        following: Optional[Place] = (frames, after, False)
        target: Optional[Place] = None
        if self.jumps[number]:
            goal = self._goal(opcode_unit, number, argument)
            target = (frames, goal, False)
            if name == "CALL_FINALLY":
                following, target = (frames + (Frame(unit, CALLED),), goal, False), None
            elif name.startswith("SETUP_") and self.names.get(self.raw.numbers[goal]) != "END_ASYNC_FOR":
                target = (frames + (Frame(goal, RAISED),), goal, False)
        if name in NEVER_FALL:
            following = None
        elif name == "BEGIN_FINALLY":
            following = (frames + (Frame(unit, NORMAL),), after, False)
        elif name in ("END_FINALLY", "POP_FINALLY", "POP_EXCEPT"):
            if not frames:
                raise self.error(opcode_unit, "ends a finally body or handler where there is none")
            following = (frames[:-1], after, False)
            if name == "END_FINALLY":
                following = None
                if frames[-1].way is not RAISED:
                    number = RETURN_FROM_FINALLY
                    back = after if frames[-1].way is NORMAL else self._after(frames[-1].unit)
                    target = (frames[:-1], back, False)
        elif name == "WITH_CLEANUP_FINISH" and frames and frames[-1].way is RAISED:
            if after >= self.units or self.names.get(self.raw.numbers[after]) != "END_FINALLY":
                raise self.error(opcode_unit, "is not followed by END_FINALLY")
            target = (frames, after, True)
        return Item(number, argument, following, target)

    def _after(self, unit: int) -> int:
        while self.names.get(self.raw.numbers[unit]) == "EXTENDED_ARG":
            unit += 1
        return unit + 1

    def _goal(self, unit: int, number: int, argument: int) -> int:
        if argument % 2:
            raise self.error(unit, "jumps into the middle of an instruction")
        goal = argument // 2 + (unit + 1 if self.jumps[number] == "forward" else 0)
        if goal >= self.units:
            raise self.error(unit, "jumps out of the code")
        return goal


def _order(place: Place) -> Tuple[int, ...]:
    frames, unit, is_suppression = place
    return tuple(frame.unit for frame in frames) + ((unit, 1) if is_suppression else (unit,))


def expand_finally_calls(raw: RawCode, names: Mapping[int, str], jumps: List[str], where: str) -> RawCode:
    """The raw code with every finally body copied per way in, all targets resolved, EXTENDED_ARG folded in.

    Code that is not reached is dropped. `where` names the code object in errors. Raises BytecodeError.
    """
    if not any(names.get(number) in SHARED_BODIES for number in set(raw.numbers)):
        return raw
    expansion = _Expansion(raw, names, jumps, where)
    expansion.run()
    places = sorted(expansion.items, key=_order)
    index_of: Dict[Place, int] = {}
    rows: List[Tuple[int, int, int, Optional[Place]]] = []  # number, argument, original unit, target
    for position, place in enumerate(places):
        item = expansion.items[place]
        index_of[place] = len(rows)
        rows.append((item.number, item.argument, expansion._after(place[1]) - 1, item.target))
        follows = places[position + 1] if position + 1 < len(places) else None
        if item.following is not None and item.following != follows:
            rows.append((ADDED_JUMP, 0, place[1], item.following))
    return RawCode(
        numbers=[row[0] for row in rows],
        arguments=[row[1] for row in rows],
        offsets=[raw.offsets[row[2]] for row in rows],
        lines=[raw.lines[row[2]] for row in rows],
        targets=[None if row[3] is None else index_of[row[3]] for row in rows],
    )
