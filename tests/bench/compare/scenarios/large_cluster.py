"""A hundred thousand partitions, in the log or in a snapshot: memory, downloads, and the start."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from kraftctl.dev.polling import await_result
from kraftctl_protocol.generated.create_topics_request import CreatableTopic
from kraftctl_protocol.log_file_names import CHECKPOINT_SUFFIX, LOG_SUFFIX
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.bench.compare.downloads import ReadingASnapshot, ReadingTheLog
from tests.bench.compare.figures import Figures
from tests.bench.compare.prepared_brokers import client, create, unfenced_brokers
from tests.bench.compare.quorum_state import QuorumState, quorum_state
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, ROUNDS_MAX, Load, Measure, Scenario
from tests.bench.compare.scripts import Script
from tests.bench.compare.subjects import JAVA_LINGER_0, KRAFTCTL
from tests.support.wire.controller_client import ControllerClient, StandInBroker

BROKERS: Final = 20
PARTITIONS_PER_TOPIC: Final = 100
REPLICATION_FACTOR: Final = 3
FIRST_OBSERVER_ID: Final = 1_000
SETTLED_S: Final = 2.0
POLL_S: Final = 0.02
START_SECONDS_MAX: Final = 300.0
PREPARE_SECONDS_MAX: Final = 600.0
"""What has not created its partitions by then is not measured."""
SETTINGS: Final = {
    **LONG_SESSION,
    # The log stays as it is while it is read.
    "metadata.max.idle.interval.ms": "0",
}
SNAPSHOT_BYTES: Final = "metadata.log.max.record.bytes.between.snapshots"
NO_SNAPSHOT: Final = str(10**12)


@dataclass
class State:
    """What was created, and what it takes."""

    running: Running
    quorum: QuorumState
    partitions: int
    empty_bytes: int
    full_bytes: int


def prepare(running: Running, brokers: int = BROKERS, partitions: int = 0) -> State:
    with client(running.port) as connection:
        unfenced_brokers(connection, running.controller.cluster_id, brokers)
        Event().wait(SETTLED_S)
        empty_bytes = running.resident_bytes()
        topics = [
            CreatableTopic(
                name=f"topic-{number:05}",
                num_partitions=PARTITIONS_PER_TOPIC,
                replication_factor=REPLICATION_FACTOR,
            )
            for number in range(partitions // PARTITIONS_PER_TOPIC)
        ]
        if topics:
            create(connection, topics, PREPARE_SECONDS_MAX)
        Event().wait(SETTLED_S)
        return State(running, quorum_state(connection), partitions, empty_bytes, running.resident_bytes())


@contextmanager
def memory(state: State) -> Iterator[Measure]:
    """That of the process as it is, whatever of it is garbage."""
    grown_bytes = state.full_bytes - state.empty_bytes
    figures: Figures = {
        "resident_mib": state.full_bytes / 2**20,
        "bytes_per_partition": grown_bytes / state.partitions,
    }
    yield lambda _: figures


@contextmanager
def replication(state: State, observers: int) -> Iterator[Measure]:
    segments = sorted(state.running.controller.metadata_directory.glob(f"*{LOG_SUFFIX}"))
    assert len(segments) == 1, segments
    reading = partial(ReadingTheLog, file=segments[0], end_offset=state.quorum.high_watermark)
    yield from _downloads(state, [reading(*_identity(state, number)) for number in range(observers)])


@contextmanager
def fetch_snapshot(state: State, observers: int) -> Iterator[Measure]:
    newest = await_result(
        lambda: newest_snapshot(state.running.controller.metadata_directory), "a snapshot", START_SECONDS_MAX
    )
    end_offset, epoch = newest.name.removesuffix(CHECKPOINT_SUFFIX).split("-")
    reading = partial(ReadingASnapshot, file=newest, snapshot_id=OffsetAndEpoch(int(end_offset), int(epoch)))
    yield from _downloads(state, [reading(*_identity(state, number)) for number in range(observers)])


def newest_snapshot(directory: Path) -> Path | None:
    """None while there is only that of an empty cluster, which formatting has written."""
    found = max(directory.glob(f"*{CHECKPOINT_SUFFIX}"), default=None)
    return None if found is None or int(found.name.split("-")[0]) == 0 else found


def _identity(state: State, number: int) -> tuple[str, int, int]:
    return state.running.controller.cluster_id, FIRST_OBSERVER_ID + number, state.quorum.epoch


def _downloads(state: State, scripts: list[Script]) -> Iterator[Measure]:
    with state.running.load(scripts) as load:

        def measure(seconds: float) -> Figures:
            before_s = state.running.processor_s()
            window = load.run(seconds)
            used_s = state.running.processor_s() - before_s
            megabytes = window.received_bytes / 1e6
            return {
                "mb_per_s": megabytes / window.seconds,
                "processor_ms_per_mb": 1e3 * used_s / megabytes,
                "cores": used_s / window.seconds,
            }

        yield measure


@contextmanager
def starts(state: State) -> Iterator[Measure]:
    """After SIGTERM, until a broker has registered. Each window is one start; there is nothing to warm up."""
    warm_up = iter([True])
    yield lambda _: {} if next(warm_up, False) else _start(state.running)


def _start(running: Running) -> Figures:
    running.controller.stop()
    began_s = time.monotonic()
    running.controller.start(wait=False)
    await_result(lambda: _is_registered(running), "a broker is registered", START_SECONDS_MAX, POLL_S)
    return {"start_s": time.monotonic() - began_s, "start_processor_s": running.processor_s()}


def _is_registered(running: Running) -> bool:
    """Registers a broker; False when the controller is not active yet."""
    try:
        with ControllerClient(running.port, timeout_s=START_SECONDS_MAX) as connection:
            return StandInBroker(connection, 1, running.controller.cluster_id).register()
    except OSError:
        return False


def load_memory() -> Load:
    return Load("memory", memory, rounds_max=1)


def load_replication(observers: int) -> Load:
    return Load(f"the log to {_observers(observers)}", partial(replication, observers=observers))


def load_snapshot(observers: int) -> Load:
    return Load(f"FetchSnapshot to {_observers(observers)}", partial(fetch_snapshot, observers=observers))


def load_start(rounds_max: int = ROUNDS_MAX) -> Load:
    return Load("start", starts, rounds_max)


def _observers(count: int) -> str:
    return "1 observer" if count == 1 else f"{count} observers"


def scenario(
    name: str, title: str, loads: tuple[Load, ...], settings: Mapping[str, str], partitions: int
) -> Scenario:
    return Scenario(name, title, partial(prepare, partitions=partitions), loads, {**SETTINGS, **settings})


EMPTY: Final = scenario("empty", "No topics", (load_start(),), {}, 0)
LOG: Final = scenario(
    "log",
    "100,000 partitions, all of them in the log",
    (load_memory(), load_replication(1), load_replication(10), load_start()),
    {},
    100_000,
)
SNAPSHOT: Final = scenario(
    "snapshot",
    "100,000 partitions, most of them in a snapshot",
    (load_snapshot(1), load_snapshot(10), load_start()),
    {SNAPSHOT_BYTES: "5000000"},
    100_000,
)


def large(name: str, partitions: int, where: str, snapshot_bytes: str, heap: str) -> Scenario:
    """Java's controllers differ in neither memory nor start: one of them, so that it fits beside kraftctl."""
    return dataclasses.replace(
        scenario(
            name,
            f"{partitions:,} partitions, {where}; the JVM has {heap} of heap",
            (load_memory(), load_start(rounds_max=2)),
            {SNAPSHOT_BYTES: snapshot_bytes},
            partitions,
        ),
        subjects=(JAVA_LINGER_0, KRAFTCTL),
        heap=heap,
    )


IN_LOG: Final = "all of them in the log"
LARGE: Final = (
    large("log-1m", 1_000_000, IN_LOG, NO_SNAPSHOT, "6g"),
    large("snapshot-1m", 1_000_000, "most of them in a snapshot", "50000000", "6g"),
    large("log-2m", 2_000_000, IN_LOG, NO_SNAPSHOT, "12g"),
)
"""Of `make bench-full`."""
