"""Checks several keys together as Kafka's GroupCoordinatorConfig, ShareGroupConfig and
ShareCoordinatorConfig do.

Each node checks them, a controller, too: it validates the configs of groups against these keys.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.defined_values import DefinedValues, names_a_class
from kraftctl_protocol.java_values import split_list

AT_LEAST: Final = "at least"
AT_MOST: Final = "at most"
LESS: Final = "less than"

Comparison = tuple[str, str, str]

PROTOCOLS: Final = "group.coordinator.rebalance.protocols"
CONSUMER_ASSIGNORS: Final = "group.consumer.assignors"
SHARE_ASSIGNORS: Final = "group.share.assignors"
STREAMS_ASSIGNORS: Final = "group.streams.assignors"
RACK_AWARE_TAGS: Final = "group.streams.rack.aware.assignment.tags"
OFFSETS_CODEC: Final = "offsets.topic.compression.codec"
SHARE_CODEC: Final = "share.coordinator.state.topic.compression.codec"

CONSUMER_BUILT_IN: Final = ("uniform", "range")
SHARE_BUILT_IN: Final = ("simple",)
STREAMS_BUILT_IN: Final = ("sticky",)
CODEC_MAX: Final = 4
"""The compression codecs none, gzip, snappy, lz4 and zstd have numbers from 0 to this."""

SHARE_GROUP_COMPARISONS: Final[list[Comparison]] = [
    ("group.share.max.delivery.count.limit", AT_LEAST, "group.share.delivery.count.limit"),
    ("group.share.delivery.count.limit", AT_LEAST, "group.share.min.delivery.count.limit"),
    ("group.share.max.partition.max.record.locks", AT_LEAST, "group.share.partition.max.record.locks"),
    ("group.share.partition.max.record.locks", AT_LEAST, "group.share.min.partition.max.record.locks"),
    ("group.share.record.lock.duration.ms", AT_LEAST, "group.share.min.record.lock.duration.ms"),
    ("group.share.max.record.lock.duration.ms", AT_LEAST, "group.share.record.lock.duration.ms"),
    ("group.share.max.share.sessions", AT_LEAST, "group.share.max.size"),
]

STREAMS_GROUP_COMPARISONS: Final[list[Comparison]] = [
    ("group.streams.num.standby.replicas", AT_MOST, "group.streams.max.standby.replicas"),
    ("group.streams.task.offset.interval.ms", AT_LEAST, "group.streams.min.task.offset.interval.ms"),
    ("group.streams.num.warmup.replicas", AT_MOST, "group.streams.max.warmup.replicas"),
]


def check_groups(values: DefinedValues) -> None:
    """Checks all keys of groups in Kafka's order."""
    _check_assignors(values, CONSUMER_ASSIGNORS, CONSUMER_BUILT_IN)
    _check_codec(values, OFFSETS_CODEC)
    _check_assignors(values, SHARE_ASSIGNORS, SHARE_BUILT_IN)
    _check_assignors(values, STREAMS_ASSIGNORS, STREAMS_BUILT_IN)
    for kind in ("consumer", "share", "streams"):
        _compare_within(values, kind, "heartbeat.interval.ms")
        _compare_within(values, kind, "session.timeout.ms")
        _compare(values, (f"group.{kind}.heartbeat.interval.ms", LESS, f"group.{kind}.session.timeout.ms"))
        if kind == "share" and len(values.items(SHARE_ASSIGNORS)) != 1:
            found = len(values.items(SHARE_ASSIGNORS))
            values.refuse([SHARE_ASSIGNORS], f"{SHARE_ASSIGNORS} must have one assignor: it has {found}")
        _compare_within(values, kind, "assignment.interval.ms")
    for comparison in STREAMS_GROUP_COMPARISONS:
        _compare(values, comparison)
    tags = split_list(values.properties.get(RACK_AWARE_TAGS, ""))
    if len(set(tags)) < len(tags):
        values.refuse([RACK_AWARE_TAGS], f"{RACK_AWARE_TAGS} names a tag twice: {', '.join(tags)}")
    for comparison in SHARE_GROUP_COMPARISONS:
        _compare(values, comparison)
    _check_codec(values, SHARE_CODEC)


def check_protocols(values: DefinedValues) -> None:
    """Checks the group protocols that brokers support."""
    if "classic" not in values.items(PROTOCOLS):
        values.refuse(
            [PROTOCOLS],
            f"Invalid value {values.properties[PROTOCOLS]} for configuration {PROTOCOLS}: "
            "classic must be one of them.",
        )


def _compare_within(values: DefinedValues, kind: str, key: str) -> None:
    smallest, own, largest = (f"group.{kind}.{bound}{key}" for bound in ("min.", "", "max."))
    _compare(values, (largest, AT_LEAST, smallest))
    _compare(values, (own, AT_LEAST, smallest))
    _compare(values, (own, AT_MOST, largest))


def _compare(values: DefinedValues, comparison: Comparison) -> None:
    left_key, relation, right_key = comparison
    left, right = values.integer(left_key), values.integer(right_key)
    holds = left >= right if relation == AT_LEAST else left <= right if relation == AT_MOST else left < right
    if not holds:
        values.refuse([left_key, right_key], f"{left_key} must be {relation} {right_key}: {left} and {right}")


def _check_assignors(values: DefinedValues, key: str, built_in: tuple[str, ...]) -> None:
    for assignor in values.items(key):
        if assignor not in built_in and not names_a_class(assignor):
            text = values.properties[key]
            values.refuse(
                [key], f"Invalid value {text} for configuration {key}: Class {assignor} cannot be found"
            )


def _check_codec(values: DefinedValues, key: str) -> None:
    codec = values.integer(key)
    if not 0 <= codec <= CODEC_MAX:
        values.refuse(
            [key], f"Invalid value {codec} for configuration {key}: Unknown compression type id: {codec}"
        )
