"""What a long series of mixed runs has to reach: every type of record committed, every API done and refused.

A type of record or an API that the workload cannot reach is in a table with the reason. What is in neither is
missing, and so is a reason that does not hold any more. `tests/simulator/test_coverage.py` has both tables
complete, `make simulate` counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kraftctl.apis.api_table import ROWS
from kraftctl.controller.audit.response_errors import ResponseErrors
from kraftctl_protocol.control_record import ControlRecordType, decode_control_key
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batch
from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_protocol.shared_response import unshared
from tests.support.simulator.checks.log_history import Batch

RUNS_MIN: Final = 500
"""After fewer mixed runs, what is still at 0 may be chance."""

RARE: Final = ("UnregisterControllerRecord committed", "UnregisterController done")
"""Three in 1,000 runs: few of them ask at a level that has the record, and not for the active controller."""

RARE_RUNS_MIN: Final = 3_000
"""What is rare is reached in as many runs."""

_OLD: Final = "Kafka before 3.3 wrote it: kraftctl replays it only"

RECORDS_NEVER: Final[dict[str, str]] = {
    "FenceBrokerRecord": _OLD,
    "UnfenceBrokerRecord": _OLD,
    "ZkMigrationStateRecord": "Kafka 4 has no migration from ZooKeeper",
    "SNAPSHOT_HEADER": 'it stands in snapshots, never in the log: see "snapshots written"',
    "SNAPSHOT_FOOTER": 'it stands in snapshots, never in the log: see "snapshots written"',
}
"""Types that no controller here commits, and why."""

RECORDS: Final[dict[str, str]] = {
    "RegisterBrokerRecord": "brokers start",
    "UnregisterBrokerRecord": "the admin unregisters a broker",
    "TopicRecord": "the admin creates topics",
    "PartitionRecord": "the admin creates topics and partitions",
    "ConfigRecord": "the admin alters configs of every type of resource",
    "PartitionChangeRecord": "brokers alter ISRs and assign directories, the admin elects and reassigns",
    "RemoveTopicRecord": "the admin deletes topics",
    "DelegationTokenRecord": "users create and renew tokens through brokers",
    "UserScramCredentialRecord": "the admin alters users",
    "FeatureLevelRecord": "the first leader, and the admin updates features",
    "ClientQuotaRecord": "the admin alters and removes quotas",
    "ProducerIdsRecord": "brokers allocate blocks of producer ids",
    "BrokerRegistrationChangeRecord": "brokers are fenced, unfenced and shut down, and cordon directories",
    "AccessControlEntryRecord": "the admin creates ACLs, where there is an authorizer",
    "RemoveAccessControlEntryRecord": "the admin deletes ACLs",
    "NoOpRecord": "the active controller has been idle",
    "RemoveUserScramCredentialRecord": "the admin alters users",
    "BeginTransactionRecord": "the first leader writes the bootstrap records",
    "EndTransactionRecord": "the first leader writes the bootstrap records",
    "AbortTransactionRecord": "a leader ends inside of a metadata transaction",
    "RemoveDelegationTokenRecord": "users expire tokens, and tokens expire",
    "RegisterControllerRecord": "controllers start",
    "UnregisterControllerRecord": "the admin unregisters a controller, where metadata.version has that",
    "ClearElrRecord": "the admin alters min.insync.replicas where KIP-966 is on",
    "LEADER_CHANGE": "elections",
    "KRAFT_VERSION": "a dynamic quorum is formatted",
    "KRAFT_VOTERS": "voters are added, removed and updated",
}
"""What makes controllers write each type: metadata records by name, control records by number's name."""

_BROKERS_RESPOND: Final = "Kafka's controllers list it and refuse it, too: brokers respond to it"

NEVER_DONE: Final[dict[str, str]] = {
    "SaslHandshake": "there is no SASL on a listener without it",
    "SaslAuthenticate": "there is no SASL on a listener without it",
    "DescribeDelegationToken": _BROKERS_RESPOND,
    "DescribeUserScramCredentials": _BROKERS_RESPOND,
}
"""APIs that are only ever refused, and why."""

NEVER_REFUSED: Final[dict[str, str]] = {}
"""APIs that are never refused, and why."""

APIS: Final[dict[str, str]] = {
    "Fetch": "controllers, brokers",
    "SaslHandshake": "users who read",
    "ApiVersions": "controllers, users who read",
    "CreateTopics": "the admin, users",
    "DeleteTopics": "the admin, users",
    "DescribeAcls": "users who read",
    "CreateAcls": "the admin, users",
    "DeleteAcls": "the admin, users",
    "DescribeConfigs": "users who read",
    "AlterConfigs": "the admin, users",
    "SaslAuthenticate": "users who read",
    "CreatePartitions": "the admin, users",
    "CreateDelegationToken": "users, through brokers",
    "RenewDelegationToken": "users, through brokers",
    "ExpireDelegationToken": "users, through brokers",
    "DescribeDelegationToken": "users who read",
    "ElectLeaders": "the admin, users",
    "IncrementalAlterConfigs": "the admin, users",
    "AlterPartitionReassignments": "the admin, users",
    "ListPartitionReassignments": "users who read",
    "AlterClientQuotas": "the admin, users",
    "DescribeUserScramCredentials": "users who read",
    "AlterUserScramCredentials": "the admin, users",
    "Vote": "controllers, intruders",
    "BeginQuorumEpoch": "controllers, intruders",
    "EndQuorumEpoch": "controllers, intruders",
    "DescribeQuorum": "users who read",
    "AlterPartition": "brokers, intruders",
    "UpdateFeatures": "the admin, users",
    "Envelope": "brokers, intruders",
    "FetchSnapshot": "controllers, brokers, intruders",
    "DescribeCluster": "users who read",
    "BrokerRegistration": "brokers, intruders",
    "BrokerHeartbeat": "brokers, intruders",
    "UnregisterBroker": "the admin, users",
    "AllocateProducerIds": "brokers, intruders",
    "ControllerRegistration": "controllers, intruders",
    "AssignReplicasToDirs": "brokers, intruders",
    "AddRaftVoter": "operators, intruders",
    "RemoveRaftVoter": "operators, intruders",
    "UpdateRaftVoter": "controllers, intruders",
    "UnregisterController": "the admin",
}
"""Who sends a request of each API of the table."""

_NAMES: Final = {
    message.API_KEY: message.NAME.removesuffix("Request")
    for message in all_messages()
    if message.NAME.endswith("Request")
}


def api_names() -> list[str]:
    """Those of the table of APIs, without "Request"."""
    return [_NAMES[row.key] for row in ROWS]


def record_names() -> list[str]:
    """All types of metadata records and of control records that a schema describes."""
    return [
        *[row.message.NAME for row in RECORD_TYPES],
        *[control_type.name for control_type in ControlRecordType],
    ]


def count_records(batches: Iterable[Batch]) -> Counter[str]:
    """The records of each type in batches that are committed."""
    counts: Counter[str] = Counter()
    for batch in batches:
        if batch.is_control:
            for record in read_batch(batch.data, 0, verify_crc=False).records:
                counts[f"record {ControlRecordType(decode_control_key(record.key)).name}"] += 1
        else:
            for message in batch.messages:
                counts[f"record {message.NAME}"] += 1
    return counts


def count_response(counts: Counter[str], response: Message) -> None:
    """By API, and by each error that is in it, if only of a part."""
    known = unshared(response)
    name = known.NAME.removesuffix("Response")
    for error in ResponseErrors(known).names() or [Errors.NONE.name]:
        counts[f"response {name} {error}"] += 1


def missing(counts: Counter[str]) -> list[str]:
    """What is at 0 and should not be; and what is not, although there is a reason why it is."""
    found: list[str] = []
    for name in record_names():
        is_never = name in RECORDS_NEVER
        if is_never is bool(counts[f"record {name}"]):
            found.append(f"{name} is committed: {RECORDS_NEVER[name]}" if is_never else f"{name} committed")
    for name in api_names():
        done, refused = _outcomes(counts, name)
        for outcome, count, never in (("done", done, NEVER_DONE), ("refused", refused, NEVER_REFUSED)):
            if (name in never) is bool(count):
                found.append(f"{name} is {outcome}: {never[name]}" if name in never else f"{name} {outcome}")
    return found


def _outcomes(counts: Counter[str], api_name: str) -> tuple[int, int]:
    """How many responses have no error, and how many have one that says more than who the leader is."""
    prefix = f"response {api_name} "
    total = sum(count for name, count in counts.items() if name.startswith(prefix))
    done, elsewhere = (counts[prefix + error.name] for error in (Errors.NONE, Errors.NOT_CONTROLLER))
    return done, total - done - elsewhere
