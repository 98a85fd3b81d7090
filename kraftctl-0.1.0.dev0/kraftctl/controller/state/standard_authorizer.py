"""StandardAuthorizer (KIP-801) decides by the access control entries in the metadata log.

super.users may do everything, even before the log is loaded. For other principals the log must be loaded: a
matching DENY overrides any ALLOW, and without any entry for the resource allow.everyone.if.no.acl.found
decides.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import STANDARD_AUTHORIZER, ControllerConfig
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorization import Authorizer
from kraftctl.controller.state.authorizer_log import (
    DEBUG,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    INFO,
    LEVELS,
    SUPER_USER,
    TRACE,
    authorizer_line,
    rule_of,
)
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import PREFIXED, WILDCARD, PatternAcls
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.principal import KafkaPrincipal

DENY: Final = 2

WILDCARD_PRINCIPAL: Final = "User:*"

NO_PATTERNS: Final[list[PatternAcls]] = []

IMPLIES_DESCRIBE: Final = (
    AclOperation.DESCRIBE,
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DELETE,
    AclOperation.ALTER,
)
IMPLIES_DESCRIBE_CONFIGS: Final = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)


class StandardAuthorizer(Authorizer):
    """The authorizer; `super_users` are written as in the properties file: Type:name."""

    def __init__(self, image: MetadataImage, super_users: list[str], allow_everyone: bool) -> None:
        super().__init__()
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

    def allows(
        self,
        context: RequestContext,
        operation: int,
        resource_type: int,
        resource_name: str,
        logs_grant: bool = True,
        logs_denial: bool = True,
    ) -> bool:
        principal = f"{context.principal.type}:{context.principal.name}"
        patterns = NO_PATTERNS
        if principal in self._super_users:
            allowed = True
        elif not self._ready:
            # Half of the entries are worse than none: a DENY may be in the other half (KAFKA-13649).
            return False
        else:
            patterns = self.image.acls.index.covering(resource_type, resource_name)
            if not patterns:
                allowed = self._allow_everyone
            else:
                named = named_by_entries(context.principal)
                allowed = _allowed(patterns, named, context.client_address, operation)
        if not allowed or self.log.threshold < INFO:
            level = (DEBUG if logs_grant else TRACE) if allowed else (INFO if logs_denial else TRACE)
            if self.log.admits(level):
                self._log(level, context, allowed, operation, resource_type, resource_name, patterns)
        return allowed

    def _log(
        self,
        level: int,
        context: RequestContext,
        allowed: bool,
        operation: int,
        resource_type: int,
        resource_name: str,
        patterns: list[PatternAcls],
    ) -> None:
        principal, host = str(context.principal), host_address(context.client_address)
        if principal in self._super_users:
            rule = SUPER_USER
        else:
            named = named_by_entries(context.principal)
            entry = deciding_entry(patterns, named, context.client_address, operation)
            if entry is not None:
                rule = rule_of(entry)
            else:
                rule = DEFAULT_ALLOW if allowed else DEFAULT_DENY
        self.log.add(
            authorizer_line(
                level=level,
                context=context,
                host=host,
                allowed=allowed,
                operation=operation,
                resource_type=resource_type,
                resource_name=resource_name,
                rule=rule,
            )
        )


def named_by_entries(principal: KafkaPrincipal) -> str:
    """Returns how entries name a principal. Their types end at the first colon: none has one with a colon."""
    return WILDCARD_PRINCIPAL if ":" in principal.type else f"{principal.type}:{principal.name}"


def configured_authorizer(config: ControllerConfig, image: MetadataImage) -> Authorizer:
    """Returns the authorizer of authorizer.class.name, with the level of its log."""
    if config.authorizer_class_name != STANDARD_AUTHORIZER:
        return Authorizer()
    authorizer = StandardAuthorizer(image, config.super_users, config.allow_everyone_if_no_acl_found)
    authorizer.log.threshold = LEVELS[config.audit.authorizer_level]
    return authorizer


def _allowed(patterns: list[PatternAcls], principal: str, address: bytes, operation: int) -> bool:
    """Returns whether an entry allows the operation, and none denies it."""
    allowed, host = False, host_address(address)
    for pattern in patterns:
        for named_principal in (principal, WILDCARD_PRINCIPAL):
            for _, entry in pattern.applying(named_principal, host, address):
                if _operation_matches(entry, operation):
                    if entry.permission_type == DENY:
                        return False
                    allowed = True
    return allowed


def deciding_entry(
    patterns: list[PatternAcls], principal: str, address: bytes, operation: int
) -> AclEntry | None:
    """Returns the entry that Kafka names as the reason of a decision; None if no entry matches.

    Kafka names the first DENY that it comes to, or the last ALLOW; it comes to longer names first, and last
    to the entries for all names.
    """
    matching: list[AclEntry] = []
    host = host_address(address)
    for pattern in patterns:
        for named_principal in (principal, WILDCARD_PRINCIPAL):
            for _, entry in pattern.applying(named_principal, host, address):
                if _operation_matches(entry, operation):
                    matching.append(entry)
    if not matching:
        return None
    denials = [entry for entry in matching if entry.permission_type == DENY]
    return min(denials, key=_place_in_kafkas_order) if denials else max(matching, key=_place_in_kafkas_order)


def _place_in_kafkas_order(entry: AclEntry) -> tuple[bool, int, int, int, str, str]:
    """Returns a sort key by length: names that cover one name differ in it, because each is a part of
    the longest.
    """
    is_wildcard = entry.resource_name == WILDCARD and entry.pattern_type != PREFIXED
    length = len(entry.resource_name)
    return is_wildcard, -length, entry.pattern_type, entry.operation, entry.principal, entry.host


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
    """Returns an address as Java writes it: IPv6 has eight groups, none of them left out."""
    if len(address) == 4:
        return ".".join([str(byte) for byte in address])
    groups = [address[index] << 8 | address[index + 1] for index in range(0, len(address) - 1, 2)]
    return ":".join([f"{group:x}" for group in groups])
