"""Faults in what containers are made of, and in what their variables mean."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ENVIRONMENT = "kraftctl/cli/container/environment.py"
COMMAND = "kraftctl/cli/container/command.py"
TABLES = "tests/cli/container/test_environment.py"
COMMANDS = "tests/cli/container/test_command.py"
DEFAULTS = "tests/cli/container/test_defaults.py"
FILES = "tests/packaging/test_image_files.py"
COMPOSE = "tests/packaging/test_compose_profiles.py"

FAULTS = (
    PlantedFault(
        "a-variable-has-no-dashes",
        ENVIRONMENT,
        '.replace("...", "-").replace("..", "_")',
        '.replace("..", "_")',
        (f"{TABLES}::test_the_name_of_a_variable_is_a_key",),
        "No variable sets a key of SCRAM-SHA-512, or of Strimzi's listener.",
    ),
    PlantedFault(
        "a-mounted-file-replaces-variables",
        ENVIRONMENT,
        '    return (mounted or b"") + added\n',
        '    return added + b"\\n" + (mounted or b"")\n',
        (f"{TABLES}::test_variables_are_below_the_mounted_file",),
        "A variable does not override the file that all nodes share.",
    ),
    PlantedFault(
        "a-service-of-kubernetes-is-a-key",
        ENVIRONMENT,
        "        and not SERVICE_LINK.fullmatch(name)\n",
        "",
        (f"{TABLES}::test_services_of_kubernetes_are_no_keys_of_ours",),
        "A Service named kraftctl stops each controller of its namespace from starting.",
    ),
    PlantedFault(
        "passwords-of-a-container-are-readable",
        COMMAND,
        "        os.fchmod(written.fileno(), 0o600)\n",
        "",
        (f"{COMMANDS}::test_the_file_is_closed_to_other_accounts",),
        "A file that was there keeps its mode.",
    ),
    PlantedFault(
        "the-first-process-ignores-sigterm",
        "kraftctl/cli/__init__.py",
        "    end_on_sigterm()\n",
        "",
        ("tests/cli/test_first_process.py::test_it_ends_while_it_reads_its_file[start]",),
        "An engine that stops a container which recovers its log waits, then kills it.",
    ),
    PlantedFault(
        "the-slim-image-replaces-the-log-of-a-mounted-file",
        "deploy/image/slim/Dockerfile",
        "    PYTHONDONTWRITEBYTECODE=1\n",
        "    PYTHONDONTWRITEBYTECODE=1 KAFKA_LOG_DIRS=/var/lib/kafka/data\n",
        (f"{DEFAULTS}::test_a_default_gives_way",),
        "A static voter votes with the empty log of an anonymous volume.",
    ),
    PlantedFault(
        "a-default-replaces-log-dir",
        "kraftctl/cli/container/defaults.py",
        'SAME_AS: Final = {LOG_DIRS: "log.dir"}',
        "SAME_AS: Final[dict[str, str]] = {}",
        (f"{DEFAULTS}::test_what_kafka_reads_instead_of_a_key_counts",),
        "Kafka prefers log.dirs: the same loss, for a file with the other key.",
    ),
    PlantedFault(
        "an-image-leaves-a-log-silently",
        COMMAND,
        "    check_log_dirs(given, properties, Path(DEFAULTS[LOG_DIRS]))\n",
        "",
        (f"{DEFAULTS}::test_the_container_refuses_to_leave_a_log",),
        "After a change of the image, a voter votes with an empty log.",
    ),
    PlantedFault(
        "an-image-chooses-between-two-logs",
        "kraftctl/cli/container/defaults.py",
        "    if is_chosen_here and _is_formatted(kafkas_log_dir):\n",
        "    if False:\n",
        (f"{DEFAULTS}::test_a_log_in_the_directory_of_the_image_is_not_left_silently",),
        "The one that is older may be the one that votes.",
    ),
    PlantedFault(
        "an-empty-advertised-address-is-set",
        ENVIRONMENT,
        " if name != ADVERTISED_LISTENERS or value}",
        "}",
        (f"{COMMANDS}::test_an_empty_advertised_address_is_none",),
        "A block of variables that apache/kafka takes ends the container.",
    ),
    PlantedFault(
        "secrets-are-for-every-controller",
        "kraftctl/cli/container/secrets.py",
        "    if not uses_ssl(properties):\n        return result\n",
        "",
        (f"{COMMANDS}::test_a_shared_block_of_variables_is_for_a_plaintext_controller_too",),
        "A PLAINTEXT controller without the mount is refused.",
    ),
    PlantedFault(
        "secrets-replace-what-is-set",
        "kraftctl/cli/container/secrets.py",
        " or property_name(target) in properties:",
        ":",
        (f"{TABLES}::test_secrets_do_not_replace_what_is_set",),
        "Another keystore than the one that the user names.",
    ),
    PlantedFault(
        "a-combined-node-is-ours",
        "kraftctl/cli/container/role.py",
        '.strip() == "controller"',
        '.endswith("controller")',
        (f"{COMMANDS}::test_who_starts_a_file",),
        "A node with both roles would serve no client.",
    ),
    PlantedFault(
        "a-controller-that-has-ended-is-alive",
        "kraftctl/cli/container/livez.py",
        "        return 1, str(error)\n",
        "        return 0, str(error)\n",
        (f"{COMMANDS}::test_what_is_not_alive",),
        "A health check that never fails.",
    ),
    PlantedFault(
        "the-slim-image-installs-without-hashes",
        "deploy/image/slim/Dockerfile",
        "--only-binary :all: --require-hashes",
        "--only-binary :all:",
        (f"{FILES}::test_pip_takes_nothing_without_a_hash",),
        "An index decides what a controller is made of.",
    ),
    PlantedFault(
        "the-strimzi-image-runs-as-root",
        "deploy/image/strimzi/Dockerfile",
        "USER 1001",
        "USER 0",
        (f"{FILES}::test_what_runs_is_not_root_and_has_labels",),
        "Restricted pods do not start.",
    ),
    PlantedFault(
        "brokers-of-compose-differ-from-those-of-dev",
        "deploy/compose/docker-compose.yml",
        '  KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: "3"\n',
        '  KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: "50"\n',
        (f"{COMPOSE}::test_nodes_have_the_settings_of_kraftctl_dev",),
        "What works with `kraftctl dev` may not with compose.",
    ),
    PlantedFault(
        "voters-of-compose-have-one-directory-id",
        "deploy/compose/docker-compose.yml",
        "3002@controller-2:9093:AAECAwQFRgeICQoLDA0OEA",
        "3002@controller-2:9093",
        (f"{COMPOSE}::test_a_controller_is_formatted",),
        "No controller of the profile can be formatted.",
    ),
)
