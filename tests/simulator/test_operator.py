"""Which failures of a simulated process its disk explains."""

from __future__ import annotations

import pytest

from kraftctl.storage.errors import StorageError
from tests.support.simulator.cluster import Cluster
from tests.support.simulator.operator import Operator


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
