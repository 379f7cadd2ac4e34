"""The dispatch form: correct code for any instruction sequence, whatever its control flow.

    __block = 0
    while True:
        try:
            if __block == 0:
                ...
                __block = 2 if x else 1
            if __block == 1:
                ...
        except BaseException as __exception_1:
            if __block == 0:
                __stack_1 = __exception_1
                __block = 3
            else:
                raise
            while 3 <= __block < 5:
                ...

Every basic block has a number; values that the bytecode keeps on its stack from one block to the next are in variables
`__stack_0`, `__stack_1`... Handlers run inside the except clause, in a loop of their own, so that `sys.exc_info()` and
`__context__` are what they are in the original; a block number outside of its range ends that loop, and so leaves
the except clause. Blocks of one context, and of the contexts inside it, have consecutive numbers.
"""

from __future__ import annotations

import inspect
from typing import Dict, List, Optional, Sequence, Set, Tuple

from depyf.bytecode import can_raise
from depyf.bytecode.program import Instr, Op, Program

from .. import nodes as n
from ..imports import fold_imports
from .blocks import Block, Blocks, Context, Handling, Tag, step
from .builder import Builder, Names
from .exceptions import raise_again
from .operations import apply

LEAVE = -1  # the number that ends all loops, in module and class bodies, which cannot return
LOCAL_OPS = (Op.LOAD_FAST, Op.DELETE_FAST, Op.LOAD_FAST_AND_CLEAR)


def dispatch_body(program: Program) -> List[n.Stmt]:
    """The statements of a function, class or module body that do what `program` does.

    Nested functions are `MakeFunction` nodes still, and `global` and `nonlocal` are not declared. Raises
    UnknownOperation for an operation that cannot be written, ValueError for an inconsistent stack.
    """
    return _Dispatch(program).body()


class _Dispatch:
    def __init__(self, program: Program) -> None:
        self.program = program
        code = program.code
        self.names = _names(program)
        self.is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
        self.is_async = bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
        self.block_name = self.names.own("__block")
        blocks = Blocks(program)
        self.entry = blocks.entry
        self.by_context: Dict[Context, List[Block]] = {}
        for block in blocks.blocks.values():
            self.by_context.setdefault(block.context, []).append(block)
        for context in list(self.by_context):  # a context between others may have no block of its own
            for length in range(len(context)):
                self.by_context.setdefault(context[:length], [])
        self.bridges: Dict[Tuple[Context, Block, int], int] = {}
        self.ranges: Dict[Context, Tuple[int, int]] = {}
        self._number((), 0)

    # ------------------------------------------------------------ numbers

    def _number(self, context: Context, start: int) -> int:
        """Number the blocks of `context` and of the contexts inside it from `start` on; the next number after them."""
        number = start
        for block in sorted(self.by_context[context], key=lambda item: item.key):
            block.number = number
            number += 1
        for inner in sorted(self.by_context):
            for block in self.by_context[inner]:
                handling = block.handling
                if handling is not None and handling.via == context:
                    key = (context, handling.target, handling.depth)
                    if key not in self.bridges:
                        self.bridges[key] = number
                        number += 1
        for child in self._children(context):
            number = self._number(child, number)
        self.ranges[context] = (start, number)
        return number

    def _children(self, context: Context) -> List[Context]:
        return sorted(c for c in self.by_context if len(c) == len(context) + 1 and c[:-1] == context)

    # ------------------------------------------------------------ the whole

    def body(self) -> List[n.Stmt]:
        """All statements."""
        main = self._loop(())
        head: List[n.Stmt] = []
        null: List[n.Stmt] = []
        if self.names.needs_null:
            null.append(n.Assign([self.names.null()], n.Call(self.names.builtin("object"), [])))
        if self.names.imported:
            aliases = [n.Alias(name, alias) for name, alias in sorted(self.names.imported.items())]
            head.append(n.ImportFrom("builtins", aliases))
        head.extend(null)
        if self.is_function:
            return [*head, self._go(self.entry.number), *main]
        # The variables of a module or class body stay behind as attributes: delete our own.
        exceptions = {self.names.own(f"__exception_{level}") for level in range(1, 2 + max(map(len, self.by_context)))}
        own = sorted(self.names.made - exceptions - set(self.names.imported.values()))
        head[:0] = [n.Assign([n.Name(name) for name in own], n.Constant(None))]
        gone: List[n.Expr] = [n.Name(name) for name in [*own, *sorted(self.names.imported.values())]]
        return [*head, self._go(self.entry.number), *main, n.Delete(gone)]

    def _loop(self, context: Context) -> List[n.Stmt]:
        """The loop that runs the blocks of `context`."""
        start, end = self.ranges[context]
        level = len(context)
        exception = self.names.own(f"__exception_{level + 1}")
        body: List[n.Stmt] = []
        actions: Dict[Tuple[int, int, bool], List[int]] = {}
        for block in sorted(self.by_context[context], key=lambda item: item.number):
            body.append(n.If(self._is(block.number), self._block(block)))
            if block.handling is not None:
                actions.setdefault(self._action(block.handling), []).append(block.number)
        for (where, target, depth), number in self.bridges.items():
            if where == context:
                body.append(n.If(self._is(number), raise_again(self.names, self.names.slot(depth))))
                actions.setdefault((target.number, depth, True), []).append(number)
        if actions:
            handler: List[n.Stmt] = self._select(actions, exception)
            for child in self._children(context):
                handler.extend(self._loop(child))
            clause = n.ExceptHandler(self.names.builtin("BaseException"), exception, handler)
            body = [n.Try(body, [clause])]
        test: n.Expr = n.Constant(True)
        if context or not self.is_function:
            test = n.Compare(n.Constant(start), ["<=", "<"], [n.Name(self.block_name), n.Constant(end)])
        return [n.While(test, body)]

    def _action(self, handling: Handling) -> Tuple[int, int, bool]:
        """Number to go to, stack depth of the exception, whether that is in a context that the exception opens."""
        if handling.via is not None:
            return self.bridges[(handling.via, handling.target, handling.depth)], handling.depth, False
        return handling.target.number, handling.depth, handling.opens

    def _select(self, actions: Dict[Tuple[int, int, bool], List[int]], exception: str) -> List[n.Stmt]:
        """Choose the handler by the block that was running."""
        result: List[n.Stmt] = [n.Raise(None, None)]
        for (target, depth, opens), numbers in reversed(list(actions.items())):
            chosen: List[n.Stmt] = []
            if opens:
                chosen.append(n.Assign([self.names.slot(depth)], n.Constant(None)))
                depth += 1
            chosen.append(n.Assign([self.names.slot(depth)], n.Name(exception)))
            chosen.append(self._go(target))
            test = self._is(numbers[0])
            if len(numbers) > 1:
                listed = n.Tuple_([n.Constant(number) for number in sorted(numbers)])
                test = n.Compare(n.Name(self.block_name), ["in"], [listed])
            result = [n.If(test, chosen, result)]
        return result

    def _is(self, number: int) -> n.Expr:
        return n.Compare(n.Name(self.block_name), ["=="], [n.Constant(number)])

    def _go(self, number: int) -> n.Stmt:
        return n.Assign([n.Name(self.block_name)], n.Constant(number))

    # ------------------------------------------------------------ one block

    def _block(self, block: Block) -> List[n.Stmt]:
        stack: List[n.Expr] = [self.names.slot(depth) for depth in range(len(block.tags))]
        builder = Builder(self.names, stack, self.is_async)
        for value, tag in zip(stack, block.tags):
            if tag is not None and tag[0] == "saved":
                builder.saved.add(id(value))
        handled = self._handled(block, builder)
        tags = list(block.tags)
        depth = block.handling.depth if block.handling is not None else 0
        position = 0
        while position < len(block.instrs):
            instr = block.instrs[position]
            folded = fold_imports(block.instrs, position)
            if folded is not None:
                statement, position = folded
                builder.offset = instr.offset
                if depth:
                    self._keep_slots(builder, depth)
                builder.emit(statement)
                continue
            position += 1
            if depth and can_raise(instr):
                self._keep_slots(builder, depth)
            if instr.op is Op.POP_EXCEPT:
                builder.pop()
                tags.pop()
                continue
            self._note_handled(builder, handled, tags)
            apply(builder, instr)
            step(instr, tags)
        if depth and block.ending is not None:
            self._keep_slots(builder, depth)
        if block.ending is not None:
            builder.offset = block.ending.offset
        self._note_handled(builder, handled, tags)
        self._end(block, builder, tags)
        return builder.stmts or [n.Pass()]

    def _handled(self, block: Block, builder: Builder) -> Optional[str]:
        return self.names.own(f"__exception_{len(block.context)}") if block.context else None

    def _note_handled(self, builder: Builder, name: Optional[str], tags: Sequence[Tag]) -> None:
        """If the top of the stack, or the entry below it, is the exception being handled, tell the builder."""
        builder.handled = None
        if name is None:
            return
        level = int(name.rstrip("_").rsplit("_", 1)[1]) - 1
        for value, tag in zip(builder.stack, tags):
            if tag == ("exception", level):
                builder.handled = value

    def _moved(self, builder: Builder, depth: int) -> List[int]:
        """The lowest `depth` stack entries that are not in their variables."""
        return [
            position
            for position, value in enumerate(builder.stack[:depth])
            if not (isinstance(value, n.Name) and value.id == self.names.slot(position).id)
        ]

    def _keep_slots(self, builder: Builder, depth: int) -> None:
        """Before an instruction that may raise: the variables of the stack hold what the handler will find there."""
        moved = self._moved(builder, depth)
        if moved:
            self._store_slots(builder, moved)

    def _store_slots(self, builder: Builder, positions: List[int]) -> None:
        """Assign the stack entries at `positions` to their variables, all at once: one may hold another's old value."""
        slots = {self.names.slot(position).id for position in positions}
        builder.settle()
        for position, value in enumerate(builder.stack):
            if position not in positions and isinstance(value, n.Name) and value.id in slots:
                builder.stack[position] = builder.assign(value)
        values = [builder.stack[position] for position in positions]
        self._assign(builder, [self.names.slot(position) for position in positions], values)
        for position in positions:
            saved = id(builder.stack[position]) in builder.saved
            builder.stack[position] = builder.settle_name(self.names.slot(position).id)
            if saved:
                builder.saved.add(id(builder.stack[position]))

    def _assign(self, builder: Builder, targets: List[n.Name], values: List[n.Expr]) -> None:
        if len(targets) == 1:
            builder.append(n.Assign([targets[0]], values[0]))
            return
        names = {target.id for target in targets}
        if any(isinstance(value, n.Name) and value.id in names for value in values):
            builder.append(n.Assign([n.Tuple_(list(targets))], n.Tuple_(list(values))))
            return
        for target, value in zip(targets, values):
            builder.append(n.Assign([target], value))

    def _flush(self, builder: Builder) -> None:
        """At the end of a block: every stack entry goes to its variable."""
        positions = self._moved(builder, len(builder.stack))
        if not positions:
            return
        pending = [position for position in positions if not builder.is_settled(builder.stack[position])]
        if len(positions) == 1 == len(pending) and positions[0] == len(builder.stack) - 1:
            position = positions[0]
            value = builder.pop()
            builder.append(n.Assign([self.names.slot(position)], value))
            builder.stack.append(builder.settle_name(self.names.slot(position).id))
            return
        self._store_slots(builder, positions)

    def _end(self, block: Block, builder: Builder, tags: List[Tag]) -> None:
        ending = block.ending
        if ending is None:
            self._flush(builder)
            builder.append(self._go(block.succs[0].number))
        elif ending.op is Op.PUSH_EXC_INFO:
            self._flush(builder)
            for statement in raise_again(self.names, self.names.slot(len(builder.stack) - 1)):
                builder.append(statement)
        elif ending.op is Op.FOR_ITER:
            self._next_item(block, builder)
        elif ending.op in (Op.BRANCH_TRUE, Op.BRANCH_FALSE):
            self._branch(block, builder)
        else:
            self._leave(ending, builder, tags)

    def _next_item(self, block: Block, builder: Builder) -> None:
        self._flush(builder)
        iterator, item = builder.stack[-1], self.names.slot(len(builder.stack))
        null = self.names.null()
        builder.append(n.Assign([item], n.Call(self.names.builtin("next"), [iterator, null])))
        exhausted = n.Compare(n.Name(item.id), ["is"], [n.Name(null.id)])
        more, done = block.succs
        builder.append(self._choose(exhausted, done.number, more.number))

    def _branch(self, block: Block, builder: Builder) -> None:
        test = builder.pop()
        if self._moved(builder, len(builder.stack)):
            builder.settle()
            if not isinstance(test, n.Constant):
                test = builder.assign(test)
            self._flush(builder)
        yes, no = block.succs
        builder.append(self._choose(test, yes.number, no.number))

    def _choose(self, test: n.Expr, yes: int, no: int) -> n.Stmt:
        if yes == no:
            return n.If(test, [self._go(yes)], [self._go(no)])
        return n.Assign([n.Name(self.block_name)], n.IfExp(test, n.Constant(yes), n.Constant(no)))

    def _leave(self, ending: Instr, builder: Builder, tags: List[Tag]) -> None:
        if ending.op is Op.RETURN:
            value = builder.pop()
            if self.is_function:
                none = isinstance(value, n.Constant) and value.value is None
                builder.emit(n.Return(None if none else value))
            else:
                if not builder.is_settled(value):
                    builder.emit(n.ExprStmt(value))
                builder.emit(self._go(LEAVE))
        elif ending.op is Op.RAISE:
            values: List[Optional[n.Expr]] = list(builder.pop_many(ending.arg))
            values += [None] * (2 - len(values))
            builder.emit(n.Raise(values[0], values[1]))
        else:
            handled = builder.handled
            exc = builder.pop_settled()
            if handled is not None and isinstance(exc, n.Name) and isinstance(handled, n.Name) and exc.id == handled.id:
                builder.append(n.Raise(None, None))
            else:
                for statement in raise_again(self.names, exc):
                    builder.append(statement)


def _names(program: Program) -> Names:
    code = program.code
    own: Set[str] = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    loaded = {instr.arg for instr in program.instrs if instr.op is Op.LOAD_GLOBAL}
    return Names(own | set(code.co_names), loaded & own)
