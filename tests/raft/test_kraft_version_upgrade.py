"""KIP-853: a static quorum is upgraded to kraft.version 1; only then may its voters change.

Random upgrades while messages are lost and leaders crash are runs of `make simulate PROFILE=upgrades`.
"""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_raft_voter_request import Listener, UpdateRaftVoterRequest
from kraftctl_protocol.record_batch import read_batches
from tests.support.simulator.cluster.cluster import CLUSTER_ID, LISTENER, PORT, host
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Question, Quorum, StartQuorum

VOTERS = [1, 2, 3]
ANSWER_MS = 3_000
UPGRADE, SAFE_DOWNGRADE = 1, 2


def ask(quorum: Quorum, level: int = 1, kind: int = UPGRADE, *, validate_only: bool = False) -> Question:
    update = FeatureUpdateKey(feature=features.KRAFT_VERSION, max_version_level=level, upgrade_type=kind)
    request = UpdateFeaturesRequest(feature_updates=[update], validate_only=validate_only)
    return quorum.ask(quorum.led(), request)


def reason(question: Question) -> str:
    assert question.error == Errors.INVALID_UPDATE_VERSION
    text = getattr(question.answer, "error_message")  # noqa: B009
    assert isinstance(text, str)
    return text


def refused(quorum: Quorum, level: int = 1, kind: int = UPGRADE, *, validate_only: bool = False) -> str:
    """Why, once the voters have confirmed that their leader leads."""
    question = ask(quorum, level, kind, validate_only=validate_only)
    quorum.run_for(ANSWER_MS)
    return reason(question)


def upgraded(quorum: Quorum) -> Quorum:
    question = ask(quorum)
    quorum.run_for(ANSWER_MS)
    assert question.error == Errors.NONE
    return quorum


def keys(process: ControllerProcess) -> list[ReplicaKey]:
    return [node.key for node in process.raft.voter_set.nodes.values()]


def control_records(process: ControllerProcess) -> list[list[int]]:
    """The types of the control records, batch by batch."""
    batches = read_batches(process.partition.log.read(0, 1 << 20))
    return [
        [record.key[-1] for record in batch.records if record.key]
        for batch in batches
        if batch.header.is_control
    ]


def test_level_and_voters_are_one_batch(start_quorum: StartQuorum) -> None:
    quorum = upgraded(start_quorum(7, VOTERS, dynamic=False))
    expected = [ReplicaKey(voter_id, quorum.directory_ids[voter_id]) for voter_id in VOTERS]
    for process in quorum.running():
        assert process.raft.kraft_version == 1
        assert keys(process) == expected
        assert control_records(process)[-1] == [5, 6]
    quorum.end_well()


def test_voters_can_be_added_after_the_upgrade_only(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, [11], dynamic=False)
    assert quorum.add_voter(11).error == Errors.UNSUPPORTED_VERSION
    upgraded(quorum)
    added = quorum.add_voter(11)
    quorum.run_for(ANSWER_MS)
    assert added.error == Errors.NONE
    assert quorum.led().raft.voter_set.voter_ids() == [1, 2, 3, 11]


def test_a_single_voter_is_ready_immediately(start_quorum: StartQuorum) -> None:
    quorum = upgraded(start_quorum(7, [1], dynamic=False))
    assert keys(quorum.led()) == [ReplicaKey(1, quorum.directory_ids[1])]


def test_a_voter_that_this_leader_has_not_heard_from_is_named(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, dynamic=False)
    silent = quorum.followers()[0]
    quorum.crash(silent)
    former = quorum.led()
    quorum.crash(former)
    former.start()
    quorum.run_for(20_000)
    assert f"Voter {silent.node_id} has not sent its directory id" in refused(quorum)
    assert [process.raft.kraft_version for process in quorum.running()] == [0, 0]
    silent.start()
    quorum.run_for(20_000)
    upgraded(quorum)


def test_a_voter_of_an_older_release_is_named(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, dynamic=False)
    old = quorum.followers()[0]
    claim = UpdateRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        current_leader_epoch=quorum.led().raft.epoch,
        voter_id=old.node_id,
        voter_directory_id=old.key.directory_id,
        listeners=[Listener(name=LISTENER, host=host(old.node_id), port=PORT)],
    )
    assert quorum.ask(quorum.led(), claim).error == Errors.NONE
    assert f"Voter {old.node_id} only supports kraft.version 0-0" in refused(quorum)


def test_a_voter_that_fetches_from_a_new_disk_is_named(start_quorum: StartQuorum) -> None:
    """Else it would be no voter any more after the upgrade."""
    quorum = start_quorum(7, VOTERS, dynamic=False, checked=False)
    replaced = quorum.followers()[0]
    quorum.crash(replaced)
    quorum.operator.lose_directory(replaced)
    leader = quorum.led()
    replaced.start()
    quorum.run_for(1_000)
    assert quorum.led() is leader
    assert f"Voter {replaced.node_id} has sent its directory id as" in refused(quorum)
    quorum.run_for(5_000)
    upgraded(quorum)
    assert ReplicaKey(replaced.node_id, quorum.directory_ids[replaced.node_id]) in keys(leader)


def test_the_leader_alone_knows_its_directory(start_quorum: StartQuorum) -> None:
    """Else anybody who says that it has another one makes the upgrade leave it out of the voters."""
    quorum = start_quorum(7, VOTERS, dynamic=False)
    leader = quorum.led()
    assert quorum.update_voter(leader.node_id, PORT, bytes(15) + b"x").error == Errors.VOTER_NOT_FOUND
    upgraded(quorum)
    assert leader.key in keys(leader)
    assert leader.raft.is_leader


def test_validate_only_checks_and_writes_nothing(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, dynamic=False)
    end_offset = quorum.led().raft.end_offset
    question = ask(quorum, validate_only=True)
    quorum.run_for(ANSWER_MS)
    assert question.error == Errors.NONE
    assert quorum.led().raft.end_offset == end_offset
    assert quorum.led().raft.kraft_version == 0
    assert "only supports versions 0-1" in refused(quorum, level=2, validate_only=True)


def test_it_is_never_lowered(start_quorum: StartQuorum) -> None:
    quorum = upgraded(start_quorum(7, VOTERS, dynamic=False))
    assert "cannot be lowered" in refused(quorum, 0, SAFE_DOWNGRADE)
    again = ask(quorum)
    quorum.run_for(ANSWER_MS)
    assert again.error == Errors.NONE, "as it is already"
    assert sum(5 in batch for batch in control_records(quorum.led())) == 1


def test_it_is_not_raised_with_a_request_that_is_refused(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, dynamic=False)
    updates = [
        FeatureUpdateKey(feature=features.KRAFT_VERSION, max_version_level=1),
        FeatureUpdateKey(feature=features.GROUP_VERSION, max_version_level=9),
    ]
    question = quorum.ask(quorum.led(), UpdateFeaturesRequest(feature_updates=updates))
    quorum.run_for(ANSWER_MS)
    assert "only supports versions 0-1" in reason(question)
    assert quorum.led().raft.kraft_version == 0


def test_an_upgrade_that_is_not_committed_is_taken_back(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS, dynamic=False)
    leader = quorum.led()
    quorum.isolate(leader.node_id)
    question = ask(quorum)
    assert leader.raft.kraft_version == 1
    quorum.run_for(20_000)
    assert question.error == Errors.NOT_CONTROLLER
    quorum.heal()
    quorum.run_for(20_000)
    assert [process.raft.kraft_version for process in quorum.running()] == [0, 0, 0]
    assert {key.directory_id for key in keys(leader)} == {NO_DIRECTORY_ID}
    upgraded(quorum)
    quorum.end_well()


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "not-committed"])
def test_the_upgrade_survives_restarts(is_committed: bool, start_quorum: StartQuorum) -> None:
    """Once it is in the log of a majority, the configuration names the voters no longer."""
    quorum = start_quorum(7, VOTERS, dynamic=False)
    ask(quorum)
    if is_committed:
        quorum.run_for(ANSWER_MS)
    for process in quorum.running():
        quorum.crash(process)
    quorum.restart_all()
    quorum.run_for(20_000)
    versions = {process.raft.kraft_version for process in quorum.running()}
    assert versions == ({1} if is_committed else {0})
    quorum.end_well()
