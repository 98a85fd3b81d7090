"""A console in this process, which reads a written directory; what the leader knows is given."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from kraftctl.cli.console.listen_address import ListenAddress
from kraftctl.cli.console.serving import ConsoleServer
from kraftctl.console.live_log import LiveLog
from kraftctl.console.node_status import CertificateDate, NodeStatus
from kraftctl.console.page_drawing import PageDrawing
from kraftctl.console.painter import Painter
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.explain.mark import DAY_MS, Mark
from kraftctl.server.process.clock import Clock
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.spark.log_directory import LogDirectory
from tests.support.explained_log import ExplainedLog, change, directory, partition

SECONDS_MAX = 20.0


class StagedLog(ExplainedLog):
    """The same records in a directory, too; the last one is of now."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.offset = -1
        self.now_ms = Clock().wall_ms() - 90_000
        self.path = path
        self._directory = LogDirectory(path)

    def write(self, *records: Message) -> Mark:
        mark = super().write(*records)
        values = [encode_metadata_record(each, each.HIGHEST_VERSION) for each in records]
        log = self._directory.log
        log.append(encode_batch(log.end_offset, 1, self.now_ms, values))
        log.flush()
        return mark

    def close(self) -> None:
        self._directory.close()

    def reading(self, *statuses: NodeStatus) -> QuorumReading:
        """What the leader says of the log as it is."""
        view = self.evidence().quorum
        addresses = {each: f"controller-{each}.example:9093" for each in self.log.voters}
        return QuorumReading(view, addresses=addresses, statuses=statuses)


def five_troubles(log: StagedLog) -> None:
    """A dead broker, a leaderless partition, a stuck reassignment, a lagging controller and a ghost."""
    log.feature("metadata.version", 30)
    log.voters(3000, 3001, 3002)
    log.controllers(3000, 3001, 3002, levels=(7, 33))
    log.controllers(3009)
    log.brokers(1, 2, 3, 4, levels=(7, 33))
    log.topic("orders", *[partition([1, 2, 4]) for _ in range(6)])
    log.topic("payments", *[partition([2, 3, 1]) for _ in range(4)])
    log.topic("solo", partition([3]))
    log.config("min.insync.replicas", "3", topic="payments")
    begun = change(
        "orders",
        0,
        replicas=[3, 1, 2, 4],
        adding_replicas=[3],
        removing_replicas=[4],
        directories=[directory(each) for each in (3, 1, 2, 4)],
    )
    log.write(begun)
    log.fence(
        3,
        change("solo", 0, leader=-1, isr=[], eligible_leader_replicas=[3]),
        *[change("payments", index, isr=[2, 1]) for index in range(4)],
    )
    log.leader_id = 3000
    log.fetched(3000, 0, voter=True, end=log.offset + 1)
    log.fetched(3001, 200, voter=True, end=log.offset + 1, behind_ms=300)
    log.fetched(3002, 400, voter=True, end=log.offset - 9, behind_ms=41_000)
    for broker_id in (1, 2, 4):
        log.fetched(broker_id, 200, end=log.offset + 1)
    log.fetched(3, 93_000, end=log.offset - 5, behind_ms=93_000)
    log.log.end_offset = log.offset + 1


def statuses() -> tuple[NodeStatus, ...]:
    """What two of the three controllers serve; the certificate of one expires soon."""
    now_ms = Clock().wall_ms()
    first = NodeStatus(
        "http://controller-1.example:9099",
        node_id=3000,
        version="0.1.0",
        is_active=True,
        free_bytes=41_300_000_000,
        flush_p99_ms=5.0,
        certificates=(CertificateDate("CONTROLLER", now_ms + 200 * DAY_MS),),
    )
    expiring = (CertificateDate("CONTROLLER", now_ms + 9 * DAY_MS),)
    return first, replace(
        first, url="http://controller-2.example:9099", node_id=3001, is_active=False, certificates=expiring
    )


class Console:
    """A running console, stopped at the end of the `with` block."""

    def __init__(
        self, path: Path, reading: Callable[[], QuorumReading] | QuorumReading, token: bytes = b""
    ) -> None:
        ask = reading if callable(reading) else lambda: reading
        drawing = PageDrawing()
        self.live = LiveLog(DirectoryReader(path, assume_committed=True))
        self.painter = Painter(self.live, ask, drawing.parts, Clock())
        self.port = free_port()
        self._server = ConsoleServer(
            self.live,
            self.painter,
            drawing,
            address=ListenAddress("http", "127.0.0.1", self.port),
            token=token,
            certificate=None,
            key=None,
        )
        self._thread = threading.Thread(target=self._server.run)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.stop()
        self._thread.join(SECONDS_MAX)

    def __enter__(self) -> Console:
        self.start()
        await_result(lambda: b'id="troubles"' in self.painter.painting.parts, "the log is read", SECONDS_MAX)
        await_result(lambda: self.get("/console.css")[0] == 200, "the console listens", SECONDS_MAX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def await_new_picture(self) -> None:
        """Waits for a picture that was begun after this call."""
        number = self.painter.painting.number
        await_result(lambda: self.painter.painting.number > number + 1, "another picture", SECONDS_MAX)

    def get(
        self,
        path: str,
        headers: dict[str, str] | None = None,
        method: str = "GET",
        content: str | None = None,
    ) -> tuple[int, dict[str, str], str]:
        """The status, the headers and the body; status 0 where nothing answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10.0)
        try:
            connection.request(method, path, content, headers or {})
            response = connection.getresponse()
            body = response.read().decode()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, body
        except OSError:
            return 0, {}, ""
        finally:
            connection.close()
