"""The state that all parts of a raft node share: identity, log, voters, state, effects of the current
step.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from kraftctl.raft.damaged_downloads import DamagedDownloads
from kraftctl.raft.early_election_limit import EarlyElectionLimit
from kraftctl.raft.effects import RAFT, HighWatermarkUpdated, Notice, RaftEffect, Respond
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.epoch_pace import EpochPace
from kraftctl.raft.high_watermark import UNKNOWN_OFFSET
from kraftctl.raft.identities import Identities
from kraftctl.raft.latencies import CommitLatency, ElectionLatency
from kraftctl.raft.limited_notices import LimitedNotices
from kraftctl.raft.loading import Loading
from kraftctl.raft.log_state import LogState
from kraftctl.raft.other_quorum_watch import OtherQuorumWatch
from kraftctl.raft.parked_fetches import ParkedFetches
from kraftctl.raft.peers import RequestManager
from kraftctl.raft.progress_watch import ProgressWatch
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.sightings import Sightings
from kraftctl.raft.states import NEVER_MS, EpochState, Follower, Leader, Unattached
from kraftctl.raft.voter_history import VoterHistory
from kraftctl.raft.voter_set import Endpoints, VoterNode, VoterSet
from kraftctl.raft.voter_watch import VoterWatch
from kraftctl_protocol.message import Message

if TYPE_CHECKING:
    from kraftctl.raft.voter_change import VoterChange


class RaftCore:
    """The shared state of one `RaftNode`; the modules beside it are functions over it.

    `now_ms` and `wall_ms` are the arguments of the step in progress. `high_watermark` never goes back,
    whichever replica leads. Only `quorum_state` sets `state`: each field has one owner.
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
        stored_election: ElectionState | None,
        history: VoterHistory,
        recovering_epoch: int | None,
        stored_committed_end: int,
    ) -> None:
        self.key = ReplicaKey(node_id, directory_id)
        self.cluster_id = cluster_id
        self.endpoints = endpoints
        self.config = config
        self._rng = rng
        self.log = log
        self.stored_election = stored_election
        self.history = history
        self.recovering_epoch = recovering_epoch
        self.stored_committed_end = stored_committed_end
        self.state: EpochState = Unattached(0 if stored_election is None else stored_election.epoch)
        self.parked = ParkedFetches()
        self.peers = RequestManager()
        self.progress = ProgressWatch()
        self.identities = Identities()
        self.sightings = Sightings()
        self.other_quorums = OtherQuorumWatch()
        self.voter_watch = VoterWatch()
        self.voter_change: VoterChange | None = None
        self.damaged_downloads = DamagedDownloads()
        self.early_elections = EarlyElectionLimit()
        self.epoch_pace = EpochPace()
        self.loading = Loading()
        self.commit_latency = CommitLatency()
        self.election_latency = ElectionLatency()
        self.high_watermark = UNKNOWN_OFFSET
        self.shutting_down = False
        self._effects: list[RaftEffect] = []
        self._limits: dict[str, LimitedNotices] = {}
        self.now_ms = 0
        self.wall_ms = 0

    def begin_step(self, now_ms: int, wall_ms: int) -> None:
        self.now_ms = now_ms
        self.wall_ms = wall_ms

    def shut_down(self) -> None:
        self.shutting_down = True

    def random_below(self, end: int) -> int:
        return self._rng.randrange(end)

    def emit(self, effect: RaftEffect) -> None:
        self._effects.append(effect)

    def respond(self, request_id: int, response: Message) -> None:
        self._effects.append(Respond(request_id, response))

    def notice(self, level: str, text: str) -> None:
        self._effects.append(Notice(RAFT, level, text))

    def limited_notice(self, kind: str, level: str, text: str) -> None:
        """Writes a notice that other replicas can cause at any rate. Each `kind` has a limit of its own."""
        limit = self._limits.get(kind)
        if limit is None:
            limit = self._limits[kind] = LimitedNotices()
        left_out = limit.take_left_out(self.now_ms)
        if left_out > 0:
            self.notice(level, f"{left_out} similar lines were left out ({kind})")
        if limit.admits():
            self.notice(level, text)

    def take_effects(self) -> list[RaftEffect]:
        effects = self._effects
        self._effects = []
        return effects

    @property
    def voters(self) -> VoterSet:
        return self.history.current

    def committed_floor(self) -> int:
        """Returns up to where (exclusive) everything is known to be committed, also from before the start:
        no leader may take any of it back. A snapshot has committed records only.
        """
        latest = self.log.latest_snapshot_id()
        known = max(self.high_watermark, self.stored_committed_end, self.log.start_offset)
        return known if latest is None else max(known, latest.offset)

    def is_voter(self) -> bool:
        return self.history.current.is_voter(self.key)

    def may_vote(self) -> bool:
        """Returns whether this is a voter that has its log and its votes. Until it has recovered, it
        only follows.
        """
        return self.is_voter() and self.recovering_epoch is None

    def is_only_voter(self) -> bool:
        """Returns whether this is the only voter. A replica that has lost its log does not know the
        voters.
        """
        return self.history.current.is_only_voter(self.key) and self.recovering_epoch is None

    def has_no_peers(self) -> bool:
        """Returns whether this is the only voter, and no leader needs its fetches to commit the change
        to that.
        """
        if not self.is_only_voter():
            return False
        return not isinstance(self.state, Follower) or self.history.last_offset() < max(
            self.high_watermark, 0
        )

    def local_node(self) -> VoterNode:
        """Returns this replica as it would describe itself in a KRaftVoters record."""
        return VoterNode(
            self.key,
            self.endpoints,
            self.config.supported_kraft_version_min,
            self.config.supported_kraft_version_max,
        )

    def default_listener(self) -> str:
        """The listener by which controllers reach each other: the first of theirs."""
        return next(iter(self.endpoints))

    def leader(self) -> Leader | None:
        state = self.state
        return state if isinstance(state, Leader) else None

    def is_log_up_to_date(self, last_epoch: int, end_offset: int) -> bool:
        """Returns whether a log ending there has at least what ours has: only such a replica may lead."""
        own_epoch = self.log.last_epoch()
        return last_epoch > own_epoch or (last_epoch == own_epoch and end_offset >= self.log.end_offset)

    def election_deadline_ms(self) -> int:
        """Returns now plus a random time in [T, 2T): candidates rarely collide twice."""
        timeout_ms = self.config.election_timeout_ms
        return self.now_ms + timeout_ms + (self.random_below(timeout_ms) if timeout_ms > 0 else 0)

    def fetch_deadline_ms(self) -> int:
        """Returns when the fetch timeout of a voter ends unless its leader responds before."""
        return self.now_ms + self.config.fetch_timeout_ms if self.may_vote() else NEVER_MS

    def next_update_voter_ms(self) -> int:
        """Returns when a follower next checks what its leader knows of it, after Kafka's period."""
        return self.now_ms + self.config.fetch_timeout_ms

    def raise_high_watermark(self, offset: int) -> None:
        """Announces what is committed. A lower offset, which a new leader may have, is ignored."""
        assert offset <= self.log.end_offset
        if offset > self.high_watermark:
            self.high_watermark = offset
            self.commit_latency.committed(offset, self.now_ms)
            self.emit(HighWatermarkUpdated(offset))
