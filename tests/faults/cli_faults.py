"""Planted faults in `kraftctl/cli`: what a command asks of a cluster, and what it prints."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CLIENT = "tests/cli/test_admin_client.py"
CHANGES = "tests/cli/test_voter_changes.py"
DESCRIBE = "tests/cli/test_quorum_describe.py"

FAULTS = (
    PlantedFault(
        "admin-trusts-the-first-refusal",
        "kraftctl/cli/admin/admin_client.py",
        "if error not in NOT_ACTIVE:",
        "if error:",
        (f"{CLIENT}::test_a_standby_that_names_a_former_leader_is_asked_again",),
        "A command fails because a standby was asked.",
    ),
    PlantedFault(
        "admin-never-forgets-a-leader",
        "kraftctl/cli/admin/admin_client.py",
        "            self._known = []\n            Event()",
        "            Event()",
        (f"{CLIENT}::test_a_standby_that_names_a_former_leader_is_asked_again",),
        "A command that was given a former leader does not find the new one.",
    ),
    PlantedFault(
        "wrong-arguments-end-with-2",
        "kraftctl/cli/parser.py",
        "KAFKAS_USAGE_STATUS = 1\n",
        "KAFKAS_USAGE_STATUS = 2\n",
        (f"{DESCRIBE}::test_wrong_arguments_end_with_kafkas_status",),
        "Scripts that compare the exit status with Kafka's take another branch.",
    ),
    PlantedFault(
        "largest-lag-of-the-last-of-equals",
        "kraftctl/cli/quorum/describe.py",
        "min(quorum.voters, key=",
        "min(reversed(quorum.voters), key=",
        (f"{DESCRIBE}::test_the_text_is_kafkas",),
        "MaxFollowerLagTimeMs is another voter's than Kafka prints.",
    ),
    PlantedFault(
        "add-controller-with-the-bind-address",
        "kraftctl/cli/quorum/controller_properties.py",
        '("listeners", "advertised.listeners")',
        '("advertised.listeners", "listeners")',
        (f"{CHANGES}::test_add_controller",),
        "A voter is added with an address that others cannot connect to.",
    ),
    PlantedFault(
        "a-dry-run-removes",
        "kraftctl/cli/quorum/command.py",
        "    if not args.dry_run:\n        remove_voter",
        "    if args.controller_id >= 0:\n        remove_voter",
        (f"{CHANGES}::test_a_dry_run_sends_nothing",),
        "A dry run removes a voter.",
    ),
)
