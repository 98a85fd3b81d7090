"""All that an explanation may use: the log, what the leader of the quorum knows, and a status."""

from __future__ import annotations

from dataclasses import dataclass, field
from shlex import quote

from kraftctl.explain.mark import age_text
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.config_definitions.config_key import ConfigValue, InvalidConfigValueError
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.counted_text import counted

RECENT_MS = 3_000
"""A replica that runs fetches each half second, and a broker sends a heartbeat each two seconds."""

SILENT_MS = 8_000
"""A replica that has not fetched for this long is not running, or cannot reach the leader."""

OF_TOPIC = "topic"
OF_CLUSTER = "cluster"
"""A config has its value from one of these, or from the default."""


@dataclass(frozen=True)
class ReplicaFetch:
    """What the leader knows of a replica, voter, observer or broker, by its latest Fetch."""

    replica_id: int
    directory_id: bytes
    is_voter: bool
    log_end_offset: int
    """The end of its log, exclusive; -1 before it has fetched."""
    fetch_age_ms: int | None
    caught_up_age_ms: int | None
    """The time since it had everything that the leader had; None for never."""


@dataclass(frozen=True)
class LeaderView:
    """The quorum as its leader describes it."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    replicas: dict[int, ReplicaFetch]
    """The replicas by id; of one that is a voter and an observer, with two directories, the voter."""
    returned_ids: frozenset[int] = frozenset()
    """The ids of voters under which another directory fetches as an observer."""
    log_end_offset: int = -1
    """The end of the leader's log, exclusive."""
    uncommitted_ms: int = 0
    """For how long records before that end were seen that are not committed."""


@dataclass(frozen=True)
class NoLeaderView:
    """The state of the controllers that were asked while no leader was found; `lines` has one for each."""

    asked_count: int
    reached_count: int
    lines: list[str]
    unreached_leader_id: int | None = None
    """The leader that controllers of the latest epoch name, and that was not reached."""


@dataclass(frozen=True)
class BrokerContact:
    """What the active controller's status says of one broker."""

    heartbeat_age_ms: int | None
    """None without a session: it has expired, or the broker was not heard of yet."""
    metadata_offset: int | None
    """The offset up to which the broker has read the log, as its heartbeats say."""


def connection_of(bootstrap_controllers: str, command_config: object) -> str:
    """Returns the flags of a connection, as a shell needs them; `command_config` is a path, or None."""
    flags = f"--bootstrap-controller {quote(bootstrap_controllers)}"
    return flags if command_config is None else f"{flags} --command-config {quote(str(command_config))}"


@dataclass(frozen=True)
class ClusterEvidence:
    """The log is always there; `quorum` and `contacts` only where a controller was asked."""

    log: ReplayedLog
    now_ms: int
    quorum: LeaderView | None = None
    contacts: dict[int, BrokerContact] = field(default_factory=dict)
    left_out_contacts: int = 0
    """The number of brokers that the status does not show: nothing follows from their absence in it."""
    connection: str = "--bootstrap-controller HOST:PORT"
    """The flags with which a command reaches the controllers that were asked."""

    @property
    def image(self) -> MetadataImage:
        return self.log.image

    @property
    def voters(self) -> list[int]:
        """The ids of the voters; empty if not known: snapshots of static quorums do not have them."""
        if self.quorum is not None:
            return sorted(each.replica_id for each in self.quorum.replicas.values() if each.is_voter)
        return sorted(self.log.voters)

    def fetch_of(self, replica_id: int) -> ReplicaFetch | None:
        """Returns what the leader knows of a replica; None if no leader was asked, or knows nothing."""
        return None if self.quorum is None else self.quorum.replicas.get(replica_id)

    def is_heard(self, broker_id: int) -> bool:
        """Returns whether the active controller had a heartbeat of a broker just before its status."""
        contact = self.contacts.get(broker_id)
        age_ms = None if contact is None else contact.heartbeat_age_ms
        return age_ms is not None and age_ms <= RECENT_MS

    def contact_text(self, broker_id: int) -> str:
        """Returns when a broker was heard of, as far as a controller says so; otherwise an empty text."""
        name, fetched = f"broker {broker_id}", ""
        fetch, contact = self.fetch_of(broker_id), self.contacts.get(broker_id)
        if fetch is not None and fetch.fetch_age_ms is not None:
            fetched = f"the last fetch of {name} was {age_text(fetch.fetch_age_ms)} ago"
        elif self.quorum is not None and fetch is None:
            fetched = f"the leader of the quorum, {self.quorum.leader_id}, knows no fetch of {name}"
        if contact is None:
            return fetched
        if contact.heartbeat_age_ms is None:
            heard = f"{name} has no session with the active controller"
        else:
            age = age_text(contact.heartbeat_age_ms)
            is_recent = contact.heartbeat_age_ms <= RECENT_MS
            heard = (
                f"{name} sent a heartbeat {age} ago" if is_recent else f"{name} sent no heartbeat for {age}"
            )
        return "; ".join(
            filter(None, (heard, fetched.replace(f"the last fetch of {name}", "its last fetch")))
        )

    def left_out_text(self, broker_id: int) -> str:
        """Returns that the status may leave a broker out; empty if it shows it, or all."""
        if not self.left_out_contacts or broker_id in self.contacts:
            return ""
        return (
            f"the status shows {counted(len(self.contacts), 'broker')} and leaves out"
            f" {self.left_out_contacts:,}, with broker {broker_id}: its heartbeats are not known"
        )

    def topic_config(self, topic: str, name: str) -> tuple[ConfigValue | None, str]:
        """Returns the value of a topic config that the log has, and its source.

        One that cannot be used is inherited, as the service does it. The properties files of controllers are
        not in the log: the default counts without a value there.
        """
        definition, configurations = TOPIC_CONFIG_KEYS[name], self.image.configurations
        for kind, resource, source in ((TOPIC, topic, OF_TOPIC), (BROKER, CLUSTER_DEFAULT, OF_CLUSTER)):
            text = configurations.config(kind, resource).get(name)
            if text is None:
                continue
            try:
                return definition.parse(text), source
            except InvalidConfigValueError:
                continue
        return definition.default_value, "default; the properties files of controllers may have another"
