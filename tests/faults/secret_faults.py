"""Planted faults that print, answer or export secrets."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PLANTED = "tests/cli/test_planted_secrets.py"
FAULTS = (
    PlantedFault(
        "directions-of-text-pass",
        "protocol/kraftctl_protocol/escaped_text.py",
        "    if text.isprintable():\n",
        "    if text.isprintable() or '\\n' not in text:\n",
        ("tests/protocol/test_escaped_text.py",),
        "A name with U+202E turns what follows it in the log.",
    ),
    PlantedFault(
        "lines-about-configs-show-secrets",
        "protocol/kraftctl_protocol/secrets.py",
        "    return value if is_readable(resource_type, name) else REDACTED\n",
        "    return value\n",
        (f"{PLANTED}::test_logs",),
        "The audit log has the passwords of listeners.",
    ),
    PlantedFault(
        "unknown-configs-are-shown",
        "kraftctl/controller/configuration_control/describe_node_configs.py",
        "    sensitive = kind is None or kind == PASSWORD\n",
        "    sensitive = kind is None\n",
        (f"{PLANTED}::test_answers",),
        "Who may describe configs learns passwords.",
    ),
    PlantedFault(
        "dumps-show-secrets",
        "kraftctl/cli/dump.py",
        "    redacted = not show_secrets and redact(decoded.record)\n",
        "    redacted = False\n",
        (f"{PLANTED}::test_what_is_made_of_the_metadata_log",),
        "A dump that is sent to somebody has passwords and keys.",
    ),
    PlantedFault(
        "tables-have-secrets",
        "spark/kraftctl_spark/tables/export_tasks.py",
        "            if not settings.include_secrets:\n                redact(rows, key)\n",
        "",
        (f"{PLANTED}::test_tables_of_the_exporter",),
        "Parquet files that many may read have passwords and keys.",
    ),
    PlantedFault(
        "a-refused-credential-is-repeated",
        "protocol/kraftctl_security/sasl/scram_users.py",
        'f"Unknown SCRAM configuration; known',
        'f"Unknown SCRAM configuration {sorted(fields)}; known',
        (f"{PLANTED}::test_credentials_of_a_format",),
        "The output of a format that is refused has a password.",
    ),
    PlantedFault(
        "what-looks-redacted-is-no-secret",
        "spark/kraftctl_spark/rows/redaction.py",
        "        if was_redacted and is_redacted(value):\n",
        "        if is_redacted(value):\n",
        ("tests/spark/test_tables.py",),
        "A password that begins as the mark of redacted values is exported.",
    ),
)
