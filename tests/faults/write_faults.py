"""Planted faults in what is answered to changes: time that is over, order, malformed and unknown values."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

DEADLINE = "kraftctl/controller/results/request_deadline.py"
LATE = "tests/controller/test_request_deadline.py"
LIKE_KAFKA = "tests/controller/test_writes_of_java.py"
RECORDED = f"{LIKE_KAFKA}::test_all_responses_are_those_of_kafka"
QUOTAS = "kraftctl/controller/configuration_control/client_quota_control.py"

FAULTS = (
    PlantedFault(
        "a-request-without-time-is-carried-out",
        DEADLINE,
        "    if request.timeout_ms > 0 and waited_ms <= request.timeout_ms:\n",
        "    if waited_ms <= max(request.timeout_ms, 0):\n",
        (f"{LATE}::test_without_time_nothing_is_begun",),
        "A client that does not wait does not learn whether its topic exists.",
    ),
    PlantedFault(
        "the-time-in-a-queue-does-not-count",
        DEADLINE,
        "max(0, moment.now_ms - context.received_ms)",
        "0",
        (f"{LATE}::test_what_waited_too_long_is_not_begun",),
        "What a client has given up, and asks for again, is done twice.",
    ),
    PlantedFault(
        "the-time-of-an-envelope-begins-when-it-is-opened",
        "kraftctl/controller/envelope.py",
        "        received_ms=outer.received_ms,\n",
        "",
        ("tests/controller/test_envelope.py",),
        "A forwarded request is carried out after its client has given up.",
    ),
    PlantedFault(
        "a-rehearsal-has-all-time",
        "kraftctl/controller/results/sliced_request.py",
        "        if not self._has_written and (self.rehearsing or self.has_next()):\n",
        "        if not self.rehearsing and not self._has_written and self.has_next():\n",
        (f"{LATE}::test_a_rehearsal_is_not_continued_when_the_time_is_over",),
        "Long work continues after its client has left.",
    ),
    PlantedFault(
        "half-of-a-request-is-timed-out",
        "kraftctl/controller/results/sliced_request.py",
        "                self._has_written = True\n",
        "",
        (f"{LATE}::test_what_has_begun_is_carried_out_when_the_time_is_over",),
        "The response says that nothing is done, and half of it is.",
    ),
    PlantedFault(
        "just-below-a-whole-number-is-whole",
        QUOTAS,
        "math.fmod(op.value, 1.0)",
        "abs(op.value - round(op.value))",
        (RECORDED,),
        "A quota is stored that Kafka refuses.",
    ),
    PlantedFault(
        "a-removed-quota-has-to-be-known",
        QUOTAS,
        "        reason = None if op.remove else _why_value_invalid(op, keys)\n",
        "        reason = _why_value_invalid(op, keys)\n",
        (RECORDED,),
        "A tool that removes what a later release has fails.",
    ),
    PlantedFault(
        "names-of-hosts-have-quotas",
        "kraftctl/image/network_host.py",
        '    return (":" in name or "[" in name) and _ipv6_address(name) is not None\n',
        "    return True\n",
        (RECORDED,),
        "A quota of a host without an address is stored: brokers that start leave out others for it.",
    ),
    PlantedFault(
        "a-listener-without-a-protocol-is-registered",
        "kraftctl/metadata/registration_limits.py",
        "    if security_protocol not in SECURITY_PROTOCOLS:\n",
        "    if security_protocol < -1:\n",
        (f"{LIKE_KAFKA}::test_a_broker_with_a_malformed_listener_is_not_registered",),
        "Every broker that reads the record ends.",
    ),
    PlantedFault(
        "client-metrics-have-lists",
        "kraftctl/controller/configuration_control/incremental_alter_configs.py",
        "TYPES_WITH_LISTS: Final = (TOPIC, BROKER)\n",
        "TYPES_WITH_LISTS: Final = (TOPIC, BROKER, 16)\n",
        (RECORDED,),
        "A value is stored that Kafka would have refused to make.",
    ),
    PlantedFault(
        "unknown-codes-in-filters",
        "kraftctl/controller/security/acl_filter.py",
        "            and ANY <= self.operation <= AclOperation.TWO_PHASE_COMMIT\n",
        "            and self.operation >= ANY\n",
        (RECORDED,),
        "An administrator takes an unknown filter for one that matches nothing.",
    ),
    PlantedFault(
        "errors-of-scram-users-in-their-own-order",
        "kraftctl/controller/security/scram_control.py",
        "    for name in in_hash_order(list(errors)):\n",
        "    for name in sorted(errors):\n",
        (RECORDED,),
        "Responses differ from Kafka's.",
    ),
)
