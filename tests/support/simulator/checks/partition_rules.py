"""What must hold for one partition, and for one change of it: KIP-497, KIP-704, KIP-841, KIP-966.

MinIsrRecoveryQuorum: the model of KIP-966 remembers min.insync.replicas last known replicas. Kafka 4.3 and
kraftctl remember one, the leader that was lost: it is written when a partition loses its leader, and cleared
with the next leader, or when min.insync.replicas changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.partition_registration import PartitionRegistration
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.leaving import Leaving
from tests.support.simulator.reference.values import NO_LEADER, Broker, Partition

RECOVERING = 1

AnyBroker = Broker | BrokerRegistration
AnyPartition = Partition | PartitionRegistration
"""The rules hold for what the reference says, and for an image whose records are not committed."""


def check_partition(
    brokers: Mapping[int, AnyBroker],
    name: str,
    before: AnyPartition | None,
    partition: AnyPartition,
    *,
    elr_enabled: bool,
) -> None:
    """After a whole append; `name` says topic, partition and offset. Brokers may change within one.

    A broker that shuts down leaves its partitions in several appends after the one that marks it: until then
    it may stay leader, and stay in an ISR, but neither become a leader nor join.
    """
    replicas, isr, elr = partition.replicas, partition.isr, partition.elr
    _check_members(name, partition)
    leader = int(partition.leader)
    if leader != NO_LEADER:
        _check_leader(brokers, name, before, partition, leader)
    if not elr_enabled and (elr or not isr):
        broken("ValidControllerIsrAndElr", f"{name} has ISR {isr} and ELR {elr}, and ELR is not enabled")
    if partition.leader_recovery_state == RECOVERING and len(isr) > 1:
        broken("RecoveringPartitionHasIsrOfOne", f"{name} is recovering with ISR {isr}")
    if len(isr) > 1:
        for member in isr:
            registration = brokers.get(member)
            was_member = before is not None and member in before.isr
            if not _may_be_in_isr(registration, was_member=was_member):
                broken("ValidControllerState", f"{name}: {registration or member} in ISR {isr}")
    if len(partition.directories) != len(replicas):
        broken("IsrIsSubsetOfReplicas", f"{name} has {len(partition.directories)} directories for {replicas}")


def _may_be_in_isr(registration: AnyBroker | None, *, was_member: bool) -> bool:
    if registration is None or registration.fenced:
        return False
    return was_member or not registration.in_controlled_shutdown


def _check_members(name: str, partition: AnyPartition) -> None:
    replicas, isr, elr = partition.replicas, partition.isr, partition.elr
    if not replicas or len(set(replicas)) != len(replicas) or len(set(isr)) != len(isr):
        broken("IsrIsSubsetOfReplicas", f"{name} has replicas {replicas} and ISR {isr}")
    for members in (isr, partition.adding_replicas, partition.removing_replicas):
        for member in members:
            if member not in replicas:
                broken("IsrIsSubsetOfReplicas", f"{name}: {member} of {members} is not in {replicas}")
    for member in elr:
        if member in isr or member not in replicas:
            broken("ValidControllerIsrAndElr", f"{name}: ELR {elr}, ISR {isr}, replicas {replicas}")


def _check_leader(
    brokers: Mapping[int, AnyBroker],
    name: str,
    before: AnyPartition | None,
    partition: AnyPartition,
    leader: int,
) -> None:
    if leader not in partition.isr:
        broken("LeaderIsInIsr", f"{name}: leader {leader}, ISR {partition.isr}")
    registration = brokers.get(leader)
    was_leader = before is not None and before.leader == leader
    if registration is None or not _may_be_in_isr(registration, was_member=was_leader):
        broken("ValidControllerState", f"{name} is led by {registration or leader}")
    directory = partition.directory(leader)
    if directory is None or not registration.has_online_directory(directory):
        broken("ValidControllerState", f"{name} is led by {leader}, whose directory is offline")


def check_leader_change(
    brokers: Mapping[int, AnyBroker],
    name: str,
    before: AnyPartition | None,
    partition: AnyPartition,
    leaving: Leaving,
) -> None:
    """As in Kafka's PartitionChangeBuilder: a partition is left without leader only if none in sync may lead
    it, and a leader that may stay makes way for the first replica only, in a preferred election.

    `leaving` is what its controller was taking out of ISRs when it appended this.
    """
    leader, in_sync = int(partition.leader), () if before is None else before.isr
    if leader == NO_LEADER:
        for member in {*in_sync, *(partition.isr or partition.elr)}:
            if _may_lead(brokers, partition, member, leaving):
                broken("LeaderIsLostForAReason", f"{name} has no leader; {member} may be it: {partition!r}")
    elif before is not None and leader not in (int(before.leader), partition.replicas[0]):
        former = int(before.leader)
        if former in in_sync and _may_lead(brokers, partition, former, leaving):
            broken("LeaderIsLostForAReason", f"{name}: {leader} leads, {former} may stay: {partition!r}")


def _may_lead(
    brokers: Mapping[int, AnyBroker], partition: AnyPartition, replica: int, leaving: Leaving
) -> bool:
    registration, directory = brokers.get(replica), partition.directory(replica)
    if registration is None or registration.fenced or registration.in_controlled_shutdown:
        return False
    if replica in leaving.brokers or directory is None or directory in leaving.directories:
        return False
    return registration.has_online_directory(directory)


def min_isr_in_batch(wanted: int, replication_factor: int, first: AnyPartition | None) -> int:
    """The highest one that was in force in a batch; `first` is what partition 0 was before, if it changed.

    It is never more than the topic has replicas (KIP-966). One request changes all of its partitions as the
    topic was before: a reassignment that ends in it, and leaves partition 0 fewer replicas, lowers the
    minimum only for the next one, as in Kafka.
    """
    min_isr = min(wanted, replication_factor)
    if first is None or min_isr < replication_factor:
        return min_isr
    return max(min_isr, len(first.replicas))


def check_min_isr(name: str, before: AnyPartition | None, partition: AnyPartition, min_isr: int) -> None:
    """`min_isr` is in force while the ISR changes; a change of it clears the ELR.

    Except one: fewer replicas of partition 0 lower it for the whole topic. The next leader is then elected
    from the ELR, and the others stay in it, as in Kafka's PartitionChangeBuilder.
    """
    if before is not None and partition.leader in before.elr and partition.leader != before.leader:
        return
    if partition.elr and len(partition.isr) >= min_isr:
        broken(
            "ValidControllerIsrAndElr",
            f"{name} has ISR {partition.isr}, min.insync.replicas {min_isr} and ELR {partition.elr}",
        )


def check_new_isr(
    brokers: Mapping[int, AnyBroker],
    name: str,
    before: AnyPartition,
    after: AnyPartition,
    *,
    elr_enabled: bool,
) -> None:
    """With ELR, an inactive broker leaves the ISR even if it is the only member.

    As in Kafka, cancelling a reassignment puts the first replica into an ISR that would be empty, alive or
    not, where unclean elections are enabled.
    """
    cancelled = before.reassigning and not after.reassigning
    if len(after.isr) == 1 and elr_enabled and not cancelled:
        registration = brokers.get(after.isr[0])
        if not _may_be_in_isr(registration, was_member=after.isr[0] in before.isr):
            broken("ValidControllerState", f"{name}: {registration or after.isr} alone in the new ISR")


def check_change(name: str, before: AnyPartition, after: AnyPartition, *, elr_enabled: bool) -> None:
    """One PartitionChangeRecord."""
    if after.partition_epoch != before.partition_epoch + 1:
        broken("PartitionEpochOnlyRises", f"{name}: {before.partition_epoch}, then {after.partition_epoch}")
    if _what_changes(before) == _what_changes(after):
        broken("PartitionEpochOnlyRises", f"{name}: nothing but epochs changes: {after!r}")
    rises = int(after.leader_epoch) - int(before.leader_epoch)
    must_rise = after.leader != before.leader or not set(before.replicas) <= set(after.replicas)
    if rises not in (0, 1) or (must_rise and rises != 1):
        broken(
            "PartitionEpochOnlyRises", f"{name}: leader epoch {before.leader_epoch}, {before!r}, {after!r}"
        )
    if before.leader == NO_LEADER and after.leader != NO_LEADER:
        _check_election(name, before, after)
    if elr_enabled:
        _check_last_known(name, before, after)


def _what_changes(partition: AnyPartition) -> tuple[object, ...]:
    """All but the epochs."""
    return (
        partition.replicas,
        partition.directories,
        partition.isr,
        partition.removing_replicas,
        partition.adding_replicas,
        partition.elr,
        partition.last_known_elr,
        partition.leader,
        partition.leader_recovery_state,
    )


def _check_election(name: str, before: AnyPartition, after: AnyPartition) -> None:
    """Without a leader no replica joins the ISR: who is in neither ISR nor ELR may lack data."""
    leader = after.leader
    if leader in before.isr or leader in before.elr:
        return
    if after.leader_recovery_state != RECOVERING or after.isr != (leader,):
        broken("LeaderCandidateCompleteness", f"{name}: {before!r}, then {after!r}")


def _check_last_known(name: str, before: AnyPartition, after: AnyPartition) -> None:
    """A replica that goes makes Kafka repeat the leader: -1 is then "the last one", unless one is known."""
    known = after.last_known_elr
    repeats_leader = not set(before.replicas) <= set(after.replicas)
    if after.leader != NO_LEADER:
        expected: tuple[int, ...] = ()
    elif before.leader != NO_LEADER or (repeats_leader and not before.last_known_elr):
        expected = (int(before.leader),)
    else:
        expected = tuple(before.last_known_elr)
    if known != expected:
        broken("MinIsrRecoveryQuorum", f"{name}: last known leader {known}, {before!r}, then {after!r}")


def check_unclean(name: str, before: AnyPartition, after: AnyPartition) -> None:
    """Where unclean elections are not enabled; KIP-966 elects the last known leader even so."""
    was_unclean = before.leader_recovery_state != RECOVERING and after.leader_recovery_state == RECOVERING
    if was_unclean and before.last_known_elr != (after.leader,):
        broken("UncleanElectionIsAllowed", f"{name}: {before!r}, then {after!r}")
