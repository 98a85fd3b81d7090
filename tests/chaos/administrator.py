"""An admin that creates, configures, extends and deletes topics, and notes what is acknowledged."""

from __future__ import annotations

import random
from collections.abc import Callable

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions
from confluent_kafka.cimpl import NewTopic

from tests.chaos.ledger import TopicLedger
from tests.support.processes.clients import QUIET

REPLICAS = 3

REQUEST_SECONDS_MAX = 4.0
"""Then the outcome is open; the request may still be made."""

TOPICS_MIN, TOPICS_MAX = 3, 15
CONFIG_KEYS = ("retention.ms", "segment.ms", "flush.ms")
FIRST_VALUE_MS = 1_000_000_000
"""Values are this and more: each is used once, and no record expires."""


class Administrator:
    """Not thread-safe. Topics are named after `name` and never created again."""

    def __init__(self, name: str, bootstrap_servers: str, seed: int) -> None:
        self.ledger = TopicLedger()
        self._name = name
        self._rng = random.Random(f"{seed} {name}")
        self._number = 0
        self._admin = AdminClient(
            {"bootstrap.servers": bootstrap_servers, "socket.timeout.ms": 5000, **QUIET}
        )

    def close(self) -> None:
        """Here and not in the collector: librdkafka still calls back while a client is destroyed."""
        self._admin.__exit__(None, None, None)

    def change_something(self) -> None:
        """Returns when the outcome is known, or known to be open."""
        names = self.ledger.sure()
        kinds = ["create"]
        if len(names) >= TOPICS_MIN:
            kinds = ["create", "configure", "configure", "extend", "delete"][len(names) >= TOPICS_MAX :]
        kind = self._rng.choice(kinds)
        name = self._rng.choice(names) if names else ""
        self._number += 1
        if kind == "create":
            self.create(f"{self._name}-{self._number}", self._rng.randrange(1, 4))
        elif kind == "configure":
            self._configure(name, self._rng.choice(CONFIG_KEYS), str(FIRST_VALUE_MS + self._number))
        elif kind == "extend":
            self._extend(name)
        else:
            self._delete(name)

    def create(self, name: str, partitions: int, seconds_max: float = REQUEST_SECONDS_MAX) -> None:
        topic = NewTopic(name, partitions, REPLICAS)
        futures = self._admin.create_topics([topic], request_timeout=seconds_max)
        self.ledger.created(name, partitions, acknowledged(futures[name].result, seconds_max))

    def _configure(self, name: str, key: str, value: str) -> None:
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=[entry])
        futures = self._admin.incremental_alter_configs([resource], request_timeout=REQUEST_SECONDS_MAX)
        self.ledger.config_set(name, key, value, acknowledged(futures[resource].result))

    def _extend(self, name: str) -> None:
        count = self.ledger.topics[name].partitions_max + 1
        wanted = NewPartitions(name, count)
        futures = self._admin.create_partitions([wanted], request_timeout=REQUEST_SECONDS_MAX)
        self.ledger.partitions_added(name, count, acknowledged(futures[name].result))

    def _delete(self, name: str) -> None:
        futures = self._admin.delete_topics([name], request_timeout=REQUEST_SECONDS_MAX)
        self.ledger.deleted(name, acknowledged(futures[name].result))


def acknowledged(result: Callable[[float], object], seconds_max: float = REQUEST_SECONDS_MAX) -> bool:
    """Any error leaves the outcome open: a broker repeats what its controller did not answer."""
    try:
        result(2 * seconds_max)
    except (KafkaException, TimeoutError):
        return False
    return True
