"""Applications that use a cluster during chaos: producers and an admin, with librdkafka.

They fill the ledgers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.chaos.administrator import Administrator
from tests.chaos.ledger import FoundTopic, RecordLedger
from tests.chaos.ledger import TopicPartition as PartitionName
from tests.support.processes.clients import QUIET

ADMINISTRATORS = 3
ADMIN_INTERVAL_S = 0.2

DATA_TOPICS = ("data-0", "data-1")
DATA_PARTITIONS = 6
START_SECONDS_MAX = 60.0

PRODUCE_INTERVAL_S = 0.02
DELIVERY_MS_MAX = "60000"


class Clients:
    """Threads that continue through all failures until `stop`. What they noted belongs to them until then."""

    def __init__(self, bootstrap_servers: str, seed: int) -> None:
        self.records = RecordLedger()
        self.administrators = [
            Administrator(f"admin-{number}", bootstrap_servers, seed) for number in range(ADMINISTRATORS)
        ]
        self._bootstrap_servers = bootstrap_servers
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._errors: list[BaseException] = []
        loops = [partial(self._produce, topic) for topic in DATA_TOPICS]
        loops += [partial(self._administer, one) for one in self.administrators]
        self._threads = [threading.Thread(target=self._run, args=(loop,), daemon=True) for loop in loops]

    def start(self) -> None:
        administrator = self.administrators[0]
        for topic in DATA_TOPICS:
            administrator.create(topic, DATA_PARTITIONS, START_SECONDS_MAX)
            assert administrator.ledger.topics[topic].must_exist, f"{topic} was not created"
            administrator.ledger.protected.add(topic)
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Nothing more is sent."""
        self._ended.set()

    def stop(self) -> None:
        """Returns when all that was sent has an outcome."""
        self.end()
        for thread in self._threads:
            thread.join(90.0)
        for administrator in self.administrators:
            administrator.close()
        self.check()

    def check(self) -> None:
        """Raises what has ended a thread."""
        if self._errors:
            raise self._errors[0]

    def _run(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:
            self._errors.append(error)
            raise

    def _administer(self, administrator: Administrator) -> None:
        while not self._ended.wait(ADMIN_INTERVAL_S):
            administrator.change_something()

    def _produce(self, topic: str) -> None:
        number = 0
        while not self._ended.is_set():
            with self._producer() as producer:
                number = self._produce_with(producer, topic, number)
                producer.flush(60.0)

    def _produce_with(self, producer: Producer, topic: str, number: int) -> int:
        """Until the end, or a fatal error of this producer. Returns the number of the last record."""
        while not self._ended.wait(PRODUCE_INTERVAL_S):
            number += 1
            try:
                producer.produce(topic, f"{topic} {number}".encode(), on_delivery=self._delivered)
                producer.poll(0)
            except BufferError:
                producer.poll(0.5)
            except KafkaException as error:
                if not error.args[0].fatal():
                    raise
                break
        return number

    def _producer(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "acks": "all",
                "enable.idempotence": True,
                # With more, a broker that has just become the leader of a new partition may refuse the first
                # batch, take the second, and call the first a duplicate when it comes again.
                "max.in.flight": 1,
                "linger.ms": 5,
                "request.timeout.ms": 5000,
                "socket.timeout.ms": 10000,
                "delivery.timeout.ms": DELIVERY_MS_MAX,
                **QUIET,
            }
        )

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            partition, offset, value = place_of(message)
            with self._lock:
                self.records.add(partition, offset, value)

    def topic_problems(self, found: Mapping[str, FoundTopic]) -> list[str]:
        """Of all administrators."""
        return [line for one in self.administrators for line in one.ledger.problems(found)]


def place_of(message: Message) -> tuple[PartitionName, int | None, bytes]:
    """Partition, offset and value of a message; no offset if the broker had the record already."""
    topic, index, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert index is not None
    return (topic, index), offset if offset is not None and offset >= 0 else None, message.value() or b""


def read_records(bootstrap_servers: str, seconds_max: float) -> dict[PartitionName, dict[int, bytes]]:
    """All records of the data topics up to their present ends; fewer if they cannot be read in time."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "chaos",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            **QUIET,
        }
    )
    names = [(topic, index) for topic in DATA_TOPICS for index in range(DATA_PARTITIONS)]
    found: dict[PartitionName, dict[int, bytes]] = {name: {} for name in names}
    try:
        consumer.assign([TopicPartition(topic, index, 0) for topic, index in names])
        unread = set(names)
        for _ in range(int(seconds_max)):
            for message in consumer.consume(2000, timeout=1.0):
                error = message.error()
                if error is None:
                    name, offset, value = place_of(message)
                    assert offset is not None
                    found[name][offset] = value
                elif error.code() == KafkaError._PARTITION_EOF:
                    unread -= {name for name in unread if name == (message.topic(), message.partition())}
            if not unread:
                break
    finally:
        consumer.close()
    return found
