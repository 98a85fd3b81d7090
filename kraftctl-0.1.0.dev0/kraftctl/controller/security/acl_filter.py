"""Filters of DescribeAcls and DeleteAcls, and the entries that they match (KIP-290)."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.state.authorization import ResourceType
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import PREFIXED, WILDCARD, AclIndex, AclWithId, PatternAcls
from kraftctl_protocol.acl_operation import AclOperation

ANY: Final = 1
MATCH: Final = 2
LITERAL: Final = 3

ALLOW: Final = 3


class AclFilter:
    """A filter; None and ANY match everything. Pattern type MATCH means every pattern that covers the
    name.
    """

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
        return not (
            ANY <= self.resource_type <= ResourceType.USER
            and ANY <= self.pattern_type <= PREFIXED
            and ANY <= self.operation <= AclOperation.TWO_PHASE_COMMIT
            and ANY <= self.permission_type <= ALLOW
        )

    def candidates(self, index: AclIndex) -> list[AclWithId]:
        """Returns every entry that may match, and few others: no entries of resources that the filter
        excludes.
        """
        name = self.resource_name
        patterns: list[PatternAcls] = []
        for acls in index.types() if self.resource_type == ANY else index.of_type(self.resource_type):
            if name is None:
                patterns += acls.all()
            elif self.pattern_type == MATCH:
                patterns += acls.covering(name)
            else:
                patterns += acls.named(name)
        if self.principal is not None and self.host is not None:
            return [acl for pattern in patterns for acl in pattern.of_client(self.principal, self.host)]
        return [acl for pattern in patterns for acl in pattern.all()]

    def matches(self, entry: AclEntry) -> bool:
        """Returns whether the filter matches `entry`."""
        if self.resource_type != ANY and self.resource_type != entry.resource_type:
            return False
        if self.operation != ANY and self.operation != entry.operation:
            return False
        if self.permission_type != ANY and self.permission_type != entry.permission_type:
            return False
        if self.principal is not None and self.principal != entry.principal:
            return False
        if self.host is not None and self.host != entry.host:
            return False
        return self._pattern_matches(entry)

    def _pattern_matches(self, entry: AclEntry) -> bool:
        same_type = self.pattern_type == ANY or self.pattern_type == entry.pattern_type
        if not same_type and self.pattern_type != MATCH:
            return False
        if self.resource_name is None:
            return True
        if same_type:
            return self.resource_name == entry.resource_name
        return covers(entry, self.resource_name)


def covers(entry: AclEntry, resource_name: str) -> bool:
    """Returns whether the pattern of `entry` applies to a resource of that name."""
    if entry.pattern_type == PREFIXED:
        return resource_name.startswith(entry.resource_name)
    return entry.resource_name in (resource_name, WILDCARD)
