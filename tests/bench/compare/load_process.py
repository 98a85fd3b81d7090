"""The load generator as a process of its own, which shares no interpreter with what reads the figures."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection as Pipe
from types import TracebackType
from typing import Final

from tests.bench.compare.load_loop import Loop, Window
from tests.bench.compare.scripts import Script

FOREVER_S: Final = 1e9
STOPPED, ENDED = "stopped", "ended"
END_SECONDS_MAX: Final = 10.0


class LoadFailedError(Exception):
    """The load generator ended with an error; the text is its traceback."""


class LoadProcess:
    """Connects when it is entered. `run` may be called again and again: scripts continue where they were."""

    def __init__(self, port: int, scripts: Sequence[Script]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, port, list(scripts)), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> LoadProcess:
        self._receive()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.is_alive() and error is None:
            self._pipe.send(ENDED)
            self._process.join(END_SECONDS_MAX)
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def run(self, seconds: float = FOREVER_S) -> Window:
        """For so long, or until no script has another request."""
        self.begin(seconds)
        return self.result()

    def begin(self, seconds: float = FOREVER_S) -> None:
        """`result` or `stop` has to follow."""
        self._pipe.send(seconds)

    def stop(self) -> Window:
        """Sends nothing more; returns once all that was sent is answered."""
        self._pipe.send(STOPPED)
        return self.result()

    def result(self) -> Window:
        """Waits for the end of what `begin` has begun. Raises LoadFailedError."""
        window = self._receive()
        assert isinstance(window, Window)
        return window

    def _receive(self) -> object:
        try:
            received = self._pipe.recv()
        except EOFError:
            raise LoadFailedError("the process of the load generator has ended") from None
        if isinstance(received, str):
            raise LoadFailedError(received)
        return received


def _serve(pipe: Pipe, port: int, scripts: Sequence[Script]) -> None:
    """In the process of the load generator: one window for each number of seconds that comes."""
    try:
        loop = Loop(port, scripts, pipe.fileno())
        pipe.send(None)
        while (command := pipe.recv()) != ENDED:
            if command != STOPPED:
                pipe.send(loop.run(command))
        loop.close()
    except BaseException:
        pipe.send(traceback.format_exc())
        raise
