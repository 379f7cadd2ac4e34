"""`make demo`: what depyf shows of the README's example, and pdb stepping through it.

First it runs the example under `depyf.prepare_debug` and says what was written. Then it runs it again inside
`depyf.debug()`, with pdb, whose commands come from here instead of from the keyboard.
"""

import io
import os
import pdb
import re
import sys

import toy_example

import depyf

DIRECTORY = "./dump_src_dir"
TORCH = ["torch.*"]  # modules that pdb steps over: checking guards takes torch some Python calls


def main():
    with depyf.prepare_debug(DIRECTORY) as directory:
        toy_example.main()
    names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    show_files(names)
    start = "full_code_for_toy_example_0.py"
    transformed = "__transformed_code_0_for_toy_example.py"
    print("\nStart reading in %s: the whole story of the function." % os.path.join(DIRECTORY, start))
    print("\n%s, what runs in place of toy_example:\n" % os.path.join(DIRECTORY, transformed))
    text = read(directory, transformed)
    print(indented(text))

    print("\nThe same program again, in pdb. The commands are given by this script.\n")
    sys.stdout.flush()
    with depyf.debug():
        session = Session(lambda session: commands(session, os.path.join(directory, transformed), text))
        session.run(toy_example.main)
    print(indented(session.text()))
    shown = [name for name in (transformed, "_for_torch_dynamo_resume_in_toy_example") if not session.stopped_in(name)]
    for name in shown:
        print("pdb did not stop in %s" % name)
    return 1 if shown else 0


def commands(session, path, text):
    """Stop at the first statement, look around, go to the call of a resume function, step into it and look again."""
    lines = list(enumerate(text.splitlines(), 1))
    first = next(number for number, line in lines if line.startswith("def ")) + 1
    stops = [first, *(number for number, line in lines if re.match(r"\s+return ", line))]
    for number in stops:
        yield "break %s:%d" % (path, number)
    yield from ("continue", "where", "p a.shape, b.sum()", "next", "list", "continue")
    for _ in range(50):
        if "_resume_in_" in session.where():
            break
        yield "step"
    yield from ("next", "where", "list", "p x")
    for number in range(len(stops)):
        yield "clear %d" % (number + 1)
    yield "continue"


class Session:
    """pdb, fed with commands; keeps what it says, with the commands shown after the prompt."""

    def __init__(self, commands):
        self._output = io.StringIO()
        self._pdb = pdb.Pdb(stdin=Typist(commands(self), self._output), stdout=self._output, nosigint=True, skip=TORCH)
        self._pdb.use_rawinput = False

    def run(self, function):
        self._pdb.runcall(function)

    def text(self):
        return self._output.getvalue()

    def where(self):
        """The place where pdb stopped last, as it says it: "> file(line)function()"."""
        return [line for line in self.text().splitlines() if line.startswith("> ")][-1]

    def stopped_in(self, name):
        """Whether pdb stopped in a file with this in its name."""
        return re.search(r"^> .*%s" % re.escape(name), self.text(), re.MULTILINE) is not None


class Typist:
    """Input for pdb that also appears in the output, as on a terminal."""

    def __init__(self, commands, output):
        self._commands = commands
        self._output = output

    def readline(self):
        line = next(self._commands, "quit") + "\n"
        self._output.write(line)
        return line


def show_files(names):
    print("Written to %s:" % DIRECTORY)
    for title, pattern in (
        ("the whole story, per function", r"full_code_"),
        ("what runs in place of each function", r"__transformed_code_"),
        ("each graph, stage by stage", r"__compiled_fn_\d+\.(?!kernel)"),
        ("the code that inductor generated", r".*\.kernel_"),
    ):
        found = [name for name in names if re.match(pattern, name)]
        print("  %s:" % title)
        for name in found:
            print("    " + name)


def read(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        return file.read()


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
