"""StandardAuthorizer (KIP-801): rights by the access control entries in the metadata log.

super.users may do everything, even before the log is loaded. For other principals the log must be loaded: a
matching DENY wins over any ALLOW, and without any entry for the resource allow.everyone.if.no.acl.found
decides.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.request_context import RequestContext
from kraftctl.controller.security.authorization import Authorizer
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import WILDCARD, PatternAcls
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.principal import KafkaPrincipal

DENY: Final = 2

WILDCARD_PRINCIPAL: Final = "User:*"

IMPLIES_DESCRIBE: Final = (
    AclOperation.DESCRIBE,
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DELETE,
    AclOperation.ALTER,
)
IMPLIES_DESCRIBE_CONFIGS: Final = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)


class StandardAuthorizer(Authorizer):
    """`super_users` as in the properties file: Type:name."""

    def __init__(self, image: MetadataImage, super_users: list[str], allow_everyone: bool) -> None:
        self.image = image
        self._super_users = frozenset(super_users)
        self._allow_everyone = allow_everyone
        self._ready = False

    @property
    def configured(self) -> bool:
        return True

    @property
    def ready(self) -> bool:
        return self._ready

    def metadata_loaded(self) -> None:
        self._ready = True

    def follow_image(self, image: MetadataImage) -> None:
        self.image = image

    def allows(self, context: RequestContext, operation: int, resource_type: int, resource_name: str) -> bool:
        principal = f"{context.principal.type}:{context.principal.name}"
        if principal in self._super_users:
            return True
        if not self._ready:
            # Half of the entries are worse than none: a DENY may be in the other half (KAFKA-13649).
            return False
        patterns = self.image.acls.index.covering(resource_type, resource_name)
        if not patterns:
            return self._allow_everyone
        named = named_by_entries(context.principal)
        return _allowed(patterns, named, host_address(context.client_address), operation)


def named_by_entries(principal: KafkaPrincipal) -> str:
    """How entries name a principal. Their types end at the first colon: none has one with a colon."""
    return WILDCARD_PRINCIPAL if ":" in principal.type else f"{principal.type}:{principal.name}"


def _allowed(patterns: list[PatternAcls], principal: str, host: str, operation: int) -> bool:
    """Whether an entry allows the operation, and none denies it."""
    allowed = False
    for pattern in patterns:
        for named_principal in (principal, WILDCARD_PRINCIPAL):
            for named_host in (host, WILDCARD):
                for _, entry in pattern.of_client(named_principal, named_host):
                    if _operation_matches(entry, operation):
                        if entry.permission_type == DENY:
                            return False
                        allowed = True
    return allowed


def _operation_matches(entry: AclEntry, operation: int) -> bool:
    if entry.operation in (AclOperation.ALL, operation):
        return True
    if entry.permission_type == DENY:
        return False
    if operation == AclOperation.DESCRIBE:
        return entry.operation in IMPLIES_DESCRIBE
    if operation == AclOperation.DESCRIBE_CONFIGS:
        return entry.operation in IMPLIES_DESCRIBE_CONFIGS
    return False


def host_address(address: bytes) -> str:
    """An address as Java writes it: IPv6 in eight groups, none of them shortened away."""
    if len(address) == 4:
        return ".".join([str(byte) for byte in address])
    groups = [address[index] << 8 | address[index + 1] for index in range(0, len(address) - 1, 2)]
    return ":".join([f"{group:x}" for group in groups])
