"""A cluster in which the controller decides all records, and what `kraftctl explain` reads of it."""

from __future__ import annotations

from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.explain.controller_status import contacts_of
from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import FINE, WRONG, Explanation
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration_change import FENCE
from kraftctl.operate.status import broker_states
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    PartitionData as AssignedPartition,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import TopicData as AssignedTopic
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import Feature as ControllerFeature
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch, read_batches
from tests.support.active_controller import ActiveController, registration
from tests.support.controller_properties import NODE_ID
from tests.support.explained_log import BEGAN_MS
from tests.support.metadata_state import directory

BEAT_MS = 2_000
SESSION_MS = 9_000
"""broker.heartbeat.interval.ms and broker.session.timeout.ms by default."""

UNCLEAN = 1
UPGRADE = 1


class DecidedCluster(ActiveController):
    """`replayed` has the records as their bytes say them; `evidence` is what an explanation gets."""

    def __init__(self, metadata_version: int = features.DEFAULT_METADATA_VERSION, **properties: str) -> None:
        self.replayed = ReplayedLog()
        leads = LeaderChangeMessage(leader_id=NODE_ID, voters=[Voter(voter_id=NODE_ID)])
        first = encode_control_batch(0, 1, BEGAN_MS, [encode_control_record(leads)])
        self.replayed.replay_batches(read_batches(first), 1)
        super().__init__(metadata_version, 1, **properties)

    def write_prepared(self, prepared: PreparedResult) -> None:
        base_offset = self.end_offset
        super().write_prepared(prepared)
        for batch in prepared.batches:
            if batch.values:
                data = encode_batch(base_offset, 1, BEGAN_MS + self.now_ms, batch.values)
                base_offset += len(batch.values)
                self.replayed.replay_batches(read_batches(data), base_offset)

    def evidence(self, *, with_status: bool = False) -> ClusterEvidence:
        """What a log says, and with the status of the active controller."""
        states = broker_states(self.controller, self.now_ms) if with_status else []
        status = {"quorum": {"is_active_controller": self.controller.active}, "brokers": states}
        return ClusterEvidence(self.replayed, BEGAN_MS + self.now_ms, contacts=contacts_of(status))

    def offset_of(self, kind: type[Message], **fields: object) -> int:
        """The offset of the newest record of a kind with these fields."""
        return next(
            offset
            for offset, entry in reversed(self.log)
            if isinstance(entry.record, kind)
            and all(getattr(entry.record, name) == value for name, value in fields.items())
        )

    def fenced_at(self, broker_id: int) -> int:
        return self.offset_of(BrokerRegistrationChangeRecord, broker_id=broker_id, fenced=FENCE)

    # Brokers.

    def live(self, milliseconds: int, *broker_ids: int, read_to: int | None = None) -> None:
        """Lets time pass in which these brokers send heartbeats, and no others."""
        end_ms = self.now_ms + milliseconds
        while True:
            for broker_id in broker_ids:
                self.heartbeat(broker_id, offset=read_to)
            if self.now_ms >= end_ms:
                return
            self.pass_time(min(BEAT_MS, end_ms - self.now_ms))

    def kill(self, *broker_ids: int) -> None:
        """The sessions of these brokers expire, while the other active ones stay."""
        brokers = self.controller.image.cluster.brokers
        others = [each for each in sorted(brokers) if brokers[each].active and each not in broker_ids]
        self.live(SESSION_MS + BEAT_MS, *others)
        assert all(brokers[each].fenced for each in broker_ids)

    def restart(self, broker_id: int, *, number: int, clean: bool = False, directories: int = 1) -> None:
        """Registers the next incarnation; `clean` is after a controlled shutdown (KIP-966)."""
        request = registration(broker_id, number=number, directories=directories)
        if clean:
            request.previous_broker_epoch = self.controller.image.cluster.brokers[broker_id].epoch
        assert self.request(request).error_code == 0

    def register_at_level(self, broker_id: int, level: int) -> None:
        """Registers and unfences a broker of an older release."""
        request = registration(broker_id)
        for feature in request.features:
            if feature.name == features.METADATA_VERSION:
                feature.max_supported_version = level
        assert self.request(request).error_code == 0
        assert not self.heartbeat(broker_id).is_fenced

    def unregister(self, broker_id: int) -> None:
        assert self.request(UnregisterBrokerRequest(broker_id=broker_id)).error_code == 0

    def stop(self, broker_id: int) -> None:
        """A controlled shutdown that ends: all active brokers read what the controller writes."""
        self.heartbeat(broker_id, shut_down=True)
        brokers = self.controller.image.cluster.brokers
        for other in sorted(brokers):
            if brokers[other].active:
                self.heartbeat(other)
        assert self.heartbeat(broker_id, shut_down=True).should_shut_down

    def lose_directory(self, broker_id: int, number: int) -> None:
        self.heartbeat(broker_id, offline=[directory(broker_id, number)])

    def place(self, topic: str, broker_id: int, number: int) -> None:
        """A broker reports the log directory of its replica of partition 0."""
        image = self.controller.image
        partition = AssignedPartition(partition_index=0)
        topics = [AssignedTopic(topic_id=image.topics.ids_by_name[topic], partitions=[partition])]
        request = AssignReplicasToDirsRequest(
            broker_id=broker_id,
            broker_epoch=image.cluster.brokers[broker_id].epoch,
            directories=[DirectoryData(id=directory(broker_id, number), topics=topics)],
        )
        assert self.request(request).error_code == 0

    # Partitions.

    def topic(self, name: str, *replicas: list[int]) -> None:
        """A topic with these replicas of its partitions."""
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in enumerate(replicas)
        ]
        topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)
        response = self.request(CreateTopicsRequest(topics=[topic]))
        assert response.topics[0].error_code == 0, response

    def alter_isr(self, topic: str, isr: list[int], index: int = 0) -> None:
        """The leader reports an ISR."""
        image = self.controller.image
        topic_id = image.topics.ids_by_name[topic]
        state = image.topics.topics[topic_id].partitions[index]
        epochs = {each: image.cluster.brokers[each].epoch for each in [*isr, int(state.leader)]}
        partition = PartitionData(
            partition_index=index,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            new_isr_with_epochs=[BrokerState(broker_id=each, broker_epoch=epochs[each]) for each in isr],
        )
        response = self.request(
            AlterPartitionRequest(
                broker_id=int(state.leader),
                broker_epoch=epochs[int(state.leader)],
                topics=[TopicData(topic_id=topic_id, partitions=[partition])],
            )
        )
        assert response.topics[0].partitions[0].error_code in (0, Errors.NEW_LEADER_ELECTED), response

    def reassign(self, topic: str, replicas: list[int] | None, index: int = 0) -> None:
        """None takes the reassignment back."""
        partition = ReassignablePartition(partition_index=index, replicas=replicas)
        topics = [ReassignableTopic(name=topic, partitions=[partition])]
        response = self.request(AlterPartitionReassignmentsRequest(topics=topics))
        assert response.responses[0].partitions[0].error_code == 0, response

    def elect_uncleanly(self, topic: str) -> None:
        partitions = [TopicPartitions(topic=topic, partitions=[0])]
        request = ElectLeadersRequest(election_type=UNCLEAN, topic_partitions=partitions)
        assert self.request(request).error_code == 0

    def changed_at(self, topic: str, index: int = 0) -> int:
        """The offset of the newest change of a partition."""
        topic_id = self.controller.image.topics.ids_by_name[topic]
        return self.offset_of(PartitionChangeRecord, topic_id=topic_id, partition_id=index)

    # The cluster.

    def configure(self, name: str, value: str, *, topic: str | None = None) -> None:
        """Sets a config of a topic, or the default of the cluster."""
        resource = AlterConfigsResource(
            resource_type=BROKER if topic is None else TOPIC,
            resource_name=topic or "",
            configs=[AlterableConfig(name=name, config_operation=0, value=value)],
        )
        response = self.request(IncrementalAlterConfigsRequest(resources=[resource]))
        assert response.responses[0].error_code == 0, response

    def register_controller(self, controller_id: int, levels: tuple[int, int]) -> None:
        feature = ControllerFeature(
            name=features.METADATA_VERSION,
            min_supported_version=levels[0],
            max_supported_version=levels[1],
        )
        request = ControllerRegistrationRequest(
            controller_id=controller_id, incarnation_id=controller_id.to_bytes(16, "big"), features=[feature]
        )
        assert self.request(request).error_code == 0

    def why_not_raised(self, level: int, name: str = features.METADATA_VERSION) -> str | None:
        """Asks the controller to raise a feature; None if it does."""
        update = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=UPGRADE)
        response = self.request(UpdateFeaturesRequest(feature_updates=[update]), 2)
        return response.error_message if response.error_code else None


def check_decided(
    explanation: Explanation, statement: str, first_cause: str | None, next_step: str, since: int | None
) -> None:
    """Checks an explanation; `since` is the offset of its first cause, or without one of the statement."""
    assert explanation.statement.text == statement
    assert (explanation.causes[0].text if explanation.causes else None) == first_cause
    assert explanation.next_step == next_step
    mark = (explanation.causes[0] if explanation.causes else explanation.statement).since
    assert (None if mark is None else mark.offset) == since
    assert explanation.verdict == (WRONG if next_step else FINE)
