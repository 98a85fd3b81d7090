"""The state of a cluster at an offset, from the tables of versions, and what of it is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.readable_configs import is_readable
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.not_known import NotKnown, decode_not_known
from kraftctl_spark.history.past_point import PastPoint
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import KNOWN_RANGES, NOT_KNOWN
from kraftctl_spark.history.versions.keyed import entity_key
from kraftctl_spark.restore.cluster_state import (
    ClusterState,
    NamedAcl,
    QuotaKey,
    ResourceConfig,
    ScramIdentity,
    TopicReplicas,
)
from kraftctl_spark.rows.redaction import is_redacted
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.not_understood import BEHIND_WHICH_TABLES_ARE_LOST

TABLES: Final = (
    "topics",
    "partitions",
    "brokers",
    "configs",
    "acls",
    "quotas",
    "features",
    "scram_credentials",
    "delegation_tokens",
)

RESOURCE_TYPES: Final = {name: number for number, name in CONFIG_RESOURCES.items()}


@dataclass(frozen=True)
class UnknownTable:
    """A table that is not known at the asked offset, and the last offset at which it was."""

    table: str
    last_known: int
    since: str
    """Since when, and why."""

    def __str__(self) -> str:
        return f"{self.table}: not known {self.since}"


@dataclass(frozen=True)
class PastState:
    """The state, with what of it is older than was asked for."""

    state: ClusterState
    offset: int
    time: str
    """The time of the offset; empty where that is no date."""
    unknown: tuple[UnknownTable, ...]


def past_state(history: Path, point: PastPoint) -> PastState:
    """Returns the state at a point; of a table that is not known there, the last one that is known.

    ExportRefusedError where nothing before the offset is known.
    """
    offset = point.offset
    ranges = decode_ranges(read_versions(history, KNOWN_RANGES))
    known = [one for one in ranges if one.start_offset <= offset < one.end_offset]
    before = [one for one in ranges if one.end_offset <= offset]
    if not known and not before:
        raise ExportRefusedError(f"what was at offset {offset} is not known: the history begins later")
    rows = decode_not_known(read_versions(history, NOT_KNOWN))
    unknown = list(_unknown(rows, known[0], offset) if known else _in_gap(rows, before[-1]))
    at = {one.table: one.last_known for one in unknown}
    tables = {name: _rows_at(history, name, at.get(name, offset)) for name in TABLES}
    time = "" if point.time_us is None else shown_us(point.time_us)
    return PastState(_state((known or before)[-1].cluster_id, tables), offset, time, tuple(unknown))


def _unknown(rows: list[NotKnown], known: KnownRange, offset: int) -> Iterator[UnknownTable]:
    first: dict[str, NotKnown] = {}
    for row in rows:
        is_lost = row.reason in BEHIND_WHICH_TABLES_ARE_LOST and row.history_table is not None
        if is_lost and known.start_offset <= row.start_offset <= offset:
            first.setdefault(str(row.history_table), row)
    for table, row in sorted(first.items()):
        if table in TABLES:
            yield UnknownTable(table, max(known.start_offset, row.start_offset - 1), _since(row))


def _in_gap(rows: list[NotKnown], before: KnownRange) -> Iterator[UnknownTable]:
    last = before.end_offset - 1
    causes = [row for row in rows if row.start_offset == before.end_offset and row.history_table is None]
    since = _since(causes[0]) if causes else f"since offset {before.end_offset}: the log has a gap there"
    for table in TABLES:
        yield UnknownTable(table, last, since)


def _since(row: NotKnown) -> str:
    when = "" if row.start_time_us is None else f" ({shown_us(row.start_time_us)})"
    return f"since offset {row.start_offset}{when}: {row.reason}, {row.subject}"


def shown_us(time_us: int) -> str:
    """Returns a time as --as-of takes it."""
    return (
        datetime.fromtimestamp(time_us / 1_000_000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def _rows_at(history: Path, table: str, offset: int) -> list[dict[str, Any]]:
    found = read_versions(history, table)
    ends = found.column("valid_to_offset")
    is_valid = pc.and_(
        pc.less_equal(found.column("valid_from_offset"), offset),
        pc.or_kleene(pc.is_null(ends), pc.greater(ends, offset)),
    )
    valid = found.filter(pc.fill_null(is_valid, False))
    times = [name for name in valid.column_names if pa.types.is_timestamp(valid.schema.field(name).type)]
    rows: list[dict[str, Any]] = valid.drop_columns(times).to_pylist()
    return rows


def _state(cluster_id: str, tables: dict[str, list[dict[str, Any]]]) -> ClusterState:
    return ClusterState(
        cluster_id,
        topics=_topics(tables["topics"], tables["partitions"]),
        configs=dict(map(_config, tables["configs"])),
        acls=frozenset(NamedAcl(*(row[name] for name in NamedAcl._fields)) for row in tables["acls"]),
        quotas={QuotaKey(entity_key(row["entity"]), row["key"]): row["value"] for row in tables["quotas"]},
        users={
            ScramIdentity(row["user"], row["mechanism"]): row["iterations"]
            for row in tables["scram_credentials"]
        },
        features={row["name"]: row["level"] for row in tables["features"]},
        tokens=tuple(row["token_id"] for row in tables["delegation_tokens"]),
        brokers=frozenset(row["broker_id"] for row in tables["brokers"]),
    )


def _topics(topics: list[dict[str, Any]], partitions: list[dict[str, Any]]) -> dict[str, TopicReplicas]:
    replicas: dict[str, dict[int, tuple[int, ...]]] = {row["topic_id"]: {} for row in topics}
    for row in partitions:
        if row["topic_id"] in replicas:
            adding = set(row["adding_replicas"] or ())  # A reassignment that has not ended is not repeated.
            kept = tuple(broker for broker in row["replicas"] if broker not in adding)
            replicas[row["topic_id"]][row["partition_id"]] = kept or tuple(row["replicas"])
    return {
        row["topic"]: TopicReplicas(
            tuple(one for _, one in sorted(replicas[row["topic_id"]].items())), row["topic_id"]
        )
        for row in topics
    }


def _config(row: dict[str, Any]) -> tuple[ResourceConfig, str | None]:
    config = ResourceConfig(row["resource_type"], row["resource_name"], row["name"])
    value: str | None = row["value"]
    number = RESOURCE_TYPES.get(config.resource_type)
    is_shown = number is not None and is_readable(number, config.key)
    return config, value if is_shown and value is not None and not is_redacted(value) else None
