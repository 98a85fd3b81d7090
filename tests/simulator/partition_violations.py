"""What no log may say of partitions and brokers, and no broker may see, as scripts."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.metadata import features
from kraftctl.node.events import WriteSnapshot
from kraftctl.raft.effects import (
    AppendBatch,
)
from kraftctl_protocol.generated import alter_partition_request, alter_partition_response
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, read_batch
from tests.support.simulator.cluster.scripted_quorum import IDS, METADATA_VERSION, ScriptedQuorum

TOPIC = (7).to_bytes(16, "big")
DIRECTORY = (1_000).to_bytes(16, "big")
ELR = FeatureLevelRecord(name=features.ELIGIBLE_LEADER_REPLICAS_VERSION, feature_level=1)

Violation = Callable[[ScriptedQuorum], object]


def record_of_no_known_type(quorum: ScriptedQuorum) -> None:
    data = encode_batch(1, 1, 0, [b"\x01\x7f\x00"])
    quorum.leader.carry_out(AppendBatch(1, 1, 1, data, False))


def image_without_a_record(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.commit(TopicRecord(name="foo", topic_id=TOPIC))
    quorum.other.controller.image.topics.replay_remove_topic(TOPIC)
    quorum.checks.checkpoint(quorum.processes)


def snapshot_without_a_record(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.other.carry_out(WriteSnapshot(OffsetAndEpoch(2, 1), []))


def snapshot_of_what_is_not_committed(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.leader.carry_out(WriteSnapshot(OffsetAndEpoch(2, 1), []))


def image_with_a_registration_of_before(quorum: ScriptedQuorum) -> None:
    """As if the record had been replayed with the offset of another one."""
    brokers(quorum)
    for process in quorum.processes:
        process.controller.image.cluster.registration_offsets[1] = 0
    quorum.checks.checkpoint(quorum.processes)


# Partitions and brokers.


def brokers(quorum: ScriptedQuorum, *fenced: int, elr: bool = False) -> None:
    """Brokers 1, 2 and 3."""
    quorum.commit(METADATA_VERSION)
    if elr:
        quorum.commit(ELR)
    for broker_id in (1, 2, 3):
        quorum.commit(broker(quorum, broker_id, fenced=broker_id in fenced))


def broker(quorum: ScriptedQuorum, broker_id: int, *, fenced: bool = False) -> RegisterBrokerRecord:
    """As the next record of the log."""
    levels = {features.METADATA_VERSION: (1, 99), features.ELIGIBLE_LEADER_REPLICAS_VERSION: (0, 1)}
    return RegisterBrokerRecord(
        broker_id=broker_id,
        broker_epoch=quorum.leader.partition.log.end_offset,
        incarnation_id=quorum.leader.partition.log.end_offset.to_bytes(16, "big"),
        fenced=fenced,
        log_dirs=[DIRECTORY],
        features=[
            BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in levels.items()
        ],
    )


def partition(
    replicas: list[int],
    isr: list[int],
    leader: int,
    *,
    recovering: bool = False,
    elr: list[int] | None = None,
) -> tuple[TopicRecord, PartitionRecord]:
    topic = TopicRecord(name="foo", topic_id=TOPIC)
    return topic, PartitionRecord(
        partition_id=0,
        topic_id=TOPIC,
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_recovery_state=int(recovering),
        leader_epoch=0,
        partition_epoch=0,
        directories=[DIRECTORY] * len(replicas),
        eligible_leader_replicas=elr,
    )


def change(
    *,
    isr: list[int] | None = None,
    leader: int = -2,
    elr: list[int] | None = None,
    last_known: list[int] | None = None,
) -> PartitionChangeRecord:
    return PartitionChangeRecord(
        partition_id=0,
        topic_id=TOPIC,
        isr=isr,
        leader=leader,
        eligible_leader_replicas=elr,
        last_known_elr=last_known,
    )


def partition_with_a_fenced_member(quorum: ScriptedQuorum) -> None:
    brokers(quorum, 2)
    quorum.commit(*partition([1, 2, 3], [1, 2], 1))


def broker_that_is_fenced_in_an_isr(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2, 3], [1, 2], 1))
    epoch = quorum.leader.partition.log.batches[3].base_offset
    quorum.commit(BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=epoch, fenced=1))


def elr_beside_a_full_isr(quorum: ScriptedQuorum) -> None:
    brokers(quorum, elr=True)
    quorum.commit(*partition([1, 2, 3], [1, 2], 1, elr=[3]))


def elr_that_overlaps(quorum: ScriptedQuorum) -> None:
    brokers(quorum, elr=True)
    quorum.commit(*partition([1, 2, 3], [1], 1, elr=[1]))


def isr_with_a_stranger(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 3], 1))


def leader_outside_of_the_isr(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [2], 1))


def leader_lost_for_nothing(quorum: ScriptedQuorum) -> None:
    """As if its leader's directory were looked up among those of another broker."""
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1], 1))
    quorum.commit(change(leader=-1))


def leader_dropped_from_the_isr(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([3, 1, 2], [1, 2], 1))
    quorum.commit(change(isr=[2], leader=2))


def replica_eligible_and_not_elected(quorum: ScriptedQuorum) -> None:
    brokers(quorum, 1, elr=True)
    quorum.commit(*partition([1, 2], [], -1, elr=[1, 2]))


def leader_changed_for_nothing(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 1))
    quorum.commit(change(leader=2))


def partition_changed_twice_in_the_same_way(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], leader=1))
    quorum.commit(change(isr=[1]), change(isr=[1]))


def partition_created_twice(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 1))
    quorum.commit(partition([1, 2], [1, 2], 1)[1])


def recovering_leader_with_followers(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 1, recovering=True))


def forgotten_last_leader(quorum: ScriptedQuorum) -> None:
    brokers(quorum, elr=True)
    quorum.commit(*partition([1, 2], [1], 1))
    quorum.commit(change(isr=[], leader=-1, elr=[]))


def last_leader_that_is_no_broker(quorum: ScriptedQuorum) -> None:
    brokers(quorum, 1, elr=True)
    quorum.commit(*partition([1, 2], [1], -1))
    quorum.commit(change(isr=[], leader=-1, elr=[], last_known=[-1]))


def leader_that_may_lack_data(quorum: ScriptedQuorum) -> None:
    brokers(quorum, 1, elr=True)
    quorum.commit(*partition([1, 2], [], -1, elr=[1]))
    quorum.commit(change(isr=[2], leader=2, elr=[], last_known=[]))


def isr_change_of_an_old_view(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2, 3], [1], 1))
    data = alter_partition_request.PartitionData(partition_index=0, leader_epoch=0, partition_epoch=5)
    topic = alter_partition_request.TopicData(topic_id=TOPIC, partitions=[data])
    leader = quorum.leader
    leader.do(leader.request(AlterPartitionRequest(broker_id=1, topics=[topic]), 5))
    accepted = alter_partition_response.PartitionData(partition_index=0)
    answer = alter_partition_response.TopicData(topic_id=TOPIC, partitions=[accepted])
    leader.respond(5, AlterPartitionResponse(topics=[answer]))


def unclean_election_that_is_not_allowed(quorum: ScriptedQuorum) -> None:
    quorum.checks.partitions.may_ask_for_unclean = False
    brokers(quorum, 1)
    quorum.commit(*partition([1, 2, 3], [1], -1))
    unclean = change(isr=[2], leader=2)
    unclean.leader_recovery_state = 1
    quorum.commit(unclean)


def broker_epoch_of_another_offset(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    record = broker(quorum, 1)
    record.broker_epoch += 1
    quorum.commit(record)


def level_that_a_broker_lacks(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(FeatureLevelRecord(name="group.version", feature_level=1))


# What brokers see.


def applied(quorum: ScriptedQuorum, batch: AppendBatch, life: int = 1) -> None:
    quorum.checks.brokers.applied(1, life, read_batch(batch.batch, 0), batch.batch)


def broker_that_is_sent_uncommitted_records(quorum: ScriptedQuorum) -> None:
    batch = quorum.leader.append(IDS)
    quorum.checks.brokers.told_high_watermark(1, 1, 1)
    applied(quorum, quorum.leader.partition.log.batches[0])
    applied(quorum, batch)


def broker_that_misses_a_batch(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.checks.brokers.told_high_watermark(1, 1, 2)
    applied(quorum, quorum.leader.partition.log.batches[1])


def broker_that_is_answered_less(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.checks.brokers.told_high_watermark(1, 1, 2)
    quorum.checks.brokers.told_high_watermark(1, 1, 1)


def broker_that_is_answered_too_much(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.checks.brokers.told_high_watermark(1, 1, 2)


def broker_that_leads_without_being_named(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 1))
    quorum.checks.brokers.leads(2, TOPIC, 0, 0)


def clean_election_that_loses_data(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 1))
    quorum.checks.brokers.acknowledged(1, TOPIC, 0, 0, 10)
    quorum.checks.brokers.elected(TOPIC, 0, 2, 1, clean=True, has_all_acknowledged=False)


PARTITION_VIOLATIONS: list[tuple[str, Violation]] = [
    ("ConsistentCommittedData", snapshot_of_what_is_not_committed),
    ("ConsistentCommittedData", broker_that_is_answered_too_much),
    ("MonotonicHighWatermark", broker_that_is_answered_less),
    ("EveryRecordDecodes", record_of_no_known_type),
    ("AllCommittedImagesAgree", image_without_a_record),
    ("SnapshotEqualsLog", snapshot_without_a_record),
    ("AllCommittedImagesAgree", image_with_a_registration_of_before),
    ("OldIsrChangeIsRefused", isr_change_of_an_old_view),
    ("UncleanElectionIsAllowed", unclean_election_that_is_not_allowed),
    ("ValidControllerState", partition_with_a_fenced_member),
    ("ValidControllerState", broker_that_is_fenced_in_an_isr),
    ("ValidControllerIsrAndElr", elr_beside_a_full_isr),
    ("ValidControllerIsrAndElr", elr_that_overlaps),
    ("IsrIsSubsetOfReplicas", isr_with_a_stranger),
    ("LeaderIsInIsr", leader_outside_of_the_isr),
    ("LeaderIsLostForAReason", leader_lost_for_nothing),
    ("LeaderIsLostForAReason", leader_dropped_from_the_isr),
    ("LeaderIsLostForAReason", replica_eligible_and_not_elected),
    ("LeaderIsLostForAReason", leader_changed_for_nothing),
    ("PartitionEpochOnlyRises", partition_created_twice),
    ("PartitionEpochOnlyRises", partition_changed_twice_in_the_same_way),
    ("RecoveringPartitionHasIsrOfOne", recovering_leader_with_followers),
    ("MinIsrRecoveryQuorum", forgotten_last_leader),
    ("MinIsrRecoveryQuorum", last_leader_that_is_no_broker),
    ("LeaderCandidateCompleteness", leader_that_may_lack_data),
    ("BrokerEpochOnlyRises", broker_epoch_of_another_offset),
    ("FeaturesAreSupported", level_that_a_broker_lacks),
    ("BrokersSeeCommittedData", broker_that_is_sent_uncommitted_records),
    ("BrokersSeeCommittedData", broker_that_misses_a_batch),
    ("NeverTwoLeadersInSameEpoch", broker_that_leads_without_being_named),
    ("NoCommittedRecordLostGlobally", clean_election_that_loses_data),
]
