"""Planted faults of epochs: compared by one too few, taken from elsewhere, kept beyond their end."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FAULTS = (
    PlantedFault(
        "a-vote-is-taken-into-the-next-epoch",
        "kraftctl/raft/elections.py",
        "    vote = old.voted_key if epoch == old.epoch else None\n",
        "    vote = old.voted_key\n",
        ("tests/raft/test_votes.py::test_a_vote_holds_in_its_epoch_alone",),
        "A voter refuses all other candidates of each later epoch.",
    ),
    PlantedFault(
        "a-follower-takes-its-vote-into-the-next-epoch",
        "kraftctl/raft/elections.py",
        "    vote = core.state.voted_key if epoch == core.state.epoch else None\n",
        "    vote = core.state.voted_key\n",
        ("tests/raft/test_datadriven.py",),
        "quorum-state has a vote that was never given in its epoch.",
    ),
    PlantedFault(
        "a-follower-forgets-its-vote",
        "kraftctl/raft/elections.py",
        "    vote = core.state.voted_key if epoch == core.state.epoch else None\n",
        "    vote = None\n",
        ("tests/raft/test_datadriven.py",),
        "A vote of the same epoch is no longer on the disk.",
    ),
    PlantedFault(
        "requests-of-a-later-epoch-are-served",
        "kraftctl/raft/validation.py",
        "    if request_epoch > epoch:\n        return Errors.UNKNOWN_LEADER_EPOCH\n",
        "",
        ("tests/raft/test_datadriven.py",),
        "A leader that was replaced counts what replicas of its successor have fetched.",
    ),
    PlantedFault(
        "the-epoch-of-a-snapshot-is-not-taken-over",
        "kraftctl/raft/log_state.py",
        "        return self.snapshots[-1].snapshot_id.epoch if self.snapshots else 0\n",
        "        return 0\n",
        ("tests/raft/test_snapshot_download.py::test_an_empty_slice_is_fetched_again",),
        "A voter that has just loaded a snapshot votes for a candidate with a shorter log.",
    ),
    PlantedFault(
        "a-log-of-another-epoch-continues-at-a-snapshot",
        "kraftctl/raft/log_state.py",
        "            or (offset == self.start_offset and epoch != earliest.epoch)\n",
        "",
        ("tests/raft/test_leader_epochs.py",),
        "A replica keeps records of a former epoch below a log that had others there.",
    ),
    PlantedFault(
        "an-older-log-continues-at-a-snapshot",
        "kraftctl/raft/log_state.py",
        "            or epoch < earliest.epoch\n",
        "",
        ("tests/raft/test_leader_epochs.py",),
        "A replica truncates where only a snapshot can help.",
    ),
    PlantedFault(
        "the-first-epoch-begins-before-the-log",
        "kraftctl/raft/leader_epochs.py",
        "            del self.start_offsets[:drop]\n            self.start_offsets[0] = start_offset\n",
        "            del self.start_offsets[:drop]\n",
        ("tests/raft/test_leader_epochs.py",),
        "The epochs of the core are others than those on the disk.",
    ),
    PlantedFault(
        "an-epoch-that-ends-at-the-log-start-stays",
        "kraftctl/raft/leader_epochs.py",
        "        drop = bisect_right(self.start_offsets, start_offset) - 1\n",
        "        drop = bisect_left(self.start_offsets, start_offset) - 1\n",
        ("tests/raft/test_leader_epochs.py",),
        "Off by one: a replica truncates to an epoch without records.",
    ),
    PlantedFault(
        "a-late-resignation-ends-the-next-leadership",
        "kraftctl/raft/raft_node.py",
        "            if core.leader() is not None and core.state.epoch == event.epoch:\n",
        "            if core.leader() is not None:\n",
        ("tests/raft/test_datadriven.py",),
        "A failure of a former epoch makes a working leader resign.",
    ),
    PlantedFault(
        "rounds-of-a-former-leadership-count",
        "kraftctl/controller/waiting_responses.py",
        "        self._reads.clear()\n        self._confirmed_round = 0\n",
        "        self._reads.clear()\n",
        ("tests/raft/test_confirmed_leadership.py::test_rounds_of_a_former_leadership_confirm_nothing",),
        "A leader that leads for the second time answers without asking whether it still leads.",
    ),
    PlantedFault(
        "responses-of-a-former-epoch-are-taken",
        "kraftctl/raft/peers.py",
        "        self._by_address = {}\n\n    def has_any",
        "        pass\n\n    def has_any",
        ("tests/raft/test_datadriven.py",),
        "A vote of a former election counts in this one, and backoffs outlive their reason.",
    ),
    PlantedFault(
        "a-truncated-kraft-version-stays",
        "kraftctl/raft/voter_history.py",
        "        while self.kraft_versions and self.kraft_versions[-1][0] >= end_offset:\n"
        "            self.kraft_versions.pop()\n",
        "",
        ("tests/raft/test_kraft_version_upgrade.py::test_an_upgrade_that_is_not_committed_is_taken_back",),
        "A follower writes quorum-state in a version that does not fit its log.",
    ),
)
