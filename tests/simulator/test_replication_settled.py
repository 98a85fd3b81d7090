"""What has to settle although a broker stays away, whose release does not know a finalized level."""

from __future__ import annotations

import pytest

from kraftctl.metadata.partition_registration import NO_LEADER
from tests.support.partition_registrations import partition_registration
from tests.support.simulator.checks.replication_settled import is_in_sync

DIRECTORY = bytes(16)
ABSENT = 3


@pytest.mark.parametrize(
    ("leader", "isr", "elr", "last_known", "expected"),
    [
        pytest.param(1, (1, 2, 3), (), (), True, id="all"),
        pytest.param(1, (1, 2), (), (), True, id="without-the-absent-one"),
        pytest.param(1, (1, 3), (), (), False, id="without-another-one"),
        pytest.param(NO_LEADER, (3,), (), (), True, id="only-the-absent-one-has-everything"),
        pytest.param(NO_LEADER, (), (3,), (), True, id="eligible-is-the-absent-one"),
        pytest.param(NO_LEADER, (), (), (3,), True, id="the-absent-one-led"),
        pytest.param(NO_LEADER, (3,), (2,), (), False, id="another-one-is-eligible"),
        pytest.param(NO_LEADER, (2,), (), (3,), False, id="another-one-is-in-sync"),
        pytest.param(NO_LEADER, (), (), (), False, id="none-is-known"),
    ],
)
def test_in_sync_as_far_as_it_can_be(
    leader: int, isr: tuple[int, ...], elr: tuple[int, ...], last_known: tuple[int, ...], expected: bool
) -> None:
    partition = partition_registration(
        replicas=(1, 2, 3),
        directories=(DIRECTORY,) * 3,
        isr=isr,
        elr=elr,
        last_known_elr=last_known,
        leader=leader,
        leader_recovery_state=0,
        leader_epoch=1,
        partition_epoch=1,
    )
    assert is_in_sync(partition, {ABSENT}) is expected
