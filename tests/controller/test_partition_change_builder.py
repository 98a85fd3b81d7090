"""PartitionChangeBuilder: elections, ELR, reassignment, directories (KIP-704, KIP-858, KIP-966)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_change_builder import (
    ELECT_ONLINE,
    ELECT_PREFERRED,
    ELECT_UNCLEAN,
    PartitionChangeBuilder,
)
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.metadata import features
from kraftctl.metadata.directory_id import LOST, MIGRATING, UNASSIGNED
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from tests.support.metadata_state import MetadataState, directory, partition_record, uuid


def state_with(
    record: PartitionRecord,
    *,
    alive: list[int],
    registered: list[int] | None = None,
    metadata_version: int = features.LATEST_PRODUCTION,
    elr: bool = False,
) -> MetadataState:
    """foo-0 as `record` says; brokers in `registered` but not in `alive` are fenced."""
    state = MetadataState(metadata_version, elr=elr)
    for broker_id in registered or sorted({*alive, *record.replicas}):
        state.broker(broker_id, fenced=broker_id not in alive)
    state.topic("foo", record)
    return state


def builder(state: MetadataState, election: int = ELECT_ONLINE, min_isr: int = 1) -> PartitionChangeBuilder:
    result = PartitionChangeBuilder(
        state.partition(),
        uuid(1),
        0,
        acceptor=LeaderAcceptor(state.image.cluster, LeavingBrokers()),
        cluster=state.image.cluster,
        metadata_version=state.metadata_version,
        min_isr=min_isr,
        elr_enabled=state.image.features.elr_enabled,
    )
    result.election = election
    return result


def change(**fields: object) -> PartitionChangeRecord:
    return PartitionChangeRecord(partition_id=0, topic_id=uuid(1), **fields)  # type: ignore[arg-type]


ELECTIONS = [
    pytest.param([2, 1, 3], [1, 2, 3], 1, [1, 2, 3], ELECT_ONLINE, None, id="online-keeps-the-leader"),
    pytest.param([2, 1, 3], [1, 2, 3], 1, [1, 2, 3], ELECT_PREFERRED, (2, False), id="preferred-moves-it"),
    pytest.param([2, 1, 3], [1, 3], 1, [1, 2, 3], ELECT_PREFERRED, None, id="preferred-out-of-sync-keeps"),
    pytest.param([2, 1, 3], [1, 2, 3], 1, [1, 3], ELECT_PREFERRED, None, id="preferred-fenced-keeps"),
    pytest.param([2, 1, 3], [1, 3], 1, [3], ELECT_ONLINE, (3, False), id="online-first-in-replica-order"),
    pytest.param([3, 2, 1], [1, 2, 3], 1, [2, 3], ELECT_ONLINE, (3, False), id="replica-order-not-isr-order"),
    pytest.param([3, 2, 1], [1, 2], 1, [2, 3], ELECT_PREFERRED, (2, False), id="preferred-then-online"),
    pytest.param([1, 2], [1], 1, [2], ELECT_ONLINE, (-1, False), id="no-member-is-alive"),
    pytest.param([1, 2], [1], 1, [2], ELECT_PREFERRED, (-1, False), id="preferred-never-unclean"),
    pytest.param([1, 2, 3], [1], 1, [2, 3], ELECT_UNCLEAN, (2, True), id="unclean-first-alive-replica"),
    pytest.param([1, 2, 3], [1, 3], 1, [2, 3], ELECT_UNCLEAN, (3, False), id="unclean-prefers-clean"),
    pytest.param([1, 2], [1], 1, [], ELECT_UNCLEAN, (-1, False), id="unclean-but-none-alive"),
    pytest.param([1, 2], [1], -1, [1, 2], ELECT_ONLINE, (1, False), id="leader-comes-back"),
]
"""replicas, ISR, leader, alive brokers, kind of election -> (new leader, unclean), None: no change."""


@pytest.mark.parametrize(("replicas", "isr", "leader", "alive", "election", "expected"), ELECTIONS)
def test_elections(
    replicas: list[int],
    isr: list[int],
    leader: int,
    alive: list[int],
    election: int,
    expected: tuple[int, bool] | None,
) -> None:
    state = state_with(partition_record(replicas, isr, leader=leader), alive=alive)
    record = builder(state, election).build()
    if expected is None:
        assert record is None
        return
    elected, unclean = expected
    assert record is not None
    if unclean:
        assert record.record == change(leader=elected, isr=[elected], leader_recovery_state=1)
    else:
        assert record.record == change(leader=elected)


@pytest.mark.parametrize(
    ("where", "accepted"),
    [
        pytest.param(directory(1), True, id="registered-directory"),
        pytest.param(directory(1, 7), False, id="offline-directory"),
        pytest.param(UNASSIGNED, True, id="unassigned"),
        pytest.param(MIGRATING, True, id="migrating"),
        pytest.param(LOST, False, id="lost"),
    ],
)
def test_a_replica_in_an_offline_directory_cannot_lead(where: bytes, accepted: bool) -> None:
    """KIP-858."""
    state = state_with(partition_record([1], [1], leader=-1, directories=[where]), alive=[1])
    assert (builder(state).build() is not None) is accepted
    assert LeaderAcceptor(state.image.cluster, LeavingBrokers()).accepts(state.partition(), 1) is accepted


def test_a_broker_in_controlled_shutdown_cannot_lead() -> None:
    state = MetadataState()
    state.broker(1, in_controlled_shutdown=True)
    state.topic("foo", partition_record([1], [1], leader=-1))
    assert builder(state).build() is None


def test_the_last_isr_member_stays_without_elr() -> None:
    """One replica has to be known to have all data."""
    state = state_with(partition_record([1, 2], [1]), alive=[2])
    build = builder(state)
    build.target_isr = ()
    record = build.build()
    assert record is not None
    assert record.record == change(leader=-1)


@pytest.mark.parametrize(
    ("current", "target_isr", "min_isr", "expected"),
    [
        pytest.param(
            partition_record([1, 2, 3], [1, 2, 3]), (1, 2), 2, change(isr=[1, 2]), id="at-min-isr-no-elr"
        ),
        pytest.param(
            partition_record([1, 2, 3], [1, 2, 3]),
            (1,),
            2,
            change(isr=[1], eligible_leader_replicas=[2, 3]),
            id="below-min-isr-who-left-is-eligible",
        ),
        pytest.param(
            partition_record([1, 2, 3], [1], elr=[2]),
            (1, 3),
            3,
            change(isr=[1, 3]),
            id="still-below-min-isr-keeps-elr",
        ),
        pytest.param(
            partition_record([1, 2, 3], [1], elr=[2, 3]),
            (1, 2),
            3,
            change(isr=[1, 2], eligible_leader_replicas=[3]),
            id="who-joins-the-isr-leaves-the-elr",
        ),
        pytest.param(
            partition_record([1, 2, 3], [1], elr=[2, 3]),
            (1, 2),
            2,
            change(isr=[1, 2], eligible_leader_replicas=[]),
            id="min-isr-reached-clears-the-elr",
        ),
    ],
)
def test_eligible_leader_replicas(
    current: PartitionRecord, target_isr: tuple[int, ...], min_isr: int, expected: PartitionChangeRecord
) -> None:
    """KIP-966."""
    state = state_with(current, alive=[1, 2, 3], elr=True)
    build = builder(state, min_isr=min_isr)
    build.target_isr = target_isr
    record = build.build()
    assert record is not None
    assert record.record == expected


def test_the_isr_may_become_empty_with_elr() -> None:
    """The last member becomes eligible, and is remembered as the last leader."""
    state = state_with(partition_record([1, 2], [1], elr=[]), alive=[2], elr=True)
    build = builder(state)
    build.target_isr = ()
    record = build.build()
    assert record is not None
    assert record.record == change(isr=[], leader=-1, eligible_leader_replicas=[1], last_known_elr=[1])


def test_a_partition_without_leader_that_loses_a_replica_repeats_that_it_has_none() -> None:
    """As Kafka's records: its builder takes the leader that it repeats for one that was just lost."""
    state = state_with(partition_record([1, 2], [], leader=-1, elr=[]), alive=[], elr=True)
    build = builder(state)
    build.target_replicas = (1,)
    record = build.build()
    assert record is not None
    assert record.record == change(leader=-1, last_known_elr=[-1], replicas=[1], directories=[directory(1)])
    state.append_all([record])
    assert builder(state).build() is None


@pytest.mark.prevents("KAFKA-18940", "KAFKA-19212")
def test_an_elr_member_is_elected_cleanly() -> None:
    """Clean restart of the only member of the ELR."""
    record = partition_record([1, 2], [], leader=-1, elr=[2], last_known_elr=[2])
    built = builder(state_with(record, alive=[2], elr=True)).build()
    assert built is not None
    assert built.record == change(isr=[2], leader=2, eligible_leader_replicas=[], last_known_elr=[])


def test_the_last_known_leader_is_elected_uncleanly() -> None:
    """It had been in the ELR but lost data; even without unclean.leader.election.enable."""
    record = partition_record([1, 2], [], leader=-1, elr=[], last_known_elr=[2])
    built = builder(state_with(record, alive=[1, 2], elr=True)).build()
    assert built is not None
    assert built.record == change(isr=[2], leader=2, leader_recovery_state=1, last_known_elr=[])


@pytest.mark.prevents("KAFKA-19522")
@pytest.mark.parametrize(
    ("elr", "last_known", "alive"),
    [
        pytest.param([], [2], [1], id="last-known-leader-fenced"),
        pytest.param([1], [2], [2], id="elr-not-empty"),
        pytest.param([], [1, 2], [1, 2], id="more-than-one-last-known"),
        pytest.param([], [], [1, 2], id="none-known"),
    ],
)
def test_when_the_last_known_leader_is_not_elected(
    elr: list[int], last_known: list[int], alive: list[int]
) -> None:
    """KAFKA-19522: a fenced last known leader stays out."""
    record = partition_record([1, 2], [], leader=-1, elr=elr, last_known_elr=last_known)
    assert builder(state_with(record, alive=alive, elr=True)).build() is None


def test_a_replica_that_a_reassignment_removes_is_not_eligible() -> None:
    """It deletes its log: if it becomes a replica again, it must not count as one that has all data."""
    record = partition_record([2, 3, 1], [2, 1], removing=[1], adding=[3], elr=[3], leader=2)
    state = state_with(record, alive=[1, 2, 3], elr=True)
    build = builder(state, min_isr=3)
    build.target_isr = (1, 2, 3)
    built = build.build()
    assert built is not None
    state.append_all([built])
    assert state.partition().replicas == (2, 3)
    assert state.partition().elr == ()


def test_an_unclean_election_clears_the_elr() -> None:
    record = partition_record([1, 2, 3], [], leader=-1, elr=[1], last_known_elr=[1])
    built = builder(state_with(record, alive=[3], elr=True), ELECT_UNCLEAN).build()
    assert built is not None
    assert built.record == change(
        isr=[3], leader=3, leader_recovery_state=1, eligible_leader_replicas=[], last_known_elr=[]
    )


def test_an_unclean_shutdown_leaves_the_elr() -> None:
    record = partition_record([1, 2], [], leader=-1, elr=[1, 2], last_known_elr=[2])
    build = builder(state_with(record, alive=[], elr=True))
    build.unclean_shutdown_replica = 2
    built = build.build()
    assert built is not None
    assert built.record == change(eligible_leader_replicas=[1])


def test_the_elr_is_dropped_once_the_feature_is_off() -> None:
    record = partition_record([1, 2], [1], elr=[2])
    built = builder(state_with(record, alive=[1, 2])).build()
    assert built is not None
    assert built.record == change(eligible_leader_replicas=[])


def test_a_recovering_partition_stays_recovering_over_another_unclean_election() -> None:
    record = partition_record([1, 2, 3], [1], recovering=True)
    built = builder(state_with(record, alive=[2, 3]), ELECT_UNCLEAN).build()
    assert built is not None
    assert built.record == change(isr=[2], leader=2)


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
def test_directories_are_written_for_all_replicas_in_order() -> None:
    state = state_with(partition_record([1, 2]), alive=[1, 2, 3], registered=[1, 2, 3])
    build = builder(state)
    build.target_replicas = (3, 2, 1)
    build.target_adding = (3,)
    record = build.build()
    assert record is not None
    assert record.record == change(
        replicas=[3, 2, 1], adding_replicas=[3], directories=[directory(3), directory(2), directory(1)]
    )


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
@pytest.mark.parametrize(
    ("directories", "expected"),
    [
        pytest.param(0, MIGRATING, id="none-registered"),
        pytest.param(1, directory(3), id="the-only-one"),
        pytest.param(2, UNASSIGNED, id="broker-will-report"),
    ],
)
def test_the_directory_of_a_new_replica(directories: int, expected: bytes) -> None:
    state = MetadataState()
    state.brokers(1, 2)
    state.broker(3, directories=directories)
    state.topic("foo", partition_record([1, 2]))
    build = builder(state)
    build.target_replicas = (1, 2, 3)
    build.target_adding = (3,)
    record = build.build()
    assert record is not None
    assert isinstance(record.record, PartitionChangeRecord)
    assert record.record.directories == [directory(1), directory(2), expected]


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
def test_no_directories_before_3_7() -> None:
    state = state_with(
        partition_record([1, 2]), alive=[1, 2, 3], registered=[1, 2, 3], metadata_version=features.IBP_3_7_IV0
    )
    build = builder(state)
    build.target_replicas = (1, 2, 3)
    build.target_adding = (3,)
    record = build.build()
    assert record is not None
    assert (record.record, record.version) == (change(replicas=[1, 2, 3], adding_replicas=[3]), 0)
    state.append_all([record])
    assert state.partition().directories == (MIGRATING, MIGRATING, MIGRATING)


def test_assigning_a_directory_writes_directories_only() -> None:
    state = MetadataState()
    state.broker(1, directories=4)
    state.broker(2)
    state.topic("foo", partition_record([1, 2], directories=[UNASSIGNED, directory(2)]))
    build = builder(state)
    build.assign_directory(1, directory(1, 3))
    record = build.build()
    assert record is not None
    assert record.record == change(directories=[directory(1, 3), directory(2)])
    state.append_all([record])
    again = builder(state)
    again.assign_directory(1, directory(1, 3))
    assert again.build() is None


@pytest.mark.prevents("KAFKA-15665", "KAFKA-19975")
@pytest.mark.parametrize(
    ("adding", "removing", "replicas", "isr", "completed"),
    [
        pytest.param([4], [1], [2, 3, 4, 1], [1, 2, 3, 4], ([2, 3, 4], [2, 3, 4]), id="all-in-sync"),
        pytest.param([4], [1], [2, 3, 4, 1], [1, 4], ([2, 3, 4], [4]), id="only-the-added-one-in-sync"),
        pytest.param([4], [1], [2, 3, 4, 1], [1, 2, 3], None, id="added-not-in-sync"),
        pytest.param([], [1, 2], [3, 1, 2], [1, 2, 3], ([3], [3]), id="shrink"),
        pytest.param([], [1], [2, 3, 1], [1, 2], None, id="shrink-waits-for-all-that-stay"),
        pytest.param([], [1], [2, 1], [1], None, id="none-that-stays-in-sync"),
        pytest.param([4], [1, 2], [3, 4, 1, 2], [1, 4], None, id="smaller-waits-for-all-that-stay"),
        pytest.param([4], [1, 2], [3, 4, 1, 2], [3, 4], ([3, 4], [3, 4]), id="smaller-all-that-stay-in-sync"),
        pytest.param([3, 4], [], [1, 2, 3, 4], [1, 2, 3, 4], ([1, 2, 3, 4], [1, 2, 3, 4]), id="grow"),
    ],
)
def test_when_a_reassignment_completes(
    adding: list[int],
    removing: list[int],
    replicas: list[int],
    isr: list[int],
    completed: tuple[list[int], list[int]] | None,
) -> None:
    """KIP-455; KAFKA-14190 and KAFKA-15665 for the cases that shrink, KAFKA-19975 for the others."""
    record = partition_record(replicas, isr, adding=adding, removing=removing)
    state = state_with(record, alive=[1, 2, 3, 4])
    built = builder(state).build()
    if completed is None:
        assert built is None
        return
    assert built is not None
    state.append_all([built])
    partition = state.partition()
    assert (list(partition.replicas), list(partition.isr)) == completed
    assert not partition.reassigning
    assert partition.leader in partition.isr
    assert partition.leader_epoch == (6 if removing else 5)
    assert list(partition.directories) == [directory(replica) for replica in partition.replicas]
