"""Planted faults in what a controller demands of its properties file."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

NAMED_CASES = "tests/config/test_named_cases.py"
DEFINITIONS = "tests/metadata/test_config_definitions.py"
VALUES = "tests/protocol/test_java_values.py"
GROUPS = "tests/controller/test_group_config_oracle.py"
TOPICS = "tests/controller/test_topic_config_oracle.py"
REFERENCE = "tests/config/test_config_reference.py"

FAULTS = (
    PlantedFault(
        "values-are-read-before-it-is-known-whose-they-are",
        "kraftctl/controller/configuration_control/config_alteration.py",
        "        error = error or why_resource_unknown(self._image, self._state.voter_ids, kind, name)\n"
        "        if error is None and kind == config_resource.BROKER:\n"
        "            reason = self._why_not_obeyed(name, altered, current)\n"
        "            return None if reason is None else ApiError(Errors.INVALID_CONFIG, reason)\n"
        "        return error\n",
        "        if error is None and kind == config_resource.BROKER:\n"
        "            reason = self._why_not_obeyed(name, altered, current)\n"
        "            if reason is not None:\n"
        "                return ApiError(Errors.INVALID_CONFIG, reason)\n"
        "        return error or why_resource_unknown(self._image, self._state.voter_ids, kind, name)\n",
        ("tests/controller/test_writes_of_java.py::test_all_responses_are_those_of_kafka",),
        "A wrong value for a broker that does not exist is refused for the value.",
    ),
    PlantedFault(
        "one-key-is-not-found-with-a-prefix",
        "kraftctl/cli/inspect/command.py",
        "    if exact or not name.startswith(LISTENER_PREFIX):\n",
        "    if True:\n",
        (REFERENCE,),
        "`inspect configs listener.name.controller.ssl.client.auth` says that there is no such key.",
    ),
    PlantedFault(
        "keys-of-the-page-are-named-as-unused",
        "kraftctl/cli/start.py",
        " if key not in USED_KEYS and key not in unknown]",
        " if key not in unknown]",
        (REFERENCE,),
        "Without remote.log.storage.system.enable, which it named, remote.storage.enable is refused.",
    ),
    PlantedFault(
        "the-limits-of-replication-are-said-to-be-keys-of-files",
        "kraftctl/cli/inspect/config_rows.py",
        "    if name in BROKER_QUOTA_CONFIG_KEYS:\n",
        "    if not name:\n",
        (REFERENCE,),
        "A wrong value of them is said to be refused, and is not looked at.",
    ),
    PlantedFault(
        "keys-of-a-later-release-look-like-those-of-the-reference-release",
        "kraftctl/cli/inspect/config_rows.py",
        "    if name not in NEW_CONFIGS:\n",
        "    if name:\n",
        (REFERENCE,),
        "The page has 19 keys that brokers of 4.3.1 do not know.",
    ),
    PlantedFault(
        "a-key-without-default-looks-like-one-with-the-value-none",
        "kraftctl/cli/inspect/config_page.py",
        '    return f"`{row.default}`" if row.default else "empty"\n',
        '    return row.default or "empty"\n',
        (REFERENCE,),
        "Kafka's ssl.client.auth is none, and ssl.keystore.location has no default: the page says the same.",
    ),
    PlantedFault(
        "rules-of-keys-that-brokers-use-are-not-checked",
        "kraftctl/config/defined_values.py",
        "        reason = self._error(name, key, text, value, rule)\n",
        "        reason = None\n",
        (NAMED_CASES,),
        "log.cleanup.policy=deleted is accepted here, and Kafka refuses the file.",
    ),
    PlantedFault(
        "a-listener-of-brokers-need-not-be-in-the-map",
        "kraftctl/config/listener_checks.py",
        "        elif name not in self.protocols:\n",
        "        elif not self.protocols:\n",
        (NAMED_CASES,),
        "inter.broker.listener.name is missing from the map, and Kafka refuses the file.",
    ),
    PlantedFault(
        "names-of-the-controllers-listeners-are-compared-in-any-case",
        "kraftctl/config/listener_checks.py",
        "        self.controller_names = values.items(CONTROLLER_NAMES)\n",
        "        self.controller_names = [name.upper() for name in values.items(CONTROLLER_NAMES)]\n",
        (NAMED_CASES,),
        "A file starts here that no controller of Kafka starts with.",
    ),
    PlantedFault(
        "time-limits-of-groups-contradict-each-other",
        "kraftctl/config/group_checks.py",
        '        _compare_within(values, kind, "session.timeout.ms")\n',
        "",
        (NAMED_CASES,),
        "A group cannot be given any session timeout that its brokers take.",
    ),
    PlantedFault(
        "ssl-of-brokers-may-have-any-client-auth",
        "kraftctl/metadata/config_definitions/generated/broker_config_rules.py",
        "        'ssl.client.auth': OneOf(['required', 'requested', 'none']),\n",
        "        'ssl.client.auth': AnyValue(),\n",
        (NAMED_CASES,),
        "A misspelt ssl.client.auth is unnoticed until the listener uses SSL.",
    ),
    PlantedFault(
        "the-first-error-is-not-that-of-kafka",
        "kraftctl/config/defined_values.py",
        "        if self.refused.isdisjoint(keys):\n            self.errors.append(error)\n",
        "        if self.refused.isdisjoint(keys):\n            self.errors.insert(0, error)\n",
        ("tests/config/test_order_of_errors.py",),
        "Who compares with Kafka's exception looks for another key.",
    ),
    PlantedFault(
        "a-long-fraction-is-read-in-the-square-of-its-length",
        "protocol/kraftctl_protocol/java_values.py",
        r"([0-9]+(\.[0-9]*)?|\.[0-9]+)",
        r"([0-9]+\.?[0-9]*|\.[0-9]+)",
        (VALUES,),
        "One request with a config of 32 KB blocks the loop for a minute.",
    ),
    PlantedFault(
        "digits-of-other-scripts-are-no-digits",
        "protocol/kraftctl_protocol/java_values.py",
        r're.compile(r"[+-]?\d+")',
        r're.compile(r"[+-]?[0-9]+")',
        (VALUES,),
        "A file that Kafka accepts is refused here.",
    ),
    PlantedFault(
        "a-groups-session-timeout-is-compared-with-nothing",
        "kraftctl/controller/configuration_control/validate_group_configs.py",
        "            if session not in values and heartbeat not in values:\n",
        "            if session not in values or heartbeat not in values:\n",
        (GROUPS,),
        "The members of a group have a heartbeat interval that their session does not outlast.",
    ),
    PlantedFault(
        "a-segment-is-deleted-before-it-is-copied",
        "kraftctl/controller/configuration_control/validate_topic_configs.py",
        "        if 0 <= limit < lag:\n",
        "        if 0 < limit < lag:\n",
        (TOPICS,),
        "A topic keeps nothing locally and copies to remote storage later: Kafka refuses that.",
    ),
)
