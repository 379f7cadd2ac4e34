"""Import statements: each form, compiled by this Python and read back from `dis`."""

from __future__ import annotations

import dis
import sys
from typing import Any, List

import pytest

from depyf.bytecode.program import Instr, Op
from depyf.decompile import nodes as n
from depyf.decompile.imports import fold_imports
from depyf.decompile.writer import write


def canonical(source: str) -> List[Instr]:
    """A small normaliser for import statements, so that this test stands alone."""
    instrs = []
    for item in dis.get_instructions(compile(source, "", "exec")):
        name, arg = item.opname, item.argval
        if name == "IMPORT_NAME" and type(arg) is str:
            instrs.append(Instr(Op.IMPORT_NAME, (arg, False), offset=item.offset))
        elif name == "CALL_INTRINSIC_1" or name == "IMPORT_STAR":
            instrs.append(Instr(Op.IMPORT_STAR))
        elif name == "LOAD_SMALL_INT":
            instrs.append(Instr(Op.LOAD_CONST, item.arg))
        elif name in ("POP_TOP", "SWAP", "ROT_TWO", "LOAD_CONST", "STORE_NAME", "STORE_GLOBAL", "IMPORT_FROM"):
            op = {"POP_TOP": "POP", "ROT_TWO": "SWAP"}.get(name, name)
            instrs.append(Instr(getattr(Op, op), 2 if op == "SWAP" else arg))
    return instrs


SOURCES = [
    "import a", "import a as b", "import a.b.c", "import a.b as c", "import a.b.c as d", "import a.b.c as a",
    "from a import b", "from a.b import c as d, e, f as g", "from . import x", "from ..y.z import x as y", "from a import *",  # noqa: E501
    "from .a import *",
]  # fmt: skip


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="the stand-in normaliser knows no lazy imports")
@pytest.mark.parametrize("source", SOURCES)
def test_forms(source: str) -> None:
    instrs = canonical(source + "\nx")
    start = next(i for i, instr in enumerate(instrs) if instr.op is Op.LOAD_CONST)
    folded = fold_imports(instrs, start)
    assert folded is not None
    text, _ = write(n.Module([folded[0]]), sys.version_info[:2])
    assert text == source + "\n"
    left = [instr.op for instr in instrs[folded[1] :]]
    assert (
        Op.IMPORT_FROM not in left
        and Op.IMPORT_NAME not in left
        and not any(op.name.startswith("STORE") for op in left)
    )  # noqa: E501


def load(*rest: Instr, level: Any = 0, names: Any = None, name: str = "a") -> List[Instr]:
    head = [Instr(Op.LOAD_CONST, level), Instr(Op.LOAD_CONST, names), Instr(Op.IMPORT_NAME, (name, False))]
    return [*head, *rest, Instr(Op.RETURN)]


MALFORMED = [
    load(Instr(Op.RETURN)),
    load(Instr(Op.STORE_FAST, "b"), name="a.c"),
    load(Instr(Op.STORE_FAST, "a"), level=1),
    load(Instr(Op.STORE_FAST, "a"), level="x"),
    load(Instr(Op.IMPORT_FROM, "b"), Instr(Op.STORE_FAST, "b"), names=("b",)),
    load(Instr(Op.IMPORT_FROM, "c"), Instr(Op.STORE_FAST, "b"), Instr(Op.POP), names=("b",)),
    load(Instr(Op.POP), names=()),
    load(Instr(Op.IMPORT_FROM, "b"), Instr(Op.STORE_FAST, "b"), Instr(Op.POP), names=["b"]),
]


@pytest.mark.parametrize("instrs", MALFORMED)
def test_other_shapes_are_left_alone(instrs: List[Instr]) -> None:
    assert fold_imports(instrs, 0) is None
    assert fold_imports(instrs, len(instrs) - 1) is None


@pytest.mark.parametrize("op", [Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL])
def test_every_kind_of_store(op: Op) -> None:
    folded = fold_imports(load(Instr(op, "b")), 0)
    assert folded is not None and folded[1] == 4 and folded[0].names[0].asname == "b"
