"""Carries out operations on a running cluster, many in one request, and says what became of each.

An operation that fails leaves the others as they are. What has been done before, by an attempt whose response
was lost, counts as done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Final, NamedTuple, TypeVar

from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_spark.restore.cluster_state import TopicReplicas
from kraftctl_spark.restore.comparison import BROKER
from kraftctl_spark.restore.live_state import chunks, topics_of
from kraftctl_spark.restore.operations import (
    AddPartitions,
    CreateAcl,
    CreateTopic,
    Operation,
    SetConfig,
    SetQuota,
)
from kraftctl_spark.restore.wire_numbers import acl_number, resource_number

RECORDS_PER_REQUEST: Final = 2_000
"""A controller accepts 10,000 records from one request: a topic, its partitions and configs are one each."""

ITEMS_PER_REQUEST: Final = 500

SET: Final = 0
"""The operation of IncrementalAlterConfigs."""

KNOWN_OPERATIONS_MAX: Final = AclOperation.DESCRIBE_TOKENS
"""The last operation that all brokers from 3.9 on know."""

CHOSEN: Final = -1
"""In place of partitions and replication factor, which a list of brokers says."""

TIMEOUT_MS: Final = 30_000

THROTTLED_MAX: Final = 1_000
"""The number of times that a request is repeated: each creates something, unless others use the quota."""
THROTTLE_MS_MIN: Final = 100
THROTTLE_MS_MAX: Final = 300_000

DESCRIBED_MAX: Final = 10
DESCRIBED_PAUSE_S: Final = 0.2
"""Brokers apply a change within this time, unless they are behind."""


class Outcome(NamedTuple):
    """What became of an operation; without an `error`, it is done."""

    operation: Operation
    error: str | None
    existed: bool = False
    """Whether it is a topic that was there already: of an earlier attempt, or of another client."""


Result = tuple[int, str | None]
"""The error code and the message of an item."""

O = TypeVar("O", bound=Operation)

MISSING: Final[Result] = (Errors.UNKNOWN_SERVER_ERROR, "the response does not mention it")


def carry_out(client: AdminClient, operations: Sequence[Operation]) -> Iterator[Outcome]:
    """Yields the outcome of each; AdminError when no broker answers any more.

    Topics come last: a cluster that has some is in use, so that the rest of an interrupted restore would be
    left; and a topic without its ACLs may be open to all. So a quota of the plan may slow down its topics.
    """
    configs = [one for one in operations if isinstance(one, SetConfig)]
    yield from _set_configs(client, configs)
    yield from _create_all_acls(client, [one for one in operations if isinstance(one, CreateAcl)])
    quotas = [one for one in operations if isinstance(one, SetQuota)]
    yield from _ask(_grouped(quotas, lambda one: one.quota.entity), partial(_set_quotas, client))
    created = [[one] for one in operations if isinstance(one, CreateTopic)]
    yield from _ask(created, _unthrottled(partial(_create_topics, client)))
    added = [[one] for one in operations if isinstance(one, AddPartitions)]
    yield from _ask(added, _unthrottled(partial(_add_partitions, client)))


def _grouped(operations: Sequence[O], key: Callable[[O], Hashable]) -> list[list[O]]:
    found: dict[Hashable, list[O]] = defaultdict(list)
    for one in operations:
        found[key(one)].append(one)
    return list(found.values())


def _bounded(groups: Sequence[list[O]]) -> Iterator[list[list[O]]]:
    """Yields groups of RECORDS_PER_REQUEST records together, ITEMS_PER_REQUEST at most, and at least one."""
    some: list[list[O]] = []
    records = 0
    for group in groups:
        size = sum(map(_records_of, group))
        if some and (records + size > RECORDS_PER_REQUEST or len(some) == ITEMS_PER_REQUEST):
            yield some
            some, records = [], 0
        some.append(group)
        records += size
    if some:
        yield some


def _records_of(one: Operation) -> int:
    if isinstance(one, CreateTopic):
        return 1 + one.topic.partitions + len(one.configs)
    return one.added if isinstance(one, AddPartitions) else 1


def _ask(groups: Sequence[list[O]], ask: Callable[[Sequence[list[O]]], list[Result]]) -> Iterator[Outcome]:
    """Asks for some groups at a time, each of which is refused as a whole; then, for each of its own."""
    for some in _bounded(groups):
        for group, (code, message) in zip(some, ask(some), strict=True):
            error = error_of(code)
            if error != Errors.NONE and len(group) > 1:
                for one in group:  # A request names each resource and entity once.
                    yield from _ask([[one]], ask)
                continue
            existed = error == Errors.TOPIC_ALREADY_EXISTS
            is_done = existed or error == Errors.NONE
            text = None if is_done else f"{error.name}: {message or error.message}"
            yield from (Outcome(one, text, existed) for one in group)


def _unthrottled(
    ask: Callable[[Sequence[list[O]]], tuple[list[Result], int]],
) -> Callable[[Sequence[list[O]]], list[Result]]:
    """Asks again for what a quota of changes (KIP-599) refuses, after the time that the response names."""

    def results(some: Sequence[list[O]]) -> list[Result]:
        found: dict[int, Result] = {}
        left = list(range(len(some)))
        for _ in range(THROTTLED_MAX):
            answers, throttle_ms = ask([some[place] for place in left])
            found.update(zip(left, answers, strict=True))
            left = [place for place in left if found[place][0] == Errors.THROTTLING_QUOTA_EXCEEDED]
            if not left:
                break
            Event().wait(min(max(throttle_ms, THROTTLE_MS_MIN), THROTTLE_MS_MAX) / 1000)
        return [found[place] for place in range(len(some))]

    return results


def existing_topics(client: AdminClient, names: Sequence[str]) -> list[str]:
    """Returns those that exist, whether the client may describe them or not; nothing is changed.

    They are asked for with no partitions: a controller refuses that after it has looked for the name, and
    before a quota counts it or a policy sees it.
    """
    found: list[str] = []
    for some in chunks(names, ITEMS_PER_REQUEST):
        topics = [CreatableTopic(name=name, num_partitions=0, replication_factor=CHOSEN) for name in some]
        response = client.call(
            CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS, validate_only=True),
            CreateTopicsResponse,
            lambda answer: _if_moved(one.error_code for one in answer.topics),
        )
        found += [one.name for one in response.topics if one.error_code == Errors.TOPIC_ALREADY_EXISTS]
    return sorted(found)


def _create_topics(client: AdminClient, some: Sequence[list[CreateTopic]]) -> tuple[list[Result], int]:
    request = CreateTopicsRequest(topics=[_creatable(one) for (one,) in some], timeout_ms=TIMEOUT_MS)
    response = client.call(
        request, CreateTopicsResponse, lambda answer: _if_moved(one.error_code for one in answer.topics)
    )
    results = {one.name: (one.error_code, one.error_message) for one in response.topics}
    return [results.get(one.topic.name, MISSING) for (one,) in some], response.throttle_time_ms


def _creatable(one: CreateTopic) -> CreatableTopic:
    topic = one.topic
    created = CreatableTopic(name=topic.name, num_partitions=topic.partitions)
    created.replication_factor = topic.replication_factor
    created.configs = [CreatableTopicConfig(name=name, value=value) for name, value in one.configs]
    if topic.replicas is not None:
        created.num_partitions = created.replication_factor = CHOSEN
        created.assignments = [
            CreatableReplicaAssignment(partition_index=place, broker_ids=list(brokers))
            for place, brokers in enumerate(topic.replicas)
        ]
    return created


def _add_partitions(client: AdminClient, some: Sequence[list[AddPartitions]]) -> tuple[list[Result], int]:
    """Those that have their number of partitions already, as after a lost response, are done."""
    topics = [
        CreatePartitionsTopic(name=one.topic, count=one.partitions, assignments=None) for (one,) in some
    ]
    response = client.call(
        CreatePartitionsRequest(topics=topics, timeout_ms=TIMEOUT_MS),
        CreatePartitionsResponse,
        lambda answer: _if_moved(one.error_code for one in answer.results),
    )
    results: dict[str, Result] = {one.name: (one.error_code, one.error_message) for one in response.results}
    invalid = {
        one.topic: one.partitions
        for (one,) in some
        if results.get(one.topic, MISSING)[0] == Errors.INVALID_PARTITIONS
    }
    results |= dict.fromkeys(_with_partitions(client, invalid), (Errors.NONE, None))
    return [results.get(one.topic, MISSING) for (one,) in some], response.throttle_time_ms


def _with_partitions(client: AdminClient, counts: Mapping[str, int]) -> list[str]:
    """Returns the topics that have as many partitions, when brokers have had time to apply what was done."""
    left = dict(counts)
    for _ in range(DESCRIBED_MAX if left else 0):
        topics = topics_of(client)
        left = {name: count for name, count in left.items() if len(_replicas_of(topics, name)) != count}
        if not left:
            break
        Event().wait(DESCRIBED_PAUSE_S)
    return [name for name in counts if name not in left]


def _replicas_of(topics: Mapping[str, TopicReplicas], name: str) -> tuple[tuple[int, ...], ...]:
    return topics[name].replicas if name in topics else ()


def _set_configs(client: AdminClient, configs: Sequence[SetConfig]) -> Iterator[Outcome]:
    """A broker changes its own configs only; everything else, any broker forwards to the controller."""
    resources = _grouped(configs, lambda one: one.config[:2])
    of_all = [group for group in resources if not _broker_of(group)]
    yield from _ask(of_all, partial(_alter_configs, client))
    for group in resources:
        if broker := _broker_of(group):
            try:
                with client.only(int(broker)) as its_own:
                    yield from _ask([group], partial(_alter_configs, its_own))
            except AdminError as error:  # One broker that has just stopped does not end the others.
                yield from (Outcome(one, str(error)) for one in group)


def _broker_of(group: Sequence[SetConfig]) -> str:
    kind, name, _ = group[0].config
    return name if kind == BROKER else ""


def _alter_configs(client: AdminClient, some: Sequence[list[SetConfig]]) -> list[Result]:
    asked = [
        AlterConfigsResource(
            resource_type=resource_number(group[0].config.resource_type),
            resource_name=group[0].config.resource_name,
            configs=[AlterableConfig(one.config.key, SET, one.value) for one in group],
        )
        for group in some
    ]
    response = client.call(
        IncrementalAlterConfigsRequest(resources=asked),
        IncrementalAlterConfigsResponse,
        lambda answer: _if_moved(one.error_code for one in answer.responses),
    )
    results = {
        (one.resource_type, one.resource_name): (one.error_code, one.error_message)
        for one in response.responses
    }
    return [results.get((one.resource_type, one.resource_name), MISSING) for one in asked]


def _create_all_acls(client: AdminClient, acls: Sequence[CreateAcl]) -> Iterator[Outcome]:
    """A node closes the connection for an operation that it does not know: each newer one goes alone."""
    is_newer = [acl_number("operation", one.acl.operation) > KNOWN_OPERATIONS_MAX for one in acls]
    of_all = [[one] for one, newer in zip(acls, is_newer, strict=True) if not newer]
    yield from _ask(of_all, partial(_create_acls, client))
    for one, newer in zip(acls, is_newer, strict=True):
        if newer:
            try:
                yield from _ask([[one]], partial(_create_acls, client))
            except AdminError as error:
                yield Outcome(one, str(error))


def _create_acls(client: AdminClient, some: Sequence[list[CreateAcl]]) -> list[Result]:
    creations = [
        AclCreation(
            resource_type=acl_number("resource_type", one.acl.resource_type),
            resource_name=one.acl.resource_name,
            resource_pattern_type=acl_number("pattern_type", one.acl.pattern_type),
            principal=one.acl.principal,
            host=one.acl.host,
            operation=acl_number("operation", one.acl.operation),
            permission_type=acl_number("permission", one.acl.permission),
        )
        for (one,) in some
    ]
    response = client.call(
        CreateAclsRequest(creations=creations),
        CreateAclsResponse,
        lambda answer: _if_moved(one.error_code for one in answer.results),
    )
    found: list[Result] = [(one.error_code, one.error_message) for one in response.results[: len(some)]]
    return found + [MISSING] * (len(some) - len(found))


def _set_quotas(client: AdminClient, some: Sequence[list[SetQuota]]) -> list[Result]:
    entries = [
        EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in group[0].quota.entity],
            ops=[OpData(key=one.quota.key, value=one.value, remove=False) for one in group],
        )
        for group in some
    ]
    response = client.call(
        AlterClientQuotasRequest(entries=entries),
        AlterClientQuotasResponse,
        lambda answer: _if_moved(one.error_code for one in answer.entries),
    )
    results = {
        tuple(sorted((part.entity_type, part.entity_name) for part in one.entity)): (
            one.error_code,
            one.error_message,
        )
        for one in response.entries
    }
    return [results.get(group[0].quota.entity, MISSING) for group in some]


def _if_moved(codes: Iterable[int]) -> tuple[Errors, str | None]:
    """Returns NOT_CONTROLLER if an item has it: the request is sent again, and repeats nothing."""
    moved = Errors.NOT_CONTROLLER
    return (moved if moved in set(codes) else Errors.NONE), None
