"""MetadataVersion and features: Kafka 4.4.0's table, and what each level enables."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.apis.api import Api
from kraftctl.apis.api_table import ROWS
from kraftctl.metadata import features as f
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.metadata_versions import LEVELS_BY_NAME, METADATA_VERSIONS, MetadataVersion
from kraftctl_protocol.record_types import RECORD_TYPES
from tests.support.processes.kafka import run_java_source

FEATURES = [name for name in f.SUPPORTED_FEATURES if name != f.METADATA_VERSION]


@pytest.mark.java
def test_levels_and_what_they_allow_are_kafkas() -> None:
    """Names, record versions, supported ranges, the features of a new cluster at each level, and APIs."""
    printed = run_java_source(Path(__file__).parent / "LevelsTable.java", version="4.4.0").splitlines()
    theirs = [line for line in printed if line.startswith(("level ", "feature ", "api "))]
    assert [*map(row, METADATA_VERSIONS), *map(range_of, FEATURES), *map(versions_of, ROWS)] == theirs


def row(of: MetadataVersion) -> str:
    level = of.level
    answers = (
        of.changes_metadata,
        of.in_production,
        f.is_leader_epoch_bump_required_on_isr_shrink(level),
        f.is_metadata_transaction_supported(level),
        f.is_scram_supported(level),
        f.is_delegation_token_supported(level),
        f.is_controller_registration_supported(level),
        f.is_directory_assignment_supported(level),
        f.is_elr_supported(level),
        f.is_cordoned_log_dirs_supported(level),
        f.is_cidr_host_supported(level),
        f.is_controller_unregistration_supported(level),
        f.register_broker_record_version(level),
        f.partition_record_version(level),
        f.partition_change_record_version(level),
    )
    defaults = (f"{name}={f.default_level(name, level)}" for name in FEATURES)
    return " ".join(("level", str(level), of.name, *(str(int(answer)) for answer in answers), *defaults))


def range_of(name: str) -> str:
    supported = f.SUPPORTED_FEATURES[name]
    return f"feature {name} {supported.min} {supported.max}"


def versions_of(api: Api) -> str:
    """Kafka 4.0 dropped versions 0 and 1 of AlterPartition; they are still served here."""
    lowest = 2 if api.key == ApiKey.ALTER_PARTITION else api.lowest
    return f"api {int(api.key)} {lowest} {api.highest}"


def test_the_constants_are_the_levels_of_their_names() -> None:
    constants = {name: level for name, level in vars(f).items() if name.startswith("IBP_")}
    names = {name: "IBP_" + name.replace(".", "_").replace("-", "_") for name in LEVELS_BY_NAME}
    known = {names[name]: level for name, level in LEVELS_BY_NAME.items()}
    assert constants.items() <= known.items()


def test_levels_are_consecutive_and_the_last_ones_are_not_in_production() -> None:
    assert [one.level for one in METADATA_VERSIONS] == list(range(7, 7 + len(METADATA_VERSIONS)))
    in_production = [one.in_production for one in METADATA_VERSIONS]
    assert in_production == sorted(in_production, reverse=True)
    assert f.metadata_version_name(99) == "99"
    assert f.default_level(f.METADATA_VERSION, 22) == 22


def test_a_level_that_allows_a_record_changes_metadata() -> None:
    """A level may also change what values mean; then no row of the record types names it."""
    named = {level for one in RECORD_TYPES for level in one.since}
    assert named <= {one.level for one in METADATA_VERSIONS if one.changes_metadata}


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
        ("4.4", 33),
        ("4.4.0", 33),
        ("4.4-IV0", 31),
        ("4.4-IV1", 32),
        ("4.5", None),
        ("4.5-IV0", None),
        ("3.2", None),
        ("", None),
        ("4", None),
    ],
)
def test_versions_from_strings(text: str, level: int | None) -> None:
    assert f.metadata_version_from_string(text) == level


def test_unstable_versions_are_known_when_asked_for() -> None:
    """A release without a production level has no short name, as in Kafka."""
    assert f.metadata_version_from_string("4.5-IV0", unstable=True) == 34
    assert f.metadata_version_from_string("4.5", unstable=True) is None


@pytest.mark.parametrize(
    ("low", "high", "changed"),
    [
        pytest.param(29, 30, True, id="4.3-adds-fields"),
        pytest.param(30, 31, False, id="4.4-IV0"),
        pytest.param(31, 32, True, id="networks-in-acls"),
        pytest.param(32, 33, True, id="unregistered-controllers"),
        pytest.param(24, 29, False, id="4.0-to-4.2"),
        pytest.param(22, 23, True, id="elr-fields"),
        pytest.param(19, 22, False, id="3.7-to-4.0-IV0"),
        pytest.param(30, 30, False, id="none"),
    ],
)
def test_downgrades_that_would_lose_metadata(low: int, high: int, changed: bool) -> None:
    assert f.metadata_changed_between(low, high) is changed


def test_elr_needs_records_that_can_carry_it() -> None:
    assert f.required_metadata_version(f.ELIGIBLE_LEADER_REPLICAS_VERSION, 1) == 23
    assert f.required_metadata_version(f.GROUP_VERSION, 1) == 7
