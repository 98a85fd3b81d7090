"""KIP-595, KIP-630: the observer against controllers with behavior that is hard to provoke in real ones."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest

from kraftctl_observer.log_reader import LogChangedError, OffsetsGoneError, WrongClusterError
from kraftctl_observer.observer import (
    SAY_AFTER_S,
    AccessDeniedError,
    QuorumObserver,
    QuorumUnavailableError,
)
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_security.blocking_connection import endpoint_text
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum

NO_OP = encode_metadata_record(NoOpRecord(), 0)

SOON_S = 0.8
"""For what is not answered; on a busy machine, what is answered takes a part of it."""


def batch(base_offset: int, count: int, epoch: int = 1) -> bytes:
    return encode_batch(base_offset, epoch, 1000, [NO_OP] * count)


@pytest.fixture
def observer(controller: FakeController) -> Iterator[QuorumObserver]:
    made = QuorumObserver([controller.endpoint], timeout_s=5)
    yield made
    made.close()


def test_every_host_that_cannot_be_reached_is_named() -> None:
    """Not only the last one that was asked."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    wrong = [("127.0.0.1", port), ("no-such-host.invalid", 9093)]
    observer = QuorumObserver(wrong, timeout_s=2)
    with pytest.raises(QuorumUnavailableError) as failed:
        observer.position(0, 0)
    assert f"127.0.0.1:{port}: " in str(failed.value)
    assert "no-such-host.invalid:9093: " in str(failed.value)


def test_a_missing_right_is_named_with_the_command_that_grants_it(observer: QuorumObserver) -> None:
    with pytest.raises(AccessDeniedError) as denied:
        observer._check_top_level(Errors.CLUSTER_AUTHORIZATION_FAILED)
    assert "refuses reading the metadata log, which needs ClusterAction on the cluster" in str(denied.value)
    assert "the principal of the client's properties (--command-config" in str(denied.value)
    assert "kafka-acls --add --allow-principal ... --operation ClusterAction --cluster" in str(denied.value)


def read_offsets(observer: QuorumObserver, start: int, end: int, epoch: int = 1) -> list[int]:
    batches = observer.read(start, epoch, end)
    offsets = [record.offset for found in batches for record in found.records]
    return [offset for offset in offsets if start <= offset < end]


def test_cluster_id_is_asked_for_once(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    assert observer.cluster_id() == CLUSTER_ID
    asked = len(quorum.requests)
    assert observer.cluster_id() == CLUSTER_ID
    assert len(quorum.requests) == asked


def test_reads_a_range_from_within_a_batch(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3), batch(3, 5), batch(8, 2))
    assert read_offsets(observer, 1, 9) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_continues_after_a_response_that_ends_inside_a_batch(
    observer: QuorumObserver, quorum: FakeQuorum
) -> None:
    quorum.append(*[batch(offset, 1) for offset in range(20)])
    quorum.bytes_max = len(batch(0, 1)) * 2 + 10
    assert read_offsets(observer, 0, 20) == list(range(20))


def test_never_gives_what_is_not_committed(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3))
    quorum.append(batch(3, 2), commit=False)
    assert observer.position(0, 0).high_watermark == 3
    assert [found.header.base_offset for found in observer.read(0, 1, 3)] == [0]
    impatient = QuorumObserver([quorum.endpoints[1]], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError):
        read_offsets(impatient, 0, 5)
    impatient.close()


def test_waits_for_a_leader_that_has_committed(controller: FakeController, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3), commit=False)
    observer = QuorumObserver([controller.endpoint], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError, match="high watermark"):
        observer.position(0, 0)
    quorum.high_watermark = 3
    assert observer.position(0, 0).high_watermark == 3
    observer.close()


def test_follows_to_the_leader(
    controller: FakeController, second_controller: FakeController, quorum: FakeQuorum
) -> None:
    quorum.leader_id = 2
    quorum.epoch = 7
    quorum.append(batch(0, 3, epoch=7))
    observer = QuorumObserver([controller.endpoint], timeout_s=5)
    position = observer.position(0, 0)
    assert (position.high_watermark, position.leader_epoch) == (3, 7)
    assert {node for node, _ in quorum.requests} == {1, 2}
    quorum.requests.clear()
    assert read_offsets(observer, 0, 3, epoch=7) == [0, 1, 2]
    assert {node for node, _ in quorum.requests} == {2}, "the leader is remembered"
    observer.close()


def test_finds_the_next_leader_after_the_first_one_stops(
    controller: FakeController, second_controller: FakeController, quorum: FakeQuorum
) -> None:
    quorum.append(batch(0, 3))
    observer = QuorumObserver([controller.endpoint, second_controller.endpoint], timeout_s=5)
    assert observer.position(0, 0).high_watermark == 3
    controller.close()
    quorum.leader_id, quorum.epoch = 2, 2
    quorum.append(batch(3, 1, epoch=2))
    position = observer.position(3, 1)
    assert (position.high_watermark, position.leader_epoch) == (4, 2)
    observer.close()


def test_a_controller_that_is_silent_does_not_take_the_time_of_the_others(
    controller: FakeController, quorum: FakeQuorum
) -> None:
    """Like a controller whose machine is down: nothing refuses the connection, and nothing responds."""
    quorum.append(batch(0, 3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = ("127.0.0.1", int(silent.getsockname()[1]))
        observer = QuorumObserver([endpoint, controller.endpoint], timeout_s=4)
        assert observer.position(0, 0).high_watermark == 3
        observer.close()


def test_no_leader(controller: FakeController, quorum: FakeQuorum) -> None:
    quorum.leader_id = -1
    observer = QuorumObserver([controller.endpoint], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError):
        observer.position(0, 0)
    observer.close()


def test_without_a_leader_each_node_is_in_a_line_long_before_the_end(
    controller: FakeController, quorum: FakeQuorum, caplog: pytest.LogCaptureFixture
) -> None:
    """Once for each wait, also while a node is asked that accepts connections and never answers."""
    assert SAY_AFTER_S < 5
    quorum.leader_id = -1
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = [controller.endpoint, ("127.0.0.1", 1), ("127.0.0.1", int(silent.getsockname()[1]))]
        observer = QuorumObserver(hosts, timeout_s=4, say_after_s=0.5)
        with pytest.raises(QuorumUnavailableError) as failed:
            observer.position(0, 0)
        observer.close()
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert re.match(
        r"No leader has answered about the high watermark for [01]\.\d s, and 4 s are waited: ", line
    )
    for text in (line, str(failed.value)):
        assert re.search(rf"{endpoint_text(controller.endpoint)}: [A-Z_]+ was the response to epoch", text)
        assert "127.0.0.1:1: " in text
    assert endpoint_text(hosts[2]) in str(failed.value)
    assert "Next step: start the controllers that are not reached" in line


def test_a_quorum_that_is_behind_what_was_read(controller: FakeController, quorum: FakeQuorum) -> None:
    """As after a restore from a copy."""
    quorum.epoch = 3
    quorum.append(batch(0, 3, epoch=3))
    observer = QuorumObserver([controller.endpoint], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError, match=r"UNKNOWN_LEADER_EPOCH .* epoch 9, .* epoch 3"):
        observer.position(3, 9)
    observer.close()


def test_no_response() -> None:
    observer = QuorumObserver([("127.0.0.1", 1)], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError):
        observer.position(0, 0)


def test_another_cluster(controller: FakeController) -> None:
    observer = QuorumObserver([controller.endpoint], cluster_id="another", timeout_s=5)
    with pytest.raises(WrongClusterError):
        observer.position(0, 0)
    observer.close()


def test_a_node_that_is_too_old(controller: FakeController, quorum: FakeQuorum) -> None:
    controller.api_versions[ApiKey.FETCH] = (4, 16)
    observer = QuorumObserver([controller.endpoint], timeout_s=SOON_S)
    with pytest.raises(QuorumUnavailableError, match="serve this FetchRequest in version 17 or later"):
        observer.position(0, 0)
    observer.close()


def test_speaks_version_17_to_kafka_3_9(controller: FakeController, quorum: FakeQuorum) -> None:
    controller.api_versions[ApiKey.FETCH] = (4, 17)
    quorum.append(batch(0, 3))
    observer = QuorumObserver([controller.endpoint], timeout_s=5)
    assert observer.position(0, 0).high_watermark == 3
    observer.close()


def test_a_truncated_log_is_an_error(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3))
    quorum.diverging = (1, 2)
    with pytest.raises(LogChangedError, match="ends at 2 in epoch 1"):
        observer.position(3, 1)


def test_a_gap_is_an_error(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3), batch(5, 1))
    with pytest.raises(LogChangedError, match="continues at 5"):
        read_offsets(observer, 0, 6)


def test_deleted_offsets_lead_to_the_snapshot(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.log_start_offset = 100
    quorum.snapshot = (100, 1)
    quorum.snapshot_bytes = batch(0, 3) + batch(3, 4) + batch(7, 1)
    quorum.append(batch(100, 3))
    assert observer.position(0, 0).snapshot == OffsetAndEpoch(100, 1)
    assert observer.position(50, 1).snapshot == OffsetAndEpoch(100, 1)
    assert observer.position(100, 1).snapshot is None
    with pytest.raises(OffsetsGoneError):
        read_offsets(observer, 50, 100)
    quorum.bytes_max = 37
    found = [
        record.offset for got in observer.read_snapshot(OffsetAndEpoch(100, 1)) for record in got.records
    ]
    assert found == list(range(8))


@pytest.mark.parametrize("fails_without_records", [False, True], ids=["kraftctl", "java"])
def test_a_snapshot_read_without_leader_and_epoch(
    controller: FakeController,
    second_controller: FakeController,
    quorum: FakeQuorum,
    fails_without_records: bool,
) -> None:
    """As in every task, in a separate process; the leader changes during it.

    Every node writes a snapshot of its own: the same records, but in batches and in an order of its own.
    """
    quorum.fails_without_records = fails_without_records
    quorum.log_start_offset, quorum.snapshot, quorum.epoch = 100, (100, 1), 5
    own = b"".join(batch(offset, 1) for offset in range(8))
    quorum.snapshot_bytes = {1: own, 2: batch(0, 5) + batch(5, 3)}
    quorum.append(batch(100, 3, epoch=5))
    quorum.bytes_max = len(batch(0, 1))
    quorum.new_leader_from_byte = 3 * quorum.bytes_max
    observer = QuorumObserver([controller.endpoint, second_controller.endpoint], timeout_s=5)
    batches = observer.read_snapshot(OffsetAndEpoch(100, 1))
    assert [found.header.base_offset for found in batches] == [0, 5]
    observer.close()


@pytest.mark.parametrize("fails_without_records", [False, True], ids=["kraftctl", "java"])
def test_a_snapshot_that_was_replaced(
    observer: QuorumObserver, quorum: FakeQuorum, fails_without_records: bool
) -> None:
    quorum.fails_without_records = fails_without_records
    quorum.log_start_offset = 100
    quorum.snapshot = (200, 1)
    quorum.append(batch(100, 3))
    with pytest.raises(OffsetsGoneError, match="deleted the snapshot"):
        list(observer.read_snapshot(OffsetAndEpoch(100, 1)))


def test_a_snapshot_of_which_nothing_comes(controller: FakeController, quorum: FakeQuorum) -> None:
    quorum.log_start_offset = 100
    quorum.snapshot, quorum.snapshot_bytes, quorum.bytes_max = (100, 1), batch(0, 3), 0
    observer = QuorumObserver([controller.endpoint], timeout_s=1)
    with pytest.raises(QuorumUnavailableError, match="without any bytes"):
        list(observer.read_snapshot(OffsetAndEpoch(100, 1)))
    observer.close()


def test_a_whole_log_is_preferred_to_the_snapshot_offered_for_offset_0(
    observer: QuorumObserver, quorum: FakeQuorum
) -> None:
    quorum.append(batch(0, 3), batch(3, 5))
    quorum.snapshot = (5, 1)
    assert observer.position(0, 0).snapshot is None
    assert read_offsets(observer, 0, 8) == list(range(8))


def test_a_whole_log_is_preferred_to_the_snapshot_offered_for_an_earlier_epoch(
    observer: QuorumObserver, quorum: FakeQuorum
) -> None:
    """A leader offers a snapshot to a reader whose last epoch is before that of its oldest snapshot."""
    quorum.epoch = 5
    quorum.append(batch(0, 3), batch(3, 3), batch(6, 2, epoch=5))
    quorum.snapshot = (7, 5)
    quorum.bytes_max = len(batch(0, 3))
    assert observer.position(3, 1).snapshot is None
    assert read_offsets(observer, 0, 8, epoch=0) == list(range(8))


def test_the_first_record_alone_may_be_out_of_reach(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    """A Java leader with a snapshot returns a first batch of one record for no Fetch at all."""
    quorum.append(batch(0, 1), batch(1, 5))
    quorum.snapshot = (5, 1)
    assert read_offsets(observer, 0, 6) == [1, 2, 3, 4, 5]


def test_fetches_without_a_replica_id(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 3))
    read_offsets(observer, 0, 3)
    fetches = [request for _, request in quorum.requests if isinstance(request, FetchRequest)]
    assert fetches
    assert all(fetch.replica_state.replica_id == -1 for fetch in fetches)


def test_epoch_of_an_offset(observer: QuorumObserver, quorum: FakeQuorum) -> None:
    quorum.epoch = 4
    quorum.append(batch(0, 3, epoch=1), batch(3, 5, epoch=2), batch(8, 1, epoch=4))
    assert [observer.epoch_of(offset) for offset in (0, 2, 3, 7, 8)] == [1, 1, 2, 2, 4]
    quorum.snapshot = (5, 2)
    quorum.log_start_offset = 3
    assert observer.epoch_of(1) is None
