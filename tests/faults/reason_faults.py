"""Planted faults in what a controller says about itself, its quorum and its clients: too much, or nothing."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PROGRESS = "tests/raft/test_progress.py"
FOREIGN = "tests/server/connections/test_foreign_clients.py"
DATES = "tests/server/security/test_certificate_dates.py"
PAGE = "tests/test_troubleshooting.py"

FAULTS = (
    PlantedFault(
        "an-election-is-a-warning",
        "kraftctl/raft/progress.py",
        "    return core.config.fetch_timeout_ms + ELECTIONS_IN_GRACE * core.config.election_timeout_ms\n",
        "    return 500\n",
        (f"{PROGRESS}::test_elections_and_rolling_restarts_are_silent",),
        "Operators who are woken by each restart turn the alert off.",
    ),
    PlantedFault(
        "a-standstill-fills-the-log",
        "kraftctl/raft/quorum_state.py",
        "    level = DEBUG if core.progress.is_stalled else INFO",
        "    level = INFO",
        (f"{PROGRESS}::test_elections_that_end_nowhere_are_a_few_lines",),
        "130 lines in 100 seconds, and the reason is not among them.",
    ),
    PlantedFault(
        "a-reason-is-repeated-each-second",
        "kraftctl/raft/spoken_reasons.py",
        "        found.next_ms = now_ms + found.interval_ms\n",
        "",
        (f"{PROGRESS}::test_the_same_reason_is_repeated_ever_more_rarely",),
        "The log fills while there is no leader.",
    ),
    PlantedFault(
        "a-new-reason-is-not-said",
        "kraftctl/raft/progress_reasons.py",
        '    return Reason(state, f"{state.name} {core.state.leader_id} {kinds}", fields)\n',
        "    return Reason(state, state.name, fields)\n",
        (f"{PROGRESS}::test_a_new_reason_is_said_and_one_that_flutters_does_not_fill_the_log",),
        "The operator who has corrected one fault waits for an hour to learn of the next.",
    ),
    PlantedFault(
        "failures-of-a-former-election-are-forgotten",
        "kraftctl/raft/peers.py",
        "            peer = Peer(peer_id, host, port, self.reports.of(peer_id, host, port))\n",
        "            peer = Peer(peer_id, host, port, PeerReport(peer_id, host, port))\n",
        (PROGRESS,),
        "No election lasts as long as a request to an address that drops packets.",
    ),
    PlantedFault(
        "an-address-that-moves-is-a-fault-immediately",
        "kraftctl/raft/progress_faults.py",
        "        lasts_ms = core.config.election_timeout_ms\n",
        "        lasts_ms = 0\n",
        (f"{PROGRESS}::test_an_address_that_leads_elsewhere_for_a_moment_is_no_fault",),
        "Containers that move warn of controllers that are none.",
    ),
    PlantedFault(
        "observers-that-lag-behind-are-another-quorum",
        "kraftctl/raft/other_quorums.py",
        "    if named.leader_id < 0 or (named.leader_id == leader.leader_id"
        " and named.leader_epoch <= leader.epoch):\n        return False\n",
        "    if named.leader_id < 0 or named.leader_epoch == leader.epoch and False:\n        return False\n",
        (f"{PROGRESS}::test_observers_that_lag_behind_are_no_other_quorum",),
        "A leader warns of its own observers.",
    ),
    PlantedFault(
        "a-disk-that-was-replaced-is-two-processes",
        "kraftctl/raft/sightings.py",
        "        is_back = directory_id == former and",
        "        is_back = directory_id != former and",
        (f"{PROGRESS}::test_a_static_voter_with_a_new_disk_is_one_process",),
        "A voter with a new disk is stopped for nothing.",
    ),
    PlantedFault(
        "another-protocol-is-a-size",
        "kraftctl/server/connections/connection.py",
        "            foreign = why_foreign(head, is_framed=is_framed,",
        "            foreign = None and why_foreign(head, is_framed=is_framed,",
        (f"{FOREIGN}::test_another_protocol_on_a_listener_without_ssl",),
        "A client with SSL on a PLAINTEXT listener is a frame of 369295618 bytes.",
    ),
    PlantedFault(
        "foreign-clients-fill-the-log",
        "kraftctl/server/connections/foreign_clients.py",
        '        if self._is_due(f"{peer_host} {listener} {what}"):\n',
        "        if True:\n",
        (f"{FOREIGN}::test_another_protocol_on_a_listener_without_ssl",),
        "A health check writes a line every few seconds.",
    ),
    PlantedFault(
        "refused-certificates-fill-the-log",
        "kraftctl/server/connections/foreign_clients.py",
        '        if self._is_due(f"{peer_host} {what}"):\n',
        "        if True:\n",
        (f"{FOREIGN}::test_a_certificate_that_is_refused_repeatedly_is_said_rarely",),
        "A controller with an expired certificate writes a line a second on each other one.",
    ),
    PlantedFault(
        "a-line-that-was-left-out-counts-as-written",
        "kraftctl/server/connections/foreign_clients.py",
        "        return not self._log.has_room() or ",
        "        return ",
        (f"{FOREIGN}::test_a_line_that_was_left_out_is_written_when_there_is_room",),
        "What a client does wrong is not said for a minute, then not for two, because of others.",
    ),
    PlantedFault(
        "an-expired-certificate-is-a-truststore",
        "protocol/kraftctl_security/authentication_failures.py",
        '        return KEYS_OF_DATES.get(error.verify_code, "ssl.truststore.*")\n',
        '        return "ssl.truststore.*"\n',
        (f"{DATES}::test_a_client_names_the_certificate_of_the_node",),
        "The operator looks at the one store that is right.",
    ),
    PlantedFault(
        "an-expired-certificate-expires-in-minus-two-days",
        "kraftctl/server/security/expiry_lines.py",
        "    if left_ms < 0:\n",
        "    if False:\n",
        (f"{DATES}::test_dates_of_the_own_certificate",),
        "`expires in -2 days`.",
    ),
    PlantedFault(
        "a-warning-without-a-row",
        "kraftctl/server/driver.py",
        '"Not every voter knows that this leader resigned; the others will notice"',
        '"Not all voters know that this leader has resigned"',
        (f"{PAGE}::test_each_text_has_a_row",),
        "The line of the night is not on the page.",
    ),
    PlantedFault(
        "a-former-directory-id-is-advised-without-its-log",
        "kraftctl/storage/own_directory.py",
        'f" beside the whole log of that voter, stop and restore',
        'f" stop and restore',
        (f"{PAGE}::test_a_former_directory_id_is_advised_only_beside_its_log",),
        "An operator gives a new disk the identity of the old one, and it votes with an empty log.",
    ),
    PlantedFault(
        "a-newer-control-record-of-a-leader-is-damage",
        "kraftctl/raft/follow.py",
        "        except NewerReleaseError as newer:\n",
        "        except ZeroDivisionError as newer:\n",
        ("tests/raft/test_corrupt_records.py::test_it_is_not_appended_and_fetched_again",),
        "The disk is checked where a release has to be updated.",
    ),
    PlantedFault(
        "a-file-of-root-is-to-be-closed-to-its-group",
        "protocol/kraftctl_security/small_files.py",
        "    if status.st_uid == os.geteuid():\n",
        "    if status.st_uid >= 0:\n",
        ("tests/cli/test_readable_secrets.py::test_which_permissions",),
        "A service cannot read its file after it did what the line says.",
    ),
)
