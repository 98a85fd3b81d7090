"""The section about SCRAM credentials, without secrets."""

from __future__ import annotations

from kraftctl_spark.report.contents import Contents, ScramCredential
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.in_effect import in_effect

COLUMNS = ("user", "mechanism", "iterations", "since (UTC)")


def scram(contents: Contents) -> Section:
    section = Section(
        "scram",
        "SCRAM users and delegation tokens",
        "Who can authenticate by SCRAM. Passwords, salts and keys are not on this page; a credential that is "
        "set again with the same iterations can be a new password. Of delegation tokens, only changes are "
        "shown.",
        "No SCRAM user at the end of this period, and nothing changed in it.",
    )
    return in_effect(
        section, contents.scram, "SCRAM credential", COLUMNS, _cells, "scram_credentials_at(offset)"
    )


def _cells(row: ScramCredential) -> tuple[str, ...]:
    since = "before the exported log" if row.since_ms is None else shown_time(row.since_ms)
    return (row.user, row.mechanism, f"{row.iterations:,}", since)
