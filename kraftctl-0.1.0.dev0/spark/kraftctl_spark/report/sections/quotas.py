"""The section about client quotas."""

from __future__ import annotations

from kraftctl_spark.report.contents import Contents, Quota
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.in_effect import in_effect


def quotas(contents: Contents) -> Section:
    section = Section(
        "quotas",
        "Quotas",
        "Limits of clients. Byte rates are per second and broker.",
        "None at the end of this period, and none changed in it.",
    )
    return in_effect(section, contents.quotas, "quota", ("of", "quota", "value"), _cells, "quotas_at(offset)")


def _cells(row: Quota) -> tuple[str, ...]:
    return (row.entity, row.key, f"{row.value:,.15g}")
