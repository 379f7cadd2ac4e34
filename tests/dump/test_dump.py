"""The files of a dump: names, content, and what happens to a directory that is not ours alone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, List

import pytest

from depyf.dump import Dump, DumpDirectoryError, names
from depyf.dump import dump as dump_module
from depyf.dump.text import comment, compiles, valid_python
from depyf.session.model import CacheEntry, Environment, Function, Graph, GraphBreak, Guard, Kernel, Recompile, Session


def a_session(identity: str = "s1", **environment: Any) -> Session:
    session = Session(id=identity, started="now", environment=Environment(pid=os.getpid(), **environment))
    function = Function(0, "toy", "toy", "/home/me/toy.py", 3, source="def toy(a):\n    return a + 1\n")
    resume = Function(1, "torch_dynamo_resume_in_toy_at_4", "x", "/home/me/toy.py", 4, resume_of=0, resume_line=4)
    resume.global_names = ["__resume_at_10_2"]
    for key, owner in enumerate((function, resume, function)):
        entry = CacheEntry("%d/0" % key, owner.key, number=len(owner.entries), position=None)
        entry.decompiled = "def %s(a):\n    return __compiled_fn_%d(a)\n" % (owner.name, key)
        entry.status = "exact"
        entry.graphs = ["__compiled_fn_%d" % key]
        entry.guards = [Guard("L['a'] == %d" % key, "a is %d" % key)]
        owner.entries.append(entry)
    function.entries[0].calls = ["__resume_at_10_2"]
    function.entries[0].position, function.entries[1].position = 1, 0
    session.functions += [function, resume]
    session.graph_breaks.append(GraphBreak("0/0", "Data-dependent branching"))
    session.recompiles.append(Recompile("2/0", ["a was 0"]))
    return session


def write_all(dump: Dump) -> None:
    dump.open()
    for function in dump.session.functions:
        for entry in function.entries:
            assert dump.write_transformed(entry, function) is not None
    dump.close()


def names_in(directory: Path) -> List[str]:
    return sorted(path.name for path in directory.iterdir() if path.suffix in (".py", ".json") and path.name[0] != ".")


def test_files_and_their_names(tmp_path: Path) -> None:
    write_all(Dump(tmp_path / "new" / "dir", a_session()))
    assert names_in(tmp_path / "new" / "dir") == [
        "__transformed_code_0_for_torch_dynamo_resume_in_toy_at_4.py",
        "__transformed_code_0_for_toy.py",
        "__transformed_code_1_for_toy.py",
        "full_code_for_toy_0.py",
        "session.json",
    ]
    for path in (tmp_path / "new" / "dir").glob("*.py"):
        compile(path.read_text(), str(path), "exec")
    assert not list(tmp_path.rglob("*.tmp"))


def test_graph_and_kernel_names_are_those_that_scripts_glob_for() -> None:
    graph = Graph("__compiled_fn_7", "__compiled_fn_7_uuid", "0/0", "Forward_graph", 0, "aot_forward_graph", "")
    assert names.graph(graph) == "__compiled_fn_7.Forward_graph.0.py"
    assert names.kernel(Kernel("__compiled_fn_7", "x", "0/0", 2, "")) == "__compiled_fn_7.kernel_2.py"


@pytest.mark.parametrize("name", ["<lambda>", "<module>", "a/b", "..", "", "ä" * 300, "f" * 400, "a b"])
def test_any_name_is_a_file_name(name: str) -> None:
    made = names.full_code(Function(0, name, name, "f.py", 1), 0)
    assert os.path.basename(made) == made
    assert len(made.encode()) < 255
    assert made.isascii()


def test_full_code_tells_the_story_in_the_order_tried(tmp_path: Path) -> None:
    write_all(Dump(tmp_path, a_session()))
    text = (tmp_path / "full_code_for_toy_0.py").read_text()
    order = ["    return a + 1", "__compiled_fn_2(a)", "__compiled_fn_0(a)", "__resume_at_10_2", "__compiled_fn_1(a)"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    for part in ("a is 2", "a was 0", "Data-dependent branching", "__transformed_code_1_for_toy.py"):
        assert part in text


def test_the_text_begins_where_the_entry_says(tmp_path: Path) -> None:
    dump = Dump(tmp_path, a_session())
    write_all(dump)
    graph = Graph("__compiled_fn_1", "x", "0/0", "Captured_Graph", 0, "k", "class G:\n    pass\n")
    dump = Dump(tmp_path, dump.session)
    dump.open()
    path = dump.write_graph(graph)
    assert path is not None
    assert Path(path).read_text().splitlines()[graph.first_line - 1 :] == ["class G:", "    pass"]
    function = dump.session.functions[0]
    (entry, *_) = function.entries
    path = dump.write_transformed(entry, function)
    assert path is not None
    assert Path(path).read_text().splitlines()[entry.first_line - 1 :] == (entry.decompiled or "").splitlines()


@pytest.mark.parametrize(
    "text", ["def f(:\n", "a\x00b", "\ud800", "'''", "x = 1\r\ny = (", "\f)", "", "  indented", "("]
)
def test_any_text_becomes_valid_python(text: str) -> None:
    for made in (valid_python(text, "it"), comment(text)):
        assert compiles(made)
    dumped = valid_python(text, "it")
    for word in ("def f(:", "indented", "y = ("):
        assert (word in dumped) == (word in text)


def test_valid_text_is_left_alone() -> None:
    assert valid_python("x = 1\n", "it") == "x = 1\n"


def test_only_files_of_an_earlier_dump_are_removed(tmp_path: Path) -> None:
    write_all(Dump(tmp_path, a_session()))
    mine = tmp_path / "full_code_for_mine_0.py"
    mine.write_text("mine = 1\n")
    before = set(names_in(tmp_path))
    dump = Dump(tmp_path, Session(id="s2", started="later"))
    dump.open()
    dump.close()
    assert names_in(tmp_path) == [mine.name, "session.json"]
    assert len(before) > 2


def test_a_manifest_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim.py"
    victim.write_text("x = 1\n")
    directory = tmp_path / "dump"
    write_all(Dump(directory, a_session()))
    with open(directory / names.MANIFEST, "a") as file:
        file.write('"../victim.py"\n')
    write_all(Dump(directory, a_session("s2")))
    assert victim.exists()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"session": 1}', "\x00", '"text"'])
def test_a_damaged_manifest_removes_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / names.MANIFEST).write_text(content)
    (tmp_path / "keep.py").write_text("x = 1\n")
    write_all(Dump(tmp_path, a_session()))
    assert (tmp_path / "keep.py").exists()


def test_sessions_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    first, second = Dump(tmp_path, a_session("one")), Dump(tmp_path, a_session("two"))
    first.open()
    write_all(second)
    function = first.session.functions[0]
    first.write_transformed(function.entries[0], function)
    first.close()
    assert second.directory == str(tmp_path / "session_two")
    assert names_in(Path(second.directory)) != names_in(tmp_path)


def test_a_dump_of_a_process_that_died_is_replaced(tmp_path: Path) -> None:
    code = (
        "import sys; from depyf.dump import Dump; from tests.dump.test_dump import a_session\n"
        "d = Dump(sys.argv[1], a_session()); d.open()\n"
        "d.write_transformed(d.session.functions[0].entries[0], d.session.functions[0])\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([root, os.path.join(root, "src")]))
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=True, cwd=root)
    assert names_in(tmp_path) == ["__transformed_code_0_for_toy.py"]
    dump = Dump(tmp_path, Session(id="s2", started="later"))
    dump.open()
    assert dump.directory == str(tmp_path)
    assert names_in(tmp_path) == []


def test_each_rank_has_its_directory(tmp_path: Path) -> None:
    dump = Dump(tmp_path, a_session(rank=3, world_size=4))
    write_all(dump)
    assert dump.directory == str(tmp_path / "rank_3")
    assert "session.json" in names_in(tmp_path / "rank_3")


def test_an_unusable_directory_is_a_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    with pytest.raises(DumpDirectoryError) as caught:
        Dump(blocked / "below", a_session()).open()
    message = str(caught.value)
    assert str(blocked) in message and "\n" not in message and "directory" in message
    assert isinstance(caught.value, OSError) and caught.value.errno == errno.ENOTDIR


def test_a_full_disk_gives_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = Dump(tmp_path, a_session())
    dump.open()

    def full(path: str, data: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(dump_module, "write_atomically", full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for function in dump.session.functions:
            for entry in function.entries:
                assert dump.write_transformed(entry, function) is None
        dump.close()
    (warning,) = caught
    assert "No space left" in str(warning.message) and str(tmp_path) in str(warning.message)


def test_code_objects_are_written_on_request(tmp_path: Path) -> None:
    session = a_session()
    entry = session.functions[0].entries[0]
    entry.original_code = compile("x = 1\n", "toy.py", "exec")
    entry.transformed_code = compile("x = 2\n", "toy.py", "exec").replace(co_consts=(object(), None))
    dump = Dump(tmp_path, session, log_bytecode=True)
    write_all(dump)
    from importlib.util import MAGIC_NUMBER

    packed = (tmp_path / "__original_bytecode_0_for_toy.pyc").read_bytes()
    assert packed.startswith(MAGIC_NUMBER)
    assert not (tmp_path / "__transformed_bytecode_0_for_toy.pyc").exists()  # holds a live object
    listing = (tmp_path / "__transformed_bytecode_0_for_toy.py").read_text()
    assert "STORE_NAME" in listing and compiles(listing)


def test_a_changed_directory_of_the_process_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dump = Dump("relative", a_session())
    dump.open()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    dump.close()
    assert "session.json" in names_in(tmp_path / "relative")
