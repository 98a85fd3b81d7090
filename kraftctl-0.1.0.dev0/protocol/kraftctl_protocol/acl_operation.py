"""What an ACL allows or denies, as Kafka's AclOperation numbers it in requests and in the metadata log."""

from __future__ import annotations

from typing import Final


class AclOperation:
    """An ACL operation by its code on the wire."""

    ANY: Final = 1
    ALL: Final = 2
    READ: Final = 3
    WRITE: Final = 4
    CREATE: Final = 5
    DELETE: Final = 6
    ALTER: Final = 7
    DESCRIBE: Final = 8
    CLUSTER_ACTION: Final = 9
    DESCRIBE_CONFIGS: Final = 10
    ALTER_CONFIGS: Final = 11
    IDEMPOTENT_WRITE: Final = 12
    CREATE_TOKENS: Final = 13
    DESCRIBE_TOKENS: Final = 14
    TWO_PHASE_COMMIT: Final = 15
