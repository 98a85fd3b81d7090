"""A request in slices, however small: the response and the image are those of one slice.

Between the slices the world changes: then each slice decides from what there is.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_partition_request as isr
from kraftctl_protocol.generated import assign_replicas_to_dirs_request as dirs
from kraftctl_protocol.generated import elect_leaders_request as election
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.active_controller import ActiveController, registration
from tests.support.effort import seeds
from tests.support.image_records import image_records
from tests.support.metadata_state import UNLIMITED, directory

BROKERS = (1, 2, 3, 4)
NAMES = ("a", "b", "c", "d.e", "d_e", "f", "g", "bad name", "h")
REQUESTS_PER_SEED = 40


def topics_a_and_b(units: int) -> ActiveController:
    active = ActiveController(num_partitions="2", default_replication_factor="2")
    active.units = units
    active.start_brokers(*BROKERS, directories=2)
    active.create_topic("a", partitions=9, replication_factor=3)
    active.create_topic("b", partitions=3, replication_factor=2)
    return active


class Requests:
    """Random ones about what `active` has, and about what it has not."""

    def __init__(self, active: ActiveController, rng: random.Random) -> None:
        self.active = active
        self.rng = rng
        self.makers: list[Callable[[], Message]] = [
            self.creation,
            self.addition,
            self.deletion,
            self.election,
            self.reassignment,
            self.reassignment,
            self.listing,
            self.alteration,
            self.alteration,
            self.assignment,
        ]

    def any(self) -> Message:
        return self.rng.choice(self.makers)()

    def names(self) -> list[str]:
        return self.rng.choices(NAMES, k=self.rng.randint(1, 5))

    def topic_ids(self) -> list[bytes]:
        ids = [*self.active.controller.image.topics.topics, bytes(15) + b"\7"]
        return self.rng.choices(ids, k=self.rng.randint(1, 4))

    def indexes(self) -> list[int]:
        return [self.rng.randint(0, 9) for _ in range(self.rng.randint(0, 8))]

    def replicas(self) -> list[int]:
        return self.rng.sample((*BROKERS, 9), self.rng.randint(1, 3))

    def creation(self) -> Message:
        topics = []
        for name in self.names():
            topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
            kind = self.rng.randrange(4)
            if kind == 0:
                topic.num_partitions, topic.replication_factor = (
                    self.rng.randint(0, 9),
                    self.rng.randint(1, 5),
                )
            elif kind == 1:
                value = self.rng.choice(("1", "no number", None))
                topic.configs = [CreatableTopicConfig(name="retention.ms", value=value)]
            topics.append(topic)
        return CreateTopicsRequest(topics=topics, validate_only=self.rng.random() < 0.2)

    def addition(self) -> Message:
        topics = []
        for name in self.names():
            topic = CreatePartitionsTopic(name=name, count=self.rng.randint(1, 14), assignments=None)
            if self.rng.random() < 0.2:
                topic.assignments = [CreatePartitionsAssignment(broker_ids=self.replicas())]
            topics.append(topic)
        return CreatePartitionsRequest(
            timeout_ms=60_000, topics=topics, validate_only=self.rng.random() < 0.2
        )

    def deletion(self) -> Message:
        by_name = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in self.names()]
        by_id = [DeleteTopicState(name=None, topic_id=topic_id) for topic_id in self.topic_ids()]
        return DeleteTopicsRequest(
            timeout_ms=60_000, topics=self.rng.choice((by_name, by_id, by_name + by_id))[:2]
        )

    def election(self) -> Message:
        named = [election.TopicPartitions(topic=name, partitions=self.indexes()) for name in self.names()]
        return election.ElectLeadersRequest(
            election_type=self.rng.randint(0, 1), topic_partitions=self.rng.choice((None, named))
        )

    def reassignment(self) -> Message:
        topics = [
            ReassignableTopic(
                name=name,
                partitions=[
                    ReassignablePartition(
                        partition_index=index, replicas=self.rng.choice((None, self.replicas()))
                    )
                    for index in self.indexes()
                ],
            )
            for name in self.names()
        ]
        return AlterPartitionReassignmentsRequest(topics=topics)

    def listing(self) -> Message:
        named = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=self.indexes())
            for name in self.names()
        ]
        return ListPartitionReassignmentsRequest(topics=self.rng.choice((None, named)))

    def alteration(self) -> Message:
        broker_id = self.rng.choice(BROKERS)
        topics = []
        for topic_id in self.topic_ids():
            data = isr.TopicData(topic_id=topic_id)
            for index in self.indexes():
                partition = self.active.controller.image.topics.partition(topic_id, index)
                part = isr.PartitionData(partition_index=index)
                members: list[int] = [broker_id]
                if partition is not None:
                    part.leader_epoch = int(partition.leader_epoch)
                    part.partition_epoch = int(partition.partition_epoch) - (self.rng.random() < 0.1)
                    members = [replica for replica in partition.replicas if self.rng.random() < 0.8]
                part.new_isr_with_epochs = [
                    isr.BrokerState(broker_id=member, broker_epoch=self.epoch(member)) for member in members
                ]
                data.partitions.append(part)
            topics.append(data)
        return isr.AlterPartitionRequest(
            broker_id=broker_id, broker_epoch=self.epoch(broker_id), topics=topics
        )

    def assignment(self) -> Message:
        broker_id = self.rng.choice(BROKERS)
        directories = []
        for number in self.rng.choices((0, 1, 5), k=2):
            topics = [
                dirs.TopicData(
                    topic_id=topic_id,
                    partitions=[dirs.PartitionData(partition_index=index) for index in self.indexes()],
                )
                for topic_id in self.topic_ids()
            ]
            directories.append(dirs.DirectoryData(id=directory(broker_id, number), topics=topics))
        return dirs.AssignReplicasToDirsRequest(
            broker_id=broker_id, broker_epoch=self.epoch(broker_id), directories=directories
        )

    def epoch(self, broker_id: int) -> int:
        broker = self.active.controller.image.cluster.broker(broker_id)
        return -1 if broker is None else broker.epoch


def throttle(active: ActiveController) -> None:
    """All clients may change a partition a second, or so."""
    entry = EntryData(
        entity=[EntityData(entity_type="client-id", entity_name=None)],
        ops=[OpData(key="controller_mutation_rate", value=3.0)],
    )
    active.request(AlterClientQuotasRequest(entries=[entry]))


@pytest.mark.parametrize("units", [1, 2, 7])
@pytest.mark.parametrize("seed", seeds(12))
def test_slices_change_neither_answer_nor_image(seed: int, units: int) -> None:
    rng = random.Random(seed)
    whole, sliced = topics_a_and_b(UNLIMITED), topics_a_and_b(units)
    if rng.random() < 0.3:
        throttle(whole)
        throttle(sliced)
    requests = Requests(whole, rng)
    for _ in range(REQUESTS_PER_SEED):
        request = requests.any()
        version = rng.randint(5, 7) if isinstance(request, CreateTopicsRequest) else None
        assert sliced.request(request, version) == whole.request(request, version), request
        assert image_records(sliced.controller.image) == image_records(whole.controller.image), request
        if rng.random() < 0.2:
            broker_id, fence = rng.choice(BROKERS), rng.random() < 0.5
            whole.heartbeat(broker_id, fence=fence)
            sliced.heartbeat(broker_id, fence=fence)


# What happens between two slices.


def begin(active: ActiveController, request: Message) -> None:
    """Its first slice is written; nothing is answered."""
    pending = active.pending(request)
    prepared = active.controller.prepare_request(pending, active.moment)
    active.write_prepared(prepared)
    assert prepared.response is None
    assert prepared.rest is not None
    active.controller.continue_later(prepared.rest, pending)


def meanwhile(active: ActiveController, *requests: Message) -> None:
    """Requests of others, in one slice each."""
    units, active.units = active.units, UNLIMITED
    for request in requests:
        pending = active.pending(request)
        prepared = active.controller.prepare_request(pending, active.moment)
        active.write_prepared(prepared)
        assert prepared.rest is None
    active.units = units


def finish(active: ActiveController) -> Message:
    response = active.finish_work()
    assert response is not None
    return response


def creation_of(*names: str, partitions: int = 3) -> CreateTopicsRequest:
    topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=2) for name in names]
    return CreateTopicsRequest(topics=topics)


def deletion_of(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(
        timeout_ms=60_000, topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names]
    )


def codes_by_name(response: Message) -> dict[str | None, Errors]:
    results = response.topics if isinstance(response, CreateTopicsResponse) else response.responses  # type: ignore[attr-defined]
    return {result.name: Errors(result.error_code) for result in results}


def test_a_topic_that_another_request_creates_meanwhile_exists_already() -> None:
    active = topics_a_and_b(1)
    begin(active, creation_of("x", "y", "z"))
    meanwhile(active, deletion_of("x"), creation_of("z"))
    response = finish(active)
    assert codes_by_name(response) == {
        "x": Errors.NONE,
        "y": Errors.NONE,
        "z": Errors.TOPIC_ALREADY_EXISTS,
    }
    assert sorted(active.controller.image.topics.ids_by_name) == ["a", "b", "y", "z"]


def test_a_topic_that_is_created_anew_meanwhile_is_not_deleted() -> None:
    active = topics_a_and_b(UNLIMITED)
    active.request(creation_of("x", "y", "z"))
    active.units = 1
    begin(active, deletion_of("x", "y", "z"))
    meanwhile(active, deletion_of("y"), creation_of("y"))
    response = finish(active)
    assert isinstance(response, DeleteTopicsResponse)
    assert codes_by_name(response) == {
        "x": Errors.NONE,
        "y": Errors.UNKNOWN_TOPIC_OR_PARTITION,
        "z": Errors.NONE,
    }
    assert sorted(active.controller.image.topics.ids_by_name) == ["a", "b", "y"]


def test_a_broker_that_is_registered_anew_meanwhile_gets_no_results() -> None:
    active = topics_a_and_b(2)
    topics = active.controller.image.topics
    topic = topics.topics[topics.ids_by_name["a"]]
    led = [index for index, partition in topic.partitions.items() if partition.leader == 1]
    assert len(led) >= 2
    parts = [
        isr.PartitionData(
            partition_index=index,
            leader_epoch=0,
            partition_epoch=0,
            new_isr_with_epochs=[isr.BrokerState(broker_id=1, broker_epoch=-1)],
        )
        for index in [*led, *led]
    ]
    epoch = active.controller.image.cluster.brokers[1].epoch
    begin(
        active,
        isr.AlterPartitionRequest(
            broker_id=1,
            broker_epoch=epoch,
            topics=[isr.TopicData(topic_id=topic.topic_id, partitions=parts)],
        ),
    )
    active.now_ms += 60_000
    meanwhile(active, registration(1, number=1))
    assert active.controller.image.cluster.brokers[1].epoch > epoch
    before = len(active.log)
    assert finish(active) == AlterPartitionResponse(error_code=int(Errors.STALE_BROKER_EPOCH))
    assert len(active.log) == before


def test_leaders_of_a_topic_that_is_deleted_meanwhile_are_not_elected() -> None:
    active = topics_a_and_b(1)
    named = [election.TopicPartitions(topic=name, partitions=[0, 1]) for name in ("a", "b")]
    begin(active, election.ElectLeadersRequest(topic_partitions=named))
    meanwhile(active, deletion_of("a", "b"))
    response = finish(active)
    codes = [
        Errors(part.error_code)
        for result in response.replica_election_results  # type: ignore[attr-defined]
        for part in result.partition_result
    ]
    assert codes == [Errors.ELECTION_NOT_NEEDED] + [Errors.UNKNOWN_TOPIC_OR_PARTITION] * 3


@pytest.mark.parametrize("units", [1, UNLIMITED])
def test_names_of_one_request_do_not_collide(units: int) -> None:
    """As in Kafka, which looks at the topics that were there before."""
    response = topics_a_and_b(units).request(creation_of("d.e", "d_e"))
    assert set(codes_by_name(response).values()) == {Errors.NONE}


# What is whole.


@pytest.mark.parametrize("units", [1, 4, UNLIMITED])
def test_a_topic_is_in_one_batch(units: int) -> None:
    active = topics_a_and_b(units)
    active.batches.clear()
    active.request(creation_of("x", "y", partitions=5))
    more = [CreatePartitionsTopic(name=name, count=9, assignments=None) for name in ("x", "y")]
    active.request(CreatePartitionsRequest(timeout_ms=60_000, topics=more))
    created = [
        [
            record.topic_id
            for record in (entry.record for entry in batch)
            if isinstance(record, (TopicRecord, PartitionRecord))
        ]
        for batch in active.batches
    ]
    ids = active.controller.image.topics.ids_by_name
    if units == UNLIMITED:
        assert [len(batch) for batch in created] == [12, 8]
    else:
        assert created == [[ids["x"]] * 6, [ids["y"]] * 6, [ids["x"]] * 4, [ids["y"]] * 4]


def test_too_many_records_are_refused_before_the_first_one() -> None:
    active = topics_a_and_b(2_000)
    count = RECORDS_PER_BATCH_MAX // 2 + 1
    names = [f"t{number}" for number in range(count)]
    request = creation_of(*names, partitions=1)
    before = active.end_offset
    refused = active.request(request)
    assert set(codes_by_name(refused).values()) == {Errors.POLICY_VIOLATION}
    assert active.end_offset == before
    for name in names[:2]:
        active.create_topic(name)
    assert set(codes_by_name(active.request(request)).values()) == {
        Errors.NONE,
        Errors.TOPIC_ALREADY_EXISTS,
    }


def test_what_is_refused_is_not_counted() -> None:
    """Half of the topics cannot be created: the others are no more than a request may create."""
    active = topics_a_and_b(2_000)
    count = RECORDS_PER_BATCH_MAX // 2
    request = creation_of(*[f"t{number}" for number in range(count)], *NAMES[7:8], partitions=1)
    request.topics[-1].num_partitions = 3
    codes = codes_by_name(active.request(request))
    assert codes.pop("bad name") == Errors.INVALID_TOPIC_EXCEPTION
    assert set(codes.values()) == {Errors.NONE}
    assert len(active.controller.image.topics.topics) == 2 + count


def test_a_rehearsal_charges_nobody() -> None:
    """What is decided twice is charged once; what the quota refuses is not counted."""
    answers = []
    for units in (3_000, UNLIMITED):
        active = topics_a_and_b(units)
        throttle(active)
        names = [f"t{number}" for number in range(RECORDS_PER_BATCH_MAX // 2 + 1)]
        answers.append(active.request(creation_of(*names, partitions=1)))
        answers.append(active.request(creation_of("u")))
    assert answers[:2] == answers[2:]
    assert set(codes_by_name(answers[0]).values()) == {Errors.NONE, Errors.THROTTLING_QUOTA_EXCEEDED}


class Failing(random.Random):
    """For an id of a topic, which is drawn after the quota was charged."""

    def getrandbits(self, k: int) -> int:
        raise ValueError("as planned")

    def randbytes(self, n: int) -> bytes:
        raise ValueError("as planned")


def test_a_slice_that_fails_returns_its_own_charge_only() -> None:
    active = topics_a_and_b(1)
    throttle(active)
    request = creation_of("x", "y")
    for topic in request.topics:
        topic.num_partitions = topic.replication_factor = -1
        topic.assignments = [CreatableReplicaAssignment(partition_index=0, broker_ids=[1])]
    begin(active, request)
    buckets = active.controller.state.mutation_quotas
    before = [bucket.tokens for bucket in buckets._buckets.values()]
    active.controller.state.rng = Failing()
    response = finish(active)
    assert set(codes_by_name(response).values()) == {Errors.UNKNOWN_SERVER_ERROR}
    assert [bucket.tokens for bucket in buckets._buckets.values()] == before
    assert sorted(active.controller.image.topics.ids_by_name) == ["a", "b", "x"]
