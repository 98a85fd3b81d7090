"""Planted faults in `kraftctl/cli`: what a command asks of a cluster, and what it prints."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CLIENT = "tests/cli/test_admin_client.py"
CHANGES = "tests/cli/test_voter_changes.py"
STEPS = "tests/cli/test_replacement_steps.py"
REPLACE = "tests/cli/test_replace_voter.py"
JUST_ELECTED = "test_a_voter_that_a_new_leader_has_not_heard_from_is_not_removed"
DESCRIBE = "tests/cli/test_quorum_describe.py"

FAULTS = (
    PlantedFault(
        "admin-trusts-the-first-refusal",
        "kraftctl/cli/admin/admin_client.py",
        "if not is_repeated(request.NAME, error):",
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
        "    if args.dry_run:\n        print(removed_text(",
        "    if args.controller_id < 0:\n        print(removed_text(",
        (f"{CHANGES}::test_a_dry_run_sends_nothing",),
        "A dry run removes a voter.",
    ),
    PlantedFault(
        "a-voter-is-removed-that-cannot-be-unregistered",
        "kraftctl/cli/quorum/command.py",
        "        check_unregistration(session.client)\n",
        "        pass\n",
        (f"{CHANGES}::test_nothing_is_removed_that_cannot_be_unregistered",),
        "A controller that is gone limits the cluster, and the command cannot be repeated.",
    ),
    PlantedFault(
        "an-api-that-no-node-serves-is-awaited",
        "kraftctl/cli/admin/admin_client.py",
        "            if self._without_api.issuperset(endpoints):\n",
        "            if False:\n",
        (CLIENT,),
        "With an older release the command waits a minute before it says so.",
    ),
    PlantedFault(
        "one-node-without-an-api-speaks-for-all",
        "kraftctl/cli/admin/admin_client.py",
        "            if self._without_api.issuperset(endpoints):\n",
        "            if self._without_api:\n",
        (CLIENT,),
        "While brokers are upgraded, those that are being restarted are not asked.",
    ),
    PlantedFault(
        "a-voter-is-removed-without-a-majority",
        "kraftctl/cli/quorum/majority_left.py",
        "needed = len(others) // 2 + 1",
        "needed = len(others) // 2",
        (f"{STEPS}::test_waiting",),
        "A removal is appended that the remaining voters cannot commit: nothing commits any more.",
    ),
    PlantedFault(
        "a-voter-that-is-behind-counts-as-healthy",
        "kraftctl/cli/quorum/replacement_steps.py",
        " and replica.log_end_offset >= now.committed_offset",
        "",
        (f"{STEPS}::test_waiting",),
        "A voter is removed while the others are behind, or one is added that delays commits.",
    ),
    PlantedFault(
        "a-voter-in-use-is-replaced",
        "kraftctl/cli/quorum/replacement_steps.py",
        "return _why_not_lost(now, old) or _why_no_majority",
        "return _why_no_majority",
        (f"{STEPS}::test_waiting",),
        "With the wrong properties file, a healthy voter is removed.",
    ),
    PlantedFault(
        "a-new-leader-has-heard-from-everybody",
        "kraftctl/cli/quorum/replacement_steps.py",
        "    if old.last_fetch_ms is None and now.leader_seen_ms < SILENT_MS:\n",
        "    if False:\n",
        (f"{STEPS}::test_waiting", f"{REPLACE}::{JUST_ELECTED}"),
        "After an election, a voter is removed that runs, and is about to fetch.",
    ),
    PlantedFault(
        "leaders-lead-since-the-command-began",
        "kraftctl/cli/quorum/replacement_steps.py",
        "        if quorum.leader_epoch != self._epoch:\n",
        "        if self._epoch < 0:\n",
        (STEPS,),
        "After an election, a voter is removed that runs, and is about to fetch.",
    ),
    PlantedFault(
        "a-voter-is-removed-before-its-directory-is-formatted",
        "kraftctl/cli/quorum/replacement_steps.py",
        "    if new is None:\n        return FormatDirectory()\n    if old is not None:\n",
        "    if new is None and old is None:\n        return FormatDirectory()\n    if old is not None:\n",
        (f"{STEPS}::test_steps",),
        "A disk that cannot be written costs a voter.",
    ),
    PlantedFault(
        "a-voter-with-a-reserved-directory-id",
        "kraftctl/cli/initial_controllers.py",
        "    if is_reserved(directory_id):\n",
        "    if False:\n",
        ("tests/cli/test_format_oracle.py::test_a_reserved_directory_id_is_refused",),
        "The first voter of the quorum is one without a directory, or with one that is lost.",
    ),
    PlantedFault(
        "wrong-arguments-of-format-end-with-2",
        "kraftctl/cli/__init__.py",
        "        if name in KAFKAS:\n",
        "        if False:\n",
        ("tests/cli/test_format_oracle.py::test_wrong_arguments_of_format_end_with_kafkas_status",),
        "Scripts that compare the exit status with that of kafka-storage take another branch.",
    ),
    PlantedFault(
        "changes-do-not-look-for-a-leader",
        "kraftctl/cli/quorum/command.py",
        "        self.survey(with_cluster_id=False)\n",
        "        pass\n",
        ("tests/cli/test_quorum_survey.py::test_a_change_without_a_leader_ends_with_what_each_node_says",),
        "Without a leader, a change of voters says nothing for a minute, and then not what each node knows.",
    ),
    PlantedFault(
        "secrets-of-providers-count-as-written",
        "kraftctl/cli/start.py",
        "properties.provided_keys | overridden)",
        "overridden)",
        ("tests/cli/test_readable_secrets.py::test_the_line",),
        "A warning about a file that has no password: operators learn to overlook it.",
    ),
    PlantedFault(
        "a-type-that-is-not-read-is-pem",
        "protocol/kraftctl_security/tls/ssl_stores.py",
        '    values.refuse(key, kind, f"it must be one of {PEM}, {PKCS12}, {JKS}")\n    return None\n',
        '    values.refuse(key, kind, f"it must be one of {PEM}, {PKCS12}, {JKS}")\n    return PEM\n',
        ("tests/security/tls/test_ssl_config.py::test_a_type_that_is_not_read_is_one_error",),
        "A keystore of JCEKS gives a second error, which is wrong: PEM has no store password.",
    ),
    PlantedFault(
        "fish-gets-the-code-of-bash",
        "kraftctl/cli/completion.py",
        "shell=args.shell",
        'shell="bash"',
        ("tests/cli/test_completion.py::test_each_shell_has_its_own_code",),
        "fish refuses to read it.",
    ),
)
