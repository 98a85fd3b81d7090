"""Controllers that answer anything: the exporter's reader ends in time, asks rarely, says what it was sent.

`KINDS` has what one controller does alone. With an honest one beside it, the reader continues.
"""

from __future__ import annotations

import itertools
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from kraftctl_observer.believed_epoch import BelievedEpoch
from kraftctl_observer.log_reader import LogChangedError, ObserverError
from kraftctl_observer.observer import QuorumObserver, QuorumUnavailableError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import fetch_snapshot_response
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.peer_limits import BATCH_BYTES_MAX, SNAPSHOT_BYTES_MAX
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.requests import ParsedRequest
from kraftctl_security.blocking_connection import endpoint_text
from kraftctl_spark.datasource.batch_source import plan_batch
from kraftctl_spark.log.log_range import OFFSETS_PER_RANGE, cut_into_ranges
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.support.wire.hostile_node import HostileNode, Reply, framed

TIMEOUT_S = 0.5
LATE_S = 3.0
"""Nothing takes longer than its time-out, but for what a busy machine takes."""
REQUESTS_MAX = 40
"""In that time, with some attempts that follow immediately."""
MEMORY_BYTES_MAX = 24 * 1024 * 1024
"""Two responses of the largest size."""
EPOCH = 3
LAST_EPOCH = (1 << 31) - 1
SNAPSHOT = OffsetAndEpoch(100, EPOCH)

NINTH = LeaderIdAndEpoch(1, 9)

Hostile = Callable[[ParsedRequest], Reply]


def answered(request: ParsedRequest, **fields: object) -> FetchResponse:
    """As the leader of EPOCH answers, without records; `fields` are of the partition."""
    assert isinstance(request.body, FetchRequest)
    partition = PartitionData(
        high_watermark=100,
        current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=EPOCH),
        records=b"",
    )
    if request.body.topics[0].partitions[0].current_leader_epoch != EPOCH:
        partition.error_code = int(Errors.FENCED_LEADER_EPOCH)
    for name, value in fields.items():
        setattr(partition, name, value)
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchResponse(responses=[topic])


def says(**fields: object) -> Hostile:
    """Every response to Fetch has these values."""
    return lambda request: answered(request, **fields)


def sends(base_offset: int, *, epoch: int = EPOCH, count: int = 3, damage: int = 0) -> Hostile:
    """Every response has the same batch; `damage` is added to the byte in the middle."""
    data = bytearray(encode_batch(base_offset, epoch, 1000, [b"x"] * count))
    data[len(data) // 2] = (data[len(data) // 2] + damage) % 256
    return says(records=bytes(data))


def of_size(size_bytes: int) -> Hostile:
    """A response that begins with this size, and continues as long as it is read."""

    def reply(request: ParsedRequest) -> Iterator[bytes]:
        yield size_bytes.to_bytes(4, "big", signed=True)
        for _ in range(max(0, size_bytes) >> 16):
            yield bytes(1 << 16)

    return reply


def in_drops(request: ParsedRequest) -> Iterator[bytes]:
    for byte in framed(request, answered(request)):
        yield bytes([byte])
        threading.Event().wait(0.1)


def twice(request: ParsedRequest) -> bytes:
    return 2 * framed(request, answered(request))


def with_more_behind(request: ParsedRequest) -> bytes:
    return framed(request, answered(request)) + b"\0\0"


def to_another_request(request: ParsedRequest) -> bytes:
    return framed(request, answered(request), late=1)


def of_another_kind(request: ParsedRequest) -> bytes:
    return framed(request, answered(request), added=bytes(8))


def of_many_topics(request: ParsedRequest) -> bytes:
    """An array of 2^31 - 1 elements, none of which is there."""
    correlation_id = request.header.correlation_id.to_bytes(4, "big")
    body = correlation_id + b"\0" + bytes(4) + bytes(2) + bytes(4) + b"\xff\xff\xff\xff\x07"
    return len(body).to_bytes(4, "big") + body


def raises_the_epoch() -> Hostile:
    epochs = itertools.count(EPOCH)

    def reply(request: ParsedRequest) -> FetchResponse:
        leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=next(epochs))
        return answered(request, error_code=int(Errors.FENCED_LEADER_EPOCH), current_leader=leader)

    return reply


def names(epoch: int, error: Errors = Errors.FENCED_LEADER_EPOCH, leader_id: int = 1) -> Hostile:
    leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch)
    return says(error_code=int(error), current_leader=leader)


def sends_to(host: str, port: int) -> Hostile:
    """Another leads, it says, and listens there."""

    def reply(request: ParsedRequest) -> FetchResponse:
        leader = LeaderIdAndEpoch(leader_id=7, leader_epoch=EPOCH)
        response = answered(request, error_code=int(Errors.NOT_LEADER_OR_FOLLOWER), current_leader=leader)
        response.node_endpoints = [NodeEndpoint(node_id=7, host=host, port=port)]
        return response

    return reply


def sends_elsewhere_each_time() -> Hostile:
    ports = itertools.count(1)

    def reply(request: ParsedRequest) -> FetchResponse:
        response = sends_to("127.0.0.1", next(ports))(request)
        assert isinstance(response, FetchResponse)
        return response

    return reply


def throttles(throttle_time_ms: int) -> Hostile:
    def reply(request: ParsedRequest) -> FetchResponse:
        response = answered(request)
        response.throttle_time_ms = throttle_time_ms
        return response

    return reply


def without_partitions(request: ParsedRequest) -> FetchResponse:
    return FetchResponse()


def of_another_topic(request: ParsedRequest) -> FetchResponse:
    response = answered(request)
    response.responses[0].topic_id = bytes(15) + b"\7"
    return response


def sliced(**fields: object) -> Hostile:
    """Every response to FetchSnapshot is a slice of a megabyte, but for these values."""

    def reply(request: ParsedRequest) -> Reply:
        if not isinstance(request.body, FetchSnapshotRequest):
            return answered(request)
        position = request.body.topics[0].partitions[0].position
        partition = fetch_snapshot_response.PartitionSnapshot(
            snapshot_id=fetch_snapshot_response.SnapshotId(end_offset=100, epoch=EPOCH),
            size=1 << 20,
            position=position,
            unaligned_records=bytes(1000),
        )
        for name, value in fields.items():
            setattr(partition, name, value(position) if callable(value) else value)
        topic = fetch_snapshot_response.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
        return FetchSnapshotResponse(topics=[topic])

    return reply


def has_cluster_id(text: str) -> Hostile:
    def reply(request: ParsedRequest) -> DescribeClusterResponse:
        assert isinstance(request.body, DescribeClusterRequest)
        return DescribeClusterResponse(cluster_id=text, endpoint_type=2)

    return reply


def read(observer: QuorumObserver) -> None:
    list(observer.read(10, EPOCH, 20))


def where(observer: QuorumObserver) -> None:
    observer.position(10, 0)


def plan(observer: QuorumObserver) -> None:
    plan_batch(observer, None, None)


def download(observer: QuorumObserver) -> None:
    where_now = observer.position(10, EPOCH)
    assert where_now.high_watermark == 100
    list(observer.read_snapshot(SNAPSHOT))


def identify(observer: QuorumObserver) -> None:
    observer.cluster_id()


Question = Callable[[QuorumObserver], None]

KINDS: list[tuple[str, Question, Hostile, str]] = [
    # Sizes.
    ("a-response-of-31-MB", read, of_size(31_000_000), "more than the 9699328 that are allowed"),
    ("a-response-of-2-GB", read, of_size((1 << 31) - 1), "more than the 9699328 that are allowed"),
    ("a-size-below-zero", read, of_size(-1), "frame of negative size -1"),
    ("a-response-in-drops", read, in_drops, "FetchRequest was not answered within"),
    ("two-responses", read, twice, "more than one response to one request"),
    ("a-response-and-more", read, with_more_behind, "more than one response to one request"),
    ("a-response-to-another-request", read, to_another_request, "to request 2"),
    ("bytes-behind-the-fields", read, of_another_kind, ""),
    ("an-array-without-end", read, of_many_topics, ""),
    # Records.
    (
        "the-same-old-batch",
        read,
        sends(0),
        "asked for offset 10, it sent offsets 0 to 2, committed up to 100",
    ),
    ("nothing-at-once", read, says(), "asked for offset 10, it sent nothing, committed up to 100"),
    ("nothing-is-committed", read, says(high_watermark=-1), "committed up to -1"),
    ("what-is-not-committed", read, sends(10, count=91), "it sent offsets 10 to 100, committed up to 100"),
    ("a-damaged-batch", read, sends(10, damage=1), "checksum"),
    ("bytes-that-are-no-batch", read, says(records=b"\xff" * 100), "batch of format version 255"),
    ("a-batch-of-a-later-epoch", read, sends(10, epoch=LAST_EPOCH), "is of epoch 2147483647"),
    ("a-batch-of-no-epoch", read, sends(10, epoch=-1), "is of epoch -1"),
    ("a-batch-that-is-too-late", read, sends(15), "continues at 15"),
    ("a-batch-of-the-last-offset", read, sends((1 << 63) - 4), "committed up to 100"),
    ("all-offsets-are-committed", plan, says(high_watermark=(1 << 63) - 1), "more than one batch may have"),
    ("another-topic", read, of_another_topic, "not answered with the metadata log alone"),
    ("no-partition", read, without_partitions, "not answered with the metadata log alone"),
    ("a-log-of-later-epochs", where, says(diverging_epoch=EpochEndOffset(4, LAST_EPOCH)), "has later ones"),
    ("a-snapshot-of-a-later-epoch", where, says(snapshot_id=SnapshotId(9, LAST_EPOCH)), "has later ones"),
    ("a-snapshot-of-what-is-to-come", where, says(snapshot_id=SnapshotId(1 << 60, 2)), "committed is 100"),
    # Epochs.
    ("the-last-epoch", where, names(LAST_EPOCH), "leaves no room for elections after it"),
    ("an-epoch-below-zero", where, names(-7), ""),
    ("an-epoch-that-grows", where, raises_the_epoch(), "FENCED_LEADER_EPOCH was the response to epoch"),
    (
        "another-epoch-than-asked-for",
        where,
        says(error_code=0, current_leader=LeaderIdAndEpoch(1, 9)),
        "as if in",
    ),
    ("an-unknown-epoch-that-it-names", where, names(5, Errors.UNKNOWN_LEADER_EPOCH), "does not know epoch"),
    # Addresses.
    ("a-leader-of-no-host", where, sends_to("", 9093), "the leader is 7 of epoch 3"),
    ("a-leader-of-no-port", where, sends_to("127.0.0.1", 0), "the leader is 7 of epoch 3"),
    ("a-port-below-zero", where, sends_to("127.0.0.1", -1), "the leader is 7 of epoch 3"),
    ("a-port-beyond-all", where, sends_to("127.0.0.1", 70_000), "the leader is 7 of epoch 3"),
    ("a-host-that-turns-text-around", where, sends_to("\u202egro", 9093), "the leader is 7 of epoch 3"),
    ("a-host-of-30-kB", where, sends_to("h" * 30_000, 9093), "the leader is 7 of epoch 3"),
    ("a-host-with-a-line-end", where, sends_to("a\nb", 9093), "the leader is 7 of epoch 3"),
    ("another-leader-each-time", where, sends_elsewhere_each_time(), "the leader is 7 of epoch 3"),
    # Times.
    ("a-pause-of-weeks", read, throttles((1 << 31) - 1), "it sent nothing"),
    ("a-pause-below-zero", read, throttles(-(1 << 31)), "it sent nothing"),
    # Snapshots.
    ("a-size-that-grows", download, sliced(size=lambda at: (1 << 20) + at), "began 5 times"),
    ("a-size-of-exabytes", download, sliced(size=1 << 62), f"more than the {SNAPSHOT_BYTES_MAX}"),
    ("no-size", download, sliced(size=0), "of 0 bytes, got 1000 bytes"),
    ("a-snapshot-below-zero", download, sliced(size=-5), "of -5 bytes, got 1000 bytes"),
    ("another-place", download, sliced(position=lambda at: at + 1), "got 1000 bytes from 1 of"),
    ("another-snapshot", download, sliced(snapshot_id=fetch_snapshot_response.SnapshotId(7, 7)), "of 7-7"),
    (
        "more-than-asked-for",
        download,
        sliced(size=1 << 23, unaligned_records=bytes(1_500_000)),
        "got 1500000",
    ),
    (
        "more-than-a-response-may",
        download,
        sliced(unaligned_records=bytes(3 << 20)),
        "that are allowed",
    ),
    ("slices-of-nothing", download, sliced(unaligned_records=b""), "without any bytes of the snapshot"),
    ("slices-of-a-byte", download, sliced(unaligned_records=b"s"), "comes in slices of 1 bytes"),
    ("bytes-of-no-batch", download, sliced(size=1000), "batch of format version 0"),
    # The rest.
    ("an-error-of-no-name", where, says(error_code=999), "was the response to epoch"),
    ("a-cluster-id-of-30-kB", identify, has_cluster_id("c" * 30_000), "a cluster id of 30000 characters"),
    ("a-cluster-id-that-clears-screens", identify, has_cluster_id("\x1b[2J"), "not all printable"),
    ("no-cluster-id", identify, has_cluster_id(""), "a cluster id of 0 characters"),
]
"""What is asked, how it is answered, and a part of the error."""

IN_EVERY_RUN = (
    "a-response-of-31-MB",
    "the-same-old-batch",
    "a-batch-of-a-later-epoch",
    "all-offsets-are-committed",
    "an-epoch-that-grows",
    "a-size-of-exabytes",
    "slices-of-a-byte",
)
"""The others end only when their time is over."""

CASES = [
    pytest.param(*case, id=name, marks=[] if name in IN_EVERY_RUN else [pytest.mark.long])
    for name, *case in KINDS
]


@pytest.mark.parametrize(("question", "hostile", "reason"), CASES)
def test_a_hostile_controller_alone(question: Question, hostile: Hostile, reason: str) -> None:
    tracemalloc.start()
    try:
        with HostileNode(hostile) as node:
            observer = QuorumObserver([node.endpoint], timeout_s=TIMEOUT_S)
            began = time.monotonic()
            with pytest.raises((ObserverError, DecodeError)) as failed:
                question(observer)
            took_s = time.monotonic() - began
            observer.close()
            asked = len(node.requests)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    text = str(failed.value)
    assert reason in text, text
    assert text.isprintable()
    assert len(text) < 4_000
    assert took_s < TIMEOUT_S + LATE_S
    assert asked <= REQUESTS_MAX + (SLICES_MAX if question is download else 0)
    assert peak_bytes < MEMORY_BYTES_MAX


SLICES_MAX = 300
"""A slice is progress, but not without end: five downloads of at most 51 short ones."""


def test_the_largest_response_is_that_of_a_batch(controller: FakeController, quorum: FakeQuorum) -> None:
    """As Kafka's leaders send it before 4.3, whatever was asked for."""
    quorum.append(encode_batch(0, 1, 1000, [bytes(BATCH_BYTES_MAX - 200)]))
    observer = QuorumObserver([controller.endpoint], timeout_s=20)
    assert [each.header.last_offset for each in observer.read(0, 1, 1)] == [0]
    observer.close()


@pytest.mark.parametrize("epoch", [9, 1_000_000, 1 << 30, LAST_EPOCH - 1, LAST_EPOCH])
def test_an_epoch_that_a_hostile_controller_names_is_forgotten(
    controller: FakeController, quorum: FakeQuorum, epoch: int
) -> None:
    """Another node names it, and what an honest leader has committed is read."""
    quorum.epoch = EPOCH
    quorum.append(encode_batch(0, EPOCH, 1000, [b"x"] * 3))
    with HostileNode(names(epoch, leader_id=9)) as node:
        observer = QuorumObserver([node.endpoint, controller.endpoint], timeout_s=20)
        assert observer.position(0, 0).high_watermark == 3
        assert [each.header.last_offset for each in observer.read(0, EPOCH, 3)] == [2]
        asked = len(node.requests)
        assert observer.position(3, EPOCH).leader_epoch == EPOCH
        assert len(node.requests) == asked, "the honest one stays connected"
        observer.close()


def test_a_plan_has_an_end() -> None:
    assert len(cut_into_ranges(start=0, end=10**9, epoch=1, end_epoch=1)) == 10**9 // OFFSETS_PER_RANGE
    with pytest.raises(ObserverError, match="more than one batch may have"):
        cut_into_ranges(start=7, end=10**10, epoch=1, end_epoch=1)


def test_a_majority_of_the_others_refuses_an_epoch() -> None:
    """Of three controllers, the two that do not name it."""
    believed = BelievedEpoch(3)
    hostile, one, other = ("h", 1), ("o", 1), ("p", 1)
    believed.named(4, one)
    believed.served(4)
    believed.named(1_000, hostile)
    believed.refused(4, one)
    assert believed.value == 1_000, "one of the others may lag behind"
    believed.named(1_001, hostile)
    believed.refused(4, other)
    assert believed.value == 4
    believed.named(1_002, hostile)
    believed.refused(3, hostile)
    assert believed.value == 3, "the one that named it takes it back"


def test_an_honest_controller_beside_a_hostile_one_is_read(
    controller: FakeController, quorum: FakeQuorum
) -> None:
    quorum.append(encode_batch(0, 1, 1000, [b"x"] * 3))
    for hostile in (sends(0), of_size(31_000_000), raises_the_epoch(), sends_to("127.0.0.1", 1), says()):
        with HostileNode(hostile) as node:
            observer = QuorumObserver([node.endpoint, controller.endpoint], timeout_s=20)
            observer._epoch.value = 0
            assert [each.header.last_offset for each in observer.read(0, 1, 3)] == [2]
            observer.close()


def test_a_record_is_read_once_from_a_log_that_repeats_itself(
    controller: FakeController, quorum: FakeQuorum
) -> None:
    """The second response begins before what was asked for."""
    quorum.append(encode_batch(0, 1, 1000, [b"x"] * 3))
    observer = QuorumObserver([controller.endpoint], timeout_s=5)
    batches = observer.read(0, 1, 6)
    next(batches)
    quorum.batches = [encode_batch(1, 1, 1000, [b"x"] * 5)]
    quorum.high_watermark = 6
    with pytest.raises(LogChangedError, match=f"{endpoint_text(controller.endpoint)}, continues at 1"):
        next(batches)
    observer.close()


def test_a_snapshot_has_to_fit_onto_the_disk(
    controller: FakeController, quorum: FakeQuorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    quorum.append(encode_batch(0, 1, 1000, [b"x"] * 3))
    quorum.snapshot, quorum.snapshot_bytes = (3, 1), quorum.batches[0]
    free_bytes = len(quorum.snapshot_bytes)
    monkeypatch.setattr("kraftctl_observer.saved_snapshot.free_bytes_of", lambda _: free_bytes)
    observer = QuorumObserver([controller.endpoint], timeout_s=0.3, cluster_id=CLUSTER_ID)
    observer.position(3, 1)
    with pytest.raises(QuorumUnavailableError, match=f"temporary files has room for {free_bytes}"):
        list(observer.read_snapshot(OffsetAndEpoch(3, 1)))
    observer.close()
