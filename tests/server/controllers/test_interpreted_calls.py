"""How many functions of ours the interpreter runs for one request, on every thread of a compiled controller.

A call costs the interpreter some 0.1 to 0.5 us, so this is counted where a time could not be asserted.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest
import uvloop

import kraftctl
import kraftctl_protocol
from kraftctl.cli import main
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.server.controller_server import run_controller
from kraftctl.storage.meta_properties import read_meta_properties
from tests.conftest import under_test
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.wire.controller_client import ControllerClient
from tests.support.wire.partition_leader import PartitionLeader

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"

HEARTBEAT_CALLS_MAX = 0
ALTER_PARTITION_CALLS_MAX = 0

REQUESTS = 21
"""A timer may run during some of them: the median counts."""

pytestmark = pytest.mark.skipif(under_test() == "sources", reason="sources are interpreted, all of them")


class InterpretedCalls:
    """Counts calls of Python functions of ours, on each thread that starts while this is installed."""

    def __init__(self) -> None:
        self.by_function: Counter[str] = Counter()
        self._directories = tuple(str(Path(package.__path__[0])) for package in (kraftctl, kraftctl_protocol))

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        """As `threading.setprofile` wants it. Compiled functions have no frame."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._directories):
            self.by_function[f"{Path(code.co_filename).name}:{code.co_qualname}"] += 1

    def per_request(self, request: Callable[[], object]) -> Counter[str]:
        """The median number of calls of each function, up to the response."""
        request()
        counts: list[Counter[str]] = []
        for _ in range(REQUESTS):
            before = self.by_function.copy()
            request()
            counts.append(self.by_function - before)
        names = {name for count in counts for name in count}
        medians = {name: statistics.median_low([count[name] for count in counts]) for name in names}
        return Counter({name: median for name, median in medians.items() if median})


@pytest.fixture
def calls() -> Iterator[InterpretedCalls]:
    found = InterpretedCalls()
    threading.setprofile(found.note)
    yield found
    threading.setprofile(None)


@pytest.fixture
def port(tmp_path: Path, calls: InterpretedCalls) -> Iterator[int]:
    """Of a controller on a thread of this process."""
    port = free_port()
    properties = controller_properties(tmp_path / "data", node_id=1, address=f"localhost:{port}")
    file = properties_file(tmp_path, properties)
    assert main(["format", "--standalone", "-t", CLUSTER_ID, "-c", str(file)]) == 0
    meta = read_meta_properties(tmp_path / "data")
    assert meta is not None
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def life() -> None:
        stop = asyncio.Event()
        running.append((asyncio.get_running_loop(), stop))
        await run_controller(ControllerConfig(properties), meta, stop)

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(life())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield port
    finally:
        loop, stop = running[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def connected(port: int) -> ControllerClient:
    def client() -> ControllerClient | None:
        try:
            return ControllerClient(port)
        except OSError:
            return None

    return await_result(client, "the controller accepts connections")


@pytest.fixture
def leader(port: int) -> Iterator[PartitionLeader]:
    """Of a partition, over a connection of its own."""
    with connected(port) as client:
        yield PartitionLeader(client, CLUSTER_ID)


def test_a_heartbeat_runs_few_functions_in_the_interpreter(
    calls: InterpretedCalls, leader: PartitionLeader
) -> None:
    found = calls.per_request(leader.brokers[0].heartbeat)
    assert found.total() <= HEARTBEAT_CALLS_MAX, found


def test_a_change_of_an_isr_runs_few_functions_in_the_interpreter(
    calls: InterpretedCalls, leader: PartitionLeader
) -> None:
    """With the forced write, which is a thread of its own."""
    found = calls.per_request(leader.change_isr)
    assert found.total() <= ALTER_PARTITION_CALLS_MAX, found
