"""The section about access control entries."""

from __future__ import annotations

from kraftctl_spark.report.contents import Acl, Contents
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.in_effect import in_effect

COLUMNS = ("principal", "permission", "operation", "resource", "host")


def acls(contents: Contents) -> Section:
    section = Section(
        "acls",
        "ACLs",
        "Who may do what, as the controllers' authorizer has it. A change of an ACL is a removed one and an "
        "added one.",
        "None at the end of this period, and none changed in it.",
    )
    return in_effect(section, contents.acls, "ACL", COLUMNS, _cells, "acls_at(offset)")


def _cells(row: Acl) -> tuple[str, ...]:
    return (row.principal, row.permission, row.operation, row.resource, row.host)
