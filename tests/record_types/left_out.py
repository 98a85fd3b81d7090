"""What each consumer of metadata records leaves out on purpose, by type or by field, with the reason.

A type that is in no entry has to be handled; an entry that is no longer true fails as well.
"""

from __future__ import annotations

_TRANSACTION = "it delimits a metadata transaction, whose records are what changes something"
_MIGRATION = "Kafka 4 has no migration from ZooKeeper: no controller writes it, and it has no effect"
_NO_OP = "it has no effect: it only advances the offset"
_AUDITED = "the audit log has the request, with who sent it"

NO_STATE = {
    "NoOpRecord": _NO_OP,
    "ZkMigrationStateRecord": _MIGRATION,
    "BeginTransactionRecord": _TRANSACTION,
    "EndTransactionRecord": _TRANSACTION,
    "AbortTransactionRecord": _TRANSACTION,
}
"""Types that change neither the image nor the history."""

CHANGES = {
    "UnregisterBrokerRecord": "removes what RegisterBrokerRecord sets",
    "PartitionChangeRecord": "changes what PartitionRecord sets",
    "FenceBrokerRecord": "changes what RegisterBrokerRecord sets",
    "UnfenceBrokerRecord": "changes what RegisterBrokerRecord sets",
    "RemoveTopicRecord": "removes what TopicRecord, PartitionRecord and ConfigRecord set",
    "BrokerRegistrationChangeRecord": "changes what RegisterBrokerRecord sets",
    "RemoveAccessControlEntryRecord": "removes what AccessControlEntryRecord sets",
    "RemoveUserScramCredentialRecord": "removes what UserScramCredentialRecord sets",
    "RemoveDelegationTokenRecord": "removes what DelegationTokenRecord sets",
    "ClearElrRecord": "changes what PartitionRecord sets",
}
"""Types that are in no snapshot, which has the result."""

NOT_IN_SNAPSHOT = {
    ("ProducerIdsRecord", "broker_id"): "who got the last block; Kafka's snapshot has -1",
    ("ProducerIdsRecord", "broker_epoch"): "who got the last block; Kafka's snapshot has -1",
}
"""Fields that a snapshot does not repeat."""

NEVER_WRITTEN = {"ZkMigrationStateRecord": _MIGRATION}

WITHOUT_NOTICE = {
    **NO_STATE,
    "ConfigRecord": _AUDITED,
    "DelegationTokenRecord": _AUDITED,
    "RemoveDelegationTokenRecord": "the audit log has the request; others expire",
    "UserScramCredentialRecord": _AUDITED,
    "RemoveUserScramCredentialRecord": _AUDITED,
    "ClientQuotaRecord": _AUDITED,
    "AccessControlEntryRecord": _AUDITED,
    "RemoveAccessControlEntryRecord": _AUDITED,
    "ProducerIdsRecord": "routine: a broker asks for a block every thousand producers",
    "FenceBrokerRecord": "only Kafka before 3.3 wrote it: it is replayed, and never appended here",
    "UnfenceBrokerRecord": "only Kafka before 3.3 wrote it: it is replayed, and never appended here",
    "ClearElrRecord": "a part of enabling ELR or of a change of min.insync.replicas, which are logged",
}

NOT_IN_HISTORY = {
    ("RegisterBrokerRecord", "is_migrating_zk_broker"): _MIGRATION,
    ("UnregisterBrokerRecord", "broker_epoch"): "the epoch that the registration has anyway",
    ("FenceBrokerRecord", "epoch"): "the epoch that the registration has anyway",
    ("UnfenceBrokerRecord", "epoch"): "the epoch that the registration has anyway",
    ("BrokerRegistrationChangeRecord", "broker_epoch"): "the epoch that the registration has anyway",
    ("ProducerIdsRecord", "broker_id"): "who got the last block is no state",
    ("ProducerIdsRecord", "broker_epoch"): "who got the last block is no state",
    ("UserScramCredentialRecord", "salt"): "a secret",
    ("UserScramCredentialRecord", "stored_key"): "a secret",
    ("UserScramCredentialRecord", "server_key"): "a secret",
}
"""Fields that the history does not have."""

NO_TIMELINE = {
    "FenceBrokerRecord": "the timeline has a bar per broker with its states",
    "UnfenceBrokerRecord": "the timeline has a bar per broker with its states",
    "BrokerRegistrationChangeRecord": "the timeline has a bar per broker with its states",
    "PartitionRecord": "the topic has a mark already, and there may be thousands",
    "ClearElrRecord": "there may be thousands; elections that use an ELR have a mark",
    "ProducerIdsRecord": "routine: a broker asks for a block every thousand producers",
}
"""Types whose events have no mark in the report's timeline."""

NOT_COMPARED = {"quorum": "who leads is no metadata: the view quorum_changes shows it"}
"""Kinds of the history that a difference leaves out; also without a view of the state."""

SECRET_FIELDS: dict[str, tuple[str, ...]] = {
    "RegisterBrokerRecord": (),
    "UnregisterBrokerRecord": (),
    "TopicRecord": (),
    "PartitionRecord": (),
    "ConfigRecord": ("value",),
    "PartitionChangeRecord": (),
    "FenceBrokerRecord": (),
    "UnfenceBrokerRecord": (),
    "RemoveTopicRecord": (),
    "DelegationTokenRecord": (),
    "UserScramCredentialRecord": ("salt", "stored_key", "server_key"),
    "FeatureLevelRecord": (),
    "ClientQuotaRecord": (),
    "ProducerIdsRecord": (),
    "BrokerRegistrationChangeRecord": (),
    "AccessControlEntryRecord": (),
    "RemoveAccessControlEntryRecord": (),
    "NoOpRecord": (),
    "ZkMigrationStateRecord": (),
    "RemoveUserScramCredentialRecord": (),
    "BeginTransactionRecord": (),
    "EndTransactionRecord": (),
    "AbortTransactionRecord": (),
    "RemoveDelegationTokenRecord": (),
    "RegisterControllerRecord": (),
    "ClearElrRecord": (),
}
"""What nothing may print or export, for every type, also where that is nothing. A delegation token's secret
is not in the log; of configurations, `kraftctl_protocol.readable_configs` says which values may be shown."""

ASKED_BY: dict[str, tuple[str, ...]] = {
    "RegisterBrokerRecord": ("BROKER_REGISTRATION",),
    "UnregisterBrokerRecord": ("UNREGISTER_BROKER",),
    "TopicRecord": ("CREATE_TOPICS",),
    "PartitionRecord": ("CREATE_TOPICS", "CREATE_PARTITIONS"),
    "ConfigRecord": ("CREATE_TOPICS", "ALTER_CONFIGS", "INCREMENTAL_ALTER_CONFIGS"),
    "PartitionChangeRecord": (
        "ALTER_PARTITION",
        "ELECT_LEADERS",
        "ALTER_PARTITION_REASSIGNMENTS",
        "ASSIGN_REPLICAS_TO_DIRS",
    ),
    "RemoveTopicRecord": ("DELETE_TOPICS",),
    "DelegationTokenRecord": ("CREATE_DELEGATION_TOKEN", "RENEW_DELEGATION_TOKEN", "EXPIRE_DELEGATION_TOKEN"),
    "UserScramCredentialRecord": ("ALTER_USER_SCRAM_CREDENTIALS",),
    "FeatureLevelRecord": ("UPDATE_FEATURES",),
    "ClientQuotaRecord": ("ALTER_CLIENT_QUOTAS",),
    "ProducerIdsRecord": ("ALLOCATE_PRODUCER_IDS",),
    "AccessControlEntryRecord": ("CREATE_ACLS",),
    "RemoveAccessControlEntryRecord": ("DELETE_ACLS",),
    "RemoveUserScramCredentialRecord": ("ALTER_USER_SCRAM_CREDENTIALS",),
    "RemoveDelegationTokenRecord": ("EXPIRE_DELEGATION_TOKEN",),
    "RegisterControllerRecord": ("CONTROLLER_REGISTRATION",),
    "ClearElrRecord": ("UPDATE_FEATURES", "INCREMENTAL_ALTER_CONFIGS"),
}
"""The requests that make a controller write a type: the audit log has each of them."""

NOT_ASKED = {
    **NO_STATE,
    "FenceBrokerRecord": "only Kafka before 3.3 wrote it",
    "UnfenceBrokerRecord": "only Kafka before 3.3 wrote it",
    "BrokerRegistrationChangeRecord": "it follows from heartbeats and sessions; log lines have it",
}
"""Types that no audited request asks for."""
