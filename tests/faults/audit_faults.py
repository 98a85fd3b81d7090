"""Planted faults in the audit log and the authorizer's log: who, what, and whether it is true."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TRAIL = "kraftctl/controller/audit/audit_trail.py"
NODE = "kraftctl/node/controller_node.py"
AUTHORIZER = "kraftctl/controller/state/standard_authorizer.py"
TRAIL_TESTS = "tests/node/test_audit_trail.py"
FILE_TESTS = "tests/server/logs/test_log_files.py"
AUTHORIZER_TESTS = "tests/node/test_authorizer_log.py"

FAULTS = (
    PlantedFault(
        "a-line-before-its-records-are-committed",
        NODE,
        "            pending.audit.appended(base_offset, self._raft.end_offset)\n        is_answered",
        "            pending.audit.appended(base_offset, self._raft.end_offset)\n"
        "            self._responses._end(pending)\n        is_answered",
        (f"{TRAIL_TESTS}::test_a_line_is_written_once_its_records_are_committed",),
        "The audit log says that something was done which the next leader does not have.",
    ),
    PlantedFault(
        "a-line-names-the-broker-instead-of-its-client",
        "kraftctl/server/logs/audit_log.py",
        '        "principal": _principal(context.principal),\n        "token',
        '        "principal": _principal((context.forwarded_by or context).principal),\n        "token',
        (f"{TRAIL_TESTS}::test_a_request_of_an_envelope_is_its_clients",),
        "Everything that clients of brokers change is the brokers'.",
    ),
    PlantedFault(
        "a-line-of-raft-names-the-broker-instead-of-its-client",
        NODE,
        "            self._responses.begin(pending, pending.context, pending.request)\n"
        "            self._step_raft",
        "            self._responses.begin(pending, event.context, pending.request)\n"
        "            self._step_raft",
        ("tests/node/test_audited_voters.py::test_a_change_of_voters_in_an_envelope_is_its_clients",),
        "A voter that a client of a broker adds has no line.",
    ),
    PlantedFault(
        "a-line-shows-passwords",
        "kraftctl/controller/audit/described_settings.py",
        "found.text(shown_value(resource_type, key, value))",
        "found.text(value)",
        (f"{TRAIL_TESTS}::test_no_secret_is_in_a_line",),
        "Who reads the audit log has the passwords of keystores.",
    ),
    PlantedFault(
        "a-line-shows-passwords-of-new-topics",
        "kraftctl/controller/audit/described_change.py",
        "else shown_value(TOPIC, config.name, config.value)",
        "else config.value",
        (f"{TRAIL_TESTS}::test_no_secret_is_in_a_line",),
        "A value that may be a secret is in the audit log.",
    ),
    PlantedFault(
        "the-offsets-of-a-line-include-the-next-record",
        TRAIL,
        "            self.last_offset = end_offset - 1\n",
        "            self.last_offset = end_offset\n",
        (f"{TRAIL_TESTS}::test_a_line_says_who_asked_where_and_what_came_of_it",),
        "The change of another client is attributed to this one.",
    ),
    PlantedFault(
        "a-lost-change-is-committed",
        TRAIL,
        "        if any(errors.has(error) for error in ELSEWHERE):\n            return LOST\n",
        "",
        (f"{TRAIL_TESTS}::test_a_change_that_is_lost_with_leadership_says_so",),
        "It seems to be certain, and the next leader may not have the records.",
    ),
    PlantedFault(
        "what-cannot-be-described-is-refused",
        TRAIL,
        "describe(context.api.key, request, image)\n        except Exception as error:",
        "describe(context.api.key, request, image)\n        except OSError as error:",
        (f"{TRAIL_TESTS}::test_a_request_that_cannot_be_described_is_served",),
        "A bug in the audit log ends the controller, because nothing may fail between request and append.",
    ),
    PlantedFault(
        "a-line-of-any-length",
        "kraftctl/controller/audit/change_list.py",
        "        return len(self.changes) >= CHANGES_MAX or self._characters_left <= 0\n",
        "        return False\n",
        (f"{TRAIL_TESTS}::test_a_line_has_a_limit_and_says_how_much_is_missing",),
        "A request of 20,000 topics takes megabytes of the audit log.",
    ),
    PlantedFault(
        "lines-wait-without-a-limit",
        "kraftctl/server/logs/background_file.py",
        "            if self._waiting_bytes + size_bytes > self._waiting_bytes_max:\n",
        "            if self._waiting_bytes + size_bytes < 0:\n",
        (f"{FILE_TESTS}::test_a_flood_is_not_waited_for",),
        "A slow disk and a flood of requests fill the memory.",
    ),
    PlantedFault(
        "a-part-of-a-line-stays",
        "kraftctl/server/logs/rotated_file.py",
        "            self._remove_part()\n            raise\n",
        "            raise\n",
        (f"{FILE_TESTS}::test_a_part_of_a_line_is_removed",),
        "After a full disk the next line is not JSON.",
    ),
    PlantedFault(
        "one-client-hides-the-denials-of-another",
        "kraftctl/server/logs/authorizer_logger.py",
        "        if count >= CLIENT_DENIALS_MAX or self",
        "        if self",
        (f"{FILE_TESTS}::test_one_client_cannot_fill_the_disk_or_hide_another",),
        "An attacker makes a thousand denials first; what it does after that is not logged.",
    ),
    PlantedFault(
        "denials-are-logged-of-what-was-not-asked-for",
        "kraftctl/controller/cluster_control/describe_cluster.py",
        "logs_grant=False, logs_denial=False",
        "logs_grant=True, logs_denial=True",
        (f"{AUTHORIZER_TESTS}::test_what_only_lists_operations_is_no_denial",),
        "Each DescribeCluster of an honest client looks like an attempt to break in.",
    ),
    PlantedFault(
        "one-request-causes-any-number-of-lines",
        "kraftctl/controller/state/authorizer_log.py",
        "        if len(self._lines) >= LINES_PER_STEP_MAX:\n",
        "        if False:\n",
        (f"{AUTHORIZER_TESTS}::test_one_request_cannot_cause_any_number_of_lines",),
        "A request that names 20,000 topics delays heartbeats.",
    ),
    PlantedFault(
        "grants-are-denials",
        AUTHORIZER,
        "            level = (DEBUG if logs_grant else TRACE) if allowed else (INFO",
        "            level = (INFO if logs_grant else TRACE) if allowed else (INFO",
        (f"{AUTHORIZER_TESTS}::test_what_only_lists_operations_is_no_denial",),
        "Grants have the level of denials once an operator asks for them.",
    ),
)
