"""MetadataVersion and features: Kafka 4.3.1's table, and what each level enables."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features as f
from kraftctl.metadata.endpoint import VersionRange


def test_levels_are_consecutive_and_named() -> None:
    assert list(f.METADATA_VERSION_NAMES) == list(range(7, 32))
    assert f.METADATA_VERSION_NAMES[f.IBP_3_3_IV3] == "3.3-IV3"
    assert f.METADATA_VERSION_NAMES[f.IBP_3_7_IV2] == "3.7-IV2"
    assert f.METADATA_VERSION_NAMES[f.IBP_4_3_IV0] == "4.3-IV0"
    assert f.metadata_version_name(99) == "99"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("3.3", 7),
        ("3.5", 11),
        ("3.7", 19),
        ("3.7-IV2", 17),
        ("3.9", 21),
        ("3.9.2", 21),
        ("4.0", 25),
        ("4.1.2", 27),
        ("4.2", 29),
        ("4.3", 30),
        ("4.3.1", 30),
        ("4.3-IV0", 30),
        ("4.4", None),
        ("4.4-IV0", None),
        ("3.2", None),
        ("", None),
        ("4", None),
    ],
)
def test_versions_from_strings(text: str, level: int | None) -> None:
    assert f.metadata_version_from_string(text) == level


def test_unstable_versions_are_known_when_asked_for() -> None:
    """A release without a production level has no short name, as in Kafka."""
    assert f.metadata_version_from_string("4.4-IV0", unstable=True) == 31
    assert f.metadata_version_from_string("4.4", unstable=True) is None


@pytest.mark.parametrize(
    ("level", "register_broker", "partition"),
    [(7, 1, 0), (8, 2, 0), (16, 2, 0), (17, 3, 1), (22, 3, 1), (23, 3, 2), (29, 3, 2), (30, 4, 2)],
)
def test_record_versions(level: int, register_broker: int, partition: int) -> None:
    assert f.register_broker_record_version(level) == register_broker
    assert f.partition_record_version(level) == partition
    assert f.partition_change_record_version(level) == partition


@pytest.mark.parametrize(
    ("low", "high", "changed"),
    [
        pytest.param(29, 30, True, id="4.3-adds-fields"),
        pytest.param(24, 29, False, id="4.0-to-4.2"),
        pytest.param(22, 23, True, id="elr-fields"),
        pytest.param(19, 22, False, id="3.7-to-4.0-IV0"),
        pytest.param(30, 30, False, id="none"),
    ],
)
def test_downgrades_that_would_lose_metadata(low: int, high: int, changed: bool) -> None:
    assert f.metadata_changed_between(low, high) is changed


@pytest.mark.parametrize(
    ("level", "defaults"),
    [
        (7, (0, 0, 0, 0, 0)),
        (22, (0, 1, 0, 0, 0)),
        (24, (2, 1, 0, 0, 0)),
        (26, (2, 1, 1, 0, 0)),
        (28, (2, 1, 1, 1, 0)),
        (30, (2, 1, 1, 1, 1)),
    ],
)
def test_defaults_of_a_new_cluster(level: int, defaults: tuple[int, ...]) -> None:
    names = (
        f.TRANSACTION_VERSION,
        f.GROUP_VERSION,
        f.ELIGIBLE_LEADER_REPLICAS_VERSION,
        f.SHARE_VERSION,
        f.STREAMS_VERSION,
    )
    assert tuple(f.default_level(name, level) for name in names) == defaults
    assert f.default_level(f.METADATA_VERSION, level) == level


def test_supported_ranges_are_those_of_kafka_4_3_1() -> None:
    assert {
        "metadata.version": VersionRange(7, 30),
        "kraft.version": VersionRange(0, 1),
        "transaction.version": VersionRange(0, 2),
        "group.version": VersionRange(0, 1),
        "eligible.leader.replicas.version": VersionRange(0, 1),
        "share.version": VersionRange(0, 1),
        "streams.version": VersionRange(0, 1),
    } == f.SUPPORTED_FEATURES


def test_elr_needs_records_that_can_carry_it() -> None:
    assert f.required_metadata_version(f.ELIGIBLE_LEADER_REPLICAS_VERSION, 1) == 23
    assert f.required_metadata_version(f.GROUP_VERSION, 1) == 7
