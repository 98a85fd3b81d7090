"""MetadataVersion and the other features: levels, names and what each level enables (KIP-584, KIP-1022)."""

from __future__ import annotations

from typing import Final

from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.counted_text import listed
from kraftctl_protocol.metadata_versions import METADATA_VERSIONS
from kraftctl_protocol.record_types import RECORD_TYPES_BY_NAME

METADATA_VERSION: Final = "metadata.version"
KRAFT_VERSION: Final = "kraft.version"
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
SHARE_VERSION: Final = "share.version"
STREAMS_VERSION: Final = "streams.version"
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = "eligible.leader.replicas.version"

IBP_3_3_IV3: Final = 7
IBP_3_4_IV0: Final = 8
IBP_3_5_IV1: Final = 10
IBP_3_5_IV2: Final = 11
IBP_3_6_IV0: Final = 12
IBP_3_6_IV1: Final = 13
IBP_3_6_IV2: Final = 14
IBP_3_7_IV0: Final = 15
IBP_3_7_IV1: Final = 16
IBP_3_7_IV2: Final = 17
IBP_3_9_IV0: Final = 21
IBP_4_0_IV0: Final = 22
IBP_4_0_IV1: Final = 23
IBP_4_0_IV2: Final = 24
IBP_4_0_IV3: Final = 25
IBP_4_1_IV0: Final = 26
IBP_4_2_IV0: Final = 28
IBP_4_2_IV1: Final = 29
IBP_4_3_IV0: Final = 30
IBP_4_4_IV0: Final = 31
IBP_4_4_IV1: Final = 32

MINIMUM_METADATA_VERSION: Final = METADATA_VERSIONS[0].level
LATEST_PRODUCTION: Final = max([row.level for row in METADATA_VERSIONS if row.in_production])
LATEST_TESTING: Final = METADATA_VERSIONS[-1].level

DEFAULT_METADATA_VERSION: Final = IBP_4_3_IV0
"""The level of a new cluster, unless another one is asked for.

It is that of the release that kraftctl is measured against, and not the newest one: brokers of that release
could not join, and metadata.version cannot be lowered again from 4.4-IV1 on.
"""

_EARLIER_KRAFTCTL_MAX: Final = {METADATA_VERSION: IBP_4_3_IV0, SHARE_VERSION: 1}
"""Below the levels that came with Kafka 4.4; a log that ever had one needs a release that knows them."""

METADATA_VERSION_NAMES: Final[dict[int, str]] = {row.level: row.name for row in METADATA_VERSIONS}
"""Kafka's name of each level, in the order in which Kafka released them."""


def _since(record: str, version: int = 0) -> int:
    """Returns the metadata.version that allows this version of a record."""
    return RECORD_TYPES_BY_NAME[record].since[version]


_TRANSACTIONS: Final = _since("BeginTransactionRecord")
_SCRAM: Final = _since("UserScramCredentialRecord")
_DELEGATION_TOKENS: Final = _since("DelegationTokenRecord")
_CONTROLLER_REGISTRATION: Final = _since("RegisterControllerRecord")
_DIRECTORY_ASSIGNMENT: Final = _since("PartitionRecord", 1)
_ELR: Final = _since("PartitionRecord", 2)
CONTROLLER_UNREGISTRATION: Final = _since("UnregisterControllerRecord")
_CORDONED_LOG_DIRS: Final = _since("RegisterBrokerRecord", 4)
_REGISTER_BROKER: Final = RECORD_TYPES_BY_NAME["RegisterBrokerRecord"]


def is_leader_epoch_bump_required_on_isr_shrink(metadata_version: int) -> bool:
    """Returns whether a shrink needs a new leader epoch, without which old brokers mishandle it
    (KAFKA-15021).
    """
    return metadata_version < IBP_3_6_IV0


def is_scram_supported(metadata_version: int) -> bool:
    return metadata_version >= _SCRAM


def is_metadata_transaction_supported(metadata_version: int) -> bool:
    return metadata_version >= _TRANSACTIONS


def is_delegation_token_supported(metadata_version: int) -> bool:
    return metadata_version >= _DELEGATION_TOKENS


def is_controller_registration_supported(metadata_version: int) -> bool:
    return metadata_version >= _CONTROLLER_REGISTRATION


def is_directory_assignment_supported(metadata_version: int) -> bool:
    """Returns whether partitions know in which log directory each replica is (KIP-858)."""
    return metadata_version >= _DIRECTORY_ASSIGNMENT


def is_elr_supported(metadata_version: int) -> bool:
    """Returns whether records can have eligible leader replicas (KIP-966)."""
    return metadata_version >= _ELR


def is_cordoned_log_dirs_supported(metadata_version: int) -> bool:
    """Returns whether registrations can have cordoned log directories (KIP-1066)."""
    return metadata_version >= _CORDONED_LOG_DIRS


def is_cidr_host_supported(metadata_version: int) -> bool:
    """Returns whether the host of an ACL can be a network (KIP-1276)."""
    return metadata_version >= IBP_4_4_IV1


def is_controller_unregistration_supported(metadata_version: int) -> bool:
    """Returns whether the registration of a controller can be removed (KIP-1312)."""
    return metadata_version >= CONTROLLER_UNREGISTRATION


def register_broker_record_version(metadata_version: int) -> int:
    """Returns the version in which a RegisterBrokerRecord is written."""
    return _REGISTER_BROKER.version_at(metadata_version)


def partition_record_version(metadata_version: int) -> int:
    """Returns the version in which PartitionRecord and PartitionChangeRecord are written.

    It is asked for each change of a partition, so it looks nothing up.
    """
    if metadata_version >= _ELR:
        return 2
    return 1 if metadata_version >= _DIRECTORY_ASSIGNMENT else 0


def partition_change_record_version(metadata_version: int) -> int:
    """Returns the same as `partition_record_version`; the two have always risen together."""
    return partition_record_version(metadata_version)


def metadata_version_name(level: int) -> str:
    """Returns a name such as `4.3-IV0` for 30; for an unknown level the number itself."""
    return METADATA_VERSION_NAMES.get(level, str(level))


def metadata_version_from_string(version: str, unstable: bool = False) -> int | None:
    """Returns the level of `4.3`, `4.3.1` (newest production level) or `4.3-IV0`; None if unknown.

    Levels above LATEST_PRODUCTION are known only when `unstable` is set.
    """
    segments = version.rstrip(".").split(".")
    key = version if len(segments) <= 2 else ".".join(segments[:2])
    highest = LATEST_TESTING if unstable else LATEST_PRODUCTION
    found: int | None = None
    for level, name in METADATA_VERSION_NAMES.items():
        if level > highest:
            continue
        if name == key:
            return level
        if level <= LATEST_PRODUCTION and name.split("-")[0] == key:
            found = level
    return found


def metadata_changed_between(low: int, high: int) -> bool:
    """Returns whether a level in (low, high] changes metadata, so that high -> low would lose some."""
    return any(row.changes_metadata for row in METADATA_VERSIONS if low < row.level <= high)


def cost_of_raising(feature: str, present: int, level: int) -> str:
    """Returns what is given up for a higher level: the way back, and who cannot join or start any more."""
    costs: list[str] = []
    lost = [row.level for row in METADATA_VERSIONS if metadata_changed_between(row.level - 1, row.level)]
    lost = [level] if feature == KRAFT_VERSION else lost if feature == METADATA_VERSION else []
    lost = [each for each in lost if present < each <= level]
    if lost:
        costs.append(f"there is no way back from {listed(lost)}")
    if feature == METADATA_VERSION:
        releases = [name.split("-")[0] for each, name in METADATA_VERSION_NAMES.items() if each <= level]
        earlier = [each for each in releases if each != releases[-1]]
        costs += [f"brokers of {each} cannot join" for each in earlier[-1:]]
    elif feature != KRAFT_VERSION:
        costs.append(f"nodes that do not support {feature} {level} cannot join")
    if level > _EARLIER_KRAFTCTL_MAX.get(feature, level):
        costs.append("an earlier release of kraftctl does not start on this log")
    return "; ".join(costs)


SUPPORTED_FEATURES: Final[dict[str, VersionRange]] = {
    METADATA_VERSION: VersionRange(MINIMUM_METADATA_VERSION, LATEST_PRODUCTION),
    KRAFT_VERSION: VersionRange(0, 1),
    TRANSACTION_VERSION: VersionRange(0, 2),
    GROUP_VERSION: VersionRange(0, 1),
    ELIGIBLE_LEADER_REPLICAS_VERSION: VersionRange(0, 1),
    SHARE_VERSION: VersionRange(0, 2),
    STREAMS_VERSION: VersionRange(0, 1),
}
"""The ranges that this controller offers, which are those of a Kafka 4.4.0 node."""


def supported_features(unstable: bool) -> dict[str, VersionRange]:
    """Returns a new dict of what this controller offers; `unstable` as unstable.feature.versions.enable.

    Only metadata.version has levels that are not in production yet.
    """
    offered = dict(SUPPORTED_FEATURES)
    if unstable:
        offered[METADATA_VERSION] = VersionRange(MINIMUM_METADATA_VERSION, LATEST_TESTING)
    return offered


def why_level_unsupported(feature: str, level: int, supported: dict[str, VersionRange]) -> str | None:
    """Returns why no record may set `feature` to `level` here, None when it may; 0 is the same as absent."""
    offered = supported.get(feature)
    if offered is None:
        return None if level == 0 else f"{feature} {level}, a feature that kraftctl does not know"
    if offered.contains(level):
        return None
    return f"{feature} {level}, of which kraftctl supports the levels {offered.min} to {offered.max}"


_DEFAULT_SINCE: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    KRAFT_VERSION: ((IBP_3_9_IV0, 1),),
    TRANSACTION_VERSION: ((IBP_4_0_IV2, 1), (IBP_4_0_IV2, 2)),
    GROUP_VERSION: ((IBP_4_0_IV0, 1),),
    ELIGIBLE_LEADER_REPLICAS_VERSION: ((IBP_4_1_IV0, 1),),
    SHARE_VERSION: ((IBP_4_2_IV0, 1), (IBP_4_4_IV0, 2)),
    STREAMS_VERSION: ((IBP_4_2_IV1, 1),),
}
"""Maps a feature to pairs of (metadata.version from which a new cluster gets the level, level), rising."""

_DEPENDS_ON_METADATA_VERSION: Final[dict[str, dict[int, int]]] = {
    ELIGIBLE_LEADER_REPLICAS_VERSION: {1: IBP_4_0_IV1},
}
"""Maps a feature and a level to the metadata.version that must be finalized first."""


def default_level(feature: str, metadata_version: int) -> int:
    """Returns the level that a cluster formatted at `metadata_version` gets when nothing else is asked
    for.
    """
    if feature == METADATA_VERSION:
        return metadata_version
    level = 0
    for since, candidate in _DEFAULT_SINCE[feature]:
        if metadata_version >= since:
            level = candidate
    return level


def required_metadata_version(feature: str, level: int) -> int:
    """Returns the metadata.version that must be finalized before `feature` may be raised to `level`."""
    return _DEPENDS_ON_METADATA_VERSION.get(feature, {}).get(level, MINIMUM_METADATA_VERSION)
