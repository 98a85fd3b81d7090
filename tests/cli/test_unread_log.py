"""Whatever becomes of the reader of the log: requests are answered, and the process ends when it should.

The outputs of a real `kraftctl start` take nothing while brokers ask, at level debug. Then they are read.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.server.logs.background_file import WAITING_BYTES_MAX
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.processes.outputs import GONE, NOT_READ, SECONDS_MAX, Output, closed, full_pipe
from tests.support.wire.controller_client import ControllerClient, StandInBroker, create_topics

CLUSTER_ID = "q1Sh-9_ISia_zwGINzRvyQ"

MEMORY_SLACK_BYTES = 24 * 1024 * 1024
"""Of a process that has just started: modules, images, answers, and pieces that the allocator keeps."""

CLIENT_ID_BYTES = 30_000


def _some_are_long(kinds: Mapping[str, object], *short: str) -> list[object]:
    return [kind if kind in short else pytest.param(kind, id=kind, marks=pytest.mark.long) for kind in kinds]


class Controller:
    """A quorum of one, with the given outputs."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self.data = directory / "data"
        properties = controller_properties(self.data, address=f"localhost:{self.port}")
        self.file = properties_file(directory, properties)
        assert main(["format", "--standalone", "-t", CLUSTER_ID, "-c", str(self.file)]) == 0
        self.process: subprocess.Popen[bytes] | None = None
        self._topics_count = 0

    def start(self, output: Output | None, error: Output | None, level: str = "debug") -> None:
        """None: /dev/null. The descriptors of this process stay open, as their readers'."""
        command = [sys.executable, "-m", "kraftctl", "start", str(self.file), "--log-level", level]
        closes = [
            f"{number}>&-" for number, each in ((1, output), (2, error)) if each and each.descriptor is None
        ]
        if closes:
            command = ["/bin/sh", "-c", f'exec "$@" {" ".join(closes)}', "sh", *command]
        self.process = subprocess.Popen(
            command, stdout=_descriptor(output), stderr=_descriptor(error), env=_environment()
        )

    def await_listening(self) -> None:
        await_result(lambda: accepts_connections(self.port), f"port {self.port}")

    def serve(self, rounds: int = 20) -> None:
        """A broker registers, is unfenced, and creates a topic; each of these is committed."""
        self.await_listening()
        self._topics_count += 1
        create_topics(self.port, CLUSTER_ID, f"topic-{self._topics_count}")
        with ControllerClient(self.port) as client:
            broker = StandInBroker(client, 2, CLUSTER_ID)
            assert broker.register()
            for _ in range(rounds):
                broker.heartbeat()
                assert client.call(ApiVersionsRequest("test", "1"), 3, ApiVersionsResponse).api_keys

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def ended(self) -> int:
        assert self.process is not None
        return self.process.wait(SECONDS_MAX)

    def resident_bytes(self) -> int:
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (kib,) = re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
        return int(kib) * 1024


def _descriptor(output: Output | None) -> int | None:
    return subprocess.DEVNULL if output is None else output.descriptor


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    found = Controller(tmp_path)
    yield found
    if found.process is not None:
        found.process.kill()
        found.process.wait()


@pytest.mark.parametrize("kind", _some_are_long(NOT_READ, "a-full-nonblocking-pipe", "a-stopped-terminal"))
def test_requests_are_answered_while_the_log_is_not_read(
    controller: Controller, tmp_path: Path, kind: str
) -> None:
    """Then it is read: all lines are there, those at the end included."""
    with NOT_READ[kind](tmp_path) as output:
        controller.start(output, output)
        controller.serve()
        controller.signal(signal.SIGQUIT)
        controller.serve()
        output.begin_reading()
        seen = output.await_text("End of the stacks")
        assert "Awaiting socket connections" in seen
        assert "Stack (most recent call first)" in seen
        assert len(re.findall("Completed request: api=BrokerHeartbeat", seen)) >= 20
        assert "Left out" not in seen
        controller.signal(signal.SIGTERM)
        output.await_text(r"Stopping on SIGTERM[\s\S]*\] INFO \[ControllerServer id=3000\] Stopped ")
        assert controller.ended() == 0


@pytest.mark.parametrize(
    "stream",
    ["output", pytest.param("error", marks=pytest.mark.long), pytest.param("both", marks=pytest.mark.long)],
)
def test_it_stops_while_the_log_is_not_read(controller: Controller, tmp_path: Path, stream: str) -> None:
    """A supervisor that waits ten seconds need not kill it."""
    with full_pipe(tmp_path) as output:
        output_of = {each: output if stream in (each, "both") else None for each in ("output", "error")}
        controller.start(output_of["output"], output_of["error"])
        controller.serve()
        controller.signal(signal.SIGTERM)
        assert controller.ended() == 0


@pytest.mark.parametrize("kind", _some_are_long(GONE, "a-pipe-without-reader"))
def test_requests_are_answered_when_the_log_cannot_be_read(
    controller: Controller, tmp_path: Path, kind: str
) -> None:
    with GONE[kind](tmp_path) as output:
        controller.start(output, output)
        controller.serve()
        controller.signal(signal.SIGQUIT)
        controller.serve()
        controller.signal(signal.SIGTERM)
        assert controller.ended() == 0
    assert files_with_log_lines(controller.data) == []


def files_with_log_lines(directory: Path) -> list[Path]:
    """A file that became descriptor 1 or 2 would have them."""
    return [each for each in directory.rglob("*") if each.is_file() and b" INFO " in each.read_bytes()]


def test_what_is_left_out_is_bounded_and_counted(controller: Controller, tmp_path: Path) -> None:
    """Lines of 30 KB, of clients with long names: the memory is that of the lines that may wait."""
    with full_pipe(tmp_path) as output:
        controller.start(output, output)
        controller.serve()
        before = controller.resident_bytes()
        with ControllerClient(controller.port, client_id="x" * CLIENT_ID_BYTES) as client:
            for _ in range(WAITING_BYTES_MAX // CLIENT_ID_BYTES + 150):
                client.call(ApiVersionsRequest("test", "1"), 3, ApiVersionsResponse)
        assert controller.resident_bytes() - before < WAITING_BYTES_MAX + MEMORY_SLACK_BYTES
        controller.serve()
        seen = output.await_text(r"Left out \d+ lines since [^\n]*\n")
        last = seen.splitlines()[-1]
        found = re.fullmatch(
            r"\[[-0-9: ,]{23}\] WARN \[ControllerServer id=3000\] Left out (\d+) lines since ([-0-9: ,]{23}):"
            r" standard output was not read in time\. Next step: check what reads it"
            r" \(kraftctl\.server\.log_files\)",
            last,
        )
        assert found is not None, last
        assert int(found[1]) > 100
        controller.signal(signal.SIGHUP)
        later = output.await_text("No listener uses SSL")
        assert "Left out" not in later
        controller.signal(signal.SIGTERM)
        output.await_text("Stopped")
        assert controller.ended() == 0


def test_a_closed_output_is_no_file_of_the_controller(controller: Controller, tmp_path: Path) -> None:
    """The log is on standard error then, as the first file that is opened would have been descriptor 1."""
    with closed(tmp_path) as output, full_pipe(tmp_path) as error:
        controller.start(output, error)
        controller.serve()
        error.await_text("Awaiting socket connections")
        controller.signal(signal.SIGTERM)
        error.await_text("Stopped")
        assert controller.ended() == 0
    assert files_with_log_lines(controller.data) == []
