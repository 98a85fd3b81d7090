"""Planted faults in config providers: what is taken for a password, what may be read, and what is shown."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TESTS = "tests/config_providers/test_config_providers.py"
ORACLE = "tests/config_providers/test_providers_oracle.py"
PACKAGE = "protocol/kraftctl_security/config_providers"

FAULTS = (
    PlantedFault(
        "variables-without-a-provider-are-text",
        f"{PACKAGE}/resolve.py",
        '    errors.append(f"Configuration {key}: {reason}")\n',
        "",
        (f"{TESTS}::test_no_command_takes_the_text_of_a_variable", f"{TESTS}::test_errors"),
        "The key of all delegation tokens is in the chart that everybody has.",
    ),
    PlantedFault(
        "variables-without-a-value-are-text",
        f"{PACKAGE}/resolve.py",
        '            errors.append(f"Configuration {key}: {variable.text} has no value: {error}")\n',
        "            parts.append(variable.text)\n",
        (f"{TESTS}::test_errors", f"{ORACLE}::test_as_kafka_resolves_them"),
        "A secret that is not mounted makes its name the password, as with Kafka.",
    ),
    PlantedFault(
        "allowed-paths-are-beginnings-of-texts",
        f"{PACKAGE}/provider_files.py",
        'path.startswith(allowed if allowed == "/" else f"{allowed}/")',
        "path.startswith(allowed)",
        (f"{ORACLE}::test_as_kafka_resolves_them",),
        "/etc/secrets-of-others is read where /etc/secrets is allowed.",
    ),
    PlantedFault(
        "allowed-paths-are-not-normalized",
        f"{PACKAGE}/provider_files.py",
        "        path = normalized(path)\n        if not any",
        "        if not any",
        (f"{ORACLE}::test_as_kafka_resolves_them",),
        "Two dots lead out of what is allowed.",
    ),
    PlantedFault(
        "an-allowlist-matches-a-part",
        f"{PACKAGE}/providers.py",
        "self._pattern.fullmatch(key)",
        "self._pattern.search(key)",
        (f"{ORACLE}::test_as_kafka_resolves_them",),
        "More of the environment is read than the operator allows.",
    ),
    PlantedFault(
        "misspelt-parameters-of-providers-are-ignored",
        f"{PACKAGE}/resolve.py",
        "        for key in sorted(others):\n",
        "        for key in sorted(others - others):\n",
        (f"{TESTS}::test_errors",),
        "allowed.path, without its s, allows all files.",
    ),
    PlantedFault(
        "a-fifo-is-read",
        f"{PACKAGE}/provider_files.py",
        "from kraftctl_security.small_files import read_small_file\n",
        "from kraftctl_security.small_files import read_once as read_small_file\n",
        (f"{TESTS}::test_a_fifo_is_not_waited_for",),
        "What a FIFO has is gone with the first read, and a start waits for its writer.",
    ),
    PlantedFault(
        "errors-show-provided-values",
        "protocol/kraftctl_security/config_values.py",
        "        return error if self._resolved is None else self._resolved.hide(error)\n",
        "        return error\n",
        (f"{TESTS}::test_no_error_shows_a_value",),
        "A password that is mounted under the wrong key is in the log of the container.",
    ),
    PlantedFault(
        "dynamic-configs-may-have-variables",
        "kraftctl/server/security/watched_stores.py",
        "        refuse_variables(own)\n",
        "",
        (
            "tests/server/security/test_ssl_reloading.py::test_dynamic_configs_that_cannot_be_used_change_nothing",
        ),
        "The text of a variable that came over the network becomes the password of a store.",
    ),
    PlantedFault(
        "an-empty-key-of-tokens",
        "kraftctl/config/controller_config.py",
        'values.optional_text("delegation.token.secret.key") or None',
        'values.optional_text("delegation.token.secret.key")',
        (f"{TESTS}::test_an_empty_key_of_tokens_is_none",),
        "Everybody can make tokens of everybody.",
    ),
)
