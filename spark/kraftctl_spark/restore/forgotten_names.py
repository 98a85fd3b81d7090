"""What has a forgotten name is not restored: a pseudonym would become a name that something is granted to."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final, TypeVar

from kraftctl_spark.restore.plan import NotRestored, Plan

FORGOTTEN: Final = "its name was forgotten: restore it by hand if it is still needed"

T = TypeVar("T")


def without_forgotten(plan: Plan, pseudonyms: Collection[str]) -> Plan:
    """Returns the plan without what has one of the pseudonyms, which is listed as not restored."""
    if not pseudonyms:
        return plan
    left: list[NotRestored] = []

    def kept(kind: str, entries: Iterable[tuple[T, str, str]]) -> tuple[T, ...]:
        """Returns those of which neither the text nor the value, which is not printed, has a pseudonym."""
        found = []
        for entry, text, value in entries:
            if any(pseudonym in text or pseudonym in value for pseudonym in pseudonyms):
                left.append(NotRestored(f"{kind} {text}", FORGOTTEN))
            else:
                found.append(entry)
        return tuple(found)

    return replace(
        plan,
        topics=kept("topic", ((one, one.name, "") for one in plan.topics)),
        configs=kept("config", ((one, str(one.config), one.value) for one in plan.configs)),
        acls=kept("ACL", ((one, str(one), "") for one in plan.acls)),
        quotas=kept("quota", ((one, str(one.quota), "") for one in plan.quotas)),
        not_restored=(*plan.not_restored, *left),
    )
