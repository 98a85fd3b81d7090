"""A short history of a three-broker cluster, with events for every plot of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import ElectionType, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewTopic

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.polling import await_result

TIMEOUT_S = 20.0
QUIET = {"log_level": 2}

SECRET = "an-example-password"
"""The password of the demo's SCRAM user; the exporter removes even its salt and keys."""

Announce = Callable[[str], None]


class History:
    """The events of the history, one per method, in the order of `play`."""

    def __init__(self, cluster: Cluster, announce: Announce) -> None:
        self._cluster = cluster
        self._announce = announce
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})

    def play(self) -> None:
        self.create_topics()
        self.set_quotas_and_users()
        self.change_configs()
        self.kill_a_broker()
        self.stop_a_broker_in_order()
        self.elect_preferred_leaders()
        self.elect_uncleanly()
        self.add_partitions()
        self.reassign()
        self.create_a_topic_again()

    def create_topics(self) -> None:
        self._announce("create topics orders, payments and audit, and write 3,000 records")
        await_result(lambda: len(self._live()) == 3, "three brokers are unfenced")
        self._create(NewTopic("orders", 6, 3), NewTopic("payments", 6, 3), NewTopic("audit", 3, 3))
        self._produce("orders", 2_000)
        self._produce("payments", 1_000)

    def set_quotas_and_users(self) -> None:
        self._announce("a quota, a SCRAM user, an access control entry")
        tools = self._cluster.tools()
        server = ("--bootstrap-server", self._cluster.bootstrap_servers)
        quota = ("--alter", "--entity-type", "users", "--entity-name", "alice")
        tools.output("kafka-configs", *server, *quota, "--add-config", "producer_byte_rate=1048576")
        scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        user = UserScramCredentialUpsertion("alice", scram, SECRET.encode())
        self._done(self._admin.alter_user_scram_credentials([user]))
        entry = AclBinding(
            ResourceType.TOPIC,
            "orders",
            ResourcePatternType.LITERAL,
            "User:alice",
            "*",
            AclOperation.READ,
            AclPermissionType.ALLOW,
        )
        self._done(self._admin.create_acls([entry]))

    def change_configs(self) -> None:
        self._announce("change configurations: set, change, remove")
        self._set("orders", "retention.ms", "3600000")
        self._set("orders", "cleanup.policy", "compact")
        self._set("payments", "max.message.bytes", "2000000")
        self._set("orders", "retention.ms", "600000")
        self._set("orders", "cleanup.policy", None)

    def kill_a_broker(self) -> None:
        broker = self._cluster.broker(3)
        self._announce("kill -9 of broker-3, wait until it is fenced, start it again")
        broker.kill()
        await_result(lambda: self._live([1, 2]) == {1, 2}, "broker 3 is fenced", TIMEOUT_S)
        self._produce("orders", 500)
        broker.start()
        self._await_in_sync("orders", "payments", "audit")

    def stop_a_broker_in_order(self) -> None:
        broker = self._cluster.broker(2)
        self._announce("stop broker-2 in order (controlled shutdown), start it again")
        broker.stop()
        broker.start()
        self._await_in_sync("orders", "payments", "audit")

    def elect_preferred_leaders(self) -> None:
        self._announce("elect the preferred leaders")
        self._done({"election": self._admin.elect_leaders(ElectionType.PREFERRED)})

    def elect_uncleanly(self) -> None:
        self._announce("topic fragile: its only replica in sync is killed, another one is elected uncleanly")
        self._create(NewTopic("fragile", 1, replica_assignment=[[1, 3]], config={"min.insync.replicas": "1"}))
        broker, survivor = self._cluster.broker(1), self._cluster.broker(3)
        survivor.kill()
        await_result(lambda: self._live([1, 2]) == {1, 2}, "broker 3 is fenced", TIMEOUT_S)
        self._produce("fragile", 100)
        broker.kill()
        await_result(lambda: self._live([2]) == {2}, "broker 1 is fenced", TIMEOUT_S)
        survivor.start()
        self._admin = AdminClient({"bootstrap.servers": survivor.address, **QUIET})
        partition = TopicPartition("fragile", 0)
        await_result(lambda: 3 in self._live(), "broker 3 is unfenced")
        self._done({"election": self._admin.elect_leaders(ElectionType.UNCLEAN, [partition])})
        broker.start()
        self._admin = AdminClient({"bootstrap.servers": self._cluster.bootstrap_servers, **QUIET})
        self._await_in_sync("orders", "payments", "audit", "fragile")

    def add_partitions(self) -> None:
        self._announce("add partitions to orders")
        self._done(self._admin.create_partitions([NewPartitions("orders", 10)]))

    def reassign(self) -> None:
        self._announce("reassign the replicas of fragile from brokers 1 and 3 to 2 and 3")
        plan = self._cluster.directory / "reassignment.json"
        plan.write_text(
            '{"version": 1, "partitions": [{"topic": "fragile", "partition": 0, "replicas": [2, 3]}]}'
        )
        server = ("--bootstrap-server", self._cluster.bootstrap_servers)
        self._cluster.tools().output(
            "kafka-reassign-partitions", *server, "--reassignment-json-file", str(plan), "--execute"
        )
        await_result(lambda: self._replicas("fragile") == [{2, 3}], "fragile is where it should be")

    def create_a_topic_again(self) -> None:
        self._announce("delete the topic audit, and create it again under the same name")
        self._set("audit", "retention.ms", "86400000")
        self._done(self._admin.delete_topics(["audit"]))
        await_result(lambda: "audit" not in self._topics(), "audit is gone")
        self._create(NewTopic("audit", 2, 3))

    def _create(self, *topics: NewTopic) -> None:
        self._done(self._admin.create_topics(list(topics)))
        self._await_in_sync(*(topic.topic for topic in topics))

    def _set(self, topic: str, name: str, value: str | None) -> None:
        """Sets a value; None removes it."""
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(name, value or "", incremental_operation=operation)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        self._done(self._admin.incremental_alter_configs([resource]))

    def _produce(self, topic: str, count: int) -> None:
        producer = Producer({"bootstrap.servers": self._cluster.bootstrap_servers, "acks": "all", **QUIET})
        for number in range(count):
            producer.produce(topic, f"{topic} {number}".encode())
            producer.poll(0)
        if producer.flush(60.0):
            raise TimeoutError(f"not all records of {topic} were acknowledged")

    def _done(self, futures: Mapping[Any, Future[Any]]) -> None:
        for future in futures.values():
            future.result(TIMEOUT_S)

    def _topics(self) -> dict[str, Any]:
        return self._admin.list_topics(timeout=TIMEOUT_S).topics

    def _live(self, brokers: list[int] | None = None) -> set[int]:
        """Returns the unfenced brokers if all of `brokers` (the running ones) agree, otherwise nothing."""
        asked = brokers or [broker.node_id for broker in self._cluster.brokers if broker.running]
        answers = [self._known_to(broker_id) for broker_id in asked]
        return answers[0] if all(answer == answers[0] for answer in answers) else set()

    def _known_to(self, broker_id: int) -> set[int]:
        address = self._cluster.broker(broker_id).address
        return set(
            AdminClient({"bootstrap.servers": address, **QUIET}).list_topics(timeout=TIMEOUT_S).brokers
        )

    def _replicas(self, topic: str) -> list[set[int]]:
        return [set(partition.replicas) for partition in self._topics()[topic].partitions.values()]

    def _await_in_sync(self, *names: str) -> None:
        def in_sync() -> bool:
            topics = self._topics()
            return all(
                name in topics
                and topics[name].partitions
                and all(
                    partition.leader >= 0 and len(partition.isrs) == len(partition.replicas)
                    for partition in topics[name].partitions.values()
                )
                for name in names
            )

        await_result(in_sync, f"all replicas of {', '.join(names)} are in sync", 60.0)
