"""Random events in a small cluster: the invariants of partitions hold in any order of events.

IsrIsSubsetOfReplicas, LeaderIsInIsr, PartitionEpochOnlyRises (KIP-497); RecoveringPartitionHasIsrOfOne
(KIP-704); FencedOrStoppingBrokerInIsrOnlyIfAlone (KIP-841); ValidControllerIsrAndElr (KIP-966).
"""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.replication_control.leader_elections import preferred_elections, unclean_elections
from kraftctl.controller.replication_control.reassign_partitions import alter_partition_reassignments
from kraftctl.metadata import features
from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_request import PartitionData
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.effort import seeds
from tests.support.metadata_state import MetadataState, directory, partition_record, uuid
from tests.support.transitions import (
    records_for_controlled_shutdown,
    records_for_fenced_broker,
    records_for_new_incarnation,
    records_for_offline_directories,
    records_for_unfenced_broker,
)
from tests.support.wire.alter_partition_requests import ask, request_for

BROKERS = (1, 2, 3, 4, 5)
PARTITIONS = 6

LEVELS = [
    pytest.param(features.IBP_3_3_IV3, False, id="3.3"),
    pytest.param(features.IBP_3_9_IV0, False, id="3.9"),
    pytest.param(features.LATEST_PRODUCTION, False, id="latest"),
    pytest.param(features.LATEST_PRODUCTION, True, id="latest-with-elr"),
]


class ClusterLife:
    """Draws events and simulates the brokers as far as the controller can see them."""

    def __init__(self, seed: int, metadata_version: int, elr: bool) -> None:
        self.rng = random.Random(seed)
        self.state = MetadataState(metadata_version, elr=elr)
        for broker_id in BROKERS:
            self.state.broker(broker_id, directories=2)
        records = []
        for _ in range(PARTITIONS):
            replicas = self.rng.sample(BROKERS, 3)
            records.append(
                partition_record(
                    replicas,
                    directories=(
                        [directory(r, self.rng.randrange(2)) for r in replicas]
                        if features.is_directory_assignment_supported(metadata_version)
                        else []
                    ),
                )
            )
        self.state.topic("foo", *records)
        self.state.config(
            TOPIC,
            "foo",
            min__insync__replicas=str(self.rng.randint(1, 3)),
            unclean__leader__election__enable=str(self.rng.random() < 0.3).lower(),
        )

    def step(self) -> None:
        self.rng.choice(
            [self.alter_isr] * 6
            + [self.fence, self.unfence, self.shut_down, self.restart, self.reassign]
            + [self.elect_preferred, self.elect_unclean, self.lose_directory, self.allow_unclean]
        )()

    def append(self, records: list[RecordAndVersion]) -> None:
        changed = [
            each.record.partition_id for each in records if isinstance(each.record, PartitionChangeRecord)
        ]
        assert len(set(changed)) == len(changed), "each is of the state before them"
        for entry in records:
            before = self.partitions()
            self.state.append(entry.record, entry.version)
            for index, partition in self.partitions().items():
                check_partition(self.state, partition)
                check_step(before[index], partition)
        for partition in self.partitions().values():
            check_no_stopping_member(self.state, partition)

    def partitions(self) -> dict[int, PartitionRegistration]:
        return dict(self.state.image.topics.topics[uuid(1)].partitions)

    def broker(self) -> int:
        return self.rng.choice(BROKERS)

    def alter_isr(self) -> None:
        index = self.rng.randrange(PARTITIONS)
        partition = self.state.partition(index)
        if partition.leader == NO_LEADER or not self.state.image.cluster.active(int(partition.leader)):
            return
        leader = int(partition.leader)
        others = [replica for replica in partition.replicas if replica != leader]
        isr = [leader, *self.rng.sample(others, self.rng.randint(0, len(others)))]
        request = request_for(
            3,
            isr,
            sender=leader,
            leader_epoch=int(partition.leader_epoch),
            partition_epoch=int(partition.partition_epoch) - (self.rng.random() < 0.1),
            recovery_state=int(partition.leader_recovery_state) if self.rng.random() < 0.5 else 0,
            index=index,
        )
        assert isinstance(request.topics[0].partitions[0], PartitionData)
        self.append(ask(self.state, 3, request).records)

    def fence(self) -> None:
        self.append(records_for_fenced_broker(self.state.image, self.state.controller.config, self.broker()))

    def unfence(self) -> None:
        broker_id = self.broker()
        if self.state.image.cluster.brokers[broker_id].fenced:
            self.append(
                records_for_unfenced_broker(self.state.image, self.state.controller.config, broker_id)
            )

    def shut_down(self) -> None:
        self.append(
            records_for_controlled_shutdown(self.state.image, self.state.controller.config, self.broker())
        )

    def restart(self) -> None:
        broker_id = self.broker()
        self.append(
            records_for_new_incarnation(
                self.state.image,
                self.state.controller.config,
                broker_id,
                clean_shutdown=self.rng.random() < 0.5,
            )
        )
        self.state.broker(broker_id, directories=2, fenced=True)

    def reassign(self) -> None:
        target = self.rng.choice([None, self.rng.sample(BROKERS, self.rng.randint(1, 4))])
        asked = ReassignablePartition(partition_index=self.rng.randrange(PARTITIONS), replicas=target)
        request = AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name="foo", partitions=[asked])]
        )
        context = self.state.context(45, 1)
        result = alter_partition_reassignments(self.state.controller, context, request, self.state.moment())
        self.append(result.records)

    def elect_preferred(self) -> None:
        self.append(preferred_elections(self.state.controller).next_slice(self.state.moment()).records)

    def elect_unclean(self) -> None:
        self.append(unclean_elections(self.state.controller).next_slice(self.state.moment()).records)

    def allow_unclean(self) -> None:
        allowed = str(self.rng.random() < 0.5).lower()
        self.state.config(TOPIC, "foo", unclean__leader__election__enable=allowed)

    def lose_directory(self) -> None:
        broker_id = self.broker()
        registered = self.state.image.cluster.brokers[broker_id].directories
        if len(registered) == 2:
            offline = [self.rng.choice(registered)]
            self.append(
                records_for_offline_directories(
                    self.state.image, self.state.controller.config, broker_id, offline
                )
            )


def check_partition(state: MetadataState, partition: PartitionRegistration) -> None:
    replicas, isr, elr = set(partition.replicas), set(partition.isr), set(partition.elr)
    assert len(replicas) == len(partition.replicas) > 0
    assert len(isr) == len(partition.isr)
    assert isr <= replicas, "IsrIsSubsetOfReplicas"
    assert partition.leader == NO_LEADER or partition.leader in isr, "LeaderIsInIsr"
    assert not elr & isr, "ValidControllerIsrAndElr"
    assert elr <= replicas, "ValidControllerIsrAndElr"
    assert len(partition.directories) == len(partition.replicas)
    if not state.image.features.elr_enabled:
        assert isr, "without ELR the ISR is never empty"
        assert not elr
    if partition.leader_recovery_state == RECOVERING:
        assert len(isr) <= 1, "RecoveringPartitionHasIsrOfOne"
    if len(isr) > 1:
        assert all(not state.image.cluster.brokers[m].fenced for m in isr), (
            "FencedOrStoppingBrokerInIsrOnlyIfAlone"
        )


def check_no_stopping_member(state: MetadataState, partition: PartitionRegistration) -> None:
    """After a whole transition: within one, the mark of a controlled shutdown precedes the ISR changes."""
    if len(partition.isr) > 1:
        members = [state.image.cluster.brokers[member] for member in partition.isr]
        assert not any(member.in_controlled_shutdown for member in members), (
            "FencedOrStoppingBrokerInIsrOnlyIfAlone"
        )


def check_step(before: PartitionRegistration, after: PartitionRegistration) -> None:
    """Every change is one partition epoch; leaders change with their epoch."""
    if after is before:
        return
    assert after.partition_epoch == before.partition_epoch + 1, "PartitionEpochOnlyRises"
    assert after.leader_epoch in (before.leader_epoch, before.leader_epoch + 1)
    if after.leader != before.leader:
        assert after.leader_epoch == before.leader_epoch + 1
    if not set(before.replicas) <= set(after.replicas):
        assert after.leader_epoch == before.leader_epoch + 1


@pytest.mark.parametrize("seed", seeds(25))
@pytest.mark.parametrize(("metadata_version", "elr"), LEVELS)
def test_invariants(seed: int, metadata_version: int, elr: bool) -> None:
    life = ClusterLife(seed, metadata_version, elr)
    for _ in range(150):
        life.step()


def test_one_seed_one_life() -> None:
    """Same records, byte for byte: nothing depends on hashing or on memory addresses."""
    lives = [ClusterLife(7, features.LATEST_PRODUCTION, True) for _ in range(2)]
    for life in lives:
        for _ in range(200):
            life.step()
    assert lives[0].partitions() == lives[1].partitions()
    assert lives[0].state.next_offset == lives[1].state.next_offset
