"""The stage of the history: versions so far and committed records, in log order, give more versions.

Its whole state is the versions that are still open: a stage made from those continues as if nothing had
happened. The cost of a record does not depend on how long the history is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from kraftctl_spark.history import events
from kraftctl_spark.history.brokers import Brokers
from kraftctl_spark.history.events import Event
from kraftctl_spark.history.keyed import Keyed
from kraftctl_spark.history.kinds import KINDS
from kraftctl_spark.history.partitions import Topics
from kraftctl_spark.history.versions import Change, Moment, Version, Versions

Handler = Callable[[tuple[Any, ...], Moment], None]

LISTS = (
    "replicas",
    "isr",
    "adding_replicas",
    "removing_replicas",
    "eligible_leader_replicas",
    "last_known_elr",
    "directories",
)
"""What a partition and a change of it both have for its replicas."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "topic_record": ("name", "topic_id"),
    "remove_topic_record": ("topic_id",),
    "partition_record": (
        "topic_id",
        "partition_id",
        "leader",
        "leader_epoch",
        "partition_epoch",
        "leader_recovery_state",
        *LISTS,
    ),
    "partition_change_record": (
        "topic_id",
        "partition_id",
        "leader",
        "leader_recovery_state",
        *LISTS,
    ),
    "clear_elr_record": ("topic_name",),
    "config_record": ("resource_type", "resource_name", "name", "value"),
    "register_broker_record": (
        "broker_id",
        "broker_epoch",
        "incarnation_id",
        "rack",
        "end_points",
        "features",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
    ),
    "broker_registration_change_record": (
        "broker_id",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
    ),
    "fence_broker_record": ("id",),
    "unfence_broker_record": ("id",),
    "unregister_broker_record": ("broker_id",),
    "register_controller_record": (
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "end_points",
        "features",
    ),
    "feature_level_record": ("name", "feature_level"),
    "client_quota_record": ("entity", "key", "value", "remove"),
    "access_control_entry_record": (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    ),
    "remove_access_control_entry_record": ("id",),
    "user_scram_credential_record": ("name", "mechanism", "iterations"),
    "remove_user_scram_credential_record": ("name", "mechanism"),
    "delegation_token_record": (
        "token_id",
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
    ),
    "remove_delegation_token_record": ("token_id",),
    "producer_ids_record": ("next_producer_id",),
    "leader_change_message": ("leader_id", "log_epoch", "voters"),
    "voters_record": ("voters",),
    "kraft_version_record": ("kraft_version",),
}
"""The typed tables that have a part in the state, with the columns that each handler takes."""


class Record(NamedTuple):
    """A row of a typed table that was not aborted."""

    table: str
    row: tuple[Any, ...]
    """In the order of `COLUMNS`."""
    at: Moment


class HistoryStage:
    """Versions of all kinds."""

    def __init__(self, still_open: Mapping[str, Iterable[Version]] | None = None) -> None:
        found = still_open or {}
        self._changes: list[Change] = []
        """Of all kinds, in their order."""
        self._events: list[Event] = []
        self.versions = {kind.name: Versions(kind, found.get(kind.name, ()), self._changes) for kind in KINDS}
        self._handlers = self._made_handlers()

    def apply(self, records: Iterable[Record]) -> None:
        """In log order, those of a snapshot in its own."""
        handlers = self._handlers
        for table, row, at in records:
            handlers[table](row, at)

    def end_at_gap(self, offset: int, time_us: int | None) -> None:
        """Known up to this offset (exclusive); a snapshot follows that begins everything again."""
        for versions in self.versions.values():
            versions.end_at_gap(offset, time_us)
        self._handlers = self._made_handlers()
        self._events += [*self.take_events(), events.gap(offset, time_us)]

    def begin_with_snapshot(self, offset: int, time_us: int | None, after: str) -> None:
        """Its records follow; `after` says what it is."""
        self._events += [*self.take_events(), events.snapshot(Moment(offset, time_us, True), after)]

    def take_closed(self) -> dict[str, list[Version]]:
        """By kind, each in the order in which they ended."""
        return {name: versions.take_closed() for name, versions in self.versions.items()}

    def take_events(self) -> list[Event]:
        """In their order; each is returned once."""
        found = [*self._events, *events.events_of(self._changes)]
        self._events.clear()
        self._changes.clear()
        return found

    def still_open(self) -> dict[str, list[Version]]:
        """By kind, each in the order in which they began."""
        return {name: versions.still_open() for name, versions in self.versions.items()}

    def _made_handlers(self) -> dict[str, Handler]:
        of = self.versions
        topics = Topics(of["topics"], of["partitions"], of["configs"])
        brokers, keyed = Brokers(of["brokers"]), Keyed(of)
        return {
            "topic_record": topics.topic,
            "remove_topic_record": topics.remove_topic,
            "partition_record": topics.partition,
            "partition_change_record": topics.change,
            "clear_elr_record": topics.clear_elr,
            "config_record": topics.config,
            "register_broker_record": brokers.register,
            "broker_registration_change_record": brokers.change,
            "fence_broker_record": brokers.fence,
            "unfence_broker_record": brokers.unfence,
            "unregister_broker_record": brokers.unregister,
            "register_controller_record": keyed.controller,
            "feature_level_record": keyed.feature,
            "client_quota_record": keyed.quota,
            "access_control_entry_record": keyed.acl,
            "remove_access_control_entry_record": keyed.remove_acl,
            "user_scram_credential_record": keyed.scram_credential,
            "remove_user_scram_credential_record": keyed.remove_scram_credential,
            "delegation_token_record": keyed.token,
            "remove_delegation_token_record": keyed.remove_token,
            "producer_ids_record": keyed.producer_ids,
            "leader_change_message": keyed.leader,
            "voters_record": keyed.voters,
            "kraft_version_record": keyed.kraft_version,
        }
