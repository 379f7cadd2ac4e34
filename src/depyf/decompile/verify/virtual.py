"""Silent work on containers: building, filling and taking apart lists, tuples and dicts that nobody else can see.

Sound because nothing else holds a reference: such an object comes from a display in this very function and has
only moved between stack slots and local variables since. Reading an item of it, or changing it, cannot run user
code as long as positions are constant integers and keys constant strings or numbers. Where the object gets out (any
event that it is an operand of), it stops being virtual, and both sides must then hold the same items.

Also here: operators and comparisons of constant numbers and strings. They run no user code; the compiler evaluates
some of them, and the dispatch form compares block numbers.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Optional, Tuple

from depyf.bytecode.program import Instr, Op

from .values import State, Values, Virtual

FOLDED_UNARY: Dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
FOLDED_BINARY: Dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
FOLDED_COMPARE: Dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBERS = (int, float, complex, bool)
SIMPLE_KEYS = (str, int, bytes, type(None))
LARGEST = 1 << 4096


def items_of(value: int, state: State, values: Values) -> Optional[Tuple[int, ...]]:
    """The items of a list or tuple, if they are known."""
    virtual = state.heap.get(value)
    if virtual is not None and virtual.kind in ("list", "tuple"):
        return virtual.items
    if values.is_const(value) and type(values.constant(value)) is tuple:
        return tuple(values.const(item) for item in values.constant(value))
    return None


def step(instr: Instr, state: State, values: Values) -> bool:
    """Execute `instr` if that is silent; False, and nothing changed, if it is not."""
    handler = HANDLERS.get(instr.op)
    return handler is not None and handler(instr, state, values)


def _new(state: State, values: Values, kind: str, items: Tuple[int, ...] | List[int], name: str = "") -> None:
    """Push a new virtual object (a tuple of constants is a constant: the compiler may fold it)."""
    items = tuple(items)
    if kind in ("tuple", "slice") and all(values.is_const(item) for item in items):
        parts = [values.constant(item) for item in items]
        state.stack.append(values.const(tuple(parts) if kind == "tuple" else slice(*parts)))
        return
    number = values.fresh()
    state.heap[number] = Virtual(kind, items, name=name)
    state.stack.append(number)


def _take(state: State, count: int) -> List[int]:
    taken = state.stack[len(state.stack) - count :]
    del state.stack[len(state.stack) - count :]
    return taken


def _build(kind: str) -> Callable[[Instr, State, Values], bool]:
    def build(instr: Instr, state: State, values: Values) -> bool:
        _new(state, values, kind, _take(state, instr.arg))
        return True

    return build


def _build_set(instr: Instr, state: State, values: Values) -> bool:
    if instr.arg:
        return False
    _new(state, values, "set", ())
    return True


def _is_key(value: int, values: Values) -> bool:
    return values.is_const(value) and type(values.constant(value)) in SIMPLE_KEYS


def _build_map(instr: Instr, state: State, values: Values) -> bool:
    count = 2 * instr.arg
    pairs = state.stack[len(state.stack) - count :]
    if not all(_is_key(key, values) for key in pairs[0::2]):
        return False
    _new(state, values, "dict", _take(state, count))
    return True


def _build_const_key_map(instr: Instr, state: State, values: Values) -> bool:
    keys = [values.const(key) for key in instr.arg]
    if not all(_is_key(key, values) for key in keys):
        return False
    items: List[int] = []
    for key, value in zip(keys, _take(state, len(keys))):
        items += [key, value]
    _new(state, values, "dict", items)
    return True


def _list_to_tuple(instr: Instr, state: State, values: Values) -> bool:
    items = items_of(state.stack[-1], state, values)
    if items is None:
        return False
    state.stack.pop()
    _new(state, values, "tuple", items)
    return True


def _private(value: int, kind: str, state: State) -> Optional[Virtual]:
    virtual = state.heap.get(value)
    return virtual if virtual is not None and virtual.kind == kind and not virtual.shown else None


def _list_append(instr: Instr, state: State, values: Values) -> bool:
    owner = state.stack[-instr.arg - 1]
    virtual = _private(owner, "list", state)
    if virtual is None:
        return False
    state.heap[owner] = Virtual("list", (*virtual.items, state.stack.pop()))
    return True


def _list_extend(instr: Instr, state: State, values: Values) -> bool:
    owner = state.stack[-instr.arg - 1]
    virtual = _private(owner, "list", state)
    items = items_of(state.stack[-1], state, values)
    if virtual is None or items is None:
        return False
    state.stack.pop()
    state.heap[owner] = Virtual("list", virtual.items + items)
    return True


def _set_update(instr: Instr, state: State, values: Values) -> bool:
    """`{*()}`, which is how an empty set is written."""
    if items_of(state.stack[-1], state, values) != ():
        return False
    state.stack.pop()
    return True


def _map_add(instr: Instr, state: State, values: Values) -> bool:
    owner = state.stack[-instr.arg - 2]
    virtual = _private(owner, "dict", state)
    if virtual is None or not _is_key(state.stack[-2], values):
        return False
    state.heap[owner] = Virtual("dict", (*virtual.items, *_take(state, 2)))
    return True


def _dict_update(instr: Instr, state: State, values: Values) -> bool:
    owner = state.stack[-instr.arg - 1]
    into, source = _private(owner, "dict", state), state.heap.get(state.stack[-1])
    if into is None or source is None or source.kind != "dict":
        return False
    if instr.op is Op.DICT_MERGE:
        keys = into.items[0::2] + source.items[0::2]
        if len(set(keys)) < len(keys) or not all(type(values.constant(key)) is str for key in keys):
            return False
    state.stack.pop()
    state.heap[owner] = Virtual("dict", into.items + source.items)
    return True


def _unpack_sequence(instr: Instr, state: State, values: Values) -> bool:
    items = items_of(state.stack[-1], state, values)
    if items is None or len(items) != instr.arg:
        return False
    state.stack.pop()
    state.stack.extend(reversed(items))
    return True


def _position(value: int, length: int, values: Values) -> Optional[int]:
    """The index that a constant means in a sequence of `length` items, if it is within."""
    if not values.is_const(value) or type(values.constant(value)) is not int:
        return None
    index: int = values.constant(value)
    return index % length if -length <= index < length else None


def _slice(value: int, state: State, values: Values) -> Optional[slice]:
    if values.is_const(value) and type(values.constant(value)) is slice:
        found: slice = values.constant(value)
        parts = (found.start, found.stop, found.step)
        return found if all(part is None or type(part) is int for part in parts) and found.step != 0 else None
    return None


def _load_subscr(instr: Instr, state: State, values: Values) -> bool:
    owner, index = state.stack[-2:]
    items = items_of(owner, state, values)
    if items is None:
        return False
    position, part = _position(index, len(items), values), _slice(index, state, values)
    if position is None and part is None:
        return False
    _take(state, 2)
    if part is None:
        assert position is not None
        state.stack.append(items[position])
    else:
        virtual = state.heap.get(owner)
        _new(state, values, virtual.kind if virtual is not None else "tuple", items[part])
    return True


def _store_subscr(instr: Instr, state: State, values: Values) -> bool:
    value, owner, index = state.stack[-3:]
    virtual = _private(owner, "list", state)
    if virtual is None:
        return False
    items = list(virtual.items)
    position, part = _position(index, len(items), values), _slice(index, state, values)
    if position is not None:
        items[position] = value
    else:
        new = items_of(value, state, values)
        if part is None or new is None or part.step not in (None, 1):
            return False
        items[part] = new
    _take(state, 3)
    state.heap[owner] = Virtual("list", tuple(items))
    return True


def _delete_subscr(instr: Instr, state: State, values: Values) -> bool:
    owner, index = state.stack[-2:]
    virtual = _private(owner, "list", state)
    if virtual is None:
        return False
    items = list(virtual.items)
    position, part = _position(index, len(items), values), _slice(index, state, values)
    if position is not None:
        del items[position]
    elif part is not None:
        del items[part]
    else:
        return False
    _take(state, 2)
    state.heap[owner] = Virtual("list", tuple(items))
    return True


METHODS = {"list": "append", "set": "add"}


def exact_type(value: int, state: State, values: Values) -> Optional[str]:
    """ "list", "set" or "dict" for what a display has made, whether others have seen it since or not."""
    virtual = state.heap.get(value)
    if virtual is not None:
        return virtual.kind
    known = values.known.get(value)
    return known.kind if known is not None and known.kind in ("list", "set", "dict") else None


def growing_call(instr: Instr, state: State) -> Optional[Tuple[str, int]]:
    """For a call of a list's `append` or a set's `add`: the operation that does the same, and the owner."""
    if instr.op is not Op.CALL or instr.arg != (1, ()):
        return None
    method = state.heap.get(state.stack[-2])
    if method is None or method.kind != "method" or method.name not in ("append", "add"):
        return None
    return ("LIST_APPEND" if method.name == "append" else "SET_ADD"), method.items[0]


def _load_attr(instr: Instr, state: State, values: Values) -> bool:
    owner = state.stack[-1]
    if not (instr.arg in ("extend", "pop") and _private(owner, "list", state) is not None) and instr.arg != METHODS.get(
        exact_type(owner, state, values) or ""
    ):
        return False
    state.stack.pop()
    _new(state, values, "method", (owner,), instr.arg)
    return True


def _call(instr: Instr, state: State, values: Values) -> bool:
    """A call of a list's `append`, `extend` or `pop`."""
    count, names = instr.arg
    method = state.heap.get(state.stack[-1 - count])
    if method is None or method.kind != "method" or names or count > 1:
        return False
    owner = method.items[0]
    virtual = _private(owner, "list", state)
    if virtual is None:
        return False
    items = list(virtual.items)
    result = values.const(None)
    argument = state.stack[-1]
    if method.name == "pop":
        position = len(items) - 1 if count == 0 else _position(argument, len(items), values)
        if position is None or position < 0:
            return False
        result = items.pop(position)
    elif count != 1:
        return False
    elif method.name == "append":
        items.append(argument)
    else:
        new = items_of(argument, state, values)
        if new is None:
            return False
        items.extend(new)
    _take(state, count + 1)
    state.heap[owner] = Virtual("list", tuple(items))
    state.stack.append(result)
    return True


def _numbers(operands: List[int], values: Values) -> Optional[List[Any]]:
    if not all(values.is_const(value) for value in operands):
        return None
    constants = [values.constant(value) for value in operands]
    if all(type(item) in NUMBERS and not (isinstance(item, int) and abs(item) > LARGEST) for item in constants):
        return constants
    if len(constants) == 2 and all(type(item) is str and len(item) < 4096 for item in constants):
        return constants
    return None


def _fold(count: int, table: Dict[str, Callable[..., Any]]) -> Callable[[Instr, State, Values], bool]:
    def fold(instr: Instr, state: State, values: Values) -> bool:
        constants = _numbers(state.stack[len(state.stack) - count :], values)
        function = table.get(instr.arg)
        if constants is None or function is None or type(constants[0]) is str and instr.arg not in ("+", "=="):
            return False
        try:
            result = function(*constants)
        except (ArithmeticError, TypeError, ValueError):
            return False  # what it raises is an event like any other
        _take(state, count)
        state.stack.append(values.const(result))
        return True

    return fold


_fold_compare = _fold(2, FOLDED_COMPARE)


def _compare(instr: Instr, state: State, values: Values) -> bool:
    if instr.arg not in ("in", "not in"):
        return _fold_compare(instr, state, values)
    value, container = state.stack[-2:]
    if not (values.is_const(value) and values.is_const(container)):
        return False
    number, numbers = values.constant(value), values.constant(container)
    if type(number) is not int or type(numbers) is not tuple or not all(type(item) is int for item in numbers):
        return False
    _take(state, 2)
    state.stack.append(values.const((number in numbers) is (instr.arg == "in")))
    return True


HANDLERS: Dict[Op, Callable[[Instr, State, Values], bool]] = {
    Op.BUILD_TUPLE: _build("tuple"),
    Op.BUILD_LIST: _build("list"),
    Op.BUILD_SLICE: _build("slice"),
    Op.BUILD_SET: _build_set,
    Op.BUILD_MAP: _build_map,
    Op.BUILD_CONST_KEY_MAP: _build_const_key_map,
    Op.LIST_TO_TUPLE: _list_to_tuple,
    Op.LIST_APPEND: _list_append,
    Op.LIST_EXTEND: _list_extend,
    Op.SET_UPDATE: _set_update,
    Op.MAP_ADD: _map_add,
    Op.DICT_UPDATE: _dict_update,
    Op.DICT_MERGE: _dict_update,
    Op.UNPACK_SEQUENCE: _unpack_sequence,
    Op.LOAD_SUBSCR: _load_subscr,
    Op.STORE_SUBSCR: _store_subscr,
    Op.DELETE_SUBSCR: _delete_subscr,
    Op.LOAD_ATTR: _load_attr,
    Op.CALL: _call,
    Op.UNARY: _fold(1, FOLDED_UNARY),
    Op.BINARY: _fold(2, FOLDED_BINARY),
    Op.COMPARE: _compare,
}
