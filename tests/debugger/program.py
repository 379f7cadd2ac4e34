"""What the tests debug: a function with a graph break, compiled under `prepare_debug`, called again under `debug`."""

import sys

import torch

import depyf


def function(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main(backend, folder):
    compiled = torch.compile(function, backend=backend)
    ones = torch.ones(3)
    expected = function(ones, -2 * ones)
    with depyf.prepare_debug(folder):
        compiled(ones, torch.ones(3))
        compiled(ones, -ones)
    with depyf.debug(stop=True):
        result = compiled(ones, -2 * ones)
    print("same" if torch.equal(result, expected) else f"{result} instead of {expected}")


if __name__ == "__main__":
    main(*sys.argv[1:])
