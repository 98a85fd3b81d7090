"""The one table of the APIs that a controller listener serves.

Versions are those that the controller listener of Kafka 4.4.0 lists. AlterPartition is wider: versions 0 and
1 (KIP-497, KIP-704), which Kafka 4.0 removed, are served as well.

`kraftctl/controller/request_handlers.py` and `kraftctl/raft/request_handlers.py` bind rows to handlers;
docs/extending.md has all steps of a new API.
"""

from __future__ import annotations

from typing import Final

from kraftctl.apis.api import NO_CLUSTER_RIGHT, Api, Owner, WaitsFor
from kraftctl.apis.request_size import CHANGES, ENVELOPE, PARTITIONS, REGISTRATION, SMALL, TOKEN, RequestSize
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors


def _refused(key: ApiKey, lowest: int, highest: int, error: Errors, size: RequestSize = SMALL) -> Api:
    return Api(
        key, lowest, highest, Owner.NOBODY, NO_CLUSTER_RIGHT, WaitsFor.NOTHING, refusal=error, size=size
    )


ROWS: Final[list[Api]] = [
    Api(ApiKey.FETCH, 4, 18, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    # SASL comes before the first other request of a connection.
    _refused(ApiKey.SASL_HANDSHAKE, 0, 1, Errors.ILLEGAL_SASL_STATE),
    Api(ApiKey.API_VERSIONS, 0, 5, Owner.EVERY, NO_CLUSTER_RIGHT, WaitsFor.NOTHING),
    Api(ApiKey.CREATE_TOPICS, 2, 7, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True, size=CHANGES),
    Api(ApiKey.DELETE_TOPICS, 1, 6, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True, size=CHANGES),
    Api(ApiKey.DESCRIBE_ACLS, 1, 3, Owner.EVERY, AclOperation.DESCRIBE, WaitsFor.READS),
    Api(ApiKey.CREATE_ACLS, 1, 3, Owner.ACTIVE, AclOperation.ALTER, forwardable=True, size=CHANGES),
    Api(ApiKey.DELETE_ACLS, 1, 3, Owner.ACTIVE, AclOperation.ALTER, forwardable=True, size=CHANGES),
    Api(ApiKey.DESCRIBE_CONFIGS, 1, 4, Owner.EVERY, NO_CLUSTER_RIGHT, WaitsFor.READS, size=CHANGES),
    Api(ApiKey.ALTER_CONFIGS, 0, 2, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True, size=CHANGES),
    _refused(ApiKey.SASL_AUTHENTICATE, 0, 2, Errors.ILLEGAL_SASL_STATE, size=TOKEN),
    Api(ApiKey.CREATE_PARTITIONS, 0, 3, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True, size=CHANGES),
    Api(
        ApiKey.CREATE_DELEGATION_TOKEN,
        1,
        3,
        Owner.ACTIVE,
        NO_CLUSTER_RIGHT,
        forwardable=True,
        size=REGISTRATION,
    ),
    Api(ApiKey.RENEW_DELEGATION_TOKEN, 1, 2, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True),
    Api(ApiKey.EXPIRE_DELEGATION_TOKEN, 1, 2, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True),
    # Kafka's controller lists this one and DescribeUserScramCredentials, and refuses them: brokers answer.
    _refused(ApiKey.DESCRIBE_DELEGATION_TOKEN, 1, 3, Errors.UNKNOWN_SERVER_ERROR, size=REGISTRATION),
    Api(ApiKey.ELECT_LEADERS, 0, 2, Owner.ACTIVE, AclOperation.ALTER, forwardable=True, size=PARTITIONS),
    Api(
        ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1, Owner.ACTIVE, NO_CLUSTER_RIGHT, forwardable=True, size=CHANGES
    ),
    Api(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        0,
        1,
        Owner.ACTIVE,
        AclOperation.ALTER,
        forwardable=True,
        size=PARTITIONS,
    ),
    Api(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        0,
        0,
        Owner.ACTIVE,
        AclOperation.DESCRIBE,
        forwardable=True,
        size=PARTITIONS,
    ),
    Api(
        ApiKey.ALTER_CLIENT_QUOTAS,
        0,
        1,
        Owner.ACTIVE,
        AclOperation.ALTER_CONFIGS,
        forwardable=True,
        size=CHANGES,
    ),
    _refused(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, Errors.UNKNOWN_SERVER_ERROR, size=REGISTRATION),
    Api(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        0,
        0,
        Owner.ACTIVE,
        AclOperation.ALTER,
        forwardable=True,
        size=CHANGES,
    ),
    Api(ApiKey.VOTE, 0, 2, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    Api(ApiKey.BEGIN_QUORUM_EPOCH, 0, 1, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    Api(ApiKey.END_QUORUM_EPOCH, 0, 1, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    Api(ApiKey.DESCRIBE_QUORUM, 0, 2, Owner.RAFT, AclOperation.DESCRIBE, WaitsFor.NOTHING, forwardable=True),
    Api(ApiKey.ALTER_PARTITION, 0, 3, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, size=PARTITIONS),
    Api(ApiKey.UPDATE_FEATURES, 0, 2, Owner.ACTIVE, AclOperation.ALTER, forwardable=True),
    Api(ApiKey.ENVELOPE, 0, 0, Owner.NODE, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING, size=ENVELOPE),
    Api(ApiKey.FETCH_SNAPSHOT, 0, 1, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    Api(ApiKey.DESCRIBE_CLUSTER, 0, 2, Owner.EVERY, AclOperation.ALTER, WaitsFor.READS),
    Api(ApiKey.BROKER_REGISTRATION, 0, 4, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, size=REGISTRATION),
    Api(ApiKey.BROKER_HEARTBEAT, 0, 2, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, WaitsFor.READS),
    Api(ApiKey.UNREGISTER_BROKER, 0, 0, Owner.ACTIVE, AclOperation.ALTER, forwardable=True),
    Api(ApiKey.ALLOCATE_PRODUCER_IDS, 0, 0, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, forwardable=True),
    Api(ApiKey.CONTROLLER_REGISTRATION, 0, 0, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, size=REGISTRATION),
    Api(ApiKey.ASSIGN_REPLICAS_TO_DIRS, 0, 0, Owner.ACTIVE, AclOperation.CLUSTER_ACTION, size=PARTITIONS),
    Api(ApiKey.ADD_RAFT_VOTER, 0, 1, Owner.RAFT, AclOperation.ALTER, WaitsFor.NOTHING, forwardable=True),
    Api(ApiKey.REMOVE_RAFT_VOTER, 0, 0, Owner.RAFT, AclOperation.ALTER, WaitsFor.NOTHING, forwardable=True),
    Api(ApiKey.UPDATE_RAFT_VOTER, 0, 0, Owner.RAFT, AclOperation.CLUSTER_ACTION, WaitsFor.NOTHING),
    Api(ApiKey.UNREGISTER_CONTROLLER, 0, 0, Owner.ACTIVE, AclOperation.ALTER, forwardable=True),
]

API_TABLE: Final[dict[int, Api]] = {row.key: row for row in ROWS}
"""API key -> row, in the order of the keys. No other API is served."""

RAFT_API_KEYS: Final = frozenset(row.key for row in ROWS if row.owner == Owner.RAFT)
"""The APIs of the raft layer; controllers send these to each other over a separate connection."""


def served_api(api_key: int, version: int) -> Api | None:
    """Returns the row of an API that is served in this version; None for any other request."""
    api = API_TABLE.get(api_key)
    return api if api is not None and api.serves(version) else None


AUDITED_API_KEYS: Final = frozenset(
    int(key)
    for key in (
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.ELECT_LEADERS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.ENVELOPE,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.CONTROLLER_REGISTRATION,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UPDATE_RAFT_VOTER,
        ApiKey.UNREGISTER_CONTROLLER,
    )
)
"""The audit log always has these: requests of administrators, registrations and changes of the voters.

An envelope is in it only when it is refused unopened."""

AUDITED_ON_DEMAND_API_KEYS: Final = frozenset(
    int(key) for key in (ApiKey.ALTER_PARTITION, ApiKey.ALLOCATE_PRODUCER_IDS, ApiKey.ASSIGN_REPLICAS_TO_DIRS)
)
"""Brokers send these changes in the course of their work, any number of times in a second."""
