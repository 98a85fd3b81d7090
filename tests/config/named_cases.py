"""Changes of a file that Kafka accepts, each with the key that is refused; None where none is."""

from __future__ import annotations

from typing import Final

from tests.config.controller_files import escaped
from tests.support.controller_properties import controller_properties

GOOD: Final = controller_properties(node_id=1, static=True)

SHARED_PORTS: Final = [
    (("127.0.0.1", "[::1]"), True),
    (("0.0.0.0", "[::]"), True),
    (("[fe80::1%eth0]", "10.0.0.1"), True),
    (("[::ffff:10.0.0.1]", "10.0.0.1"), True),
    (("127.0.0.1", "10.0.0.1"), False),
    (("[::1]", "[::2]"), False),
    (("localhost", "[::1]"), False),
    (("", "0.0.0.0"), False),
    (("010.0.0.1", "[::1]"), False),
    (("256.0.0.1", "[::1]"), False),
    (("127.0.0.1", "[1::2::3]"), False),
    (("127.0.0.1", "[::1]", "localhost"), False),
    (("127.0.0.1", "[::1]", "[::2]"), False),
]
"""Hosts of listeners on one port: Kafka wants exactly one address of each family of IP."""


def _sharing(hosts: tuple[str, ...]) -> dict[str, str | None]:
    names = "ABC"[: len(hosts)]
    listeners = [f"{name}://{host}:9093" for name, host in zip(names, hosts, strict=True)]
    return {"controller.listener.names": ",".join(names), "listeners": ",".join(listeners)}


def _each(key: str, *values: str) -> list[tuple[dict[str, str | None], str | None]]:
    """Values of a key that are refused."""
    return [({key: value}, key) for value in values]


NAMED_CASES: Final[list[tuple[dict[str, str | None], str | None]]] = [
    # What charts and playbooks were seen to have.
    ({"inter.broker.listener.name": "EXTERNAL"}, "inter.broker.listener.name"),
    ({"inter.broker.listener.name": ""}, "inter.broker.listener.name"),
    ({"inter.broker.listener.name": "plaintext"}, None),
    ({"advertised.listeners": ""}, "advertised.listeners"),
    ({"advertised.listeners": " "}, "advertised.listeners"),
    ({"listeners": ""}, "listeners"),
    ({"log.cleanup.policy": "deleted"}, "log.cleanup.policy"),
    ({"log.cleanup.policy": "delete,compact,delete"}, None),
    ({"log.cleanup.policy": ""}, None),
    ({"log.roll.ms": "0"}, "log.roll.ms"),
    ({"log.roll.hours": "0"}, "log.roll.hours"),
    ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms"),
    ({"log.retention.ms": "0"}, "log.retention.ms"),
    ({"log.retention.minutes": "0"}, "log.retention.minutes"),
    ({"log.retention.hours": "0"}, "log.retention.hours"),
    ({"log.retention.hours": "-5"}, None),
    ({"log.retention.ms": "-1", "log.retention.hours": "0"}, None),
    ({"num.network.threads": "0"}, "num.network.threads"),
    ({"num.io.threads": "eight"}, "num.io.threads"),
    ({"background.threads": "10 "}, None),
    ({"group.coordinator.rebalance.protocols": "classic,sticky"}, "group.coordinator.rebalance.protocols"),
    ({"group.coordinator.rebalance.protocols": "consumer"}, "group.coordinator.rebalance.protocols"),
    ({"group.coordinator.rebalance.protocols": "Classic"}, "group.coordinator.rebalance.protocols"),
    ({"ssl.client.auth": "require"}, "ssl.client.auth"),
    ({"ssl.client.auth": "required"}, None),
    ({"ssl.client.auth": "Required"}, "ssl.client.auth"),
    ({"log.dirs": "a,,b"}, "log.dirs"),
    ({"log.dirs": "a,"}, "log.dirs"),
    ({"log.dirs": ""}, "log.dirs"),
    ({"log.dir": ""}, "log.dir"),
    # Types.
    ({"auto.create.topics.enable": "yes"}, "auto.create.topics.enable"),
    ({"log.cleaner.enable": "TRUE"}, None),
    ({"log.cleaner.min.cleanable.ratio": "1.1"}, "log.cleaner.min.cleanable.ratio"),
    ({"log.cleaner.min.cleanable.ratio": "0,5"}, "log.cleaner.min.cleanable.ratio"),
    ({"log.cleaner.io.max.bytes.per.second": "0x1p3"}, None),
    ({"offsets.topic.replication.factor": "32768"}, "offsets.topic.replication.factor"),
    ({"message.max.bytes": "1e6"}, "message.max.bytes"),
    ({"message.max.bytes": "1_000_000"}, "message.max.bytes"),
    ({"log.segment.bytes": "1GB"}, "log.segment.bytes"),
    ({"log.flush.interval.ms": "9223372036854775808"}, "log.flush.interval.ms"),
    ({"compression.type": "GZIP"}, "compression.type"),
    ({"compression.gzip.level": "0"}, "compression.gzip.level"),
    ({"compression.gzip.level": "-1"}, None),
    ({"log.message.timestamp.type": "createtime"}, "log.message.timestamp.type"),
    ({"group.consumer.migration.policy": "Upgrade"}, None),
    ({"group.consumer.migration.policy": "up"}, "group.consumer.migration.policy"),
    ({"security.inter.broker.protocol": "ssl"}, "security.inter.broker.protocol"),
    ({"remote.log.storage.manager.class.name": ""}, "remote.log.storage.manager.class.name"),
    ({"create.topic.policy.class.name": ""}, "create.topic.policy.class.name"),
    ({"sasl.login.class": "not a class"}, "sasl.login.class"),
    # Keys that limit each other.
    ({"broker.id": "2"}, "node.id"),
    ({"broker.id": "1"}, None),
    ({"group.consumer.session.timeout.ms": "70000"}, "group.consumer.session.timeout.ms"),
    ({"group.share.heartbeat.interval.ms": "4000"}, "group.share.heartbeat.interval.ms"),
    ({"group.streams.num.standby.replicas": "3"}, "group.streams.num.standby.replicas"),
    ({"group.share.delivery.count.limit": "10", "group.share.max.delivery.count.limit": "9"},
     "group.share.max.delivery.count.limit"),
    ({"group.share.max.share.sessions": "100"}, "group.share.max.share.sessions"),
    ({"group.share.assignors": "simple,simple"}, None),
    ({"group.streams.num.warmup.replicas": "21"}, "group.streams.num.warmup.replicas"),
    ({"group.streams.max.warmup.replicas": "1"}, "group.streams.max.warmup.replicas"),
    ({"group.streams.task.offset.interval.ms": "14999"}, "group.streams.task.offset.interval.ms"),
    ({"group.streams.rack.aware.assignment.tags": "a, b ,a"}, "group.streams.rack.aware.assignment.tags"),
    ({"group.streams.rack.aware.assignment.tags": "a,,b"}, "group.streams.rack.aware.assignment.tags"),
    ({"group.streams.rack.aware.assignment.tags": " "}, None),
    ({"group.streams.assignors": "sticky,sticky"}, None),
    ({"group.streams.assignors": ""}, "group.streams.assignors"),
    ({"group.streams.assignors": "stickier"}, "group.streams.assignors"),
    ({"offsets.topic.compression.codec": "5"}, "offsets.topic.compression.codec"),
    ({"log.cleaner.threads": "0"}, "log.cleaner.dedupe.buffer.size"),
    ({"log.cleaner.threads": "128"}, "log.cleaner.dedupe.buffer.size"),
    ({"replica.fetch.wait.max.ms": "30001"}, "replica.socket.timeout.ms"),
    ({"replica.lag.time.max.ms": "499"}, "replica.fetch.wait.max.ms"),
    ({"queued.max.request.bytes": "1000"}, "queued.max.request.bytes"),
    ({"connections.max.idle.ms": "100"}, "connection.failed.authentication.delay.ms"),
    ({"connections.max.idle.ms": "-1"}, None),
    ({"max.connections.per.ip": "0"}, "max.connections.per.ip"),
    ({"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "h:1"}, None),
    ({"max.connections.per.ip.overrides": "[::1]:5"}, "max.connections.per.ip.overrides"),
    ({"max.connections.per.ip.overrides": "::1:5"}, None),
    ({"max.connections.per.ip.overrides": "h"}, "max.connections.per.ip.overrides"),
    ({"security.inter.broker.protocol": "SASL_SSL"}, None),
    ({"security.inter.broker.protocol": "SASL_SSL", "sasl.enabled.mechanisms": "PLAIN"},
     "sasl.mechanism.inter.broker.protocol"),
    ({"security.inter.broker.protocol": "SASL_SSL", "sasl.enabled.mechanisms": "PLAIN",
      "listener.name.sasl_ssl.sasl.enabled.mechanisms": "GSSAPI"}, None),
    ({"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
     "inter.broker.listener.name"),
    # Listeners.
    ({"controller.listener.names": "controller"}, "listeners"),
    ({"controller.listener.names": "CONTROLLER,MORE"}, "controller.listener.names"),
    ({"controller.listener.names": "CONTROLLER,CONTROLLER"}, None),
    ({"controller.listener.names": ""}, "controller.listener.names"),
    ({"listeners": "controller://localhost:9093"}, None),
    ({"listeners": "CONTROLLER://localhost:9093,PLAINTEXT://:9092"}, "listeners"),
    ({"listeners": "CONTROLLER://localhost:9093,"}, "listeners"),
    ({"listeners": "CONTROLLER//localhost:9093"}, "listeners"),
    ({"listeners": "CONTROLLER"}, "listeners"),
    ({"listeners": "://localhost:9093"}, "listeners"),
    *_each("listeners", "CONTROLLER://h:-1", "CONTROLLER://h:65536"),
    ({"listeners": "CONTROLLER://h:1,CONTROLLER://h:2"}, "listeners"),
    ({"inter.broker.listener.name": "CONTROLLER"}, "inter.broker.listener.name"),
    ({"listener.security.protocol.map": "CONTROLLER"}, "listener.security.protocol.map"),
    ({"listeners": None}, "listeners"),
    ({"listeners": None, "controller.listener.names": "PLAINTEXT"}, None),
    ({"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,controller:PLAINTEXT"},
     "listener.security.protocol.map"),
    ({"listener.security.protocol.map": "CONTROLLER:SSL,CONTROLLER:PLAINTEXT"}, None),
    ({"listener.security.protocol.map": "CONTROLLER:plaintext,"}, None),
    ({"listener.security.protocol.map": ",CONTROLLER:PLAINTEXT"}, "listener.security.protocol.map"),
    ({"listener.security.protocol.map": "CONTROLLER:TLS"}, "listener.security.protocol.map"),
    ({"listener.security.protocol.map": "BROKER:SSL"}, "listeners"),
    ({"early.start.listeners": "controller"}, "early.start.listeners"),
    ({"early.start.listeners": ""}, None),
    ({"advertised.listeners": "CONTROLLER://0.0.0.0:9093"}, "advertised.listeners"),
    ({"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"}, "advertised.listeners"),
    ({"advertised.listeners": "BROKER://h:9092"}, "advertised.listeners"),
    ({"listeners": "CONTROLLER://0.0.0.0:9093", "controller.quorum.voters": "1@0.0.0.0:9093"},
     "controller.quorum.voters"),
    *[(_sharing(hosts), None if accepted else "listeners") for hosts, accepted in SHARED_PORTS],
    # The quorum.
    ({"controller.quorum.voters": None}, "controller.quorum.bootstrap.servers"),
    ({"controller.quorum.voters": "2@localhost:9093"}, "controller.quorum.voters"),
    ({"controller.quorum.voters": "1@localhost:70000"}, "controller.quorum.voters"),
    ({"controller.quorum.voters": "1@localhost:9093,"}, "controller.quorum.voters"),
    *_each("controller.quorum.voters", "1", "1@", "@h:1", "1@h", "x@h:1", "1@h:x", "1@:1"),
    ({"controller.quorum.voters": "+1@PLAINTEXT://localhost:9093"}, None),
    ({"controller.quorum.voters": "1@localhost:9093,1@other:9093"}, None),
    ({"controller.quorum.bootstrap.servers": "localhost"}, "controller.quorum.bootstrap.servers"),
    ({"node.id": "\u0661"}, None),
    ({"node.id": "-1"}, "node.id"),
    ({"node.id": None}, "node.id"),
]  # fmt: skip


def file_of(changes: dict[str, str | None]) -> bytes:
    """GOOD with the changes; None removes a key."""
    pairs = {**GOOD, **changes}
    lines = [f"{key}={escaped(value)}\n" for key, value in pairs.items() if value is not None]
    return "".join(lines).encode("ascii")
