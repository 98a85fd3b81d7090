"""`kraftctl doctor --upgrade`: who limits metadata.version, and what removes those that are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli.doctor.registrations import Registrations, read_registrations
from kraftctl.cli.doctor.upgrade import present_in, upgrade_of
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.metadata import features
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import (
    ControllerFeature,
    RegisterControllerRecord,
)
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, segment_file_name
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.cli.quorum_cases import directory_id

NEWEST = features.LATEST_PRODUCTION
OLD = features.IBP_4_0_IV3

Line = tuple[str, str, str]


def registered(level: int, controllers: dict[int, int], brokers: dict[int, int]) -> Registrations:
    return Registrations(
        {"metadata.version": level},
        {each: {"metadata.version": (7, highest)} for each, highest in brokers.items()},
        {each: {"metadata.version": (7, highest)} for each, highest in controllers.items()},
    )


UNREGISTER = (
    "if it is gone for good: kafka-cluster.sh unregister-controller --bootstrap-controller h:1 --id 3"
    " --command-config FILE"
)
UNREGISTER_BROKER = (
    "if it is gone for good: kafka-cluster.sh unregister --bootstrap-controller h:1 --id 5 --config FILE"
)
NOTHING_UNREGISTERS = (
    "nothing unregisters a controller below metadata.version 4.4-IV2. Only in a dynamic quorum: start a"
    " controller of a later release with node.id=3 as an observer, until it has registered."
    " Format its directory with --no-initial-controllers and the cluster id of this cluster, and leave"
    " controller.quorum.auto.join.enable at false: it must not become a voter"
)
RAISE = (
    "; try --dry-run first: kraftctl features --bootstrap-controller h:1 --command-config FILE upgrade"
    " --dry-run --release-version "
)

CASES = [
    pytest.param(
        registered(NEWEST, {1: NEWEST}, {5: NEWEST}), {1, 5},
        [("OK", "metadata.version is 4.4-IV2, the newest that this release supports", "-")],
        id="at-the-newest",
    ),
    pytest.param(
        registered(OLD, {1: NEWEST}, {5: NEWEST}), {1, 5},
        [("OK", "metadata.version is 4.0-IV3, and can be raised to 4.4-IV2",
          "there is no way back from 30, 32 and 33; brokers of 4.3 cannot join; an earlier release of"
          " kraftctl does not start on this log" + RAISE + "4.4-IV2")],
        id="can-be-raised",
    ),
    pytest.param(
        registered(OLD, {1: NEWEST}, {5: OLD}), {1, 5},
        [("ERROR", "broker 5 supports metadata.version up to 4.0-IV3", "run a later release on broker 5")],
        id="a-broker-of-an-older-release",
    ),
    pytest.param(
        registered(OLD, {1: NEWEST, 3: OLD}, {}), {1},
        [("ERROR", "controller 3 supports metadata.version up to 4.0-IV3, and it neither votes nor fetches",
          NOTHING_UNREGISTERS)],
        id="a-ghost-that-nothing-removes",
    ),
    pytest.param(
        registered(NEWEST, {1: NEWEST, 3: OLD}, {}), {1},
        [("ERROR", "controller 3 supports metadata.version up to 4.0-IV3, and it neither votes nor fetches",
          UNREGISTER)],
        id="a-ghost-that-is-removed",
    ),
    pytest.param(
        registered(OLD, {1: NEWEST}, {5: features.IBP_4_3_IV0}), {1},
        [("WARN", "broker 5 supports metadata.version up to 4.3-IV0, and it neither votes nor fetches",
          UNREGISTER_BROKER),
         ("OK", "metadata.version is 4.0-IV3, and can be raised to 4.3-IV0",
          "there is no way back from 30; brokers of 4.2 cannot join" + RAISE + "4.3-IV0")],
        id="a-broker-that-is-gone-limits-it",
    ),
    pytest.param(
        registered(NEWEST, {1: NEWEST}, {}), None,
        [("OK", "metadata.version is 4.4-IV2, the newest that this release supports", "-"),
         ("WARN", "no leader has said who votes and fetches, so nodes that are gone are not known",
          "repeat this when there is a leader")],
        id="without-a-leader",
    ),
    pytest.param(
        Registrations(), set(),
        [("UNKNOWN", "the log has no metadata.version yet", "start the controller first")], id="an-empty-log",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("found", "fetching", "expected"), CASES)
def test_who_limits_the_level(found: Registrations, fetching: set[int] | None, expected: list[Line]) -> None:
    assert [
        (each.level, each.found, each.next_step) for each in upgrade_of(found, fetching, "h:1")
    ] == expected


RECORDS: list[Message] = [
    FeatureLevelRecord(name="metadata.version", feature_level=29),
    FeatureLevelRecord(name="metadata.version", feature_level=30),
    TopicRecord(name="t"),
    RegisterBrokerRecord(
        broker_id=5, rack=None, features=[BrokerFeature("metadata.version", 7, 30)], fenced=True
    ),
    RegisterBrokerRecord(broker_id=6, rack=None, features=[BrokerFeature("metadata.version", 7, 31)]),
    UnregisterBrokerRecord(broker_id=6),
    RegisterControllerRecord(controller_id=1, features=[ControllerFeature("metadata.version", 7, 32)]),
    RegisterControllerRecord(controller_id=2, features=[ControllerFeature("metadata.version", 7, 33)]),
    UnregisterControllerRecord(controller_id=2),
]

EXPECTED = Registrations(
    {"metadata.version": 30},
    {5: {"metadata.version": (7, 30)}},
    {1: {"metadata.version": (7, 32)}},
)


def described(node_id: int, fetched_ms: int | None) -> QuorumReplica:
    return QuorumReplica(node_id, directory_id(node_id), 1, fetched_ms, fetched_ms)


QUORUMS: list[tuple[list[int | None], list[int | None], set[int]]] = [
    ([100_000, 99_000], [100_000], {1, 2, 11}),
    ([100_000, None], [90_001, 90_000, None], {1, 2, 11}),
    ([None, None], [None, None], {1, 2, 11, 12}),
]


@pytest.mark.parametrize(("voters", "observers", "expected"), QUORUMS)
def test_who_is_present(voters: list[int | None], observers: list[int | None], expected: set[int]) -> None:
    """A voter is one, running or not; the leader lists an observer long after its last fetch."""
    quorum = QuorumInfo(
        1,
        1,
        1,
        tuple(described(node_id, fetched_ms) for node_id, fetched_ms in enumerate(voters, 1)),
        tuple(described(node_id, fetched_ms) for node_id, fetched_ms in enumerate(observers, 11)),
        {},
    )
    assert present_in(quorum) == expected


def write_segments(log_dir: Path) -> list[Path]:
    """Two segments, the second of which begins within the records."""
    files: list[Path] = []
    directory = log_dir / PARTITION_DIRECTORY
    directory.mkdir()
    for start, end in ((0, 4), (4, len(RECORDS))):
        values = [encode_metadata_record(each, each.LOWEST_VERSION) for each in RECORDS[start:end]]
        batch = encode_batch(start, 1, 0, values)
        files.append(directory / segment_file_name(start))
        files[-1].write_bytes(batch)
    return files


def test_what_a_log_says(tmp_path: Path) -> None:
    write_segments(tmp_path)
    assert read_registrations(tmp_path) == EXPECTED


LATER = FeatureLevelRecord(name="metadata.version", feature_level=31)
GHOST = RegisterControllerRecord(controller_id=9, features=[ControllerFeature("metadata.version", 7, 29)])


@pytest.mark.parametrize(
    ("end", "counts"),
    [
        pytest.param([EndTransactionRecord()], True, id="ended"),
        pytest.param([AbortTransactionRecord()], False, id="aborted"),
        pytest.param([], False, id="open"),
    ],
)
def test_a_transaction_counts_once_it_has_ended(end: list[Message], counts: bool) -> None:
    found = Registrations()
    for record in (*RECORDS, BeginTransactionRecord(), LATER, GHOST, *end):
        found.replay(record)
    expected = Registrations({"metadata.version": 31}, EXPECTED.brokers, {**EXPECTED.controllers})
    expected.controllers[9] = {"metadata.version": (7, 29)}
    assert found == (expected if counts else EXPECTED)


def test_a_batch_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    """The end of the last segment only: anywhere else it is damage."""
    first, last = write_segments(tmp_path)
    with last.open("ab") as file:
        file.write(bytes(70))
    assert read_registrations(tmp_path) == EXPECTED
    with first.open("ab") as file:
        file.write(bytes(70))
    with pytest.raises(InvalidBatchError):
        read_registrations(tmp_path)
