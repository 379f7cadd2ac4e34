"""The context managers of the public interface: `prepare_debug` and `debug`."""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import partial
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Optional, Type, Union

from depyf.decompile.result import Decompiled

if TYPE_CHECKING:
    from depyf.capture import Capture
    from depyf.dump.dump import Dump
    from depyf.session.model import CacheEntry, Function, Graph, Kernel, Session

__all__ = ["debug", "prepare_debug"]

_TORCH_MODULES = ("torch.*",)  # stepped over: between two compiled functions torch checks guards, some in Python


class prepare_debug:  # noqa: N801 (used like a function)
    """Writes down everything that torch.compile makes while the block runs, into the directory `dump_src_dir`.

        with depyf.prepare_debug("./dump_src_dir") as directory:
            ...  # run what is compiled

    The program computes, raises and recompiles as it would otherwise; the bytecode that runs is torch's own, only
    pointing into the files, so that debuggers and tracebacks show them, also after the block. The block's value is
    the directory that holds the files. What an earlier run left there is replaced.

    - `clean_wild_fx_code`: keep no files of graphs that belong to no compilation.
    - `log_bytecode`: also write the code objects, original and transformed.

    Entering raises an OSError if the directory can't be written to, and ImportError without PyTorch; nothing is
    raised afterwards: what goes wrong inside is recorded in the directory's `session.json`.
    """

    def __init__(
        self, dump_src_dir: Union[str, os.PathLike[str]], clean_wild_fx_code: bool = True, log_bytecode: bool = False
    ) -> None:
        self.dump_src_dir = os.fspath(dump_src_dir)
        self.clean_wild_fx_code = clean_wild_fx_code
        self.log_bytecode = log_bytecode
        self._capture: Optional[Capture] = None
        self._dump: Optional[Dump] = None
        self._session: Session

    def __enter__(self) -> str:
        if self._capture is not None:
            raise RuntimeError("this prepare_debug is already active; make another one")
        if importlib.util.find_spec("torch") is None:
            raise ImportError("depyf.prepare_debug needs PyTorch (the package 'torch'), which is not installed")
        from depyf.capture import Capture, new_session
        from depyf.decompile import decompile_code
        from depyf.dump.dump import Dump

        self._session = session = new_session()
        self._dump = dump = Dump(self.dump_src_dir, session, log_bytecode=self.log_bytecode)
        dump.open()
        self._capture = Capture(
            session,
            decompile=partial(decompile_code, generated=True),
            on_transformed=self._on_transformed,
            on_graph=self._on_graph,
            on_kernel=self._on_kernel,
        )
        self._capture.start()
        return dump.directory

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        capture, self._capture = self._capture, None
        dump, self._dump = self._dump, None
        if capture is None or dump is None:
            return
        capture.stop()
        dump.close()

    # ------------------------------------------------------------ what capture calls; it catches what we raise

    def _on_transformed(
        self, entry: CacheEntry, function: Function, decompiled: Optional[Decompiled]
    ) -> Optional[CodeType]:
        from depyf.debugger.relocate import into_text

        assert self._dump is not None
        path = self._dump.write_transformed(entry, function, decompiled)
        if path is None or decompiled is None or entry.transformed_code is None:
            return None
        return into_text(entry.transformed_code, path, decompiled.text, decompiled.source_map, entry.first_line)

    def _on_graph(self, graph: Graph) -> None:
        from depyf.capture.torch_fx import graph_modules_on_stack
        from depyf.debugger.graphs import point_graphs

        assert self._dump is not None
        if self.clean_wild_fx_code and not graph.compile_id:
            return
        path = self._dump.write_graph(graph)
        if path is not None:
            point_graphs(graph_modules_on_stack(), graph.text, path, graph.first_line, self._note)

    def _note(self, error: BaseException) -> None:
        """Record a failure that happens later, while a graph runs."""
        from depyf.session.model import Failure

        self._session.failures.append(Failure("debugger", "%s: %s" % (type(error).__name__, error)))

    def _on_kernel(self, kernel: Kernel) -> None:
        assert self._dump is not None
        self._dump.write_kernel(kernel)


class debug:  # noqa: N801 (used like a function)
    """Lets a debugger stop in what torch.compile made, after `prepare_debug` has written it down.

        with depyf.debug():
            ...  # run the same again

    Entering says on stderr into which files the code that runs points: set breakpoints there, by file and line.
    If nobody debugs yet and somebody can type (stdin is a terminal), pdb opens at the first line of the block, for
    setting breakpoints; `stop=True` or `stop=False` decides that instead. With a debugger attached (an IDE, or
    `python -m pdb`), breakpoints set in it are hit. The program itself runs as always.
    """

    def __init__(self, stop: Optional[bool] = None) -> None:
        self.stop = stop
        self._pdb: Any = None

    def __enter__(self) -> None:
        from depyf.debugger.places import message, steppable_files

        files = steppable_files()
        print(message(files), file=sys.stderr)
        stop = self.stop
        if stop is None:
            stop = bool(files) and sys.gettrace() is None and sys.stdin is not None and sys.stdin.isatty()
        if stop:
            import pdb

            self._pdb = pdb.Pdb(nosigint=True, skip=_TORCH_MODULES)
            caller: FrameType = sys._getframe(1)
            self._pdb.set_trace(caller)

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        debugger, self._pdb = self._pdb, None
        tracing = sys.gettrace()
        if debugger is not None and getattr(tracing, "__self__", None) is debugger:
            sys.settrace(None)
