"""Planted faults in the upgrade to kraft.version 1 and in auto-join."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

UPGRADE = "tests/raft/test_kraft_version_upgrade.py"
AUTO_JOIN = "tests/raft/test_auto_join.py"

FAULTS = (
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
)
