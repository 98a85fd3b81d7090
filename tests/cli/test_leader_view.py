"""What the leader says of replicas, as `kraftctl explain` uses it."""

from __future__ import annotations

from kraftctl.cli.explain.leader_view import leader_view_of
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.explain.commit_watch import CommitWatch
from kraftctl.explain.evidence import ReplicaFetch

NOW_MS = 1_800_000_000_000
OLD, NEW = b"old".ljust(16), b"new".ljust(16)


def test_ages_are_on_the_clock_of_the_leader_and_a_replaced_disk_is_noticed() -> None:
    leader = QuorumReplica(1, OLD, 100, NOW_MS, NOW_MS)
    lost = QuorumReplica(2, OLD, 50, NOW_MS - 60_000, NOW_MS - 61_000)
    returned = QuorumReplica(2, NEW, 99, NOW_MS - 100, None)
    broker = QuorumReplica(7, NEW, -1, None, None)
    view = leader_view_of(QuorumInfo(1, 9, 100, (leader, lost), (returned, broker), {}))
    assert (view.leader_id, view.leader_epoch, view.high_watermark, view.log_end_offset) == (1, 9, 100, 100)
    assert view.returned_ids == {2}
    assert view.replicas == {
        1: ReplicaFetch(1, OLD, True, 100, 0, 0),
        2: ReplicaFetch(2, OLD, True, 50, 60_000, 61_000),
        7: ReplicaFetch(7, NEW, False, -1, None, None),
    }


def test_a_leader_that_has_removed_itself_is_no_voter() -> None:
    """It leads until that is committed, and its end is not in the response."""
    quorum = QuorumInfo(1, 9, 100, (QuorumReplica(2, OLD, 90, NOW_MS, NOW_MS),), (), {})
    assert leader_view_of(quorum).log_end_offset == 100
    watch = CommitWatch()
    assert quorum.uncommitted_ms(watch, 0) == 0
    assert not watch.is_open
