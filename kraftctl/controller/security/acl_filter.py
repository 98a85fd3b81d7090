"""Which access control entries a filter of DescribeAcls or DeleteAcls matches (KIP-290)."""

from __future__ import annotations

from typing import Final

from kraftctl.image.acls_image import AclEntry

UNKNOWN: Final = 0
ANY: Final = 1
MATCH: Final = 2
LITERAL: Final = 3
PREFIXED: Final = 4

WILDCARD: Final = "*"


class AclFilter:
    """None and ANY match everything. Pattern type MATCH means every pattern that covers the name."""

    def __init__(
        self,
        *,
        resource_type: int,
        resource_name: str | None,
        pattern_type: int,
        principal: str | None,
        host: str | None,
        operation: int,
        permission_type: int,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type

    @property
    def unknown(self) -> bool:
        """Whether the filter has an unknown value."""
        return (
            self.resource_type == UNKNOWN
            or not ANY <= self.pattern_type <= PREFIXED
            or self.operation == UNKNOWN
            or self.permission_type == UNKNOWN
        )

    def matches(self, entry: AclEntry) -> bool:
        """Whether the filter matches `entry`."""
        return (
            self.resource_type in (ANY, entry.resource_type)
            and self._pattern_matches(entry)
            and self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (ANY, entry.operation)
            and self.permission_type in (ANY, entry.permission_type)
        )

    def _pattern_matches(self, entry: AclEntry) -> bool:
        if self.pattern_type not in (ANY, MATCH, entry.pattern_type):
            return False
        if self.resource_name is None:
            return True
        if self.pattern_type in (ANY, entry.pattern_type):
            return self.resource_name == entry.resource_name
        return covers(entry, self.resource_name)


def covers(entry: AclEntry, resource_name: str) -> bool:
    """Whether the pattern of `entry` applies to a resource of that name."""
    if entry.pattern_type == PREFIXED:
        return resource_name.startswith(entry.resource_name)
    return entry.resource_name in (resource_name, WILDCARD)
