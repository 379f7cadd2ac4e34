"""What each canonical instruction does to the stack, and whether it can raise."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

from depyf.bytecode.program import Instr, Op

Effect = Tuple[int, int]

FIXED: Dict[Op, Effect] = {
    Op.POP: (1, 0),
    Op.LOAD_CONST: (0, 1),
    Op.LOAD_FAST: (0, 1),
    Op.STORE_FAST: (1, 0),
    Op.DELETE_FAST: (0, 0),
    Op.LOAD_FAST_AND_CLEAR: (0, 1),
    Op.LOAD_DEREF: (0, 1),
    Op.STORE_DEREF: (1, 0),
    Op.DELETE_DEREF: (0, 0),
    Op.LOAD_CLASSDEREF: (0, 1),
    Op.LOAD_CLOSURE: (0, 1),
    Op.LOAD_GLOBAL: (0, 1),
    Op.STORE_GLOBAL: (1, 0),
    Op.DELETE_GLOBAL: (0, 0),
    Op.LOAD_NAME: (0, 1),
    Op.STORE_NAME: (1, 0),
    Op.DELETE_NAME: (0, 0),
    Op.LOAD_CLASSGLOBAL: (0, 1),
    Op.LOAD_LOCALS: (0, 1),
    Op.LOAD_BUILD_CLASS: (0, 1),
    Op.LOAD_ASSERTION_ERROR: (0, 1),
    Op.LOAD_COMMON_CONST: (0, 1),
    Op.LOAD_ATTR: (1, 1),
    Op.STORE_ATTR: (2, 0),
    Op.DELETE_ATTR: (1, 0),
    Op.LOAD_SUPER_ATTR: (3, 1),
    Op.LOAD_SUBSCR: (2, 1),
    Op.STORE_SUBSCR: (3, 0),
    Op.DELETE_SUBSCR: (2, 0),
    Op.UNARY: (1, 1),
    Op.BINARY: (2, 1),
    Op.INPLACE: (2, 1),
    Op.COMPARE: (2, 1),
    Op.BUILD_TEMPLATE: (2, 1),
    Op.LIST_APPEND: (1, 0),
    Op.SET_ADD: (1, 0),
    Op.MAP_ADD: (2, 0),
    Op.LIST_EXTEND: (1, 0),
    Op.SET_UPDATE: (1, 0),
    Op.DICT_UPDATE: (1, 0),
    Op.DICT_MERGE: (1, 0),
    Op.LIST_TO_TUPLE: (1, 1),
    Op.IMPORT_NAME: (2, 1),
    Op.IMPORT_FROM: (1, 2),
    Op.IMPORT_STAR: (1, 0),
    Op.GET_ITER: (1, 1),
    Op.GET_AITER: (1, 1),
    Op.GET_ANEXT: (1, 2),
    Op.FOR_ITER: (1, 2),
    Op.END_ASYNC_FOR: (2, 0),
    Op.GET_YIELD_FROM_ITER: (1, 1),
    Op.GET_AWAITABLE: (1, 1),
    Op.YIELD_FROM: (2, 1),
    Op.YIELD: (1, 1),
    Op.JUMP: (0, 0),
    Op.BRANCH_TRUE: (1, 0),
    Op.BRANCH_FALSE: (1, 0),
    Op.RETURN: (1, 0),
    Op.PUSH_EXC_INFO: (1, 2),
    Op.POP_EXCEPT: (1, 0),
    Op.RERAISE: (1, 0),
    Op.CHECK_EXC_MATCH: (2, 2),
    Op.CHECK_EG_MATCH: (2, 2),
    Op.PREP_RERAISE_STAR: (2, 1),
    Op.BEFORE_WITH: (1, 2),
    Op.BEFORE_ASYNC_WITH: (1, 2),
    Op.WITH_EXCEPT_START: (3, 4),
    Op.WITH_EXIT: (1, 1),
    Op.GET_LEN: (1, 2),
    Op.MATCH_MAPPING: (1, 2),
    Op.MATCH_SEQUENCE: (1, 2),
    Op.MATCH_KEYS: (2, 3),
    Op.MATCH_CLASS: (3, 1),
    Op.MATCH_PATTERN: (1, 1),
    Op.COMPREHENSION: (1, 1),
    Op.STAR_MATCH: (1, 1),
    Op.ANNOTATED: (0, 0),
    Op.STAR_BODY: (0, 1),
    Op.SETUP_ANNOTATIONS: (0, 0),
}

BY_ARGUMENT: Dict[Op, Callable[..., Effect]] = {
    Op.COPY: lambda position: (position, position + 1),
    Op.SWAP: lambda position: (position, position),
    Op.BUILD_TUPLE: lambda count: (count, 1),
    Op.BUILD_LIST: lambda count: (count, 1),
    Op.BUILD_SET: lambda count: (count, 1),
    Op.BUILD_MAP: lambda pairs: (2 * pairs, 1),
    Op.BUILD_CONST_KEY_MAP: lambda keys: (len(keys), 1),
    Op.BUILD_SLICE: lambda count: (count, 1),
    Op.BUILD_STRING: lambda count: (count, 1),
    Op.BUILD_INTERPOLATION: lambda arg: (3 if arg[1] else 2, 1),
    Op.FORMAT: lambda arg: (2 if arg[1] else 1, 1),
    Op.UNPACK_SEQUENCE: lambda count: (1, count),
    Op.UNPACK_EX: lambda arg: (1, arg[0] + 1 + arg[1]),
    Op.CALL: lambda arg: (arg[0] + 1, 1),
    Op.CALL_EX: lambda has_keywords: (3 if has_keywords else 2, 1),
    Op.MAKE_FUNCTION: lambda parts: (len(parts) + 1, 1),
    Op.RAISE: lambda count: (count, 0),
    Op.INTRINSIC: lambda arg: (arg[1], 1),
}

CANNOT_RAISE = frozenset(
    {
        # stack moves and constants
        Op.POP,
        Op.COPY,
        Op.SWAP,
        Op.LOAD_CONST,
        Op.LOAD_COMMON_CONST,
        Op.LOAD_ASSERTION_ERROR,
        Op.LOAD_CLOSURE,
        # local stores; the destructor of the value that is replaced or dropped cannot raise into the program
        Op.STORE_FAST,
        Op.STORE_DEREF,
        Op.LOAD_FAST_AND_CLEAR,
        # displays of values that need no hashing, and functions: only out-of-memory could make them fail
        Op.BUILD_TUPLE,
        Op.BUILD_LIST,
        Op.BUILD_SLICE,
        Op.BUILD_STRING,
        Op.LIST_APPEND,
        Op.LIST_TO_TUPLE,
        Op.BUILD_CONST_KEY_MAP,
        Op.BUILD_TEMPLATE,
        Op.BUILD_INTERPOLATION,
        Op.MAKE_FUNCTION,
        # control and the bookkeeping of exceptions. A RETURN in a try-block is not caught by it
        Op.JUMP,
        Op.RETURN,
        Op.PUSH_EXC_INFO,
        Op.POP_EXCEPT,
        # tests of type only
        Op.MATCH_MAPPING,
        Op.MATCH_SEQUENCE,
    }
)


def effect(instr: Instr) -> Effect:
    """(values taken, values pushed) on the fall-through edge; the taken ones are at the top of the stack.

    FOR_ITER takes one and pushes two here, and takes one and pushes none on the edge to its target. Every other
    instruction does the same on both edges. COPY and SWAP count every value down to the one that they name.
    """
    found = FIXED.get(instr.op)
    return found if found is not None else BY_ARGUMENT[instr.op](instr.arg)


def can_raise(instr: Instr) -> bool:
    """Whether this instruction can raise an exception that the program could catch.

    Left out of account: being out of memory, and signals (KeyboardInterrupt), which may hit anywhere. A LOAD_FAST of
    a name that may be unbound raises, so every LOAD_FAST and DELETE_FAST counts. Making an empty set or map, or a
    set or map without items to hash, cannot.
    """
    op = instr.op
    if op in CANNOT_RAISE:
        return False
    if op is Op.BUILD_MAP or op is Op.BUILD_SET:
        return bool(instr.arg)
    if op is Op.COMPARE:
        return instr.arg not in ("is", "is not")
    return True
