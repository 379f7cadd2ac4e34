"""What the operations on values are in Python: names, attributes, operators, displays, calls, iteration."""

from __future__ import annotations

from typing import List, Optional

from depyf.bytecode.foreign_code import is_code
from depyf.bytecode.program import Instr, Op

from .. import nodes as n
from ..scopes import COMPREHENSIONS
from ..simulate.joined import joined_display
from .builder import Builder, Table, UnknownOperation, as_value, identifier, keyword, registrar

VALUES: Table = {}
on = registrar(VALUES)

# ---------------------------------------------------------------- stack, names


@on(Op.POP)
def _pop(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if not b.is_settled(value):
        b.emit(n.ExprStmt(value))


@on(Op.COPY)
def _copy(b: Builder, instr: Instr) -> None:
    b.settle(instr.arg - 1)
    value = b.stack[-instr.arg]
    b.stack.append(n.Name(value.id) if isinstance(value, n.Name) else value)
    if id(value) in b.saved:
        b.saved.add(id(b.stack[-1]))


@on(Op.SWAP)
def _swap(b: Builder, instr: Instr) -> None:
    involved = b.stack[-instr.arg :]
    if sum(not b.is_settled(value) for value in involved) > 1:
        b.settle()
    b.stack[-1], b.stack[-instr.arg] = b.stack[-instr.arg], b.stack[-1]


@on(Op.LOAD_CONST)
def _load_const(b: Builder, instr: Instr) -> None:
    b.push(n.Constant(instr.arg))


@on(Op.LOAD_FAST, Op.LOAD_DEREF, Op.LOAD_CLASSDEREF, Op.LOAD_GLOBAL, Op.LOAD_NAME, Op.LOAD_CLASSGLOBAL)
def _load_name(b: Builder, instr: Instr) -> None:
    if instr.op is Op.LOAD_GLOBAL and instr.arg in b.names.hidden_globals:
        b.push(n.Subscript(n.Call(b.names.builtin("globals"), []), n.Constant(instr.arg)))
    else:
        b.push(n.Name(identifier(instr.arg)))


@on(Op.STORE_FAST, Op.STORE_DEREF, Op.STORE_GLOBAL, Op.STORE_NAME)
def _store_name(b: Builder, instr: Instr) -> None:
    target = n.Name(identifier(instr.arg))
    raw = b.stack[-1]
    value = b.pop()
    if isinstance(raw, n.Intrinsic) and raw.name == "cell":
        return  # `__classcell__`: the compiler stores it by itself
    if id(raw) in b.saved:
        unset: List[n.Stmt] = [n.Assign([target], n.Constant(None)), n.Delete([n.Name(target.id)])]
        test = n.Compare(value, ["is"], [b.names.null()])
        b.emit(n.If(test, unset, [n.Assign([n.Name(target.id)], value)]))
        return
    b.emit(n.Assign([target], value))


@on(Op.DELETE_FAST, Op.DELETE_DEREF, Op.DELETE_GLOBAL, Op.DELETE_NAME)
def _delete_name(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([n.Name(identifier(instr.arg))]))


@on(Op.LOAD_FAST_AND_CLEAR)
def _load_and_clear(b: Builder, instr: Instr) -> None:
    name, saved = identifier(instr.arg), b.fresh()
    load: List[n.Stmt] = [n.Assign([saved], n.Name(name))]
    missing: List[n.Stmt] = [n.Assign([n.Name(saved.id)], b.names.null())]
    b.emit(n.Try(load, [n.ExceptHandler(b.names.builtin("NameError"), None, missing)]))
    b.append(n.Assign([n.Name(name)], n.Constant(None)))
    b.append(n.Delete([n.Name(name)]))
    value = n.Name(saved.id)
    b.saved.add(id(value))
    b.stack.append(value)


@on(Op.LOAD_CLOSURE)
def _load_closure(b: Builder, instr: Instr) -> None:
    b.push(n.Intrinsic("cell", [n.Name(instr.arg)]))


@on(Op.LOAD_LOCALS)
def _load_locals(b: Builder, instr: Instr) -> None:
    b.push(n.Call(b.names.builtin("locals"), []))


@on(Op.LOAD_BUILD_CLASS)
def _load_build_class(b: Builder, instr: Instr) -> None:
    b.push(n.Intrinsic("load_build_class"))


@on(Op.LOAD_ASSERTION_ERROR)
def _load_assertion_error(b: Builder, instr: Instr) -> None:
    b.push(b.names.builtin("AssertionError"))


@on(Op.LOAD_COMMON_CONST)
def _load_common(b: Builder, instr: Instr) -> None:
    b.push(b.names.builtin(instr.arg))


# ---------------------------------------------------------------- attributes, items, operators


@on(Op.LOAD_ATTR)
def _load_attr(b: Builder, instr: Instr) -> None:
    b.push(n.Attribute(b.pop(), instr.arg))


@on(Op.STORE_ATTR)
def _store_attr(b: Builder, instr: Instr) -> None:
    value, owner = b.pop_many(2)
    b.emit(n.Assign([n.Attribute(owner, instr.arg)], value))


@on(Op.DELETE_ATTR)
def _delete_attr(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([n.Attribute(b.pop(), instr.arg)]))


@on(Op.LOAD_SUPER_ATTR)
def _load_super_attr(b: Builder, instr: Instr) -> None:
    function, cls, this = b.pop_many(3)
    # Without arguments `super()` finds both by itself; the compiler has them loaded for it.
    bare = not instr.arg[1] and isinstance(cls, n.Name) and cls.id == "__class__" and not b.is_settled(this)
    b.push(n.Attribute(n.Call(function, [] if bare else [cls, this]), instr.arg[0]))


def _subscript(b: Builder) -> n.Subscript:
    index = b.pop_raw()
    return n.Subscript(b.pop(), index)


@on(Op.LOAD_SUBSCR)
def _load_subscr(b: Builder, instr: Instr) -> None:
    b.push(_subscript(b))


@on(Op.STORE_SUBSCR)
def _store_subscr(b: Builder, instr: Instr) -> None:
    target = _subscript(b)
    b.emit(n.Assign([target], b.pop()))


@on(Op.DELETE_SUBSCR)
def _delete_subscr(b: Builder, instr: Instr) -> None:
    b.emit(n.Delete([_subscript(b)]))


@on(Op.UNARY)
def _unary(b: Builder, instr: Instr) -> None:
    b.push(n.UnaryOp(instr.arg, b.pop()))


@on(Op.BINARY)
def _binary(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    b.push(n.BinOp(left, instr.arg, right))


@on(Op.INPLACE)
def _inplace(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    # The left operand must be a variable of its own: the operator may or may not give a new object.
    target = b.fresh()
    if not b.is_settled(right):
        b.settle()
        left_now = b.assign(left)
        right = b.assign(right)
        left = left_now
    b.emit(n.Assign([target], left))
    b.append(n.AugAssign(n.Name(target.id), instr.arg, right))
    b.stack.append(n.Name(target.id))


@on(Op.COMPARE)
def _compare(b: Builder, instr: Instr) -> None:
    left, right = b.pop_many(2)
    b.push(n.Compare(left, [instr.arg], [right]))


# ---------------------------------------------------------------- displays


@on(Op.BUILD_TUPLE)
def _build_tuple(b: Builder, instr: Instr) -> None:
    b.push(n.Tuple_(b.pop_many(instr.arg)))


@on(Op.BUILD_LIST)
def _build_list(b: Builder, instr: Instr) -> None:
    b.push(n.List_(b.pop_many(instr.arg)))


@on(Op.BUILD_SET)
def _build_set(b: Builder, instr: Instr) -> None:
    elts = b.pop_many(instr.arg)
    b.push(n.Set_(elts) if elts else n.Call(b.names.builtin("set"), []))


@on(Op.BUILD_MAP)
def _build_map(b: Builder, instr: Instr) -> None:
    items = b.pop_many(2 * instr.arg)
    keys: List[Optional[n.Expr]] = list(items[0::2])
    b.push(n.Dict_(keys, items[1::2]))


@on(Op.BUILD_CONST_KEY_MAP)
def _build_const_key_map(b: Builder, instr: Instr) -> None:
    keys: List[Optional[n.Expr]] = [n.Constant(key) for key in instr.arg]
    b.push(n.Dict_(keys, b.pop_many(len(keys))))


@on(Op.BUILD_SLICE)
def _build_slice(b: Builder, instr: Instr) -> None:
    parts = b.pop_many(instr.arg)
    lower, upper = (None if isinstance(p, n.Constant) and p.value is None else p for p in parts[:2])
    b.push(n.Slice(lower, upper, parts[2] if len(parts) == 3 else None))


@on(Op.BUILD_STRING)
def _build_string(b: Builder, instr: Instr) -> None:
    values: List[n.Expr] = []
    for part in b.pop_many(instr.arg):
        if isinstance(part, n.JoinedStr):
            values.extend(part.values)
        elif isinstance(part, n.Constant) and isinstance(part.value, str):
            values.append(part)
        else:
            values.append(n.FormattedValue(part, "", None))
    b.push(n.JoinedStr(values))


@on(Op.FORMAT)
def _format(b: Builder, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = b.pop() if has_spec else None
    if spec is not None and not isinstance(spec, (n.JoinedStr, n.Constant)):
        spec = n.JoinedStr([n.FormattedValue(spec, "", None)])
    b.push(n.JoinedStr([n.FormattedValue(b.pop(), conversion, spec)]))


@on(Op.BUILD_INTERPOLATION)
def _interpolation(b: Builder, instr: Instr) -> None:
    conversion, has_spec = instr.arg
    spec = b.pop() if has_spec else n.Constant("")
    value, text = b.pop_many(2)
    arguments = [value, text, n.Constant(conversion or None), spec]
    b.push(n.Call(_template_class(b, "Interpolation"), arguments))


@on(Op.BUILD_TEMPLATE)
def _template(b: Builder, instr: Instr) -> None:
    strings, interpolations = b.pop_many(2)
    if not isinstance(strings, n.Constant) or not isinstance(interpolations, (n.Tuple_, n.Constant)):
        raise UnknownOperation("a template string of an unknown shape")
    parts = interpolations.elts if isinstance(interpolations, n.Tuple_) else []
    arguments: List[n.Expr] = []
    for index, string in enumerate(strings.value):
        arguments.append(n.Constant(string))
        arguments.extend(parts[index : index + 1])
    b.push(n.Call(_template_class(b, "Template"), arguments))


def _template_class(b: Builder, name: str) -> n.Expr:
    arguments = [n.Constant("string.templatelib"), n.Constant(None), n.Constant(None), n.Constant((name,))]
    return n.Attribute(n.Call(b.names.builtin("__import__"), list(arguments)), name)


def _owner(b: Builder, depth: int) -> n.Expr:
    """The container at `depth`, evaluated; everything else on the stack and just popped stays as it is."""
    b.settle()
    return b.stack[-depth]


@on(Op.LIST_APPEND, Op.SET_ADD)
def _add_one(b: Builder, instr: Instr) -> None:
    value = b.pop()
    owner = b.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.List_ if instr.op is Op.LIST_APPEND else n.Set_):
        owner.elts.append(value)
        return
    method = "append" if instr.op is Op.LIST_APPEND else "add"
    owner = _owner(b, instr.arg)
    b.append(n.ExprStmt(n.Call(n.Attribute(owner, method), [value])))


@on(Op.MAP_ADD)
def _map_add(b: Builder, instr: Instr) -> None:
    key, value = b.pop_many(2)
    owner = b.stack[-instr.arg]
    if instr.arg == 1 and isinstance(owner, n.Dict_) and not getattr(owner, "merged", False):
        owner.keys.append(key)
        owner.values.append(value)
        return
    owner = _owner(b, instr.arg)
    b.append(n.ExprStmt(n.Call(n.Attribute(owner, "__setitem__"), [key, value])))


@on(Op.LIST_EXTEND, Op.SET_UPDATE)
def _add_many(b: Builder, instr: Instr) -> None:
    # A new display replaces the old: only the stack holds it, and the messages of errors stay those of displays.
    value = b.pop()
    display = n.List_ if instr.op is Op.LIST_EXTEND else n.Set_
    owner = b.stack[-instr.arg]
    if instr.arg == 1:
        elts = owner.elts if isinstance(owner, display) else [n.Starred(owner)]
        b.stack.pop()
        b.push(display([*elts, n.Starred(value)]))
        return
    owner = _owner(b, instr.arg)
    b.stack[-instr.arg] = b.assign(display([n.Starred(owner), n.Starred(value)]))


@on(Op.DICT_UPDATE, Op.DICT_MERGE)
def _dict_update(b: Builder, instr: Instr) -> None:
    value = b.pop()
    merged = instr.op is Op.DICT_MERGE
    owner = b.stack[-instr.arg]
    if instr.arg != 1:
        owner = _owner(b, instr.arg)
    if isinstance(owner, n.Dict_) and (merged or not getattr(owner, "merged", False)):
        result = n.Dict_([*owner.keys, None], [*owner.values, value])
    else:
        result = n.Dict_([None, None], [as_value(owner, b.names), value])
    result.merged = merged  # type: ignore[attr-defined]
    if instr.arg == 1:
        b.stack.pop()
        b.push(result)
    else:
        b.stack[-instr.arg] = b.assign(result)


@on(Op.LIST_TO_TUPLE)
def _list_to_tuple(b: Builder, instr: Instr) -> None:
    value = b.pop()
    b.push(n.Tuple_(value.elts if isinstance(value, n.List_) else [n.Starred(value)]))


@on(Op.UNPACK_SEQUENCE, Op.UNPACK_EX)
def _unpack(b: Builder, instr: Instr) -> None:
    value = b.pop()
    star = -1
    if instr.op is Op.UNPACK_SEQUENCE:
        count = instr.arg
    else:
        star, after = instr.arg
        count = star + 1 + after
    items = [b.fresh() for _ in range(count)]
    targets: List[n.Expr] = [n.Starred(item) if i == star else item for i, item in enumerate(items)]
    b.emit(n.Assign([n.Tuple_(targets) if targets else n.List_([])], value))
    b.stack.extend(n.Name(item.id) for item in reversed(items))


# ---------------------------------------------------------------- calls, functions, imports


@on(Op.CALL)
def _call(b: Builder, instr: Instr) -> None:
    count, names = instr.arg
    values = b.pop_many(count)
    function = b.pop()
    split = count - len(names)
    keywords: List[n.Keyword] = []
    for name, value in zip(names, values[split:]):
        keywords.append(keyword(n.Constant(name), value))
    b.push(n.Call(function, values[:split], keywords))


@on(Op.CALL_EX)
def _call_ex(b: Builder, instr: Instr) -> None:
    keywords: List[n.Keyword] = []
    if instr.arg:
        mapping = b.pop_raw()
        if isinstance(mapping, n.Dict_) and getattr(mapping, "merged", False):
            keywords = [keyword(key, value) for key, value in zip(mapping.keys, mapping.values)]
        else:
            keywords = [n.Keyword(None, as_value(mapping, b.names))]
    arguments = b.pop()
    function = b.pop()
    args: List[n.Expr] = list(arguments.elts) if isinstance(arguments, n.Tuple_) else [n.Starred(arguments)]
    b.push(n.Call(function, args, keywords))


@on(Op.MAKE_FUNCTION)
def _make_function(b: Builder, instr: Instr) -> None:
    code = b.pop()
    if not isinstance(code, n.Constant) or not is_code(code.value):
        raise UnknownOperation("a function of code that is no constant")
    node = n.MakeFunction(code.value)
    for part in ("closure", "annotate", "annotations", "kwdefaults", "defaults"):
        if part in instr.arg:
            setattr(node, part, b.pop())
    b.push(node)


@on(Op.IMPORT_NAME)
def _import_name(b: Builder, instr: Instr) -> None:
    level, names = b.pop_many(2)
    if not b.is_settled(level) or not b.is_settled(names):
        b.settle()
        level, names = b.assign(level), b.assign(names)
    globals_ = n.Call(b.names.builtin("globals"), [])
    arguments = [n.Constant(instr.arg[0]), globals_, n.Constant(None), names, level]
    b.push(n.Call(b.names.builtin("__import__"), arguments))


@on(Op.IMPORT_FROM)
def _import_from(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(n.Attribute(b.stack[-1], instr.arg))


# ---------------------------------------------------------------- iteration, generators


def type_method(b: Builder, value: n.Expr, name: str) -> n.Call:
    """`type(value).name(value)`: special methods are looked up on the type."""
    return n.Call(n.Attribute(n.Call(b.names.builtin("type"), [value]), name), [value])


def _calls_comprehension(b: Builder) -> bool:
    """Whether the value just popped is the argument of a comprehension's function."""
    return bool(b.stack) and isinstance(b.stack[-1], n.MakeFunction) and b.stack[-1].code.co_name in COMPREHENSIONS


@on(Op.GET_ITER)
def _get_iter(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if _calls_comprehension(b):
        b.push(n.Call(n.Name("iter"), [value]))  # becomes part of the comprehension
    else:
        b.push(n.Call(b.names.builtin("iter"), [value]))


@on(Op.GET_AITER)
def _get_aiter(b: Builder, instr: Instr) -> None:
    value = b.pop()
    if _calls_comprehension(b):
        b.push(n.Call(n.Name("aiter"), [value]))  # becomes part of the comprehension
        return
    b.stack.append(value)
    b.push(type_method(b, b.pop_settled(), "__aiter__"))


@on(Op.GET_ANEXT)
def _get_anext(b: Builder, instr: Instr) -> None:
    b.settle()
    b.push(type_method(b, b.stack[-1], "__anext__"))


@on(Op.GET_YIELD_FROM_ITER, Op.GET_AWAITABLE)
def _no_step_of_its_own(b: Builder, instr: Instr) -> None:
    pass  # `yield from` and `await` do it


@on(Op.YIELD_FROM)
def _yield_from(b: Builder, instr: Instr) -> None:
    b.pop()
    value = b.pop()
    b.push_now(n.Await(value) if b.is_async else n.YieldFrom(value))


@on(Op.YIELD)
def _yield(b: Builder, instr: Instr) -> None:
    b.push_now(n.Yield(b.pop()))


@on(Op.INTRINSIC)
def _intrinsic(b: Builder, instr: Instr) -> None:
    name, count = instr.arg
    args = b.pop_many(count)
    if name == "dict_without_keys":
        _rest_of_mapping(b, *args)
        return
    b.push(joined_display(name, args) or n.Intrinsic(name, args))


def _rest_of_mapping(b: Builder, mapping: n.Expr, keys: n.Expr) -> None:
    """A dict of the items of `mapping` without those of `keys`: the rest of a mapping pattern in 3.10."""
    made = b.assign(n.Dict_([None], [mapping]))
    key = b.fresh()
    removed = n.Delete([n.Subscript(n.Name(made.id), n.Name(key.id))])
    b.append(n.For(key, keys, [removed]))
    b.stack.append(n.Name(made.id))


# ---------------------------------------------------------------- scopes


@on(Op.SETUP_ANNOTATIONS)
def _setup_annotations(b: Builder, instr: Instr) -> None:
    names = n.Call(b.names.builtin("locals"), [])
    missing = n.Compare(n.Constant("__annotations__"), ["not in"], [names])
    b.emit(n.If(missing, [n.Assign([n.Name("__annotations__")], n.Dict_([], []))]))
