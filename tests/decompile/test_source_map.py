"""The source map names the place of each instruction, in the code object that it belongs to."""

from __future__ import annotations

import sys

import pytest

from depyf.bytecode import normalise
from depyf.decompile import nodes as n
from depyf.decompile.body import structured
from depyf.decompile.functions import Structured, module_body
from depyf.decompile.source_map import source_map
from depyf.decompile.writer import write

VERSION = sys.version_info[:2]
SOURCE = "x = f(1)\ndef g(a):\n    def h():\n        return a.b\n    return h() + 2\ny = [k(z) for z in x]\n"


@pytest.mark.skipif(VERSION != (3, 11), reason="names instructions of 3.11")
def test_calls_and_attributes() -> None:
    def structure(code):  # type: ignore[no-untyped-def]
        program = normalise(code)
        return Structured(program, structured(program))

    code = compile(SOURCE, "", "exec")
    body = module_body(structure(code), structure)
    text, positions = write(n.Module(body), VERSION)
    found = source_map(body, positions, code)
    lines = text.splitlines()
    seen = []

    def check(code, mapped) -> None:  # type: ignore[no-untyped-def]
        import dis

        for instr in dis.get_instructions(code):
            if instr.opname in ("CALL", "LOAD_ATTR", "BINARY_OP") and instr.offset in mapped.offsets:
                line, column = mapped.offsets[instr.offset]
                seen.append((instr.opname, lines[line - 1][column:]))
        for index, inner in mapped.nested.items():
            check(code.co_consts[index], inner)

    check(code, found)
    assert ("CALL", "f(1)") in seen
    assert ("LOAD_ATTR", "b") in seen
    assert ("CALL", "h() + 2") in seen
    assert ("BINARY_OP", "+ 2") in seen
    assert ("CALL", "k(z) for z in x]") in seen
