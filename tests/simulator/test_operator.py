"""Which failures of a simulated process its disk explains."""

from __future__ import annotations

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.errors import StorageError
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.faults.later_epochs import JOINED_MS
from tests.support.simulator.faults.operator import Operator


@pytest.fixture
def operator() -> Operator:
    cluster = Cluster(1, [1, 2, 3], dynamic=False)
    with cluster.files.attach():
        cluster.start()
    return Operator(cluster)


def fail(operator: Operator, node_id: int) -> None:
    operator.failed(operator._cluster.processes[node_id], StorageError("refused"))


def test_damage_to_another_disk_explains_no_failure(operator: Operator) -> None:
    operator.damaged.add(2)
    fail(operator, 2)
    with pytest.raises(AssertionError, match=r"^NoIllegalState: 1 failed"):
        fail(operator, 1)


def test_a_fault_explains_no_failure_after_the_next_start(operator: Operator) -> None:
    process = operator._cluster.processes[1]
    process.disk.no_space_count += 1
    fail(operator, 1)
    with operator._cluster.files.attach():
        process.kill()
        process.start()
    with pytest.raises(AssertionError, match=r"^NoIllegalState: 1 failed"):
        fail(operator, 1)


def await_none(operator: Operator, leader: ControllerProcess) -> None:
    later_epochs = operator.later_epochs
    operator._cluster.run_until(lambda: later_epochs.is_none(leader, []), 2 * JOINED_MS, "no later epoch")


class TestAnObserverAheadOfTheVoters:
    """It knows epoch 50, which no voter knows."""

    @pytest.fixture
    def operator(self) -> Operator:
        cluster = Cluster(1, [1, 2, 3], dynamic=True, observer_ids=[11])
        with cluster.files.attach():
            cluster.start()
            cluster.await_active()
            observer = cluster.processes[11]
            observer.kill()
            store = QuorumStateStore(observer.disk.root / PARTITION_DIRECTORY)
            store.write(ElectionState(epoch=50))
            operator = Operator(cluster)
            operator.lost_votes(observer)
            observer.start()
        return operator

    def test_is_a_find_if_no_voter_lost_its_directory(self, operator: Operator) -> None:
        leader = operator._cluster.await_active()
        attached = operator._cluster.files.attach()
        with attached, pytest.raises(AssertionError, match="no voter forgot"):
            await_none(operator, leader)

    def test_is_formatted_anew_after_a_voter_lost_its_directory(self, operator: Operator) -> None:
        cluster = operator._cluster
        leader = cluster.await_active()
        follower_id = next(node_id for node_id in cluster.voter_ids if node_id != leader.node_id)
        with cluster.files.attach():
            cluster.processes[follower_id].kill()
            operator.lose_directory(cluster.processes[follower_id])
            await_none(operator, leader)
            cluster.run_until(
                lambda: cluster.processes[11].raft.leader_id == leader.node_id, 10_000, "it follows"
            )
