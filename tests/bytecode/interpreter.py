"""Run a canonical program, on Python's own values: the judge of what `normalise` says an instruction means.

It is a generator, so that generators' bodies can be run too; `call` drives it for a plain function.
"""

from __future__ import annotations

import builtins
import operator
import types

from depyf.bytecode import Op, effect

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "@": operator.matmul,
}
INPLACE = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "@": operator.imatmul,
}
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
CONVERT = {"": lambda v: v, "s": str, "r": repr, "a": ascii}
NOTHING = object()


def call(program, function, *args):
    """What `function(*args)` returns (or raises), by its canonical program."""
    runner = run(program, function, *args)
    try:
        next(runner)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a plain function yielded")


def run(program, function, *args):
    """A generator that is what a generator function's would be."""
    code = function.__code__
    names = dict(zip(code.co_varnames, args))
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    for name in code.co_cellvars:
        cells[name] = types.CellType(names.pop(name)) if name in names else types.CellType()
    frame = Frame(program, names, cells, function.__globals__)
    index = 0
    while True:
        instr = program.instrs[index]
        try:
            if instr.op is Op.RETURN:
                return frame.stack.pop()
            if instr.op is Op.YIELD:
                frame.stack.append((yield frame.stack.pop()))
                index += 1
            elif instr.op is Op.YIELD_FROM:
                receiver, _ = frame.take(2)
                frame.stack.append((yield from receiver))
                index += 1
            else:
                index = frame.step(index, instr)
        except BaseException as error:
            if isinstance(error, (AssertionError, NotImplementedError)) and getattr(error, "ours", False):
                raise
            region = next((r for r in program.regions if r.start <= index < r.end), None)
            if region is None:
                raise
            del frame.stack[region.depth :]
            frame.stack.append(error)
            index = region.handler


class Frame:
    def __init__(self, program, names, cells, globals_):
        self.stack = []
        self.program = program
        self.names = names
        self.cells = cells
        self.globals = globals_
        self.handled = None

    def take(self, count):
        if not count:
            return []
        if len(self.stack) < count:
            self.fail("stack underflow")
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def fail(self, what):
        error = AssertionError(what)
        error.ours = True
        raise error

    def step(self, index, instr):
        depth = len(self.stack)
        target = self.control(index, instr)
        if target is None:
            pops, pushes = effect(instr)
            self.simple(instr)
            if len(self.stack) != depth - pops + pushes:
                self.fail("%s: depth %d became %d" % (instr, depth, len(self.stack)))
            return index + 1
        return target

    def control(self, index, instr):
        op = instr.op
        if op is Op.JUMP:
            return instr.target
        if op in (Op.BRANCH_TRUE, Op.BRANCH_FALSE):
            truth = bool(self.stack.pop())
            return instr.target if truth == (op is Op.BRANCH_TRUE) else index + 1
        if op is Op.FOR_ITER:
            try:
                value = next(self.stack[-1])
            except StopIteration:
                self.stack.pop()
                return instr.target
            self.stack.append(value)
            return index + 1
        if op is Op.RERAISE:
            raise self.stack.pop()
        if op is Op.RAISE:
            values = self.take(instr.arg)
            if not values:
                raise self.handled or RuntimeError("No active exception to reraise")
            error = values[0]() if isinstance(values[0], type) else values[0]
            if len(values) == 2:
                error.__cause__ = values[1]
            raise error
        return None

    def simple(self, instr):
        op, arg, stack = instr.op, instr.arg, self.stack
        handler = getattr(self, "op_" + op.name.lower(), None)
        if handler is not None:
            handler(arg, stack)
            return
        pops, pushes = effect(instr)
        values = self.take(pops)
        found = self.pure(op, arg, values)
        stack.append(found) if pushes else None

    def pure(self, op, arg, values):
        """Operations that take all their values and give at most one."""
        if op is Op.BINARY:
            return BINARY[arg](*values)
        if op is Op.INPLACE:
            return INPLACE[arg](*values)
        if op is Op.COMPARE:
            return COMPARE[arg](*values)
        if op is Op.UNARY:
            return UNARY[arg](*values)
        if op is Op.POP:
            return None
        if op is Op.LOAD_CONST:
            return arg
        if op is Op.LOAD_ATTR:
            return getattr(values[0], arg)
        if op is Op.STORE_ATTR:
            return setattr(values[1], arg, values[0])
        if op is Op.DELETE_ATTR:
            return delattr(values[0], arg)
        if op is Op.LOAD_SUBSCR:
            return values[0][values[1]]
        if op is Op.STORE_SUBSCR:
            values[1][values[2]] = values[0]
            return None
        if op is Op.DELETE_SUBSCR:
            del values[0][values[1]]
            return None
        if op is Op.BUILD_TUPLE:
            return tuple(values)
        if op is Op.BUILD_LIST:
            return list(values)
        if op is Op.BUILD_SET:
            return set(values)
        if op is Op.BUILD_MAP:
            return dict(zip(values[::2], values[1::2]))
        if op is Op.BUILD_CONST_KEY_MAP:
            return dict(zip(arg, values))
        if op is Op.BUILD_SLICE:
            return slice(*values)
        if op is Op.BUILD_STRING:
            return "".join(values)
        if op is Op.FORMAT:
            return format(CONVERT[arg[0]](values[0]), values[1] if arg[1] else "")
        if op is Op.LIST_TO_TUPLE:
            return tuple(values[0])
        if op is Op.GET_ITER or op is Op.GET_YIELD_FROM_ITER:
            return iter(values[0])
        if op is Op.CALL:
            count, keywords = arg
            plain = values[1 : 1 + count - len(keywords)]
            return values[0](*plain, **dict(zip(keywords, values[1 + count - len(keywords) :])))
        if op is Op.CALL_EX:
            return values[0](*values[1], **(values[2] if arg else {}))
        if op is Op.WITH_EXIT:
            return values[0](None, None, None)
        if op is Op.IMPORT_NAME:
            return builtins.__import__(arg[0], self.globals, None, values[1], values[0])
        if op is Op.LOAD_ASSERTION_ERROR:
            return AssertionError
        if op is Op.LOAD_COMMON_CONST:
            return getattr(builtins, arg)
        if op is Op.LOAD_SUPER_ATTR:
            return getattr(values[0](values[1], values[2]), arg[0])
        if op is Op.INTRINSIC:
            return self.intrinsic(arg[0], values)
        raise self.unknown(op)

    def unknown(self, op):
        error = NotImplementedError(op.name)
        error.ours = True
        return error

    def intrinsic(self, name, values):
        if name in ("unpack_list", "unpack_tuple", "unpack_set"):
            return {"list": list, "tuple": tuple, "set": set}[name[7:]](item for value in values for item in value)
        if name in ("unpack_map", "unpack_map_call"):
            return {key: item for value in values for key, item in value.items()}
        if name == "dict_without_keys":
            return {key: value for key, value in values[0].items() if key not in values[1]}
        error = NotImplementedError(name)
        error.ours = True
        raise error

    # names
    def op_load_fast(self, name, stack):
        if self.names.get(name, NOTHING) is NOTHING:
            raise UnboundLocalError(name)
        stack.append(self.names[name])

    def op_store_fast(self, name, stack):
        self.names[name] = stack.pop()

    def op_delete_fast(self, name, stack):
        if self.names.pop(name, NOTHING) is NOTHING:
            raise UnboundLocalError(name)

    def op_load_fast_and_clear(self, name, stack):
        stack.append(self.names.pop(name, NOTHING))

    def op_load_deref(self, name, stack):
        try:
            stack.append(self.cells[name].cell_contents)
        except ValueError:
            raise NameError(name) from None

    def op_store_deref(self, name, stack):
        self.cells[name].cell_contents = stack.pop()

    def op_delete_deref(self, name, stack):
        del self.cells[name].cell_contents

    def op_load_closure(self, name, stack):
        stack.append(self.cells[name])

    def op_load_global(self, name, stack):
        if name in self.globals:
            stack.append(self.globals[name])
        elif hasattr(builtins, name):
            stack.append(getattr(builtins, name))
        else:
            raise NameError(name)

    def op_store_global(self, name, stack):
        self.globals[name] = stack.pop()

    # stack
    def op_copy(self, position, stack):
        stack.append(stack[-position])

    def op_swap(self, position, stack):
        stack[-1], stack[-position] = stack[-position], stack[-1]

    def op_import_from(self, name, stack):
        stack.append(getattr(stack[-1], name))

    # displays
    def op_list_append(self, position, stack):
        value = stack.pop()
        stack[-position].append(value)

    def op_set_add(self, position, stack):
        value = stack.pop()
        stack[-position].add(value)

    def op_map_add(self, position, stack):
        key, value = self.take(2)
        stack[-position][key] = value

    def op_list_extend(self, position, stack):
        value = stack.pop()
        stack[-position].extend(value)

    def op_set_update(self, position, stack):
        value = stack.pop()
        stack[-position].update(value)

    op_dict_update = op_set_update

    def op_dict_merge(self, position, stack):
        value = stack.pop()
        known = stack[-position]
        for key in value:
            if key in known:
                raise TypeError("got multiple values for keyword argument %r" % key)
        known.update(value)

    def op_unpack_sequence(self, count, stack):
        values = list(stack.pop())
        if len(values) != count:
            raise ValueError("wrong number of values")
        stack.extend(reversed(values))

    def op_unpack_ex(self, arg, stack):
        before, after = arg
        values = list(stack.pop())
        if len(values) < before + after:
            raise ValueError("too few values")
        middle = values[before : len(values) - after]
        stack.extend(reversed(values[:before] + [middle] + values[len(values) - after :]))

    def op_make_function(self, parts, stack):
        values = self.take(len(parts) + 1)
        order = [part for part in ("defaults", "kwdefaults", "annotations", "annotate", "closure") if part in parts]
        given = dict(zip(order, values))
        function = types.FunctionType(
            values[-1], self.globals, values[-1].co_name, given.get("defaults"), given.get("closure")
        )
        function.__kwdefaults__ = given.get("kwdefaults")
        stack.append(function)

    # exceptions and with
    def op_push_exc_info(self, arg, stack):
        stack.insert(len(stack) - 1, self.handled)
        self.handled = stack[-1]

    def op_pop_except(self, arg, stack):
        self.handled = stack.pop()

    def op_check_exc_match(self, arg, stack):
        stack[-1] = isinstance(stack[-2], stack[-1])

    def op_before_with(self, arg, stack):
        manager = stack.pop()
        stack.append(manager.__exit__)
        stack.append(manager.__enter__())

    def op_with_except_start(self, arg, stack):
        error = stack[-1]
        stack.append(stack[-3](type(error), error, error.__traceback__))

    # match
    def op_get_len(self, arg, stack):
        stack.append(len(stack[-1]))

    def op_match_mapping(self, arg, stack):
        stack.append(isinstance(stack[-1], dict))

    def op_match_sequence(self, arg, stack):
        stack.append(isinstance(stack[-1], (list, tuple)))

    def op_match_keys(self, arg, stack):
        subject, keys = stack[-2:]
        found = all(key in subject for key in keys)
        stack.append(tuple(subject[key] for key in keys) if found else None)

    def op_match_class(self, count, stack):
        subject, kind, names = self.take(3)
        if not isinstance(subject, kind):
            stack.append(None)
            return
        names = tuple(kind.__match_args__[:count]) + names
        stack.append(tuple(getattr(subject, name) for name in names))
