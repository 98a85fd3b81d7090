"""Whether the voters that remain after a removal have a majority that works, as the leader describes them.

A leader of kraftctl's refuses the removal otherwise (`kraftctl.raft.working_majority`), one of Kafka's does
not.
"""

from __future__ import annotations

from typing import Final

from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.operate.restart import VoterProgress

CAUGHT_UP_WITHIN_MS: Final = 2_000
"""The default of controller.quorum.fetch.timeout.ms. A voter fetches twice a second, whatever its properties
say."""


def why_no_majority(quorum: QuorumInfo, leaving_id: int) -> str | None:
    """Returns why a majority of the others does not work; None if one does. Raises AdminError while the
    leader is not a voter.
    """
    others = [voter for voter in quorum.voters if voter.replica_id != leaving_id]
    working = [voter for voter in others if _works(quorum, voter)]
    needed = len(others) // 2 + 1
    if len(working) >= needed or not others:
        return None  # without others, the leader says why not
    return (
        f"Removing controller {leaving_id} leaves the voters {_ids(others)}, of which {needed} are needed,"
        f" but only {_ids(working)} fetch and are caught up"
    )


def voters_of(quorum: QuorumInfo) -> list[VoterProgress]:
    """Returns how long ago each voter had everything, by the clock of the leader. Raises AdminError while
    the leader is not a voter.
    """
    leader = quorum.leader()
    now_ms = leader.last_fetch_ms
    return [
        VoterProgress(
            voter.replica_id,
            0
            if voter is leader
            else None
            if voter.last_caught_up_ms is None or now_ms is None
            else max(0, now_ms - voter.last_caught_up_ms),
        )
        for voter in quorum.voters
    ]


def _works(quorum: QuorumInfo, voter: QuorumReplica) -> bool:
    """The leader reports its own last fetch as now, by its clock."""
    leader = quorum.leader()
    if voter is leader:
        return True
    if voter.last_caught_up_ms is None or leader.last_fetch_ms is None:
        return False
    return leader.last_fetch_ms - voter.last_caught_up_ms < CAUGHT_UP_WITHIN_MS


def _ids(replicas: list[QuorumReplica]) -> str:
    return ", ".join(str(replica.replica_id) for replica in replicas) or "none"
