"""Programs with one thing changed: what a verifier must tell from the original."""

from __future__ import annotations

import ast
import random
from typing import Callable, Dict, Iterator, List, Tuple

SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.MatMult: ast.Mult, ast.Lt: ast.LtE}
SWAPS.update({ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.Is: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd})
SWAPS.update({ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.GtE: ast.Gt})
BLOCKS = (ast.Try, ast.With, ast.If, ast.For, ast.While)


def change(node: ast.AST) -> bool:
    """Another constant, name, attribute, operator or keyword, or the other way at a jump; False if there is none."""
    if isinstance(node, ast.Constant):
        node.value = node.value + "!" if isinstance(node.value, str) else (node.value, 0)
        return True
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        node.id = {"a": "b", "b": "a"}.get(node.id, "a")
        return True
    if isinstance(node, ast.Attribute):
        node.attr += "_"
        return True
    swap = SWAPS.get(type(getattr(node, "op", None)))  # type: ignore[arg-type]
    if swap is not None:
        node.op = swap()  # type: ignore[attr-defined]
        return True
    if isinstance(node, ast.Compare):
        swap = SWAPS.get(type(node.ops[-1]))  # type: ignore[arg-type]
        if swap is not None:
            node.ops[-1] = swap()
        return swap is not None
    if isinstance(node, (ast.If, ast.While)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return True
    if isinstance(node, ast.keyword) and node.arg:
        node.arg += "_"
        return True
    return False


def drop(node: ast.AST) -> bool:
    """Without its first statement, or its last argument."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and not isinstance(node, (ast.Module, ast.FunctionDef)):
            block[0:1] = [] if len(block) > 1 or name == "orelse" else [ast.Pass()]
            return True
    if isinstance(node, ast.Call) and node.args:
        node.args.pop()
        return True
    return False


def swap(node: ast.AST) -> bool:
    """Its parts in another order."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        node.args.reverse()
    elif isinstance(node, ast.BinOp):
        node.left, node.right = node.right, node.left
    elif isinstance(node, ast.Try) and len(node.handlers) > 1:
        node.handlers.reverse()
    elif isinstance(node, ast.With) and len(node.items) > 1:
        node.items.reverse()
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    else:
        return False
    return True


def exchange(node: ast.AST) -> bool:
    """The first two statements that do something, in the other order."""
    block = getattr(node, "body", None)
    if not isinstance(block, list) or isinstance(node, ast.Module):
        return False
    for position, pair in enumerate(zip(block, block[1:])):
        if all(map(_acts, pair)):
            block[position : position + 2] = reversed(pair)
            return True
    return False


def outdent(node: ast.AST) -> bool:
    """The last statement of a block inside `node` behind it: out of the try, the with, the condition or the loop."""
    block = getattr(node, "body", None)
    for position, inner in enumerate(block if isinstance(block, list) else []):
        if isinstance(inner, BLOCKS) and len(inner.body) > 1 and _acts(inner.body[-1]):
            block.insert(position + 1, inner.body.pop())  # type: ignore[union-attr]
            return True
    return False


def indent(node: ast.AST) -> bool:
    """A statement behind a block inside `node` as the last one of that block."""
    block = getattr(node, "body", None)
    for position, inner in enumerate(block[:-1] if isinstance(block, list) else []):
        if isinstance(inner, BLOCKS) and _acts(block[position + 1]):  # type: ignore[index]
            inner.body.append(block.pop(position + 1))  # type: ignore[union-attr]
            return True
    return False


def protect(node: ast.AST) -> bool:
    """The `else` of a try inside the try, or its `finally` in its first handler only."""
    if not isinstance(node, ast.Try) or not node.handlers:
        return False
    moved = node.orelse or node.finalbody
    if not moved or not all(map(_acts, moved)):
        return False
    if node.orelse:
        node.body, node.orelse = [*node.body, *node.orelse], []
    else:
        node.handlers[0].body, node.finalbody = [*node.handlers[0].body, *node.finalbody], []
    return True


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement is sure to call something, and so to be in its place for a reason."""
    return isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call)


KINDS: Dict[str, Callable[[ast.AST], bool]] = {
    kind.__name__: kind for kind in (change, drop, swap, exchange, outdent, indent, protect)
}


def mutations(source: str, kinds: Tuple[str, ...] = ("change", "drop", "swap")) -> Iterator[Tuple[str, ast.Module]]:
    """Every copy of the program with one thing changed, and what was."""
    for position in range(len(list(ast.walk(ast.parse(source))))):
        for kind in kinds:
            tree = ast.parse(source)
            node = list(ast.walk(tree))[position]
            if KINDS[kind](node):
                yield f"{kind} {type(node).__name__} at line {getattr(node, 'lineno', '?')}", _finished(tree)


def chosen(source: str, count: int, choice: random.Random) -> Iterator[Tuple[str, ast.Module]]:
    """`count` tries at a mutation of any kind anywhere, by chance; not every try finds one."""
    positions = range(len(list(ast.walk(ast.parse(source)))))
    kinds: List[str] = list(KINDS)
    for _ in range(count):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[choice.choice(positions)]
        kind = choice.choice(kinds)
        if KINDS[kind](node):
            yield f"{kind} {type(node).__name__} at line {getattr(node, 'lineno', '?')}", _finished(tree)


def _finished(tree: ast.Module) -> ast.Module:
    return ast.fix_missing_locations(tree)
