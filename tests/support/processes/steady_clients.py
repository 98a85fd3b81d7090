"""Clients that produce, create topics and alter configs all the while, and remember what was acknowledged."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from confluent_kafka.cimpl import NewTopic

from kraftctl.dev.polling import await_result
from tests.support.processes.clients import QUIET, admin_client, consume, create_topic

PRODUCED = "produced"
PAUSE_S = 0.05
REQUEST_TIMEOUT_S = 30.0
RETENTION = "retention.ms"
LOST = (KafkaError._TRANSPORT, KafkaError._TIMED_OUT)
"""Its broker has ended, or none is known: Kafka's own admin client asks again, librdkafka's does not."""


class SteadyClients:
    """A producer and an admin. An error that librdkafka passes on, after retries of its own, fails `check`.

    A topic that exists already counts as created: a broker repeats what it forwards. The names of all topics
    begin with `prefix`. If `brokers_end` meanwhile, a request of the admin that was lost is made again.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        prefix: str = "",
        *,
        pause_s: float = PAUSE_S,
        replicas: int = 3,
        brokers_end: bool = False,
    ) -> None:
        self._servers = bootstrap_servers
        self._prefix = prefix
        self._pause_s = pause_s
        self._replicas = replicas
        self._brokers_end = brokers_end
        self._produced_topic = prefix + PRODUCED
        self._stopping = threading.Event()
        self._admin = admin_client(bootstrap_servers)
        self._threads = [threading.Thread(target=self._produce), threading.Thread(target=self._administer)]
        self.produced: list[bytes] = []
        self.configured: dict[str, str] = {}
        """Name of an acknowledged topic -> its acknowledged retention.ms."""
        self.failures: list[str] = []

    def __enter__(self) -> SteadyClients:
        create_topic(self._servers, self._produced_topic, partitions=3, min_insync_replicas="2")
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Returns when everything sent is acknowledged or has failed."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def await_progress(self, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        """Until a record, a topic and a config that come after this call are acknowledged."""
        records, topics = len(self.produced), len(self.configured)

        def both() -> bool:
            assert not self.failures, self.failures
            # The second one began after the call.
            return len(self.produced) > records and len(self.configured) >= topics + 2

        await_result(both, "clients have something acknowledged", timeout_s)

    def check(self) -> None:
        """Everything acknowledged is there, and nothing failed."""
        self.stop()
        assert not self.failures, self.failures
        missing = set(self.produced) - set(consume(self._servers, self._produced_topic, len(self.produced)))
        assert not missing, f"{len(missing)} acknowledged records are lost"
        assert self._retentions() == self.configured

    def _produce(self) -> None:
        settings = {"bootstrap.servers": self._servers, "enable.idempotence": True, "linger.ms": 5, **QUIET}
        producer = Producer(settings)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self.produced.append(message.value() or b"")
            else:
                self.failures.append(f"produce: {error}")

        for number in itertools.count():
            if self._stopping.wait(self._pause_s):
                break
            producer.produce(self._produced_topic, str(number).encode(), on_delivery=delivered)
            producer.poll(0)
        if unsent := producer.flush(REQUEST_TIMEOUT_S):
            self.failures.append(f"produce: {unsent} records were neither acknowledged nor refused")

    def _administer(self) -> None:
        for number in itertools.count(1):
            if self._stopping.wait(self._pause_s):
                return
            try:
                self._create_and_alter(f"{self._prefix}topic-{number}", str(number * 100_000))
            except KafkaException as error:
                self.failures.append(f"topic-{number}: {error}")

    def _create_and_alter(self, topic: str, retention_ms: str) -> None:
        wanted = NewTopic(topic, 1, self._replicas)
        try:
            self._ask(self._admin.create_topics, wanted)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
        entry = ConfigEntry(RETENTION, retention_ms, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self._ask(self._admin.incremental_alter_configs, resource)
        self.configured[topic] = retention_ms

    def _ask(self, request: Callable[..., dict[Any, Future[None]]], about: NewTopic | ConfigResource) -> None:
        end_s = time.monotonic() + REQUEST_TIMEOUT_S
        while True:
            try:
                (answer,) = request([about], request_timeout=REQUEST_TIMEOUT_S).values()
                answer.result()
                return
            except KafkaException as error:
                lost = error.args[0].code() in LOST
                if not (self._brokers_end and lost and time.monotonic() < end_s):
                    raise
                self._stopping.wait(self._pause_s)

    def _retentions(self) -> dict[str, str]:
        """What brokers say of the acknowledged topics."""
        resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in self.configured]
        answers = self._admin.describe_configs(resources, request_timeout=REQUEST_TIMEOUT_S)
        return {resource.name: answers[resource].result()[RETENTION].value for resource in resources}
