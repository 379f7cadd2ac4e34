"""Small programs in which Dynamo has to break graphs, rebuild objects, replay side effects, or go on in the middle.

Each takes a tensor `a`, calls `torch._dynamo.graph_break()` or does something that breaks the graph by itself, and
returns tensors or plain values.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Dict, List

import torch

CALLS: List[str] = []
COUNT = {"calls": 0}


def break_here() -> None:
    torch._dynamo.graph_break()


def branch(a):
    if a.sum() > 0:
        return a + 1
    return a - 1


def branch_and_join(a):
    if a.sum() > 0:
        b = a * 2
    else:
        b = a * 3
    return b + a


def branch_with_else_chain(a, n=2):
    if a.sum() > 10:
        b = a
    elif a.sum() > 1:
        b = a * n
    elif a.mean() < 0:
        b = -a
    else:
        b = a + n
    return b, n


def ternary_and_boolean(a):
    b = a if a.sum() > 0 else -a
    c = b.sum() > 1 and b.mean() > 0 or a.max() > 5
    return b, bool(c)


def loop_over_range(a):
    for i in range(3):
        a = a + i
        break_here()
    return a


def loop_with_break_on_data(a):
    for _ in range(5):
        a = a * 2
        if a.abs().sum() > 20:
            break
    else:
        a = -a
    return a


def while_on_data(a):
    n = 0
    while a.abs().sum() < 30:
        a = a * 2
        n += 1
    return a, n


def nested_loops(a):
    out = []
    for i in range(2):
        for j in range(2):
            out.append(a + i * j)
            if i == j:
                break_here()
    return out


def loop_over_list_and_dict(a):
    parts = {"x": a, "y": a + 1}
    total = a * 0
    for name, part in parts.items():
        CALLS.append(name)
        total = total + part
    for part in [a, a * 2]:
        total = total + part
    return total, list(parts)


def comprehension(a):
    break_here()
    return [a + i for i in range(3) if i != 1], {i: a * i for i in range(2)}, tuple(a - i for i in range(2))


def try_except(a):
    try:
        b = a + 1
        break_here()
        raise ValueError("x")
    except ValueError as error:
        b = a * 2
        text = str(error)
    finally:
        CALLS.append("finally")
    return b, text


def try_without_exception(a):
    try:
        b = a + 1
        break_here()
    except ValueError:
        b = a
    else:
        b = b * 3
    return b


def with_no_grad(a):
    with torch.no_grad():
        b = a * 2
        break_here()
        c = b + 1
    return b, c, torch.is_grad_enabled()


@contextlib.contextmanager
def noted(name):
    CALLS.append("enter " + name)
    try:
        yield name
    finally:
        CALLS.append("exit " + name)


def with_own_context(a):
    with noted("one") as name:
        b = a + 1
    return b, name


def closure(a):
    factor = 3

    def scaled(t):
        return t * factor

    b = scaled(a)
    break_here()
    return scaled(b)


def closure_that_changes(a):
    count = 0

    def step(t):
        nonlocal count
        count += 1
        return t + count

    b = step(a)
    break_here()
    return step(b), count


def default_and_star_arguments(a):
    def inner(x, *rest, scale=2, **options):
        break_here()
        return x * scale + sum(rest) + options["bias"]

    return inner(a, 1, 2, scale=3, bias=4)


def starred_call(a):
    values = [a, a + 1]
    options = {"dim": 0}
    break_here()
    return torch.stack([*values, a * 2], **options)


def print_and_format(a):
    print("sum", end=" ")
    text = f"{a.shape[0]:>3}|{'x'!r}"
    print(text)
    return a + 1, text


def assertion(a):
    assert a.shape[0] == 4, "four"
    break_here()
    assert a.sum() < 1e9
    return a + 1


def global_state(a):
    COUNT["calls"] += 1
    break_here()
    COUNT["calls"] += a.shape[0]
    return a + COUNT["calls"]


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0

    def moved(self, by):
        return Point(self.x + by, self.y + 1)


def objects(a):
    point = Point(a)
    break_here()
    point = point.moved(2)
    point.extra = a
    return point.x, point.y, point.extra


def attributes_of_a_module(a):
    layer = LAYER
    layer.calls = getattr(layer, "calls", 0) + 1
    b = layer(a)
    break_here()
    return layer(b), layer.calls


LAYER = torch.nn.Linear(4, 4)


def in_place(a):
    b = a.clone()
    b[0] = 7
    b += 1
    break_here()
    b.mul_(2)
    return b


def many_live_values(a):
    b, c, d, e = a + 1, a + 2, [a + 3], {"k": a + 4}
    f = (b, [c, d])
    break_here()
    return b, c, d, e, f


def two_breaks_in_one_expression(a):
    def split(t):
        break_here()
        return t + 1

    return split(a) * 2 + split(a * 3)


def nested_calls(a):
    def inner(t):
        t = t * 2
        break_here()
        return t + 1

    def middle(t):
        return inner(t) + inner(t + 1)

    return middle(a) - 1


def recursion(a):
    def go(t, n):
        if n == 0:
            break_here()
            return t
        return go(t + n, n - 1)

    return go(a, 3)


def generator(a):
    def parts(t):
        for i in range(3):
            yield t + i

    total = a * 0
    for part in parts(a):
        total = total + part
    break_here()
    return total, [p.sum() for p in parts(a)]


def lambda_and_sort(a):
    break_here()
    order = sorted([3, 1, 2], key=lambda n: -n)
    scale = (lambda t, k=2: t * k)(a)
    return scale, order


def unpacking(a):
    (b, c), *rest = (a, a + 1), a + 2, a + 3
    break_here()
    b, c = c, b
    return b, c, rest


def slices(a):
    b = a[1:3]
    break_here()
    return a[::2], b[..., None], a[-1:]


def item(a):
    n = int(a.sum().item())
    return a * n, n


def numpy_round_trip(a):
    b = a.detach().numpy().copy()
    return torch.from_numpy(b) + 1


def walrus(a):
    if (n := a.shape[0]) > 2 and (s := a.sum()) > 0:
        return a * n + s
    return a


def chained_comparison(a):
    if 0 < a.sum() < 100:
        return a * 2
    return a


def early_returns(a):
    if a.shape[0] == 3:
        return a
    break_here()
    if a.sum() > 1000:
        return a * 0
    for i in range(3):
        if i == 1:
            return a + i
    return None


def returns_nothing(a):
    CALLS.append("nothing")
    break_here()


def mutated_arguments(a):
    out: Dict[str, Any] = {"a": a}
    out["b"] = a + 1
    break_here()
    out["c"] = out.pop("b") * 2
    return out


def dtype_and_device(a):
    b = torch.zeros(2, dtype=torch.float64, device=a.device)
    break_here()
    return b.to(a.dtype) + 1, str(b.dtype)


PROGRAMS = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__ and value not in (break_here, noted, Point)
]
