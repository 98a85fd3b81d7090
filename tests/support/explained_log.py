"""Makes a log of one cluster for explanations: each record is a second after the one before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kraftctl.explain.evidence import BrokerContact, ClusterEvidence, LeaderView, ReplicaFetch
from kraftctl.explain.explanation import Explanation
from kraftctl.explain.mark import Mark
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.metadata.broker_registration_change import FENCE, IN_CONTROLLED_SHUTDOWN, UNFENCE
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import ControllerFeature, RegisterControllerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.message import Message

Ask = Callable[[ClusterEvidence], Explanation]

BEGAN_MS = 1_800_000_000_000
"""08:00:00 in UTC."""


def directory(broker_id: int, number: int = 0) -> bytes:
    """The id of a log directory of a broker."""
    return bytes([0xD1, broker_id, number]) + bytes(13)


class ExplainedLog:
    """Writes records; `evidence` is what an explanation gets after all of them."""

    def __init__(self) -> None:
        self.log = ReplayedLog()
        self.offset = 99
        self.in_snapshot = False
        """Whether the records up to now are read from a snapshot."""
        self.now_ms = BEGAN_MS
        self.contacts: dict[int, BrokerContact] = {}
        self.fetches: dict[int, ReplicaFetch] = {}
        self.leader_id: int | None = None
        self.returned_ids: frozenset[int] = frozenset()
        self.uncommitted_ms = 0

    def write(self, *records: Message) -> Mark:
        """Writes one batch; the mark is that of its first record."""
        self.now_ms += 1_000
        first = self.offset + 1
        for record in records:
            self.offset += 1
            self.log.apply(record, Mark(self.offset, self.now_ms, self.in_snapshot))
        self.log.end_offset = self.offset + 1
        return Mark(first, self.now_ms)

    def evidence(self, after_ms: int = 10_000) -> ClusterEvidence:
        view = None
        if self.leader_id is not None:
            end = self.log.end_offset
            view = LeaderView(
                self.leader_id, 7, end, self.fetches, self.returned_ids, end + 50, self.uncommitted_ms
            )
        return ClusterEvidence(self.log, self.now_ms + after_ms, view, self.contacts)

    def fetched(
        self, replica_id: int, age_ms: int | None, *, voter: bool = False, end: int = -1, behind_ms: int = 0
    ) -> None:
        """Says what the leader, 1 without another, knows of a replica."""
        self.leader_id = 1 if self.leader_id is None else self.leader_id
        self.fetches[replica_id] = ReplicaFetch(replica_id, bytes(16), voter, end, age_ms, behind_ms)

    def feature(self, name: str, level: int) -> Mark:
        return self.write(FeatureLevelRecord(name=name, feature_level=level))

    def register(self, *ids: int, directories: int = 1, levels: tuple[int, int] = (7, 30)) -> None:
        """Registers brokers, which are fenced."""
        for broker_id in ids:
            self.write(
                RegisterBrokerRecord(
                    broker_id=broker_id,
                    broker_epoch=self.offset + 1,
                    incarnation_id=bytes([broker_id]) * 16,
                    fenced=True,
                    log_dirs=[directory(broker_id, number) for number in range(directories)],
                    features=[
                        BrokerFeature(
                            name="metadata.version",
                            min_supported_version=levels[0],
                            max_supported_version=levels[1],
                        )
                    ],
                )
            )

    def brokers(self, *ids: int, directories: int = 1, levels: tuple[int, int] = (7, 30)) -> None:
        """Registers and unfences brokers."""
        self.register(*ids, directories=directories, levels=levels)
        for broker_id in ids:
            self.write(self._change(broker_id, fenced=UNFENCE))

    def fence(self, broker_id: int, *with_it: Message) -> Mark:
        """Fences a broker in the same batch as the changes of its partitions."""
        return self.write(self._change(broker_id, fenced=FENCE), *with_it)

    def leave(self, broker_id: int, *with_it: Message) -> Mark:
        return self.write(self._change(broker_id, in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN), *with_it)

    def lose_directory(self, broker_id: int, left: Sequence[int]) -> Mark:
        return self.write(self._change(broker_id, log_dirs=[directory(broker_id, each) for each in left]))

    def unregister(self, broker_id: int) -> Mark:
        epoch = self.log.image.cluster.brokers[broker_id].epoch
        return self.write(UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch))

    def controllers(self, *ids: int, levels: tuple[int, int] = (7, 30)) -> None:
        for controller_id in ids:
            feature = ControllerFeature(
                name="metadata.version", min_supported_version=levels[0], max_supported_version=levels[1]
            )
            self.write(RegisterControllerRecord(controller_id=controller_id, features=[feature]))

    def unregister_controller(self, controller_id: int) -> Mark:
        return self.write(UnregisterControllerRecord(controller_id=controller_id))

    def voters(self, *ids: int) -> None:
        self.log.voters = {each: bytes(16) for each in ids}
        self.log.leader_id, self.log.leader_epoch = ids[0], 7

    def topic(self, name: str, *partitions: PartitionRecord) -> Mark:
        topic_id = name.encode().ljust(16, b".")
        for index, partition in enumerate(partitions):
            partition.topic_id, partition.partition_id = topic_id, index
        return self.write(TopicRecord(name=name, topic_id=topic_id), *partitions)

    def config(self, name: str, value: str, topic: str | None = None) -> Mark:
        kind, resource = (BROKER, CLUSTER_DEFAULT) if topic is None else (TOPIC, topic)
        return self.write(ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value))

    def _change(self, broker_id: int, **fields: Any) -> BrokerRegistrationChangeRecord:
        epoch = self.log.image.cluster.brokers[broker_id].epoch
        return BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=epoch, **fields)


def partition(replicas: list[int], **fields: Any) -> PartitionRecord:
    """A partition led by its first replica, with all in sync unless `fields` have it otherwise."""
    values: dict[str, Any] = {
        "replicas": replicas,
        "isr": replicas,
        "leader": replicas[0],
        "directories": [directory(each) for each in replicas],
        **fields,
    }
    return PartitionRecord(**values)


def change(topic: str, index: int, **fields: Any) -> PartitionChangeRecord:
    """A change of one partition."""
    return PartitionChangeRecord(partition_id=index, topic_id=topic.encode().ljust(16, b"."), **fields)


Make = Callable[[ExplainedLog], None]


def check_explanation(make: Make, ask: Ask, statement: str, first_cause: str | None, next_step: str) -> None:
    """Checks the explanation of the situation that `make` writes; without a next step nothing is wrong."""
    log = ExplainedLog()
    make(log)
    explanation = ask(log.evidence())
    assert explanation.statement.text == statement
    assert (explanation.causes[0].text if explanation.causes else None) == first_cause
    assert explanation.next_step == next_step
    assert explanation.is_healthy == (next_step == "" or statement.startswith("All nodes support"))
