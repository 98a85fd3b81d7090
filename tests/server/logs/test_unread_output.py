"""Lines for an output that takes nothing, fails, or is slow: their order, their number, their memory."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvloop

from kraftctl.dev.polling import await_result
from kraftctl.server.logs import background_file, printed_lines
from kraftctl.server.logs.background_file import LINE_OVERHEAD_BYTES, BackgroundFile, LeftOut
from kraftctl.server.logs.log_handler import LINE_LENGTH_MAX, BackgroundHandler
from kraftctl.server.logs.logging import KafkaFormatter
from kraftctl.server.logs.shared_output import SharedOutput
from tests.support.processes.outputs import CLOSED, GONE, NOT_READ

LINES = [b"%06d %s\n" % (number, b"." * 200) for number in range(1_000)]


def left_out_line(gap: LeftOut) -> bytes:
    return b"left out %d: %s\n" % (gap.count, gap.reason.encode())


class Gated:
    """Takes as many calls as `allow` says, or fails as often as `fail` does; a list of what it took."""

    path = "gated"

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.kept_bytes = 0
        self.tries = 0
        self.asked = threading.Event()
        self._errors: list[OSError] = []
        self._permits = threading.Semaphore(0)

    def allow(self, calls: int = 1) -> None:
        for _ in range(calls):
            self._permits.release()

    def fail(self, *errors: OSError) -> None:
        self._errors.extend(errors)

    def open(self) -> None: ...

    def write(self, lines: bytes) -> None:
        self.asked.set()
        assert self._permits.acquire(timeout=20.0)
        self.tries += 1
        if self._errors:
            raise self._errors.pop(0)
        self.taken.append(lines)

    def close(self) -> None: ...

    @property
    def lines(self) -> list[bytes]:
        return b"".join(self.taken).splitlines()


def stuck(file: Gated, waiting_bytes_max: int, write_bytes_max: int = 1 << 20) -> BackgroundFile:
    """Its thread waits for the file to take a first line."""
    background = BackgroundFile(
        file, left_out_line, waiting_bytes_max, write_bytes_max=write_bytes_max, has_log=True
    )
    background.start()
    background.write(b"first\n")
    assert file.asked.wait(20.0)
    return background


# Outputs that are not ours.


@pytest.mark.parametrize("kind", NOT_READ)
def test_what_is_read_late_is_whole_and_in_order(tmp_path: Path, kind: str) -> None:
    with NOT_READ[kind](tmp_path) as output:
        assert output.descriptor is not None
        file = BackgroundFile(SharedOutput(output.descriptor, kind), left_out_line, write_bytes_max=4096)
        file.start()
        blocks = os.get_blocking(output.descriptor)
        for line in LINES:
            file.write(line)
        output.begin_reading()
        seen = output.await_text(r"000999 \.{200}\r?\n").replace("\r\n", "\n")
        assert file.close()
        assert seen.endswith(b"".join(LINES).decode())
        assert os.get_blocking(output.descriptor) == blocks, "other processes have it, too"


@pytest.mark.parametrize("kind", [kind for kind in GONE if kind != CLOSED])
def test_what_cannot_be_written_is_counted_and_not_tried_again_and_again(tmp_path: Path, kind: str) -> None:
    with GONE[kind](tmp_path) as output:
        assert output.descriptor is not None
        tries: list[int] = []

        class Counted(SharedOutput):
            def write(self, lines: bytes) -> None:
                tries.append(len(lines))
                super().write(lines)

        file = BackgroundFile(Counted(output.descriptor, kind), left_out_line, has_log=True)
        file.start()
        for line in LINES:
            file.write(line)
        assert file.close()
        assert file.left_out_count == len(LINES)
        assert len(tries) <= len(LINES) + 1
        assert sum(tries) < 2 * len(b"".join(LINES))


def test_what_takes_nothing_is_tried_with_the_next_line_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_file, "LINGER_SECONDS", 0.0)
    file = Gated()
    file.allow(10_000)
    file.fail(*[OSError(errno.EPIPE, "Broken pipe")] * 10_000)
    background = BackgroundFile(file, left_out_line, has_log=True)
    background.start()
    for _ in range(20):
        file.asked.clear()
        background.write(b"line\n")
        assert file.asked.wait(20.0)
    background.close()
    assert file.tries <= 21
    assert background.left_out_count == 20


def test_a_part_of_a_line_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk behind standard output has room for one line and a half; later there is room again."""
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    output = SharedOutput(descriptor, "standard output")
    room = [20]
    write = os.write

    def limited(number: int, data: memoryview) -> int:
        if number != descriptor:
            return write(number, data)
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = write(number, data[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", limited)
    with pytest.raises(OSError, match="No space"):
        output.write(b"whole line....\nhalf a line\nnone of this\n")
    assert output.kept_bytes == len(b"whole line....\n")
    room[0] = 100
    output.write(b"after\n")
    monkeypatch.undo()
    os.close(descriptor)
    assert path.read_bytes() == b"whole line....\nhalf \nafter\n"


# Order and number.


def test_the_number_is_where_lines_are_missing() -> None:
    file = Gated()
    background = stuck(file, 10 * (7 + LINE_OVERHEAD_BYTES))
    for number in range(9):
        background.write(b"early%d\n" % number)
    for _ in range(5):
        background.write(b"missing\n")
    file.allow()
    for _ in range(100):
        file.allow()
    assert background.close()
    background_lines = file.lines
    assert background_lines == [
        b"first",
        *(b"early%d" % number for number in range(9)),
        b"left out 5: ",
    ]
    assert background.left_out_count == 5


def test_lines_after_the_gap_follow_its_number() -> None:
    file = Gated()
    background = stuck(file, 3 * (8 + LINE_OVERHEAD_BYTES))
    for text in (b"second\n", b"third\n", b"lost\n", b"lost\n"):
        background.write(text)
    file.asked.clear()
    file.allow()
    assert file.asked.wait(20.0), "the second block, after which there is room"
    background.write(b"later\n")
    file.allow(10)
    assert background.close()
    assert file.lines == [b"first", b"second", b"third", b"left out 2: ", b"later"]


def test_a_failure_is_counted_before_the_next_line_that_can_be_written() -> None:
    file = Gated()
    background = stuck(file, 1 << 20)
    file.fail(OSError(errno.ENOSPC, "No space left on device"), OSError(errno.ENOSPC, "still none"))
    for text in (b"second\n", b"third\n"):
        file.asked.clear()
        file.allow()
        background.write(text)
        assert file.asked.wait(20.0)
    file.allow(10)
    assert background.close()
    assert file.lines == [b"left out 2: still none", b"third"]
    assert background.left_out_count == 2


def test_what_a_failed_call_has_written_is_not_missing() -> None:
    file = Gated()
    background = stuck(file, 1 << 20)
    for text in (b"kept\n", b"lost\n"):
        background.write(text)
    file.allow()
    file.asked.clear()
    assert file.asked.wait(20.0)
    file.kept_bytes = len(b"kept\n")
    file.fail(OSError(errno.ENOSPC, "full"))
    file.allow(10)
    assert background.close()
    assert background.left_out_count == 1
    assert file.lines == [b"first", b"left out 1: full"]


# Memory.


@pytest.mark.parametrize("line_bytes", [1, 10, 100, 10_000], ids=lambda each: f"lines-of-{each}")
def test_the_memory_of_lines_that_wait_is_bounded(line_bytes: int) -> None:
    bytes_max = 1_000_000
    file = Gated()
    background = stuck(file, bytes_max)
    tracemalloc.start()
    for number in range(2 * bytes_max // (line_bytes + LINE_OVERHEAD_BYTES)):
        background.write(b"%0*d\n" % (line_bytes - 1, number))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < bytes_max * 1.3
    assert background.left_out_count > 0
    file.allow(100)
    assert background.close()


def test_one_giant_line_is_cut() -> None:
    file = Gated()
    file.allow(100)
    handler = BackgroundHandler(file, "test")
    handler.setFormatter(KafkaFormatter(1))
    handler.file.start()
    record = logging.LogRecord("test", logging.INFO, __file__, 1, "x" * (5 * LINE_LENGTH_MAX), None, None)
    handler.emit(record)
    handler.emit(logging.LogRecord("test", logging.INFO, __file__, 1, "next", None, None))
    handler.close()
    giant, following = file.lines
    assert len(giant) < LINE_LENGTH_MAX + 100
    assert giant.endswith(b"more characters)")
    assert following.endswith(b"next (test)")


# The end.


def test_the_last_lines_are_written_while_the_reader_takes_some() -> None:
    """It is slow, and takes one block after the other: the reason of a failure is the last."""
    file = Gated()
    background = stuck(file, 1 << 20, write_bytes_max=10)
    for number in range(20):
        background.write(b"line %04d\n" % number)
    slow = threading.Thread(target=file.allow, args=(30,))
    slow.start()
    assert background.close()
    slow.join()
    assert file.lines[-1] == b"line 0019"


def test_the_last_lines_go_before_older_ones_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader takes something, but not enough for all that waits."""
    monkeypatch.setattr(background_file, "CLOSE_STEP_SECONDS", 1.0)
    file = Gated()
    background = stuck(file, 1 << 20, write_bytes_max=20)
    for number in range(1_000):
        background.write(b"line %04d\n" % number)
    closed: list[bool] = []
    closing = threading.Thread(target=lambda: closed.append(background.close()))
    closing.start()
    assert background._closing.wait(20.0)
    file.allow(1)
    await_result(lambda: background.left_out_count > 0, "old lines are left out")
    file.allow(100)
    closing.join()
    assert closed == [True]
    assert file.lines == [
        b"first",
        b"line 0000",
        b"line 0001",
        b"left out 996: ",
        b"line 0998",
        b"line 0999",
    ]
    assert background.left_out_count == 996


def test_the_end_does_not_wait_for_a_reader_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_file, "CLOSE_STEP_SECONDS", 0.05)
    file = Gated()
    background = stuck(file, 1 << 20)
    assert not background.close()
    file.allow(10)


# Lines that cannot be formatted, and what is printed.


class Unprintable:
    def __str__(self) -> str:
        raise ValueError("no text")


@contextmanager
def only_log() -> Iterator[Gated]:
    """What arrives in the log, by a handler as `kraftctl start` has it."""
    file = Gated()
    file.allow(1_000)
    handler = BackgroundHandler(file, "test", has_log=True)
    handler.setFormatter(KafkaFormatter(1))
    handler.file.start()
    root = logging.getLogger()
    before = list(root.handlers)
    root.handlers[:] = [handler]
    yield file
    root.handlers[:] = before
    handler.close()


def ended(file: Gated) -> str:
    for handler in logging.getLogger().handlers:
        handler.close()
    return b"".join(file.taken).decode()


@pytest.mark.parametrize(
    ("message", "arguments", "expected"),
    [
        pytest.param("%d is no number", ("a",), "(TypeError): %d is no number", id="of-another-type"),
        pytest.param("%s and %s", ("a",), "(TypeError): %s and %s", id="too-few"),
        pytest.param("%s", ("a", "b"), "(TypeError): %s", id="too-many"),
        pytest.param("%q", ("a",), "(ValueError): %q", id="an-unknown-directive"),
        pytest.param("shows %s", (Unprintable(),), "(ValueError): shows %s", id="an-object-without-a-text"),
        pytest.param(Unprintable(), (), "(ValueError): Unprintable", id="a-message-without-a-text"),
        pytest.param("%s", ("\ud800",), "\\ud800", id="half-a-character"),
        pytest.param("%s", (b"\xff",), "b'\\xff'", id="bytes"),
        pytest.param(12, (), "12", id="a-number"),
    ],
)
def test_a_line_that_cannot_be_formatted_is_named(
    capfd: pytest.CaptureFixture[str], message: object, arguments: tuple[object, ...], expected: str
) -> None:
    with only_log() as log:
        logging.getLogger("a").error(message, *arguments)
        logging.getLogger("a").error("next")
        text = ended(log)
    assert expected in text
    assert "next (a)" in text
    assert capfd.readouterr().err == ""


def in_a_thread() -> None:
    thread = threading.Thread(target=lambda: 1 / 0, name="worker")
    thread.start()
    thread.join()


def while_it_is_deleted() -> None:
    class Failing:
        def __del__(self) -> None:
            raise ValueError("in __del__")

    Failing()


def by_another_handler() -> None:
    """logging.raiseExceptions prints a stack on standard error."""
    other = logging.StreamHandler(open(os.devnull, encoding="utf-8"))  # noqa: SIM115
    other.stream.close()
    root = logging.getLogger()
    root.addHandler(other)
    logging.getLogger("a").error("line")
    root.removeHandler(other)


def without_a_handler() -> None:
    """logging.lastResort."""
    alone = logging.getLogger("alone")
    alone.propagate = False
    alone.warning("last resort")
    alone.propagate = True


def in_a_loop(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def life() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(life())


def in_a_flood() -> None:
    sys.stderr.write("y" * (printed_lines.LINE_LENGTH_MAX + 1))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda: print("printed", file=sys.stderr), "WARN", id="print"),
        pytest.param(lambda: sys.stderr.write("a\nb\n"), "a (kraftctl.stderr)", id="lines"),
        pytest.param(in_a_thread, "Thread worker has ended by an exception", id="an-exception-of-a-thread"),
        pytest.param(in_a_thread, "ZeroDivisionError", id="the-stack-of-a-thread"),
        pytest.param(while_it_is_deleted, "Exception ignored in", id="an-exception-that-is-ignored"),
        pytest.param(by_another_handler, "I/O operation on closed file", id="the-failure-of-a-handler"),
        pytest.param(without_a_handler, "last resort", id="a-logger-without-a-handler"),
        pytest.param(lambda: in_a_loop(asyncio.new_event_loop), "Exception in callback", id="asyncio"),
        pytest.param(lambda: in_a_loop(uvloop.new_event_loop), "Exception in callback", id="uvloop"),
        pytest.param(in_a_flood, "yyy", id="no-end-of-line"),
    ],
)
def test_what_is_printed_on_standard_error_is_in_the_log(
    capfd: pytest.CaptureFixture[str], call: Callable[[], object], expected: str
) -> None:
    with only_log() as log:
        with printed_lines.logged():
            call()
        assert expected in ended(log)
    assert not isinstance(sys.stderr, printed_lines.PrintedLines)
    assert capfd.readouterr().err == ""


def test_a_handler_that_prints_does_not_log_for_ever() -> None:
    class Printing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print("again", file=sys.stderr)

    with only_log() as log:
        logging.getLogger().addHandler(Printing())
        with printed_lines.logged():
            logging.getLogger("a").error("line")
        assert ended(log).count("again") == 1
