"""KIP-704 as an executable specification: a leader recovers from an unclean election.

A leader elected from outside the ISR may lack acknowledged records and, with transactions, may hold
records that were never acknowledged. The partition is marked RECOVERING in the same record that
elects the leader, and the leader itself reports RECOVERED with AlterPartition.
"""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.elect_leaders import elect_leaders
from kraftctl.controller.replication_control.leader_elections import unclean_elections
from kraftctl.controller.replication_control.leader_recovery import why_recovery_state_refused
from kraftctl.metadata.leader_recovery_state import (
    NO_CHANGE,
    RECOVERED,
    RECOVERING,
    change_leader_recovery_state,
)
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import MetadataState, partition_record
from tests.support.transitions import (
    records_for_fenced_broker,
    records_for_unfenced_broker,
)
from tests.support.wire.alter_partition_requests import ask, error_of, only_partition, request_for

VERSIONS_WITH_STATE = (1, 2, 3)
"""Version 1 adds LeaderRecoveryState; before, every request says RECOVERED."""


def recovering() -> MetadataState:
    """foo-0 on 1 and 2; 1 leads after an unclean election."""
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2], [1], recovering=True))
    return state


def recovered() -> MetadataState:
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2], [1]))
    return state


def leaderless(*, unclean: bool) -> MetadataState:
    """foo-0 on 1 and 2; 1, alone in the ISR, is fenced."""
    state = MetadataState()
    state.broker(1, fenced=True)
    state.broker(2)
    state.topic("foo", partition_record([1, 2], [1], leader=-1))
    if unclean:
        state.config(TOPIC, "foo", unclean__leader__election__enable="true")
    return state


# Who starts a recovery: the controller, and only with an unclean election.


def change_of(records: list[object]) -> PartitionChangeRecord:
    (record,) = [record for record in records if isinstance(record, PartitionChangeRecord)]
    return record


def test_an_unclean_election_at_fencing_starts_recovery() -> None:
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2], [1]))
    state.config(TOPIC, "foo", unclean__leader__election__enable="true")
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    change = change_of([entry.record for entry in records])
    assert (change.leader, change.isr, change.leader_recovery_state) == (2, [2], RECOVERING)


def test_an_operators_unclean_election_starts_recovery() -> None:
    state = leaderless(unclean=False)
    request = ElectLeadersRequest(
        election_type=1, topic_partitions=[TopicPartitions(topic="foo", partitions=[0])]
    )
    result = elect_leaders(state.controller, state.context(43, 2), request, state.moment())
    change = change_of([entry.record for entry in result.records])
    assert (change.leader, change.isr, change.leader_recovery_state) == (2, [2], RECOVERING)


def test_the_unclean_election_timer_starts_recovery() -> None:
    state = leaderless(unclean=True)
    result = unclean_elections(state.controller).next_slice(state.moment())
    change = change_of([entry.record for entry in result.records])
    assert (change.leader, change.isr, change.leader_recovery_state) == (2, [2], RECOVERING)


def test_a_clean_election_does_not() -> None:
    """The only ISR member comes back."""
    state = leaderless(unclean=True)
    records = records_for_unfenced_broker(state.image, state.controller.config, 1)
    change = change_of([entry.record for entry in records])
    assert (change.leader, change.isr, change.leader_recovery_state) == (1, None, NO_CHANGE)


def test_a_clean_election_does_not_end_a_recovery_either() -> None:
    """The new leader, the only ISR member, must recover as well: only a leader reports RECOVERED."""
    state = recovering()
    state.append_all(records_for_fenced_broker(state.image, state.controller.config, 1))
    assert (state.partition().leader, state.partition().leader_recovery_state) == (-1, RECOVERING)
    state.append_all(records_for_unfenced_broker(state.image, state.controller.config, 1))
    assert (state.partition().leader, state.partition().leader_recovery_state) == (1, RECOVERING)


# Who ends it: the leader.


@pytest.mark.parametrize("version", VERSIONS_WITH_STATE)
@pytest.mark.parametrize("isr", [[1], [1, 2]], ids=["alone", "with-the-first-follower"])
def test_the_leader_reports_that_it_has_recovered(version: int, isr: list[int]) -> None:
    """Usually together with its first ISR change."""
    state = recovering()
    result = state.apply(ask(state, version, request_for(version, isr, recovery_state=RECOVERED)))
    assert only_partition(result).leader_recovery_state == RECOVERED
    assert only_partition(result).partition_epoch == 11
    assert state.partition().leader_recovery_state == RECOVERED
    assert list(state.partition().isr) == isr


def test_version_0_means_recovered() -> None:
    """A leader that does not know recovery has nothing to recover."""
    state = recovering()
    state.apply(ask(state, 0, request_for(0, [1])))
    assert state.partition().leader_recovery_state == RECOVERED


@pytest.mark.parametrize("version", VERSIONS_WITH_STATE)
def test_a_leader_still_recovering_changes_nothing(version: int) -> None:
    state = recovering()
    result = ask(state, version, request_for(version, [1], recovery_state=RECOVERING))
    assert (error_of(result), result.records) == (Errors.NONE, [])
    assert only_partition(result).leader_recovery_state == RECOVERING


# What a leader may not ask for.


@pytest.mark.parametrize("version", VERSIONS_WITH_STATE)
@pytest.mark.parametrize(
    ("start", "isr", "requested"),
    [
        pytest.param("recovering", [1, 2], RECOVERING, id="an-isr-of-two-while-recovering"),
        pytest.param("recovered", [1], RECOVERING, id="to-recover-again"),
        pytest.param("recovered", [1, 2], RECOVERING, id="both"),
        pytest.param("recovering", [1], 2, id="an-unknown-state"),
        pytest.param("recovering", [1], NO_CHANGE, id="no-change-is-for-records"),
    ],
)
def test_refused(version: int, start: str, isr: list[int], requested: int) -> None:
    state = recovering() if start == "recovering" else recovered()
    result = ask(state, version, request_for(version, isr, recovery_state=requested))
    assert (error_of(result), result.records) == (Errors.INVALID_REQUEST, [])


def test_every_transition() -> None:
    """present x requested, with an ISR of one: only recovered -> recovering is refused."""
    for present, state in ((RECOVERED, recovered()), (RECOVERING, recovering())):
        for requested in (RECOVERED, RECOVERING):
            refused = why_recovery_state_refused(state.partition(), requested_state=requested, new_isr_size=1)
            assert (refused is not None) == ((present, requested) == (RECOVERED, RECOVERING))


def test_records_carry_changes_only() -> None:
    """Absent from a PartitionChangeRecord unless it changes."""
    for present in (RECOVERED, RECOVERING):
        assert change_leader_recovery_state(present, NO_CHANGE) == present
        for change in (RECOVERED, RECOVERING):
            assert change_leader_recovery_state(present, change) == change
    with pytest.raises(AssertionError):
        change_leader_recovery_state(RECOVERED, 2)
