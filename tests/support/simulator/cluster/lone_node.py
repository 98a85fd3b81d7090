"""A simulated controller that is the only voter, on a disk that takes no time.

Only a flush ends when the test says so, and time stands still unless the test lets it pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.metadata import features
from kraftctl.node.events import NodeEffect, NodeEvent
from kraftctl.raft.raft_node import RaftNode
from kraftctl.server.controller_server import open_partition
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from kraftctl_protocol.record_batch import RecordBatch, encode_batch
from tests.support.active_controller import NODE_ID
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.clocks import WALL_START_MS
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.disks.disks import instant_disk

M = TypeVar("M", bound=Message)


class NoChecks(Checks):
    """For a log that no controller of this release wrote."""

    def __init__(self, config: ControllerConfig) -> None:
        super().__init__(config)
        self.stepped = self._stepped
        self.before = self._before

    def started(self, process: ProcessView) -> None: ...

    def ended(self, process: ProcessView) -> None: ...

    def _stepped(self, process: ProcessView, event: NodeEvent) -> None: ...

    def _before(self, process: ProcessView, effect: NodeEffect) -> None: ...


class LoneNode:
    """A ControllerProcess with a client: `answers` and `closed` are those of DirectClient.

    Requests may fail, and `notices` has all its log lines. By default no snapshot is due. The names of
    `properties` have `_` for `.`.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        snapshot_bytes: int = 1 << 30,
        metadata_version: int = features.DEFAULT_METADATA_VERSION,
        checked: bool = True,
        **properties: str,
    ) -> None:
        own = {
            "metadata.log.max.record.bytes.between.snapshots": str(snapshot_bytes),
            "metadata.log.max.snapshot.interval.ms": "0",
        }
        self.cluster = Cluster(
            seed,
            [NODE_ID],
            dynamic=False,
            properties=own | {name.replace("_", "."): value for name, value in properties.items()},
            metadata_version=metadata_version,
            checks=Checks if checked else NoChecks,
        )
        if checked:
            self.cluster.checks.responses.handlers_may_fail = True
        self.process = self.cluster.processes[NODE_ID]
        self.process.contains_failures = self.process.notices_debug = True
        self.process.set_speed(instant_disk)
        self.process.hold_flushes()
        self.client = DirectClient(self.process)
        self.answers = self.client.answers
        self.closed = self.client.closed
        self._attached = 0
        with self.attached():
            self.cluster.format(NODE_ID)
        self.start()

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Its files can be used."""
        self._attached += 1
        try:
            if self._attached == 1:
                with self.cluster.files.attach():
                    yield
            else:
                yield
        finally:
            self._attached -= 1

    # Its life.

    def start(self) -> None:
        """A new process has read its disk, and has written its vote."""
        with self.attached():
            self.process.start()
            self.run_for(0)

    def lose_power(self) -> None:
        """All, some or nothing of what was not flushed survives; what was asked gets no response."""
        with self.attached():
            self.process.lose_power()

    def restart(self) -> None:
        """After a power failure."""
        self.lose_power()
        self.start()

    @contextmanager
    def storage(self) -> Iterator[MetadataPartition]:
        """The files of a process that is down, to change them; then they are forced."""
        with self.attached():
            meta = read_meta_properties(self.process.disk.root)
            assert meta is not None
            partition = open_partition(self.config, meta, self.process.clock.now_ms)
            yield partition
            partition.close()

    def restart_after(self, value: bytes) -> None:
        """Restart it after another controller has committed a record with this value."""
        self.settle()
        epoch, end_offset = self.raft.epoch, self.raft.end_offset
        self.lose_power()
        with self.storage() as partition:
            partition.log.append(encode_batch(end_offset, epoch, WALL_START_MS, [value]))
        self.start()

    # Time, and the disk.

    @property
    def now_ms(self) -> int:
        """Of its monotonic clock."""
        return self.process.clock.now_ms()

    def run_for(self, duration_ms: int) -> None:
        """Time passes; a flush that has begun does not end. With 0: what needs no time happens."""
        with self.attached():
            self.cluster.run_for(duration_ms)

    def flush(self) -> bool:
        """End the running flush; False when there is none."""
        with self.attached():
            return self.process.end_flush()

    def settle(self) -> None:
        """Flush and read until nothing is left to do."""
        with self.attached():
            self.run_for(0)
            while self.flush():
                self.run_for(0)

    def pass_time(self, duration_ms: int) -> None:
        """Time passes, and flushes take none."""
        with self.attached():
            self.settle()
            self.process.release_flushes()
            self.run_for(duration_ms)
            self.process.hold_flushes()

    def stand_still(self, duration_ms: int) -> None:
        """The process is frozen meanwhile."""
        with self.attached():
            self.process.freeze()
            self.run_for(duration_ms)
            self.process.resume()

    # What it is asked.

    def send(
        self, request: Message, version: int | None = None, principal: KafkaPrincipal = ANONYMOUS
    ) -> int:
        """The id under which the response will appear."""
        with self.attached():
            return self.client.send(request, version, principal)

    def cancel(self, request_id: int) -> None:
        """Close the connection of this request."""
        with self.attached():
            self.client.cancel(request_id)

    def ask(self, request: Message, response_type: type[M], version: int | None = None) -> M:
        """Send, settle, and return the response."""
        request_id = self.send(request, version)
        self.settle()
        response = self.answers[request_id]
        assert isinstance(response, response_type)
        return response

    def write(self, record: Message) -> None:
        """A record that the active controller decides on by itself."""
        with self.attached():
            self.process.write(record)

    def offer(self, event: NodeEvent) -> None:
        with self.attached():
            self.process.loop.offer(event)

    # What it has.

    @property
    def raft(self) -> RaftNode:
        return self.process.raft

    @property
    def controller(self) -> QuorumController:
        return self.process.controller

    @property
    def config(self) -> ControllerConfig:
        return self.process.config

    @property
    def notices(self) -> list[str]:
        return self.process.notices

    def log(self) -> bytes:
        """Its whole log, with what is not flushed yet."""
        with self.attached():
            return read_log(self.process.partition.log)

    def snapshot_ids(self) -> list[OffsetAndEpoch]:
        """Of the snapshots on its disk, sorted."""
        return sorted(self.process.partition.snapshots.ids())

    def snapshot(self, snapshot_id: OffsetAndEpoch) -> list[RecordBatch]:
        """Its content."""
        with self.attached():
            return list(self.process.partition.snapshots.reader(snapshot_id).batches())
