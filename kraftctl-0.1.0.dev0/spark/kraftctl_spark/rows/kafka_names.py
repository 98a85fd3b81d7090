"""Kafka's names for the numbers in records, as its tools print them."""

from __future__ import annotations

ACL_RESOURCES = {
    2: "TOPIC",
    3: "GROUP",
    4: "CLUSTER",
    5: "TRANSACTIONAL_ID",
    6: "DELEGATION_TOKEN",
    7: "USER",
}
PATTERN_TYPES = {3: "LITERAL", 4: "PREFIXED"}
OPERATIONS = dict(
    enumerate(
        [
            "ALL",
            "READ",
            "WRITE",
            "CREATE",
            "DELETE",
            "ALTER",
            "DESCRIBE",
            "CLUSTER_ACTION",
            "DESCRIBE_CONFIGS",
            "ALTER_CONFIGS",
            "IDEMPOTENT_WRITE",
            "CREATE_TOKENS",
            "DESCRIBE_TOKENS",
            "TWO_PHASE_COMMIT",
        ],
        start=2,
    )
)
PERMISSIONS = {2: "DENY", 3: "ALLOW"}
