"""What `kraftctl console` costs with many partitions: replay, picture, search, and a request beside them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "protocol"), str(ROOT / "spark")]

from kraftctl.metadata.broker_registration_change import FENCE, UNFENCE  # noqa: E402
from kraftctl_protocol.control_record import encode_control_record  # noqa: E402
from kraftctl_protocol.generated.broker_registration_change_record import (  # noqa: E402
    BrokerRegistrationChangeRecord,
)
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord  # noqa: E402
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord  # noqa: E402
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord  # noqa: E402
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord  # noqa: E402
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord  # noqa: E402
from kraftctl_protocol.message import Message  # noqa: E402
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record  # noqa: E402
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch  # noqa: E402
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch  # noqa: E402
from tests.bench.processes import resident_bytes  # noqa: E402
from tests.spark.log_directory import LogDirectory  # noqa: E402
from tests.support.console_stage import Console, QuorumReading  # noqa: E402
from tests.support.large_directory import log_directory_of, topic_values  # noqa: E402

BATCH_RECORDS = 5_000
SECONDS_MAX = 900.0


def encoded(*records: Message) -> list[bytes]:
    return [encode_metadata_record(each, each.HIGHEST_VERSION) for each in records]


def change(broker_id: int, fenced: int) -> Message:
    return BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker_id, fenced=fenced)


def cluster_values(brokers: int) -> list[bytes]:
    """The records of brokers that are unfenced."""
    values = encoded(FeatureLevelRecord(name="metadata.version", feature_level=30))
    for broker_id in range(1, brokers + 1):
        registered = RegisterBrokerRecord(
            broker_id=broker_id,
            broker_epoch=broker_id,
            incarnation_id=broker_id.to_bytes(16, "big"),
            fenced=True,
            log_dirs=[log_directory_of(broker_id)],
        )
        values += encoded(registered, change(broker_id, UNFENCE))
    return values


def losses(args: argparse.Namespace) -> Iterator[bytes]:
    """Broker 1 is fenced, and leaves all ISRs of which it is a member."""
    yield from encoded(change(1, FENCE))
    for number in range(args.topics):
        for value in topic_values(number, args.partitions // args.topics, args.brokers, 3)[1:]:
            record = decode_metadata_record(value).record
            if 1 in record.replicas:
                isr = [each for each in record.isr if each != 1]
                yield from encoded(
                    PartitionChangeRecord(
                        partition_id=record.partition_id, topic_id=record.topic_id, isr=isr, leader=isr[0]
                    )
                )


class Writer:
    """Appends batches."""

    def __init__(self, directory: LogDirectory) -> None:
        self._directory = directory

    def write(self, values: Iterator[bytes] | list[bytes]) -> int:
        held: list[bytes] = []
        count = 0
        for value in values:
            held.append(value)
            count += 1
            if len(held) == BATCH_RECORDS:
                self._append(held)
                held = []
        if held:
            self._append(held)
        self._directory.log.flush()
        return count

    def _append(self, values: list[bytes]) -> None:
        log = self._directory.log
        log.append(encode_batch(log.end_offset, 1, int(time.time() * 1000), values))


class Latency:
    """Asks for the picture again and again, and keeps the longest time."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stop = threading.Event()
        self.longest_ms = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            began = time.monotonic()
            if self._console.get("/picture.json")[0] == 200:
                self.longest_ms = max(self.longest_ms, (time.monotonic() - began) * 1000)

    def end(self) -> float:
        self._stop.set()
        self._thread.join()
        return self.longest_ms


def await_true(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not look():
        assert time.monotonic() < deadline
        threading.Event().wait(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=2_000_000)
    parser.add_argument("--topics", type=int, default=20_000)
    parser.add_argument("--brokers", type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        directory = LogDirectory(Path(scratch) / "data", segment_bytes=1 << 30)
        each = args.partitions // args.topics
        topics = (value for n in range(args.topics) for value in topic_values(n, each, args.brokers, 3))
        count = write_snapshot(directory, chain(cluster_values(args.brokers), topics))
        print(f"a snapshot of {count:,} records is written", flush=True)
        measure(args, directory, Writer(directory), Path(scratch) / "data")
        directory.close()


def write_snapshot(directory: LogDirectory, values: Iterator[bytes]) -> int:
    """Writes a snapshot up to the offset that it has records, behind which the log continues."""
    batches: list[bytes] = []
    count = 0
    header = SnapshotHeaderRecord(last_contained_log_timestamp=int(time.time() * 1000))
    batches.append(encode_control_batch(0, 1, 1000, [encode_control_record(header)]))
    while held := list(islice(values, BATCH_RECORDS)):
        batches.append(encode_batch(1 + count, 1, 1000, held))
        count += len(held)
    footer = encode_control_record(SnapshotFooterRecord())
    batches.append(encode_control_batch(1 + count, 1, 1000, [footer]))
    at = OffsetAndEpoch(count, 1)
    directory.snapshots.write(at, batches)
    directory.start_at(at.offset, at.epoch)
    return count


def measure(args: argparse.Namespace, directory: LogDirectory, writer: Writer, path: Path) -> None:
    console = Console(path, QuorumReading())
    before_bytes = resident_bytes(os.getpid())
    began, used = time.monotonic(), time.process_time()
    console.start()
    latency = Latency(console)
    await_true(lambda: console.live.log is not None)
    seconds, used_seconds = time.monotonic() - began, time.process_time() - used
    print(f"replay: {seconds:.1f} s, {used_seconds:.1f} s of a processor", flush=True)
    print(f"memory: {(resident_bytes(os.getpid()) - before_bytes) / 1e6:.0f} MB")
    console.await_new_picture()
    print(f"picture, nothing wrong: {console.painter.painting.took_ms} ms")
    print(f"longest request meanwhile: {latency.end():.0f} ms", flush=True)
    latency = Latency(console)
    began = time.monotonic()
    changes = writer.write(losses(args))
    print(f"{changes:,} changes are written in {time.monotonic() - began:.1f} s", flush=True)
    await_true(
        lambda: console.live.log is not None and console.live.log.end_offset >= directory.log.end_offset
    )
    console.await_new_picture()
    print(f"picture, a broker is lost: {console.painter.painting.took_ms} ms")
    print(f"longest request meanwhile: {latency.end():.0f} ms")
    for path_asked in ("/search?q=topic-1", "/search?q=nothing", "/broker/1", "/topic/topic-7", "/"):
        began = time.monotonic()
        status, _, body = console.get(path_asked)
        print(f"{path_asked}: {status}, {len(body):,} bytes in {(time.monotonic() - began) * 1000:.0f} ms")
    print(f"memory: {(resident_bytes(os.getpid()) - before_bytes) / 1e6:.0f} MB")
    console.stop()


if __name__ == "__main__":
    main()
