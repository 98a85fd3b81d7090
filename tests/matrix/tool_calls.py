"""Calls of Kafka's command line tools, in the order in which they are made; each tool of the release is here.

In arguments, `SERVERS`, `CONTROLLERS`, `CONTROLLER_FILE`, `CONTROLLER_LOG` and `JSON:...` stand for what the
cluster has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

SERVER = ("--bootstrap-server", "SERVERS")
CONTROLLER = ("--bootstrap-controller", "CONTROLLERS")


@dataclass(frozen=True)
class Call:
    """`compared` says whether the output is to be that with Kafka's controller, or the status alone."""

    tool: str
    arguments: tuple[str, ...]
    stdin: str = ""
    compared: bool = True

    @property
    def name(self) -> str:
        return " ".join((self.tool, *self.arguments))


NOT_CALLED = {
    "kafka-replica-verification": "runs until it is killed; asks brokers only",
    "kafka-verifiable-consumer": "runs until it is killed; asks brokers only",
    "kafka-verifiable-share-consumer": "runs until it is killed; asks brokers only",
}


def calls() -> Iterator[Call]:
    yield from storage()
    yield from topics()
    yield from configs()
    yield from acls()
    yield from cluster()
    yield from replication()
    yield from records()
    yield from groups()
    yield from features()


def at_server(tool: str, *rows: str, stdin: str = "", compared: bool = True) -> Iterator[Call]:
    for row in rows:
        yield Call(tool, (*SERVER, *row.split()), stdin, compared)


def at_controller(tool: str, *rows: str, compared: bool = True) -> Iterator[Call]:
    for row in rows:
        yield Call(tool, (*CONTROLLER, *row.split()), compared=compared)


def at_both(tool: str, *rows: str) -> Iterator[Call]:
    for row in rows:
        yield from at_server(tool, row)
        yield from at_controller(tool, row)


def storage() -> Iterator[Call]:
    yield Call("kafka-storage", ("info", "--config", "CONTROLLER_FILE"))
    yield Call("kafka-storage", ("version-mapping",))
    yield Call("kafka-storage", ("feature-dependencies", "--feature", "share.version=2"))
    yield Call("kafka-storage", ("random-uuid",))
    yield Call("kafka-dump-log", ("--cluster-metadata-decoder", "--files", "CONTROLLER_LOG"), compared=False)
    yield Call("kafka-dump-log", ("--deep-iteration", "--files", "CONTROLLER_LOG"), compared=False)


def topics() -> Iterator[Call]:
    yield from at_server(
        "kafka-topics",
        "--create --topic t --replica-assignment 1:2,2:1,1:2 --config retention.ms=86400000",
        "--create --topic t",
        "--create --topic t --if-not-exists",
        "--create --topic by-hand --replica-assignment 1:2,2:1",
        "--create --topic too-many --replication-factor 5",
        "--create --topic bad/name",
        "--create --topic bad-config --config retention.ms=x",
        "--create --topic of-4.4 --replica-assignment 1:2 --config errors.deadletterqueue.group.enable=true",
        "--list",
        "--list --exclude-internal",
        "--describe",
        "--describe --topic t",
        "--describe --topics-with-overrides",
        "--describe --under-replicated-partitions",
        "--describe --unavailable-partitions",
        "--describe --at-min-isr-partitions",
        "--create --topic gone --partitions 3 --replication-factor 2",
        "--alter --topic t --partitions 5 --replica-assignment 1:2,2:1,1:2,2:1,1:2",
        "--alter --topic t --partitions 2",
        "--alter --topic none --partitions 2",
        "--delete --topic gone",
        "--delete --topic gone",
        "--delete --topic gone --if-exists",
    )
    yield from at_controller("kafka-topics", "--list")


ENTITIES = (
    ("--entity-type topics --entity-name t", "retention.ms=3600000"),
    ("--entity-type brokers --entity-name 1", "log.cleaner.threads=2"),
    ("--entity-type brokers --entity-default", "message.max.bytes=2097152"),
    ("--entity-type brokers --entity-name 3000", "max.connections=5000"),
    ("--entity-type users --entity-name u", "producer_byte_rate=1048576"),
    ("--entity-type users --entity-default", "consumer_byte_rate=1048576"),
    ("--entity-type users --entity-name u --entity-type clients --entity-name c", "request_percentage=50"),
    ("--entity-type clients --entity-name c", "controller_mutation_rate=10"),
    ("--entity-type ips --entity-name 10.0.0.1", "connection_creation_rate=10"),
    ("--entity-type users --entity-name v", "SCRAM-SHA-256=[iterations=4096,password=secret]"),
    ("--entity-type client-metrics --entity-name m", "interval.ms=30000"),
    ("--entity-type groups --entity-name g", "consumer.session.timeout.ms=50000"),
    ("--entity-type groups --entity-name g", "errors.deadletterqueue.copy.record.enable=true"),
)


def configs() -> Iterator[Call]:
    for entity, setting in ENTITIES:
        key = setting.split("=")[0]
        yield from at_server("kafka-configs", f"--alter {entity} --add-config {setting}")
        yield from at_both("kafka-configs", f"--describe {entity}")
        yield from at_controller("kafka-configs", f"--alter {entity} --delete-config {key}")
    yield from at_controller(
        "kafka-configs",
        "--alter --entity-type brokers --entity-default --add-config message.max.bytes=2097152",
        "--alter --entity-type brokers --entity-default --delete-config message.max.bytes",
        "--alter --entity-type topics --entity-name t --add-config no.such.key=1",
        "--alter --entity-type topics --entity-name t --add-config retention.ms=x",
        "--alter --entity-type topics --entity-name none --add-config retention.ms=1",
        "--alter --entity-type brokers --entity-name 1 --add-config broker.id=5",
    )
    yield from at_server("kafka-configs", "--describe --entity-type broker-loggers --entity-name 1")
    yield from at_controller(
        "kafka-configs",
        "--alter --entity-type broker-loggers --entity-name 3000 --add-config root=INFO",
    )
    yield from at_server(
        "kafka-client-metrics",
        "--alter --name m --metrics org.apache.kafka --interval 30000",
        "--alter --name m --match client_id=(",
        "--describe --name m",
        "--list",
        "--delete --name m",
    )
    yield from at_both("kafka-client-metrics", "--list")


def named_loggers() -> list[str]:
    """The loggers whose level a call sets or deletes."""
    values = [
        value
        for call in calls()
        if "broker-loggers" in call.arguments
        for flag, value in pairwise(call.arguments)
        if flag in ("--add-config", "--delete-config")
    ]
    return sorted({each.split("=")[0] for value in values for each in value.split(",")})


def acls() -> Iterator[Call]:
    add = "--add --allow-principal User:a --operation"
    yield from at_server(
        "kafka-acls", f"{add} Read --topic t", f"{add} Read --topic t --allow-host 10.0.0.0/8"
    )
    yield from at_controller(
        "kafka-acls",
        f"{add} Write --topic p --resource-pattern-type prefixed",
        f"{add} Read --topic t --allow-host 10.0.0.0/33",
        f"{add} Alter --cluster",
        f"{add} Read --group g",
        f"{add} Write --transactional-id x",
        f"{add} Describe --delegation-token d",
        f"{add} CreateTokens --user-principal User:b",
        f"{add} Write --group g",
        "--add --allow-principal User:c --producer --topic t",
        "--add --allow-principal User:c --consumer --topic t --group g",
        "--add --deny-principal User:d --deny-host 10.0.0.1 --operation All --topic t",
    )
    yield from at_both(
        "kafka-acls",
        "--list",
        "--list --topic t",
        "--list --topic t --principal User:a",
        "--list --topic pp --resource-pattern-type match",
        "--remove --force --topic t",
        "--list",
    )


def cluster() -> Iterator[Call]:
    for row in (
        "cluster-id",
        "list-endpoints",
        "list-endpoints --include-fenced-brokers",
        "unregister --id 77",
        "unregister-controller --id 77",
        "unregister-controller --id 3000",
    ):
        for door in (SERVER, CONTROLLER):
            operation, *flags = row.split()
            yield Call("kafka-cluster", (operation, *door, *flags))
    yield from at_both(
        "kafka-metadata-quorum",
        "describe --status",
        "describe --replication",
        "describe --replication --human-readable",
        "remove-controller --controller-id 7 --controller-directory-id bGzDaR4ySNmJaPXzonU2CA",
        "remove-controller --controller-id 7 --controller-directory-id bGzDaR4ySNmJaPXzonU2CA --unregister",
        "remove-controller --controller-id 7 --controller-directory-id bGzDaR4ySNmJaPXzonU2CA --dry-run",
    )
    yield from at_both("kafka-metadata-quorum", "--command-config CONTROLLER_FILE add-controller --dry-run")
    yield from at_both("kafka-metadata-quorum", "--command-config CONTROLLER_FILE add-controller")
    yield from at_controller("kafka-broker-api-versions", "")
    yield from at_server("kafka-broker-api-versions", "")
    yield from at_both("kafka-log-dirs", "--describe --broker-list 1 --topic-list t")
    yield from at_both(
        "kafka-delegation-tokens",
        "--describe",
        "--create --max-life-time-period -1 --renewer-principal User:a",
    )


REASSIGNMENT = (
    'JSON:{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2,1]},'
    '{"topic":"by-hand","partition":0,"replicas":[2]}]}'
)
UNKNOWN = 'JSON:{"version":1,"partitions":[{"topic":"none","partition":0,"replicas":[2,1]}]}'
ELECTION = 'JSON:{"partitions":[{"topic":"t","partition":0}]}'
UNKNOWN_ELECTION = 'JSON:{"partitions":[{"topic":"none","partition":0}]}'
TOPICS_TO_MOVE = 'JSON:{"version":1,"topics":[{"topic":"by-hand"}]}'


def replication() -> Iterator[Call]:
    # It proposes by chance.
    yield from at_server(
        "kafka-reassign-partitions",
        f"--generate --topics-to-move-json-file {TOPICS_TO_MOVE} --broker-list 1,2",
        compared=False,
    )
    yield from at_server(
        "kafka-reassign-partitions",
        f"--execute --reassignment-json-file {REASSIGNMENT}",
        f"--execute --reassignment-json-file {UNKNOWN}",
        f"--verify --reassignment-json-file {REASSIGNMENT}",
        "--list",
        f"--cancel --reassignment-json-file {REASSIGNMENT}",
    )
    yield from at_controller(
        "kafka-reassign-partitions",
        f"--execute --reassignment-json-file {REASSIGNMENT}",
        f"--verify --reassignment-json-file {REASSIGNMENT}",
        f"--execute --reassignment-json-file {UNKNOWN}",
        "--list",
        f"--cancel --reassignment-json-file {REASSIGNMENT}",
    )
    yield from at_both(
        "kafka-leader-election",
        f"--election-type preferred --path-to-json-file {ELECTION}",
        f"--election-type unclean --path-to-json-file {ELECTION}",
        f"--election-type preferred --path-to-json-file {UNKNOWN_ELECTION}",
        "--election-type preferred --topic t --partition 99",
    )
    yield from at_both("kafka-leader-election", "--election-type preferred --all-topic-partitions")


DELETED = 'JSON:{"version":1,"partitions":[{"topic":"by-hand","partition":0,"offset":1}]}'


def records() -> Iterator[Call]:
    # Without a key, the producer begins at a partition by chance.
    yield from at_server(
        "kafka-console-producer",
        "--topic by-hand --reader-property parse.key=true --reader-property key.separator=:",
        stdin="a:one\na:two\na:three\n",
    )
    yield from at_server(
        "kafka-console-consumer", "--topic by-hand --from-beginning --max-messages 3 --group g"
    )
    yield from at_server(
        "kafka-producer-perf-test",
        "--topic t --num-records 1000 --record-size 100 --throughput -1",
        "--topic t --num-records 1000 --record-size 100 --throughput -1 --transactional-id w",
        compared=False,
    )
    yield from at_server("kafka-consumer-perf-test", "--topic t --num-records 1000", compared=False)
    yield from at_server("kafka-verifiable-producer", "--topic t --max-messages 10", compared=False)
    yield from at_server("kafka-get-offsets", "--topic by-hand", "--topic t --time earliest")
    yield from at_server("kafka-delete-records", f"--offset-json-file {DELETED}")
    yield from at_server(
        "kafka-transactions",
        "list",
        "describe --transactional-id w",
        "describe-producers --topic by-hand --partition 0",
        "find-hanging --broker-id 1",
        "forceTerminateTransaction --transactionalId w",
    )


def groups() -> Iterator[Call]:
    yield from at_server(
        "kafka-consumer-groups",
        "--list",
        "--describe --group g",
        "--describe --group g --state",
        "--reset-offsets --group g --topic by-hand --to-earliest --dry-run",
        "--reset-offsets --group g --topic by-hand --to-earliest --execute",
        "--delete-offsets --group g --topic by-hand",
        "--delete --group g",
        "--delete --group none",
    )
    yield from at_server(
        "kafka-configs",
        "--alter --entity-type groups --entity-name s --add-config share.auto.offset.reset=earliest",
    )
    yield from at_server(
        "kafka-console-share-consumer",
        "--topic by-hand --group s --max-messages 1 --timeout-ms 30000",
        compared=False,
    )
    yield from at_server(
        "kafka-share-consumer-perf-test",
        "--topic t --group s --num-records 100 --timeout 30000",
        compared=False,
    )
    yield from at_server("kafka-share-groups", "--list", "--delete --group s")
    yield from at_server("kafka-share-groups", "--describe --group s", compared=False)
    yield from at_server("kafka-streams-groups", "--list", "--describe --group none")
    yield from at_server("kafka-groups", "--list", "--list --consumer", "--list --share")


def features() -> Iterator[Call]:
    yield from at_both("kafka-features", "describe", "downgrade --feature metadata.version=32")
    yield from at_controller(
        "kafka-features",
        "upgrade --release-version 4.4 --dry-run",
        "upgrade --feature metadata.version=34",
        "upgrade --feature share.version=3",
        "upgrade --feature no.such=1",
        "downgrade --feature metadata.version=32 --unsafe",
        "downgrade --feature share.version=1 --dry-run",
        "downgrade --feature share.version=1",
        "upgrade --feature share.version=2",
        "disable --feature streams.version",
        "upgrade --feature streams.version=1",
        "downgrade --feature group.version=0",
        "upgrade --feature group.version=1",
        "downgrade --release-version 4.3",
        "upgrade --feature kraft.version=1",
    )
    yield from at_both("kafka-features", "describe")
    yield Call("kafka-features", (*SERVER, "version-mapping"))
    yield Call("kafka-features", (*SERVER, "feature-dependencies", "--feature", "share.version=2"))
