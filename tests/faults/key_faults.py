"""Planted faults in what is said about keys that Kafka does not know."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TESTS = "tests/cli/test_unknown_keys.py"
UNKNOWN = "kraftctl/cli/unknown_keys.py"

FAULTS = (
    PlantedFault(
        "keys-of-unknown-listeners-are-ignored",
        "kraftctl/config/controller_config.py",
        "        refuse_unknown_keys(values)\n",
        "",
        (f"{TESTS}::test_refusals",),
        "ssl.client.auth=required for a listener that is misspelt: everybody may connect.",
    ),
    PlantedFault(
        "keys-of-listeners-in-any-case",
        "kraftctl/config/own_keys.py",
        'if key.startswith(f"{LISTENER_PREFIX}{name}.")',
        'if key.lower().startswith(f"{LISTENER_PREFIX}{name}.")',
        (f"{TESTS}::test_refusals",),
        "A key with the name of the listener in upper case is accepted, and does nothing.",
    ),
    PlantedFault(
        "unknown-keys-have-no-warning",
        "kraftctl/cli/start.py",
        '    for sentence in unknown.values():\n        logger.warning("%s", sentence)\n',
        '    for sentence in unknown.values():\n        logger.info("%s", sentence)\n',
        (f"{TESTS}::test_each_has_a_warning_of_its_own",),
        "A security protocol that is misspelt is a line among hundreds.",
    ),
    PlantedFault(
        "strict-refuses-nothing",
        "kraftctl/cli/start.py",
        "    if strict and unknown:\n",
        "    if strict and not unknown:\n",
        (f"{TESTS}::test_strict_refuses_all",),
        "An operator believes that no key is misspelt.",
    ),
    PlantedFault(
        "mechanisms-of-keys-in-any-case",
        UNKNOWN,
        "(mechanism in MECHANISMS and",
        "(mechanism.lower() in MECHANISMS and",
        (f"{TESTS}::test_sentences",),
        "The users of a mechanism in upper case cannot log in, and no line says why.",
    ),
    PlantedFault(
        "keys-of-clients-secure-listeners",
        UNKNOWN,
        "        return key != SECURITY_PROTOCOL and key not in REMOVED_CONFIGS\n",
        "        return key not in REMOVED_CONFIGS\n",
        (f"{TESTS}::test_sentences",),
        "security.protocol=SSL in the file of a controller is taken for encryption.",
    ),
    PlantedFault(
        "a-key-is-read-and-not-obeyed",
        "kraftctl/config/controller_config.py",
        '        self.queued_max_request_bytes = values.int64("queued.max.request.bytes", -1)\n',
        '        self.queued_max_request_bytes = values.int64("queued.max.request.bytes", -1)\n'
        '        values.int32("queued.max.requests", 500, 1)\n',
        (
            "tests/test_config.py::test_a_key_without_effect_is_named_as_unused",
            "tests/config/test_config_reference.py::test_every_key_that_is_read_is_said_to_be_used_and_no_other",
        ),
        "An operator sets a limit that nothing obeys, and no line says so.",
    ),
    PlantedFault(
        "files-of-assertions-are-unknown",
        UNKNOWN,
        '"super.users", ALLOWED_URLS, ALLOWED_FILES}',
        '"super.users", ALLOWED_URLS}',
        ("tests/config/test_config_reference.py::test_no_key_of_the_reference_is_warned_about",),
        "--strict refuses a controller whose assertions come from a file.",
    ),
    PlantedFault(
        "a-default-of-the-reference-is-another",
        "kraftctl/cli/inspect/own_config_keys.py",
        'ConfigKey("kraftctl.audit.log.max.files", INT, "10", Range(1))',
        'ConfigKey("kraftctl.audit.log.max.files", INT, "5", Range(1))',
        ("tests/config/test_config_reference.py::test_defaults_and_least_values_are_those_of_the_code",),
        "The page promises fewer files than the disk has to hold.",
    ),
    PlantedFault(
        "a-word-before-a-key-hides-it",
        "kraftctl/cli/unknown_keys.py",
        "    if prefixed is not None:\n",
        "    if prefixed == '':\n",
        ("tests/cli/test_unknown_keys.py",),
        "controller.ssl.client.auth=required is only a warning, and the listener asks for no certificate.",
    ),
)
