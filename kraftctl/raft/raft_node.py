"""KIP-595, KIP-853: one replica of the metadata quorum as a function from events to effects."""

from __future__ import annotations

import random

from kraftctl.raft.effects import RaftEffect
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import RaftEvent
from kraftctl.raft.log_state import LogState
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.voter_set import Endpoints, VoterSet


class RaftNode:
    """`static_voters` is empty in a dynamic quorum; `voter_history` and `kraft_version_history` list
    (offset, value) of every KRaftVoters / KRaftVersion control record found in the newest snapshot
    and in the log, rising. What came from a snapshot carries its end offset - 1: -1 for 0-0.
    """

    def __init__(
        self,
        *,
        node_id: int,
        directory_id: bytes,
        cluster_id: str,
        endpoints: Endpoints,
        config: RaftConfig,
        rng: random.Random,
        log: LogState,
        quorum_state: ElectionState | None,
        static_voters: VoterSet,
        voter_history: list[tuple[int, VoterSet]],
        kraft_version_history: list[tuple[int, int]],
    ) -> None: ...

    def step(self, event: RaftEvent, now_ms: int, wall_ms: int) -> list[RaftEffect]:
        """What must be done, in order, because `event` happened at `now_ms`."""
        ...

    def append(self, values: list[bytes], now_ms: int, wall_ms: int) -> tuple[int, list[RaftEffect]]:
        """Append encoded metadata records as one batch; leader only. Returns the base offset."""
        ...

    @property
    def next_deadline_ms(self) -> int | None: ...
    @property
    def node_id(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def leader_id(self) -> int:
        """-1 while unknown."""
        ...
    @property
    def is_leader(self) -> bool: ...
    @property
    def high_watermark(self) -> int:
        """Exclusive; -1 until known in this run."""
        ...
    @property
    def end_offset(self) -> int: ...
    @property
    def kraft_version(self) -> int: ...
    @property
    def voter_set(self) -> VoterSet: ...
    def leader_endpoint(self, listener_name: str) -> tuple[str, int] | None:
        """Where the leader listens under this listener name, when known."""
        ...
