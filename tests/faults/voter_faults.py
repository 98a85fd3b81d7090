"""Planted faults in the upgrade to kraft.version 1, in auto-join, and in what voters know of each other."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

UPGRADE = "tests/raft/test_kraft_version_upgrade.py"
AUTO_JOIN = "tests/raft/test_auto_join.py"
UPDATES = "tests/raft/test_update_voter.py"

FAULTS = (
    PlantedFault(
        "leadership-is-not-confirmed",
        "kraftctl/node/controller_node.py",
        "        if reads and pending.round != NEVER_ASKED:\n",
        "        if False:\n",
        ("tests/raft/test_confirmed_leadership.py",),
        "A leader that is cut off answers heartbeats as the active controller until it resigns.",
    ),
    PlantedFault(
        "a-fetch-on-its-way-confirms",
        "kraftctl/raft/leadership_rounds.py",
        "and fetch.connection_id == voter.informed_connection_id:\n",
        "and True:\n",
        ("tests/raft/test_confirmed_leadership.py",),
        "A voter that has voted for another since it sent its Fetch confirms the former leader.",
    ),
    PlantedFault(
        "a-round-is-joined-too-late",
        "kraftctl/raft/states.py",
        "        if self.asked_round == self._informed_round:\n",
        "        if self.asked_round == self.confirmed_round:\n",
        ("tests/raft/test_leadership_rounds.py",),
        "The Fetch that confirms it was sent before the request came.",
    ),
    PlantedFault(
        "history-forgets-the-voters-in-force",
        "kraftctl/raft/voter_history.py",
        "    return max(0, bisect_left(offsets, start_offset) - 1)\n",
        "    return bisect_left(offsets, start_offset)\n",
        ("tests/raft/test_voter_history.py",),
        "A snapshot has no voters, and truncation takes a replica back to those of its configuration.",
    ),
    PlantedFault(
        "upgrade-without-the-directory-of-a-voter",
        "kraftctl/raft/kraft_version_upgrade.py",
        "    for voter_id in nodes:\n",
        "    for voter_id in [leader.leader_id]:\n",
        (f"{UPGRADE}::test_a_voter_that_this_leader_has_not_heard_from_is_named",),
        "KRaftVoters has a voter without directory id: its vote may be given by two disks.",
    ),
    PlantedFault(
        "upgrade-with-a-lost-directory",
        "kraftctl/raft/kraft_version_upgrade.py",
        "    if fetched not in (NO_DIRECTORY_ID, reported):\n",
        "    if fetched == NO_DIRECTORY_ID != fetched:\n",
        (f"{UPGRADE}::test_a_voter_that_fetches_from_a_new_disk_is_named",),
        "The upgrade takes the vote from a replica that has just got a new disk.",
    ),
    PlantedFault(
        "upgrade-is-answered-before-its-commit",
        "kraftctl/controller/quorum_controller.py",
        "            if is_answered or not isinstance(record, NoOpRecord):\n",
        "            if not isinstance(record, NoOpRecord):\n",
        (f"{UPGRADE}::test_an_upgrade_that_is_not_committed_is_taken_back",),
        "kafka-features reports an upgrade that the next leader takes back.",
    ),
    PlantedFault(
        "joins-beside-its-former-directory",
        "kraftctl/raft/auto_join.py",
        "    if known is not None:\n",
        "    if known is not None and known.key == core.key:\n",
        (f"{AUTO_JOIN}::test_a_lost_directory_leaves_before_the_new_one_is_added",),
        "KIP-1186: a node that has lost its directory never votes again.",
    ),
    PlantedFault(
        "joins-twice",
        "kraftctl/raft/auto_join.py",
        "        and not core.is_voter()\n",
        "",
        (f"{AUTO_JOIN}::test_an_observer_adds_itself",),
        "A voter takes itself for an observer, and removes itself.",
    ),
    PlantedFault(
        "joins-without-a-pause",
        "kraftctl/raft/auto_join.py",
        "        and core.now_ms >= state.update_voter_at_ms\n",
        "",
        (f"{AUTO_JOIN}::test_it_asks_once_in_a_fetch_timeout",),
        "An observer that the leader refuses asks it as fast as it answers, and fetches nothing meanwhile.",
    ),
    PlantedFault(
        "leader-takes-another-directory-for-its-own",
        "kraftctl/raft/handle_update_raft_voter.py",
        "    is_named_by_directory = in_log or node.key.id == core.key.id\n",
        "    is_named_by_directory = in_log\n",
        (f"{UPGRADE}::test_the_leader_alone_knows_its_directory",),
        "The upgrade leaves the leader out of the voters, when somebody says that it has another directory.",
    ),
    PlantedFault(
        "leader-counts-itself-twice",
        "kraftctl/raft/check_quorum.py",
        "    if key.id == core.key.id or not leader.is_voter(key):\n",
        "    if not leader.is_voter(key):\n",
        ("tests/raft/test_check_quorum.py::test_requests_with_its_own_id_do_not_keep_a_leader",),
        "A leader that no voter reaches leads as long as anybody asks it with its own id.",
    ),
    PlantedFault(
        "joins-without-fetching-in-between",
        "kraftctl/raft/auto_join.py",
        "    return core.next_update_voter_ms() + core.config.request_timeout_ms\n",
        "    return core.next_update_voter_ms()\n",
        (f"{AUTO_JOIN}::test_between_two_requests_it_fetches_for_a_fetch_timeout",),
        "A node that its leader cannot reach hardly fetches, and keeps all other changes of the voters away.",
    ),
    PlantedFault(
        "other-listeners-of-the-leader-are-forgotten",
        "kraftctl/raft/states.py",
        "        self.leader_endpoints = {**self.leader_endpoints, **endpoints}\n",
        "        self.leader_endpoints = endpoints\n",
        (f"{UPDATES}::test_an_address_for_one_listener_leaves_those_for_the_others",),
        "A follower that does not reach its leader never waits its fetch timeout out.",
    ),
    PlantedFault(
        "any-answer-is-the-leader-s",
        "kraftctl/raft/handle_responses.py",
        "    is_own_epoch = is_resignation and isinstance(known, Resigned) and named.epoch == known.epoch\n",
        "    is_own_epoch = is_resignation and isinstance(known, Resigned) and named.epoch == known.epoch\n"
        "    _note_reached(core, peer, peer.id)\n",
        (f"{UPDATES}::test_another_voter_at_the_former_address_of_the_leader_is_not_the_leader",),
        "A follower asks another voter for records, as long as the epoch of its leader lasts.",
    ),
    PlantedFault(
        "removed-voter-adds-itself-immediately",
        "kraftctl/raft/peer_requests.py",
        "        if core.now_ms >= state.update_voter_at_ms:\n",
        "        if core.now_ms < 0:\n",
        ("tests/kafkas_bugs/test_raft.py::test_a_removed_voter_does_not_add_itself_immediately",),
        "KAFKA-19850: there is no time to stop a controller that is removed before it adds itself again.",
    ),
    PlantedFault(
        "candidate-asks-only-the-voters",
        "kraftctl/raft/peer_requests.py",
        "        if state.leader_id < 0 and state.election.is_unanswered()",
        "        if state.leader_id < -1 and state.election.is_unanswered()",
        (f"{UPDATES}::test_a_candidate_that_knows_only_former_addresses_asks_the_bootstrap_servers",),
        "A voter that voted for itself before the others moved never finds them, however it is configured.",
    ),
    PlantedFault(
        "removed-voter-is-a-stranger",
        "kraftctl/raft/handle_vote.py",
        "    return core.history.was_voter(_candidate(partition)) or",
        "    return core.voters.is_voter(_candidate(partition)) or",
        ("tests/raft/test_promises.py::test_the_epoch_of_a_former_voter_is_joined",),
        "A voter that is removed is alone in its epoch, and so are brokers that ask it.",
    ),
)
