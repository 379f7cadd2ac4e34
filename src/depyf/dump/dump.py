"""A dump: the directory that a session is written to while it runs."""

from __future__ import annotations

import os
import warnings
from typing import Optional

from depyf.decompile.result import Decompiled
from depyf.dump import manifest as manifests
from depyf.dump import names, pages
from depyf.dump.code_files import write_code_files
from depyf.dump.full_code import full_code_pages
from depyf.dump.manifest import ManifestFile
from depyf.dump.writer import DumpDirectoryError, directory_lock, make_directory, write_atomically
from depyf.session import save
from depyf.session.model import CacheEntry, Function, Graph, Kernel, Session


class Dump:
    """Writes a session's files. `open()` first; then the `write_...` methods as things arrive; `close()` at the end.

    `directory` is where the files are: the one asked for, or a directory of its own within it for each rank, and for
    a session that would otherwise write among the files of another that still runs.
    Only `open()` raises (DumpDirectoryError). Later a failed write gives one warning and the program goes on.
    """

    def __init__(self, directory: str | os.PathLike[str], session: Session, *, log_bytecode: bool = False) -> None:
        self.directory = os.path.abspath(os.fspath(directory))
        self.session = session
        self.log_bytecode = log_bytecode
        self._manifest: Optional[ManifestFile] = None  # set while open
        self._warned = False

    def open(self) -> None:
        """Make the directory usable; removes what an earlier dump left there, and only that."""
        environment = self.session.environment
        make_directory(self.directory)
        if environment.world_size is not None and environment.world_size > 1:
            self.directory = os.path.join(self.directory, "rank_%d" % (environment.rank or 0))
            make_directory(self.directory)
        try:
            self._claim()
        except DumpDirectoryError:
            raise
        except OSError as error:
            raise DumpDirectoryError(error.errno or 0, "cannot use the dump directory", self.directory) from error

    def _claim(self) -> None:
        with directory_lock(self.directory):
            earlier = manifests.read(self.directory)
            if earlier is not None and manifests.in_use(earlier):
                self.directory = os.path.join(self.directory, "session_%s" % self.session.id)
                make_directory(self.directory)
            elif earlier is not None:
                manifests.remove_files(self.directory, earlier)
            self._manifest = ManifestFile(self.directory, self.session.id)

    def path_of(self, file: str) -> str:
        """The full path of a file of this dump."""
        return os.path.join(self.directory, file)

    # ------------------------------------------------------------ as things arrive

    def write_transformed(
        self, entry: CacheEntry, function: Function, decompiled: Optional[Decompiled] = None
    ) -> Optional[str]:
        """Write the code that runs for an entry; returns the path, or None if it could not be written."""
        file = names.transformed(entry, function)
        text, first_line = pages.transformed(entry, function, self.session)
        entry.first_line = first_line
        if self.log_bytecode:
            for name, content in write_code_files(entry, function):
                if self._write(name, content):
                    entry.files[name] = name
        if not self._write(file, text):
            return None
        entry.files["transformed"] = file
        return self.path_of(file)

    def write_graph(self, graph: Graph) -> Optional[str]:
        """Write one graph; returns the path, or None if it could not be written."""
        file = names.graph(graph)
        text, graph.first_line = pages.graph(graph, self.session)
        if not self._write(file, text):
            return None
        graph.file = file
        return self.path_of(file)

    def write_kernel(self, kernel: Kernel) -> Optional[str]:
        """Write one file of generated code; returns the path, or None if it could not be written."""
        file = names.kernel(kernel)
        if not self._write(file, pages.kernel(kernel, self.session)):
            return None
        kernel.file = file
        return self.path_of(file)

    # ------------------------------------------------------------ at the end

    def close(self) -> None:
        """Write the files that need the whole story, and `session.json`."""
        if self._manifest is None:
            return
        for function, file, text in full_code_pages(self.session):
            if self._write(file, text):
                function.files["full_code"] = file
        self._write(names.SESSION, save(self.session))
        manifest, self._manifest = self._manifest, None
        try:
            manifest.close()
        except OSError as error:
            self._warn(names.MANIFEST, error)

    # ------------------------------------------------------------ writing

    def _write(self, file: str, data: str | bytes) -> bool:
        """Whether the file was written. Nothing is written before `open()` and after `close()`."""
        if self._manifest is None:
            return False
        try:
            self._manifest.add(file)
            write_atomically(self.path_of(file), data)
        except OSError as error:
            self._warn(file, error)
            return False
        return True

    def _warn(self, file: str, error: OSError) -> None:
        if self._warned:
            return
        self._warned = True
        warnings.warn(
            "depyf: cannot write %s: %s. The program goes on; the dump is incomplete."
            % (self.path_of(file), error.strerror or error),
            RuntimeWarning,
            stacklevel=2,
        )
