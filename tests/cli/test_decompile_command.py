"""`depyf decompile` and `depyf --version`: output, one-line errors and exit codes."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import depyf
from depyf.cli import main

SOURCE = '"""A module."""\nimport os\n\n\ndef f(a, b=1):\n    if a:\n        return os.sep * b\n    return None\n'


@pytest.fixture
def pyc(tmp_path: Path) -> Path:
    source, compiled = tmp_path / "program.py", tmp_path / "program.pyc"
    source.write_text(SOURCE)
    py_compile.compile(str(source), str(compiled), doraise=True)
    return compiled


def error_of(capsys: pytest.CaptureFixture[str], arguments: List[str]) -> str:
    """Runs the command, which must fail; its one line on stderr."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("depyf: ")
    return line


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"depyf {depyf.__version__}\n"


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "decompile" in capsys.readouterr().err


def test_pyc_to_stdout(pyc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decompile", str(pyc)]) == 0
    namespace: dict = {}
    exec(capsys.readouterr().out, namespace)
    assert namespace["__doc__"] == "A module."
    assert namespace["f"](1) == os.sep
    assert namespace["f"](0) is None


def test_pyc_to_file(pyc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "again.py"
    assert main(["decompile", str(pyc), "-o", str(output), "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("depyf: exact")
    compile(output.read_text(), str(output), "exec")
    assert not list(tmp_path.glob("*.tmp"))


def test_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decompile", "textwrap:TextWrapper.wrap"]) == 0
    assert capsys.readouterr().out.startswith("def wrap(self, text):")


def test_decorated_and_property(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decompile", "pathlib:PurePath.name"]) == 0
    assert capsys.readouterr().out.startswith("def name(self):")


def test_truncated_pyc(pyc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = pyc.read_bytes()
    for length in (0, 3, 10, 16, 17, len(data) // 2, len(data) - 1):
        pyc.write_bytes(data[:length])
        assert str(pyc) in error_of(capsys, ["decompile", str(pyc)])


def test_wrong_magic_number(pyc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyc.write_bytes(b"\x01\x02\r\n" + pyc.read_bytes()[4:])
    assert str(pyc) in error_of(capsys, ["decompile", str(pyc)])


def test_garbage_bytecode(pyc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyc.write_bytes(pyc.read_bytes()[:16] + bytes(range(256)) * 4)
    error_of(capsys, ["decompile", str(pyc)])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing.pyc", "No such file"),
        ("os:no_such_name", "os has no 'no_such_name'"),
        ("os:getpid", "no Python bytecode"),
        ("no_such_module_here:f", "cannot import no_such_module_here"),
        ("just-a-word", "neither a file nor of the form"),
        ("program.py", "source already"),
    ],
)
def test_bad_targets(target: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in error_of(capsys, ["decompile", target])


def test_output_that_cannot_be_written(pyc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot write" in error_of(capsys, ["decompile", str(pyc), "-o", str(tmp_path / "no" / "such" / "x.py")])
    assert "cannot write" in error_of(capsys, ["decompile", str(pyc), "-o", str(tmp_path)])


def test_output_to_a_device(pyc: Path) -> None:
    assert main(["decompile", str(pyc), "-o", os.devnull]) == 0
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_as_a_process(pyc: Path) -> None:
    """`python -m depyf`, read by somebody who stops after the first line."""
    environment = {**os.environ, "PYTHONPATH": str(Path(depyf.__file__).parents[1])}
    command = [sys.executable, "-m", "depyf", "decompile", "argparse:ArgumentParser._parse_known_args"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith("def _parse_known_args(")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0
