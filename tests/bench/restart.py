"""Restarts of a controller with millions of partitions: time to the first registration of a broker, memory.

`restart.py --topics 20000 --partitions 100 --brokers 20 [--behind 2000]`: so many topics are behind the
snapshot, in the log only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from tests.bench.measure import processor_time_s
from tests.bench.table import Row, render
from tests.support.large_directory import register_brokers, write_partitions
from tests.support.wire.controller_client import ControllerClient, StandInBroker

NODE_ID = 3000
BROKER_ID = 1
POLL_S = 0.02
TIMEOUT_S = 300.0
VERSIONS = ApiVersionsRequest(client_software_name="bench", client_software_version="1")


@dataclass
class Restart:
    """Of one start, in seconds and bytes. `longest_wait_s` is that of ApiVersions while it loaded."""

    registered_s: float
    processor_s: float
    peak_bytes: int
    longest_wait_s: float


@dataclass
class Prober:
    """Asks for ApiVersions again and again, from the moment at which the controller accepts connections."""

    node: KraftctlController
    longest_s: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._probe, daemon=True)
        self._thread.start()

    def _probe(self) -> None:
        while not self._ended.wait(POLL_S):
            try:
                with ControllerClient(self.node.port) as client:
                    while not self._ended.wait(POLL_S / 4):
                        began = time.monotonic()
                        client.call(VERSIONS, 3, ApiVersionsResponse)
                        self.longest_s = max(self.longest_s, time.monotonic() - began)
            except OSError:
                continue

    def stop(self) -> float:
        self._ended.set()
        self._thread.join()
        return self.longest_s


def peak_bytes(pid: int) -> int:
    """The largest resident memory that the process had."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def restart(node: KraftctlController) -> Restart:
    """Start it and register a broker as soon as it can be registered."""
    began = time.monotonic()
    node.start(wait=False)
    prober = Prober(node)
    await_result(lambda: is_registered(node), "a broker is registered", TIMEOUT_S, interval_s=POLL_S)
    registered_s = time.monotonic() - began
    longest_wait_s = prober.stop()
    assert node.process is not None
    pid = node.process.pid
    return Restart(registered_s, processor_time_s(pid), peak_bytes(pid), longest_wait_s)


def build(directory: Path, options: argparse.Namespace) -> KraftctlController:
    """A controller that is stopped, and has the log and the snapshot to load."""
    node = KraftctlController(NODE_ID, directory, random_id(), dynamic=False)
    node.format()
    node.start()
    register_brokers(node, options.brokers)
    node.stop()
    write_partitions(
        node,
        topics=options.topics,
        partitions=options.partitions,
        brokers=options.brokers,
        topics_in_snapshot=options.topics - options.behind,
    )
    return node


def measure(node: KraftctlController) -> list[Row]:
    rows: list[Row] = []
    node.start()
    await_result(lambda: is_registered(node), "it is active", TIMEOUT_S)
    for what in ("SIGTERM", "kill -9"):
        node.stop() if what == "SIGTERM" else node.kill()
        found = restart(node)
        rows += [
            Row(f"{what}: to the first registration", found.registered_s, "s"),
            Row(f"{what}: processor time until then", found.processor_s, "s"),
            Row(f"{what}: longest wait of ApiVersions", found.longest_wait_s * 1e3, "ms"),
            Row(f"{what}: largest resident memory", found.peak_bytes / 2**20, "MiB"),
        ]
    node.kill()
    return rows


def is_registered(node: KraftctlController) -> bool:
    """Registers a broker; False when the controller is not active yet."""
    try:
        with ControllerClient(node.port, timeout_s=TIMEOUT_S) as client:
            return StandInBroker(client, BROKER_ID, node.cluster_id).register()
    except OSError:
        return False


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--topics", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, default=100, help="of each topic")
    parser.add_argument("--brokers", type=int, default=20)
    parser.add_argument("--behind", type=int, default=0, help="topics that are not in the snapshot")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        node = build(Path(name) / "controller", options)
        try:
            print(render(measure(node)), flush=True)
        finally:
            node.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
