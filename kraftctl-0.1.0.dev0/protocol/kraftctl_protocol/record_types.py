"""Every type of metadata record, with what each part of the service and of the exporter has to know about
it.

There is a row per type, and the tables of its consumers are derived from the rows. `tests/record_types`
tries each type in each of them. A type or field that a consumer leaves out has the reason in its row.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_versions import LEVELS_BY_NAME, METADATA_VERSIONS

SETS: Final = "sets"
CHANGES: Final = "changes"
REMOVES: Final = "removes"
NOTHING: Final = "nothing"
"""The effects of a record: a snapshot repeats only records that `SETS`; the result of others is contained in
those."""

LOG_LINE: Final = "log line"
REQUEST: Final = "request"
TIMELINE: Final = "timeline"
SNAPSHOT: Final = "snapshot"
HISTORY: Final = "history"
WRITER: Final = "writer"
EVERYWHERE: Final = "everywhere"
"""Names who may leave out a type, or fields as in "history: broker_id broker_epoch"."""

TOPIC_NAME: Final = "topic"
PRINCIPAL: Final = "principal"
USER: Final = "user"
ACL_RESOURCE: Final = "acl_resource"
CONFIG_RESOURCE: Final = "config_resource"
QUOTA_ENTITY: Final = "quota_entity"
FREE_TEXT: Final = "free_text"
OTHER: Final = "other"
"""What a field with text has. An ACL's resource is a topic if its type and pattern say so, that of a
configuration if its type does; an entity of a quota is a user if its type says so. A free text may have any
name within it."""

_CLASSES: Final[dict[str, type[Message]]] = {message.NAME: message for message in all_messages()}


class RecordType:
    """One type of record.

    `since` names the metadata.version that allows each version of it, from 0 on; none for a type that a
    controller never writes. `part` is the attribute of the MetadataImage that it changes.

    `table` is that of the history, with `key` and `values` in their order: names of fields, as
    "field:column" where the column has another name, ":column" where it is computed. Of a type that
    `SETS`, they are the columns of the table. `flag` is a field that says whether the record removes.

    `words` are the name of what is set, and how it begins and ends, for events; `subject` is its name there,
    and `shown` what it has before and after, with columns in braces.

    `secret` fields are never printed or exported. `asked_by` are the APIs that make a controller write it.
    `texts` says what each field with text has, as "field:what", or "struct.field:what" within structs.
    `left_out` says who leaves out what, and why.
    """

    def __init__(
        self,
        name: str,
        since: str,
        effect: str,
        part: str = "",
        *,
        table: str = "",
        key: str = "",
        values: str = "",
        flag: str = "",
        words: tuple[str, str, str] | None = None,
        subject: str = "",
        shown: str = "",
        secret: str = "",
        asked_by: str = "",
        texts: str = "",
        left_out: dict[str, str] | None = None,
    ) -> None:
        self.message: type[Message] = _CLASSES[name]
        self.since = tuple([LEVELS_BY_NAME[level] for level in since.split()])
        self.effect = effect
        self.part = part
        self.table = table
        self.key = _fields_and_columns(key)
        self.values = _fields_and_columns(values)
        self.flag = flag
        self.words = words
        self.subject = subject
        self.shown = shown
        self.secret = tuple(secret.split())
        self.asked_by = tuple(asked_by.split())
        self.texts = dict(_fields_and_columns(texts))
        self.left_out: dict[str, str] = {} if left_out is None else left_out

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the history takes, in the order of its columns."""
        named = [field for field, _ in (*self.key, *self.values) if field]
        return tuple([*named, self.flag] if self.flag else named)

    def leaves_out(self, consumer: str) -> bool:
        """Returns whether a consumer does nothing with this type."""
        return consumer in self.left_out or EVERYWHERE in self.left_out

    def fields_left_out(self, consumer: str) -> set[str]:
        """Returns the fields that a consumer does nothing with."""
        found: set[str] = set()
        for one in self.left_out:
            name, _, fields = one.partition(": ")
            if name == consumer:
                found.update(fields.split())
        return found

    def version_at(self, metadata_version: int) -> int:
        """The version in which it is written at this metadata.version; -1 if it does not exist there.

        Before a level is known, it is the lowest one.
        """
        known_level = max(metadata_version, METADATA_VERSIONS[0].level)
        version = -1
        for candidate, level in enumerate(self.since):
            if known_level >= level:
                version = candidate
        return version

    def __repr__(self) -> str:
        return f"RecordType({self.message.NAME})"


def _fields_and_columns(text: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for one in text.split():
        field, colon, column = one.partition(":")
        found.append((field, column if colon else field))
    return tuple(found)


_TRANSACTION: Final = {EVERYWHERE: "it delimits a metadata transaction, whose records are what has an effect"}
_MIGRATION: Final = "Kafka 4 has no migration from ZooKeeper"
_OLD: Final = "only Kafka before 3.3 wrote it: it is replayed, and never written here"
_AUDITED: Final = "the audit log has the request, and who sent it"
_EPOCH: Final = "the registration has the same epoch"
_SECRET: Final = "a secret"
_BAR: Final = "the timeline has a bar for each broker with its states"
_BLOCK: Final = "who got the last block is no state; Kafka's snapshots have -1"
_ROUTINE: Final = "routine: brokers ask for blocks again and again"

_PARTITION_LISTS: Final = (
    "replicas isr adding_replicas removing_replicas eligible_leader_replicas:elr last_known_elr directories"
)

# fmt: off
RECORD_TYPES: Final[list[RecordType]] = [
    RecordType(
        "RegisterBrokerRecord", "3.3-IV3 3.3-IV3 3.4-IV0 3.7-IV2 4.3-IV0", SETS, "cluster", table="brokers",
        texts="end_points.name:other end_points.host:other features.name:other rack:other",
        key="broker_id",
        values="broker_epoch :state fenced in_controlled_shutdown incarnation_id rack log_dirs"
        " cordoned_log_dirs end_points features",
        subject="broker {broker_id}", asked_by="BROKER_REGISTRATION",
        left_out={"history: is_migrating_zk_broker": _MIGRATION},
    ),
    RecordType(
        "UnregisterBrokerRecord", "3.3-IV3", REMOVES, "cluster", table="brokers", key="broker_id",
        asked_by="UNREGISTER_BROKER", left_out={"history: broker_epoch": _EPOCH},
    ),
    RecordType(
        "TopicRecord", "3.3-IV3", SETS, "topics", table="topics", key="topic_id", values="name:topic",
        texts="name:topic",
        words=("topic", "created", "deleted"), subject="{topic}", shown="{topic}", asked_by="CREATE_TOPICS",
    ),
    RecordType(
        "PartitionRecord", "3.3-IV3 3.7-IV2 4.0-IV1", SETS, "topics", table="partitions",
        key="topic_id partition_id",
        values=f":topic leader leader_epoch partition_epoch leader_recovery_state {_PARTITION_LISTS}",
        asked_by="CREATE_TOPICS CREATE_PARTITIONS",
        left_out={TIMELINE: "the topic has a mark already, and there may be thousands"},
    ),
    RecordType(
        "ConfigRecord", "3.3-IV3", SETS, "configurations", table="configs",
        texts="resource_name:config_resource name:other value:free_text",
        key="resource_type resource_name name", values=":topic_id value", words=("config", "set", "removed"),
        shown="{value}", secret="value",
        asked_by="CREATE_TOPICS ALTER_CONFIGS INCREMENTAL_ALTER_CONFIGS", left_out={LOG_LINE: _AUDITED},
    ),
    RecordType(
        "PartitionChangeRecord", "3.3-IV3 3.7-IV2 4.0-IV1", CHANGES, "topics", table="partitions",
        key="topic_id partition_id", values=f"leader leader_recovery_state {_PARTITION_LISTS}",
        asked_by="ALTER_PARTITION ELECT_LEADERS ALTER_PARTITION_REASSIGNMENTS ASSIGN_REPLICAS_TO_DIRS",
    ),
    RecordType(
        "FenceBrokerRecord", "3.3-IV3", CHANGES, "cluster", table="brokers", key="id:broker_id",
        left_out={LOG_LINE: _OLD, REQUEST: _OLD, TIMELINE: _BAR, "history: epoch": _EPOCH},
    ),
    RecordType(
        "UnfenceBrokerRecord", "3.3-IV3", CHANGES, "cluster", table="brokers", key="id:broker_id",
        left_out={LOG_LINE: _OLD, REQUEST: _OLD, TIMELINE: _BAR, "history: epoch": _EPOCH},
    ),
    RecordType(
        "RemoveTopicRecord", "3.3-IV3", REMOVES, "topics", table="topics", key="topic_id",
        asked_by="DELETE_TOPICS",
    ),
    RecordType(
        "DelegationTokenRecord", "3.6-IV2", SETS, "delegation_tokens", table="delegation_tokens",
        texts="owner:principal requester:principal renewers:principal token_id:other",
        key="token_id",
        values="owner requester renewers issue_timestamp:issue_time max_timestamp:max_time"
        " expiration_timestamp:expiration_time",
        words=("delegation token", "created", "removed"), subject="token {token_id}",
        shown="owner {owner}, requester {requester}, renewers {renewers}",
        asked_by="CREATE_DELEGATION_TOKEN RENEW_DELEGATION_TOKEN EXPIRE_DELEGATION_TOKEN",
        left_out={LOG_LINE: _AUDITED},
    ),
    RecordType(
        "UserScramCredentialRecord", "3.5-IV2", SETS, "scram", table="scram_credentials",
        texts="name:user",
        key="name:user mechanism", values="iterations", words=("SCRAM credential", "added", "removed"),
        subject="{user} {mechanism}", shown="{iterations}", secret="salt stored_key server_key",
        asked_by="ALTER_USER_SCRAM_CREDENTIALS",
        left_out={LOG_LINE: _AUDITED, "history: salt stored_key server_key": _SECRET},
    ),
    RecordType(
        "FeatureLevelRecord", "3.3-IV3", SETS, "features", table="features", key="name",
        texts="name:other",
        values="feature_level:level", words=("feature", "set", "removed"), subject="{name}", shown="{level}",
        asked_by="UPDATE_FEATURES",
    ),
    RecordType(
        "ClientQuotaRecord", "3.3-IV3", SETS, "client_quotas", table="quotas", key="entity key",
        texts="entity.entity_type:other entity.entity_name:quota_entity key:other",
        values="value", flag="remove", words=("quota", "set", "removed"), subject="{entity} {key}",
        shown="{value}", asked_by="ALTER_CLIENT_QUOTAS", left_out={LOG_LINE: _AUDITED},
    ),
    RecordType(
        "ProducerIdsRecord", "3.3-IV3", SETS, "producer_ids", table="producer_ids", values="next_producer_id",
        words=("producer ids", "allocated", "removed"), subject="producer ids", shown="{next_producer_id}",
        asked_by="ALLOCATE_PRODUCER_IDS",
        left_out={
            LOG_LINE: _ROUTINE, TIMELINE: _ROUTINE,
            "snapshot: broker_id broker_epoch": _BLOCK, "history: broker_id broker_epoch": _BLOCK,
        },
    ),
    RecordType(
        "BrokerRegistrationChangeRecord", "3.3-IV3 3.3-IV3 3.7-IV2 4.3-IV0", CHANGES, "cluster",
        table="brokers", key="broker_id", values="fenced in_controlled_shutdown log_dirs cordoned_log_dirs",
        left_out={
            REQUEST: "it follows from heartbeats and expired sessions; log lines say it",
            TIMELINE: _BAR, "history: broker_epoch": _EPOCH,
        },
    ),
    RecordType(
        "AccessControlEntryRecord", "3.3-IV3", SETS, "acls", table="acls", key="id",
        texts="resource_name:acl_resource principal:principal host:other",
        values="resource_type resource_name pattern_type principal host operation permission_type:permission",
        words=("ACL", "added", "removed"), subject="{principal}",
        shown="{permission} {operation} on {resource_type} {pattern_type} {resource_name}"
        " for {principal} from {host}",
        asked_by="CREATE_ACLS", left_out={LOG_LINE: _AUDITED},
    ),
    RecordType(
        "RemoveAccessControlEntryRecord", "3.3-IV3", REMOVES, "acls", table="acls", key="id",
        asked_by="DELETE_ACLS", left_out={LOG_LINE: _AUDITED},
    ),
    RecordType(
        "NoOpRecord", "3.3-IV3", NOTHING,
        left_out={EVERYWHERE: "it advances the offset, and has no other effect"},
    ),
    RecordType("ZkMigrationStateRecord", "", NOTHING, left_out={EVERYWHERE: _MIGRATION, WRITER: _MIGRATION}),
    RecordType(
        "RemoveUserScramCredentialRecord", "3.5-IV2", REMOVES, "scram", table="scram_credentials",
        texts="name:user",
        key="name:user mechanism", asked_by="ALTER_USER_SCRAM_CREDENTIALS", left_out={LOG_LINE: _AUDITED},
    ),
    RecordType("BeginTransactionRecord", "3.6-IV1", NOTHING, texts="name:free_text", left_out=_TRANSACTION),
    RecordType("EndTransactionRecord", "3.6-IV1", NOTHING, left_out=_TRANSACTION),
    RecordType(
        "AbortTransactionRecord", "3.6-IV1", NOTHING, texts="reason:free_text", left_out=_TRANSACTION,
    ),
    RecordType(
        "RemoveDelegationTokenRecord", "3.6-IV2", REMOVES, "delegation_tokens", table="delegation_tokens",
        texts="token_id:other",
        key="token_id", asked_by="EXPIRE_DELEGATION_TOKEN",
        left_out={LOG_LINE: "the audit log has the request; a token also expires by itself"},
    ),
    RecordType(
        "RegisterControllerRecord", "3.7-IV0", SETS, "cluster", table="controllers", key="controller_id",
        texts="end_points.name:other end_points.host:other features.name:other",
        values="incarnation_id zk_migration_ready end_points features",
        words=("controller", "registered", "removed"), subject="controller {controller_id}",
        shown="{incarnation_id}", asked_by="CONTROLLER_REGISTRATION",
    ),
    RecordType(
        "ClearElrRecord", "4.0-IV1", CHANGES, "topics", table="partitions", key="topic_name",
        texts="topic_name:topic",
        asked_by="UPDATE_FEATURES INCREMENTAL_ALTER_CONFIGS",
        left_out={
            LOG_LINE: "the level of ELR has a line, and the audit log has changes of min.insync.replicas",
            TIMELINE: "there may be thousands; what elections then take has marks",
        },
    ),
    RecordType(
        "UnregisterControllerRecord", "4.4-IV2", REMOVES, "cluster", table="controllers",
        key="controller_id", asked_by="UNREGISTER_CONTROLLER",
    ),
]
# fmt: on
"""The rows in the order of the types' numbers."""

RECORD_TYPES_BY_NAME: Final[dict[str, RecordType]] = {row.message.NAME: row for row in RECORD_TYPES}
