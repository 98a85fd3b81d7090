"""Finds the entries to compare with the filters of one DeleteAcls; shared lists are made once."""

from __future__ import annotations

from kraftctl.controller.security.acl_filter import ANY, AclFilter
from kraftctl.image.acl_index import AclIndex, AclWithId


class AclScan:
    """Counts `comparisons`. A filter without a name is compared only with the entries of its principal.

    Those are found once for all filters of the request.
    """

    def __init__(self, index: AclIndex, filters: list[AclFilter]) -> None:
        self._index = index
        self._principals = {each.principal for each in filters if each.resource_name is None}
        self._of_type: dict[int, list[AclWithId]] = {}
        self._of_principal: dict[int, dict[str, list[AclWithId]]] = {}
        self.comparisons = 0

    def candidates(self, acl_filter: AclFilter) -> list[AclWithId]:
        """Returns every entry that may match."""
        found = self._find(acl_filter)
        self.comparisons += len(found)
        return found

    def _find(self, acl_filter: AclFilter) -> list[AclWithId]:
        if acl_filter.resource_name is not None:
            return acl_filter.candidates(self._index)
        kind = acl_filter.resource_type
        if acl_filter.principal is None:
            return self._entries(kind)
        by_principal = self._of_principal.get(kind)
        if by_principal is None:
            by_principal = {}
            entries = self._entries(kind)
            for acl in entries:
                principal = acl[1].principal
                if principal in self._principals:
                    by_principal.setdefault(principal, []).append(acl)
            self.comparisons += len(entries)
            self._of_principal[kind] = by_principal
        return by_principal.get(acl_filter.principal, [])

    def _entries(self, kind: int) -> list[AclWithId]:
        entries = self._of_type.get(kind)
        if entries is None:
            types = self._index.types() if kind == ANY else self._index.of_type(kind)
            entries = [acl for acls in types for pattern in acls.all() for acl in pattern.all()]
            self._of_type[kind] = entries
        return entries
