"""The names of the codes in ACLs, as Kafka writes them (KIP-11, KIP-290). The first is for unknown codes."""

from __future__ import annotations

from typing import Final

RESOURCE_TYPES: Final = (
    "UNKNOWN",
    "ANY",
    "TOPIC",
    "GROUP",
    "CLUSTER",
    "TRANSACTIONAL_ID",
    "DELEGATION_TOKEN",
    "USER",
)

RESOURCE_TYPE_TITLES: Final = (
    "Unknown", "Any", "Topic", "Group", "Cluster", "TransactionalId", "DelegationToken", "User"
)  # fmt: skip

PATTERN_TYPES: Final = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")

OPERATIONS: Final = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS",
    "TWO_PHASE_COMMIT",
)  # fmt: skip

PERMISSION_TYPES: Final = ("UNKNOWN", "ANY", "DENY", "ALLOW")


def name_of(names: tuple[str, ...], code: int) -> str:
    """Returns the name of a code of the wire; the first one for a code without a name."""
    return names[code] if 0 <= code < len(names) else names[0]
