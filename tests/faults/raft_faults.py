"""Planted faults in `kraftctl/raft`: elections, replication, commits and changes of voters."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CLUSTER = "tests/raft/test_cluster.py"
PROMISES = "tests/raft/test_promises.py"
VOTES = "tests/raft/test_votes.py"
VOTERS = "tests/raft/test_voter_changes.py"

FAULTS = (
    PlantedFault(
        "quorum-state-after-answers",
        "kraftctl/raft/raft_node.py",
        "        send_requests(core)\n        return core.take_effects()\n",
        "        send_requests(core)\n"
        "        late = lambda effect: type(effect).__name__ == 'WriteQuorumState'\n"
        "        return sorted(core.take_effects(), key=late)\n",
        (f"{CLUSTER}::test_a_calm_cluster_elects_once_and_replicates",),
        "A crash between answer and write takes back a vote.",
    ),
    PlantedFault(
        "quorum-state-never-written",
        "kraftctl/raft/quorum_state.py",
        "    core.peers.reset()\n    write_quorum_state(core)\n",
        "    core.peers.reset()\n",
        (f"{CLUSTER}::test_a_calm_cluster_elects_once_and_replicates",),
        "Epochs and votes are forgotten by a restart.",
    ),
    PlantedFault(
        "leader-change-before-quorum-state",
        "kraftctl/raft/elections.py",
        "    transition(core, leader)\n"
        "    core.log.epochs.assign(leader.epoch, epoch_start_offset)\n"
        "    append_start_of_epoch(core, leader)\n",
        "    core.log.epochs.assign(leader.epoch, epoch_start_offset)\n"
        "    append_start_of_epoch(core, leader)\n"
        "    transition(core, leader)\n",
        (f"{CLUSTER}::test_a_calm_cluster_elects_once_and_replicates",),
        "A leader that crashed in between is a candidate of the same epoch, after its own LeaderChange.",
    ),
    PlantedFault(
        "leader-resumes-its-epoch",
        "kraftctl/raft/elections.py",
        "    if stored.leader_id == core.key.id:\n        return Resigned(",
        "    if stored.leader_id == core.key.id and core.may_vote():\n"
        "        return _candidate(core, stored.epoch)\n"
        "    if stored.leader_id == core.key.id:\n        return Resigned(",
        ("tests/raft/test_datadriven.py",),
        "KAFKA-10527: (epoch, offset) would name two different records.",
    ),
    PlantedFault(
        "vote-without-comparing-logs",
        "kraftctl/raft/handle_vote.py",
        "    return log_is_up_to_date and not state.has_leader()\n",
        "    return not state.has_leader()\n",
        (f"{VOTES}::test_votes",),
        "A replica without the committed records is elected, and overwrites them.",
    ),
    PlantedFault(
        "repeated-vote-without-comparing-logs",
        "kraftctl/raft/handle_vote.py",
        "        return is_same_replica(vote, candidate) and log_is_up_to_date\n",
        "        return is_same_replica(vote, candidate)\n",
        (f"{VOTES}::test_votes",),
        "A candidate that lost a part of its log after it got votes is still elected.",
    ),
    PlantedFault(
        "two-votes-in-an-epoch",
        "kraftctl/raft/handle_vote.py",
        "    if vote is not None:\n",
        "    if vote is not None and vote.id == candidate.id:\n",
        (f"{VOTES}::test_votes",),
        "Two leaders of one epoch.",
    ),
    PlantedFault(
        "candidate-claims-what-is-not-flushed",
        "kraftctl/raft/peer_requests.py",
        "        last_offset=flushed_end.offset,\n",
        "        last_offset=core.log.end_offset,\n",
        ("tests/raft/test_claims.py",),
        "It is elected for records that a power failure takes before it leads.",
    ),
    PlantedFault(
        "won-with-half-of-the-votes",
        "kraftctl/raft/epoch_election.py",
        "        return len(self.votes) // 2 + 1\n",
        "        return (len(self.votes) + 1) // 2\n",
        (f"{VOTES}::test_elections",),
        "Two halves of a quorum each elect a leader.",
    ),
    PlantedFault(
        "pre-vote-raises-the-epoch",
        "kraftctl/raft/handle_vote.py",
        "    if partition.pre_vote:\n        return False\n",
        "    if partition.pre_vote:\n        return True\n",
        (f"{PROMISES}::test_a_replica_outside_of_the_voter_set_cannot_depose_an_active_leader",),
        "KIP-996: a pre-vote request deposes a healthy leader.",
    ),
    PlantedFault(
        "votes-while-it-recovers",
        "kraftctl/raft/handle_vote.py",
        "    if core.recovering_epoch is not None:\n",
        "    if core.recovering_epoch == -1:\n",
        ("tests/raft/test_lost_memory.py::test_it_does_not_elect_a_leader_that_lacks_what_it_acknowledged",),
        "A voter that lost its log helps to elect a leader without what it had acknowledged.",
    ),
    PlantedFault(
        "leader-counts-what-it-has-not-flushed",
        "kraftctl/raft/append.py",
        "        leader.update_local_end_offset(core.log.flushed_offset)\n",
        "        leader.update_local_end_offset(core.log.end_offset)\n",
        (f"{CLUSTER}::test_a_leader_counts_only_what_is_on_its_disk",),
        "A record that is in one page cache only is acknowledged.",
    ),
    PlantedFault(
        "flush-from-before-a-truncation-counts",
        "kraftctl/raft/log_state.py",
        "        if self._flush_is_stale:\n",
        "        if self._flush_is_stale and end_offset > self.end_offset:\n",
        ("tests/raft/test_leader_epochs.py::test_a_flush_from_before_a_truncation_counts_for_nothing",),
        "What was appended in place of truncated records is taken for durable.",
    ),
    PlantedFault(
        "high-watermark-before-own-epoch",
        "kraftctl/raft/states.py",
        "        if offset <= self.epoch_start_offset or offset <= self.high_watermark:\n",
        "        if offset <= self.high_watermark:\n",
        (f"{VOTES}::test_a_majority_on_old_records_commits_nothing",),
        "KAFKA-12619: a later leader may still overwrite what is announced as committed.",
    ),
    PlantedFault(
        "high-watermark-falls",
        "kraftctl/raft/states.py",
        "        if offset <= self.epoch_start_offset or offset <= self.high_watermark:\n",
        "        if offset <= self.epoch_start_offset or offset == self.high_watermark:\n",
        (f"{VOTES}::test_a_change_of_voters_never_lowers_the_high_watermark",),
        "KAFKA-16530: a high watermark that goes back ends brokers.",
    ),
    PlantedFault(
        "observers-commit",
        "kraftctl/raft/states.py",
        "high_watermark([state.end_offset for state in self.voter_states.values()])",
        "high_watermark([state.end_offset for states in (self.voter_states, self.observer_states)"
        " for state in states.values()])",
        (f"{VOTES}::test_observers_commit_nothing",),
        "What only observers have is acknowledged; no voter that can be elected has it.",
    ),
    PlantedFault(
        "follower-fetches-before-its-flush",
        "kraftctl/raft/peer_requests.py",
        "    return core.log.flushed_offset == core.log.end_offset\n",
        "    return True\n",
        (f"{CLUSTER}::test_a_calm_cluster_elects_once_and_replicates",),
        "KAFKA-17332: the leader treats a Fetch as a promise that everything before its offset is on disk.",
    ),
    PlantedFault(
        "truncates-below-the-high-watermark",
        "kraftctl/raft/follow.py",
        "    if end_offset < max(core.high_watermark, core.log.start_offset):\n",
        "    if end_offset < core.log.start_offset:\n",
        (f"{PROMISES}::test_a_leader_that_lacks_what_is_committed_ends_its_follower",),
        "The last copy of committed records is dropped without a notice.",
    ),
    PlantedFault(
        "truncates-in-the-middle-of-a-batch",
        "kraftctl/raft/follow.py",
        "min(diverging.offset, own.offset) if own.epoch == diverging.epoch else own.offset\n",
        "min(diverging.offset, own.offset)\n",
        (f"{PROMISES}::test_a_log_is_never_truncated_in_the_middle_of_a_batch",),
        "The core assumes a longer log than is on disk, and appends after a gap when it is elected.",
    ),
    PlantedFault(
        "voters-stay-after-truncation",
        "kraftctl/raft/follow.py",
        "    core.history.truncate_to(end_offset)\n",
        "",
        (f"{VOTERS}::test_a_change_that_cannot_be_committed_is_given_up_and_taken_back",),
        "KIP-853: a replica counts majorities of voters that were never agreed upon.",
    ),
    PlantedFault(
        "second-change-of-voters-at-once",
        "kraftctl/raft/voter_rpcs.py",
        "    if core.voter_change is not None or not is_voter_set_committed(core, leader):\n",
        "    if core.voter_change is not None:\n",
        (f"{VOTERS}::test_a_change_is_refused_until_the_one_before_is_committed",),
        "KIP-853: majorities of the first and of the third voter set may not share a voter.",
    ),
    PlantedFault(
        "check-quorum-never-resigns",
        "kraftctl/raft/check_quorum.py",
        "    return core.now_ms + int(core.config.fetch_timeout_ms * CHECK_QUORUM_TIMEOUT_FACTOR)\n",
        "    return NEVER_MS\n",
        (f"{CLUSTER}::test_an_isolated_leader_resigns_and_commits_nothing",),
        "KAFKA-15489: a leader that was cut off leads forever.",
    ),
    PlantedFault(
        "a-change-of-voters-restarts-check-quorum",
        "kraftctl/raft/voter_change.py",
        "    limits = NEVER_MS not in (deadline_ms, leader.deadline_ms)\n",
        "    limits = leader.deadline_ms < 0\n",
        ("tests/raft/test_check_quorum.py",),
        "A leader that is cut off leads longer when it is asked to change the voters.",
    ),
    PlantedFault(
        "check-quorum-takes-one-voter-for-itself",
        "kraftctl/raft/check_quorum.py",
        "    if core.is_only_voter():\n",
        "    if len(core.voters) == 1:\n",
        (f"{PROMISES}::test_a_leader_that_left_one_other_voter_resigns_when_it_is_cut_off",),
        "A leader that removed itself and is cut off leads forever.",
    ),
    PlantedFault(
        "fetch-snapshot-is-no-sign-of-life",
        "kraftctl/raft/handle_fetch_snapshot.py",
        "    if request.replica_id >= 0:\n        note_fetch_of_voter(",
        "    if request.replica_id < -1:\n        note_fetch_of_voter(",
        ("tests/raft/test_check_quorum.py",),
        "A leader resigns while its only follower downloads a long snapshot, which then starts again.",
    ),
    PlantedFault(
        "recovery-ends-before-the-flush",
        "kraftctl/raft/recovery.py",
        "    if core.log.flushed_offset < state.leader_high_watermark:\n",
        "    if core.log.end_offset < state.leader_high_watermark:\n",
        (f"{PROMISES}::test_recovery_ends_when_all_is_flushed",),
        "A voter that recovered loses power, and votes without what it had.",
    ),
    PlantedFault(
        "trimmed-fetches-wait",
        "kraftctl/raft/raft_node.py",
        "                redirect_trimmed_fetches(core)\n",
        "",
        ("tests/raft/test_datadriven.py",),
        "A leader fails when it answers a Fetch whose records retention has removed.",
    ),
    PlantedFault(
        "leader-without-endpoint-is-named",
        "kraftctl/raft/leader_endpoint.py",
        "    if has_endpoints and listener_name not in state.leader_endpoints:\n",
        "    if has_endpoints and state.leader_id < 0:\n",
        ("tests/raft/test_leader_endpoint.py",),
        "A broker halts on a leader whose endpoint it does not learn.",
    ),
    PlantedFault(
        "snapshot-of-one-offset-is-written-again",
        "kraftctl/node/controller_node.py",
        "        if latest is not None and latest.offset >= end_offset:\n",
        "        if latest is not None and latest.offset > end_offset:\n",
        ("tests/node/test_node.py",),
        "Parts of two files arrive at a replica that fetches the snapshot.",
    ),
    PlantedFault(
        "a-snapshot-does-not-count-as-flushed",
        "kraftctl/raft/log_state.py",
        "        self.flushed_offset = max(self.flushed_offset, self.start_offset)\n",
        "",
        ("tests/raft/test_leader_epochs.py::test_what_a_snapshot_replaces_counts_as_flushed",),
        "A replica claims epoch 0 in elections, and loses them.",
    ),
)
