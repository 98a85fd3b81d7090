"""Real clients (librdkafka) for tests: what an application would do with the cluster."""

from __future__ import annotations

import time
import uuid

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kraftctl.dev.polling import await_result

QUIET = {"log_level": 2}
"""librdkafka logs every broker that a test stops; only emergencies are shown."""

REQUEST_TIMEOUT_S = 20.0


def admin_client(bootstrap_servers: str) -> AdminClient:
    """An admin client; brokers may be missing from time to time."""
    return AdminClient({"bootstrap.servers": bootstrap_servers, **QUIET})


def create_topic(
    bootstrap_servers: str, topic: str, *, partitions: int = 6, replicas: int = 3, **configs: str
) -> None:
    """Creates a topic and waits until all its partitions are led; in config names `_` means a dot."""
    admin = admin_client(bootstrap_servers)
    # A broker that has just opened its port may not have read of any live broker yet: librdkafka would then
    # not ask again for as long as the request may take.
    await_result(lambda: live_brokers(admin) != set(), "a broker knows of a live one")
    wanted = NewTopic(
        topic, partitions, replicas, config={name.replace("_", "."): value for name, value in configs.items()}
    )
    admin.create_topics([wanted], request_timeout=REQUEST_TIMEOUT_S)[topic].result()

    def are_led() -> bool:
        # One answer for both: another broker, asked next, may not know of the topic yet.
        found = leaders(admin, topic)
        return sorted(found) == list(range(partitions)) and min(found.values()) >= 0

    await_result(are_led, f"leaders of {topic}")


def leaders(admin: AdminClient, topic: str) -> dict[int, int]:
    """Partition -> leader, -1 for none, as a broker sees it now."""
    partitions = admin.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic].partitions
    return {index: partition.leader for index, partition in partitions.items()}


def isrs(admin: AdminClient, topic: str) -> dict[int, list[int]]:
    """Partition -> sorted ISR, as a broker sees it now."""
    partitions = admin.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic].partitions
    return {index: sorted(partition.isrs) for index, partition in partitions.items()}


def live_brokers(admin: AdminClient) -> set[int]:
    """The unfenced brokers, as a broker sees it now."""
    return set(admin.list_topics(timeout=REQUEST_TIMEOUT_S).brokers)


def produce(
    bootstrap_servers: str,
    topic: str,
    values: list[bytes],
    *,
    transactional_id: str | None = None,
    is_idempotent: bool = False,
) -> None:
    """Writes `values` with acks=all, in one transaction if an id is given; every one must be acknowledged.

    One that is idempotent writes no record twice, as a retry on a busy machine may; it needs a controller.
    """
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(error)

    settings = {"bootstrap.servers": bootstrap_servers, "acks": "all", "linger.ms": 5, **QUIET}
    if is_idempotent:
        settings["enable.idempotence"] = True
    if transactional_id is not None:
        settings["transactional.id"] = transactional_id
    producer = Producer(settings)
    if transactional_id is not None:
        producer.init_transactions(60.0)
        producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, on_delivery=delivered)
        producer.poll(0)
    unsent = producer.flush(60.0)
    assert unsent == 0, f"{unsent} of {len(values)} records were not acknowledged in time"
    assert not failures, failures[:3]
    if transactional_id is not None:
        producer.commit_transaction(60.0)


def consume(bootstrap_servers: str, topic: str, count: int, *, timeout_s: float = 60.0) -> list[bytes]:
    """Reads committed records from the beginning, with a new group, until there are `count`."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": f"test-{uuid.uuid4()}",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            **QUIET,
        }
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    deadline = time.monotonic() + timeout_s
    try:
        while len(values) < count and time.monotonic() < deadline:
            for message in consumer.consume(1000, timeout=0.5):
                error = message.error()
                assert error is None or error.retriable(), error
                if error is None:
                    values.append(message.value() or b"")
    finally:
        consumer.close()
    assert len(values) >= count, f"{len(values)} of {count} records of {topic} in {timeout_s:g} s"
    return values


def end_offsets(bootstrap_servers: str, topic: str, partitions: int) -> dict[int, int]:
    """Partition -> end offset."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "offsets", **QUIET})
    try:
        return {
            index: consumer.get_watermark_offsets(TopicPartition(topic, index), timeout=REQUEST_TIMEOUT_S)[1]
            for index in range(partitions)
        }
    finally:
        consumer.close()
