"""What a principal of the table of rights may do: its access control entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraftctl.controller.state.authorization import CLUSTER_NAME, ResourceType
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.generated.create_acls_request import AclCreation

LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3


@dataclass(frozen=True)
class Grant:
    """One entry, for all hosts; a denial if `permission` says so."""

    operation: int
    resource_type: int = ResourceType.CLUSTER
    resource_name: str = CLUSTER_NAME
    permission: int = ALLOW
    pattern: int = LITERAL

    def entry(self, principal: str) -> AclCreation:
        return AclCreation(
            resource_type=self.resource_type,
            resource_name=self.resource_name,
            resource_pattern_type=self.pattern,
            principal=principal,
            host="*",
            operation=self.operation,
            permission_type=self.permission,
        )


Grants = tuple[Grant, ...]

EVERYTHING: Grants = (
    Grant(AclOperation.ALL),
    Grant(AclOperation.ALL, ResourceType.TOPIC, "*"),
    Grant(AclOperation.ALL, ResourceType.GROUP, "*"),
    Grant(AclOperation.ALL, ResourceType.USER, "*"),
)


def denied(needs: Iterable[Grant]) -> Grants:
    """Everything except for these."""
    return (
        *EVERYTHING,
        *(Grant(each.operation, each.resource_type, each.resource_name, DENY) for each in needs),
    )


ACTION = Grant(AclOperation.CLUSTER_ACTION)
"""What brokers need."""
