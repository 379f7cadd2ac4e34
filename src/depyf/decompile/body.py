"""From a code object to the statements of its body: the stages up to structuring, in order.

Nested code objects are still `MakeFunction` nodes in the result.
"""

from __future__ import annotations

from inspect import CO_ASYNC_GENERATOR
from types import CodeType
from typing import List, Set

from ..bytecode import normalise
from ..bytecode.program import Op, Program
from . import cfg, finally_copies, flow, prepare, reduce, regions, settle
from . import nodes as n
from .deferred import marked_annotations
from .exception_groups import plain_groups
from .finally_copies import NoCopy
from .finish import Unfinished, finish
from .inlined import plain_comprehensions
from .inlined_calls import plain_calls
from .matching import match_patterns, match_statements
from .overwritten import with_overwritten
from .passes import PassFailed
from .simulate import SimulationError, Temporaries
from .structure import Structurer, Unstructured

FAILURES = (Unstructured, Unfinished, SimulationError, NoCopy, PassFailed)


def names_in(code: CodeType) -> Set[str]:
    """All names that the code object itself uses."""
    return {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}


def structured(program: Program) -> List[n.Stmt]:
    """The statements of the program in structured form. Raises one of FAILURES when there is none."""
    temporaries = Temporaries(names_in(program.code))
    for rewrite in REWRITES:
        program = rewrite(program)
    graph = cfg.build(program)
    found = regions.find(graph)
    prepare.async_loops(graph, found)
    finally_copies.undo(graph, found)
    prepare.split_exits(graph, found)
    prepare.merge_ends(graph, found)
    whole = flow.build(graph, found, temporaries)
    reduce.reduce(whole)
    settle.settle(whole)
    body = match_statements(Structurer(whole).run())
    return finish(body, temporaries, bool(program.code.co_flags & CO_ASYNC_GENERATOR))


def structured_code(code: CodeType) -> List[n.Stmt]:
    """`structured` of the code object's program."""
    return structured(normalise(code))


def _without_inlined(program: Program) -> Program:
    """`program` whose comprehensions are single instructions, with their statements in place of their programs."""
    result = plain_comprehensions(program)
    for instr in result.instrs:
        if instr.op is Op.COMPREHENSION:
            name, part, _ = instr.arg
            instr.arg = (name, structured(part))
    return result


# What the compiler made of certain constructs, turned into simpler instructions, before control flow is looked at.
REWRITES = (plain_calls, marked_annotations, with_overwritten, _without_inlined, plain_groups, match_patterns)
