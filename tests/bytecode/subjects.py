"""Functions whose behaviour is compared: run by Python, and run by their canonical program.

Each says what it does to `log`; the arguments to try are in `CALLS`. This file is read by every Python from 3.8 on.
"""

from __future__ import annotations

import types


class Manager:
    def __init__(self, log, name, suppresses=False):
        self.log, self.name, self.suppresses = log, name, suppresses

    def __enter__(self):
        self.log.append("enter " + self.name)
        return self.name

    def __exit__(self, kind, value, traceback):
        self.log.append("exit %s %s" % (self.name, kind and kind.__name__))
        return self.suppresses


def fail(kind):
    if kind is not None:
        raise kind("asked for")


def operators(log, a, b):
    a += b
    x = -a * b // 3 % 7 - ~b
    log.append((x << 2, x >> 1, x & 3, x | 8, x ^ 5, a**2, a / 4))
    return a < b <= 10 != x, a is b, a is not None, a in (1, 2), b not in {3: 4}, not a


def displays(log, a, b):
    first = [a, *b, a]
    second = (*b, *b, a)
    third = {*b, a}
    fourth = {"a": a, "b": b, "c": 3}
    fifth = {"x": a, "y": b, "z": 1}
    return first, second, third, fourth, fifth, b[0:2], first[::2], {a: b}


def unpacking(log, a, b):
    (c, d), *e, f = [b, 1, 2, a, 4]
    c, d = d, c
    a, b, c = c, a, b
    x = y = z = (a, d)
    return a, b, c, d, e, f, x, y, z


def formats(log, a, b):
    return f"{a}-{a!r:>5}-{b!s}{a:{b[0]}d}{a=}"


def calls(log, a, b):
    def take(*args, key=None, **others):
        return args, key, others

    result = take(a, *b, key=1, q=2), take(*b), take(a, key=b), log.append(a), take(), "x".join(["a", "b"])
    return result, max(b, key=lambda v: -v), sorted(b, reverse=True), take(z=a)


def loops(log, a, b):
    total = 0
    for i in b:
        if i == a:
            continue
        for j in range(i):
            if j > 2:
                break
            total += j
        else:
            log.append("else")
        while total > 3 and i:
            total -= 2
            if total == 4:
                return "left", total
    else:
        log.append("end")
    return total


def conditions(log, a, b):
    c = a and b or log
    d = a if b and not a else b
    e = (a or b) and (b or a)
    return c == b, d, e, a is None, a is not None and b is None, 1 if a is None else 2


def finally_return(log, kind, early):
    try:
        log.append("body")
        if early:
            return "early"
        fail(kind)
    except ValueError as error:
        log.append(str(error))
        if early is None:
            raise
        return "handled"
    except (KeyError, TypeError):
        log.append("other")
    else:
        log.append("else")
    finally:
        log.append("finally")
    return "end"


def finally_nested(log, kind, early):
    for i in range(3):
        try:
            try:
                if i == 1 and early:
                    continue
                if i == 2:
                    break
                fail(kind)
            finally:
                log.append(("inner", i))
                try:
                    fail(KeyError if early is None else None)
                except KeyError:
                    log.append("caught in finally")
        finally:
            log.append(("outer", i))
    return "end"


def finally_overrides(log, kind, early):
    for _ in range(2):
        try:
            if early:
                return "try"
            fail(kind)
        finally:
            log.append("finally")
            if early is None:
                return "finally"  # noqa: B012
            if early is False:
                break  # noqa: B012
    return "end"


def finally_loop(log, kind, early):
    try:
        fail(kind)
    finally:
        while early:
            early -= 1
            log.append(early)
    return "end"


def raising(log, kind, early):
    try:
        try:
            fail(kind)
        except ValueError:
            log.append("first")
            try:
                raise KeyError("inner")
            except KeyError:
                log.append("second")
            raise
    except ValueError as error:
        log.append(type(error).__name__)
        del error
    except:  # noqa: E722
        log.append("any")
        raise RuntimeError("other") from None
    assert early is not False, "assertion"
    return "end"


def withs(log, kind, early):
    with Manager(log, "a") as a, Manager(log, "b", suppresses=early is None) as b:
        log.append((a, b))
        if early:
            return "early"
        fail(kind)
    for _ in range(2):
        with Manager(log, "c", suppresses=True):
            if early is False:
                break
            fail(kind)
            continue
    return "end"


def with_in_try(log, kind, early):
    try:
        with Manager(log, "a"):
            try:
                fail(kind)
                return "value"
            finally:
                log.append("finally")
    except Exception as error:
        return "caught " + type(error).__name__


def closures(log, a, b):
    count = a

    def add(n=2, *, more=1):
        nonlocal count
        count += n + more
        return [count + i for i in range(2)]

    first = add(), add(3, more=4)
    squares = {i: i * a for i in b if i}
    unique = {i % 2 for i in b}
    return first, count, squares, unique, [x + y for x in b for y in b if x < y], list(i + a for i in b)  # noqa: C400


def imports(log, a, b):
    import os.path as path
    from json import decoder, encoder

    log.append(encoder.__name__)
    return path.basename("x/y"), decoder.__name__


def stores(log, a, b):
    box = types.SimpleNamespace()
    box.x = box.y = a
    box.x += 1
    b = list(b)
    b[0] += 5
    b[1:2] = [7, 8]
    del b[-1], box.y
    x: int = 3
    del x
    return box.x, b, hasattr(box, "y")


def unbound(log, kind, early):
    if early:
        value = 1
    return value


def generator(log, a, b):
    received = yield a
    log.append(received)
    try:
        for item in b:
            yield item
        result = yield from inner_generator(log)
        log.append(result)
    finally:
        log.append("closed")
    return "done"


def inner_generator(log):
    log.append("inner")
    yield "i"
    return "result"


VALUES = ((1, (2, 3)), (0, (1, 2)), (5, (0, 4, 5, 6)), (None, (1, 1)))
PATHS = tuple((kind, early) for kind in (None, ValueError, KeyError, OSError) for early in (None, False, True, 2))
CALLS = {
    operators: ((1, 2), (7, 3), (-4, 9)),
    displays: VALUES,
    unpacking: VALUES,
    formats: ((1, (2, 3)), (20, (4, 5))),
    calls: VALUES,
    loops: VALUES,
    conditions: ((1, 2), (0, 2), (0, 0), (None, None), (3, None)),
    finally_return: PATHS,
    finally_nested: PATHS,
    finally_overrides: PATHS,
    finally_loop: PATHS,
    raising: PATHS,
    withs: PATHS,
    with_in_try: PATHS,
    closures: VALUES[:3],
    imports: VALUES[:1],
    stores: VALUES[:3],
    unbound: PATHS,
}
GENERATORS = {generator: VALUES}
