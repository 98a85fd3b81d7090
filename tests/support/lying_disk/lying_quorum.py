"""Controllers on lying disks, with a busy client: all are killed, and what was not forced is lost."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from tests.support.file_states import Aftermath
from tests.support.lying_disk.lying_disk import LyingDisk
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to

RECOVERY_SECONDS_MAX = 60.0

CALL_SECONDS_MAX = 15.0
"""A client's timeout: on a disk that takes seconds, a commit waits for up to four flushes."""

BROKER_SESSION_MS = "600000"
"""The brokers of the clients register once and send no heartbeats."""


class LyingQuorum(Quorum):
    """A Quorum each of whose `nodes` has one of `disks`, by node id."""

    def __init__(
        self,
        shim: Path,
        directory: Path,
        *,
        size: int = 3,
        dynamic: bool,
        settings: Mapping[str, str] | None = None,
        planted: str = "",
    ) -> None:
        """`planted` are lines of Python that run before kraftctl, to change it."""
        settings = {"broker.session.timeout.ms": BROKER_SESSION_MS, **(settings or {})}
        super().__init__(directory, size=size, dynamic=dynamic, settings=settings)
        self.disks: dict[int, LyingDisk] = {}
        self.deletes_votes = False
        """Whether quorum-state is deleted before each start, as a supervisor may do."""
        self._shim = shim
        if planted:
            start = f"import sys\n{planted}\nfrom kraftctl.cli import main\nsys.exit(main())"
            for node in self.nodes:
                command = [sys.executable, "-c", start, "start", str(node.properties_file)]
                setattr(node, "command", partial(list, command))  # noqa: B010 - an instance with another command

    def __enter__(self) -> LyingQuorum:
        for node in self.nodes:
            node.format()
            disk = LyingDisk(self._shim, node.log_directory)
            node.environment = disk.environment
            self.disks[node.node_id] = disk
        self.start_all()
        return self

    def disk(self, node: KraftctlController) -> LyingDisk:
        return self.disks[node.node_id]

    def start_all(self) -> None:
        for node in self.nodes:
            if self.deletes_votes:
                (node.metadata_directory / QUORUM_STATE).unlink(missing_ok=True)
            node.start(wait=False)
        for node in self.nodes:
            node.await_ready()

    def kill_all(self) -> None:
        """As close to simultaneous as kill -9 allows."""
        for node in self.nodes:
            if node.process is not None:
                node.process.kill_group()
        for node in self.nodes:
            node.kill()

    def fail_power(self, aftermaths: Sequence[Aftermath], rng: random.Random) -> None:
        """A power failure of all nodes, each with its own aftermath; then all are restarted."""
        self.kill_all()
        for node, aftermath in zip(self.nodes, aftermaths, strict=True):
            self.disk(node).fail_power(aftermath, rng)
        self.start_all()

    def await_topics(self, names: set[str], timeout_s: float = RECOVERY_SECONDS_MAX) -> None:
        """Waits until every node has the topics in its log or snapshot."""
        for node in self.nodes:

            def knows(node: KraftctlController = node) -> bool:
                return names <= topics_known_to(node)

            try:
                await_result(knows, f"{node.name} knows all topics", timeout_s)
            except TimeoutError as error:
                missing = sorted(names - topics_known_to(node))
                raise AssertionError(f"{node.name} has lost {missing}") from error

    def forced_counts(self, acknowledged: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """How many disks had forced each topic when it was acknowledged. Call it once, while no node runs,
        for what was acknowledged since the last power failure."""
        counts = []
        for name, time_ns in acknowledged:
            for disk in self.disks.values():
                disk.play(time_ns)
            counts.append((name, sum(_has_forced(disk, name) for disk in self.disks.values())))
        return counts


def _has_forced(disk: LyingDisk, name: str) -> bool:
    """Whether a forced file contains the name, as records encode strings: after its length + 1."""
    encoded = bytes([len(name) + 1]) + name.encode()
    tree = disk.model.surviving(Aftermath.STRICT, random.Random(0))
    files = {path: data for path, data in tree.items() if data and path.startswith(PARTITION_DIRECTORY)}
    return any(encoded in data for path, data in files.items() if path.endswith((".log", ".checkpoint")))


class Acknowledged:
    """Clients that create one topic after the other until the end, through all failures of controllers.

    `times` maps each topic to the time.monotonic_ns() of its acknowledgement.
    """

    def __init__(self, quorum: Quorum, clients_count: int = 1) -> None:
        self.times: list[tuple[str, int]] = []
        self._quorum = quorum
        self._changed = threading.Condition()
        self._closing = False
        self._error: Exception | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"client {number}", daemon=True)
            for number in range(1, clients_count + 1)
        ]

    def __enter__(self) -> Acknowledged:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Each client ends after the topic that it is creating."""
        self._closing = True
        for thread in self._threads:
            thread.join(RECOVERY_SECONDS_MAX)

    @property
    def names(self) -> set[str]:
        with self._changed:
            return {name for name, _ in self.times}

    def await_more(self, count: int) -> None:
        """Waits until `count` more are acknowledged."""
        with self._changed:
            goal = len(self.times) + count
            done = self._changed.wait_for(
                lambda: len(self.times) >= goal or self._error is not None, RECOVERY_SECONDS_MAX
            )
            assert self._error is None, f"a client ended: {self._error!r}"
            assert done, f"{len(self.times)} topics, and not {count} more in time"

    def _run(self, number: int) -> None:
        prefix = f"client-{number}-topic-"
        creator = TopicCreator(
            self._quorum, prefix=prefix, broker_id=number, call_seconds_max=CALL_SECONDS_MAX
        )
        try:
            while not self._closing:
                before = set(creator.acknowledged)
                creator.create(1)
                now_ns = time.monotonic_ns()
                with self._changed:
                    self.times += [(name, now_ns) for name in creator.acknowledged - before]
                    self._changed.notify_all()
        except (AssertionError, OSError) as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()
        finally:
            creator.close()
