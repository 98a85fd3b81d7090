"""A voter is removed only if a majority of those that remain works (`kraftctl/raft/working_majority.py`)."""

from __future__ import annotations

from kraftctl.raft.replica_key import ReplicaKey
from tests.support.simulator.checks.invariants import broken


def check(leader_id: int, leaving: ReplicaKey, *, remaining: int, working: int, is_removed: bool) -> bool:
    """After a request that is not forced. `working` are those of the `remaining` ones that are not down, for
    longer than a fetch timeout. Returns whether they are a majority.
    """
    is_majority = working > remaining // 2
    if is_removed and not is_majority:
        broken(
            "RemovalLeavesMajority",
            f"node {leader_id} removes {leaving}: of the {remaining} voters that remain, {working} work",
        )
    return is_majority
