"""What a cluster had is given to an empty one; Kafka's own tools then describe the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.log.log_location import DirectoryLocation
from tests.spark.typed_export import export_directory
from tests.support.processes.java_tools import JavaTools
from tests.support.processes.kafka import Cluster, kafka

pytestmark = [pytest.mark.interop, pytest.mark.long, pytest.mark.timeout(600)]

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

TOPIC_LINE = re.compile(
    r"Topic: (\S+)\s+TopicId: \S+\s+PartitionCount: (\d+)\s+ReplicationFactor: (\d+)\s+Configs: (.*)"
)

TO_SET = [
    ("topics", "orders", "retention.ms=123456,cleanup.policy=[compact,delete]"),
    ("brokers", "1", "log.cleaner.threads=2"),
    ("brokers", None, "log.retention.ms=86400000"),
    ("users", "alice", "producer_byte_rate=1024,consumer_byte_rate=2048"),
    ("users", None, "request_percentage=50"),
    ("clients", "importer", "producer_byte_rate=77"),
    ("ips", "10.0.0.1", "connection_creation_rate=3"),
    ("groups", "readers", "consumer.session.timeout.ms=50000"),
    ("client-metrics", "watch", "interval.ms=10000,metrics=org.apache"),
    ("users", "keeper", "SCRAM-SHA-256=[iterations=4096,password=secret]"),
]

TO_DESCRIBE = [
    *(("brokers", name) for name in ("1", "2", None)),
    *((kind, None) for kind in ("users", "clients", "ips", "groups", "client-metrics")),
]

ACLS = [
    ["--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders"],
    [
        "--deny-principal",
        "User:bob",
        "--operation",
        "All",
        "--topic",
        "pay",
        "--resource-pattern-type",
        "prefixed",
    ],
    ["--allow-principal", "User:alice", "--operation", "Describe", "--cluster"],
    ["--allow-principal", "User:*", "--operation", "Read", "--group", "*", "--allow-host", "10.0.0.7"],
]


@pytest.fixture(scope="module")
def tools() -> Iterator[JavaTools]:
    with JavaTools(kafka()) as started:
        yield started


def cluster(directory: Path, *, java: bool) -> Cluster:
    return Cluster(
        kafka(),
        directory,
        brokers=2,
        java_controller=java,
        controller_settings=AUTHORIZER,
        broker_settings=AUTHORIZER,
    )


def called(tools: JavaTools, tool: str, *arguments: str) -> str:
    status, output = tools.run(tool, *arguments)
    assert status == 0, (tool, arguments, output)
    return output


def fill(tools: JavaTools, servers: str) -> None:
    at = ("--bootstrap-server", servers)
    for name, partitions in (("orders", "3"), ("payments.europe", "5")):
        flags = ("--partitions", partitions, "--replication-factor", "2")
        called(tools, "kafka-topics", *at, "--create", "--topic", name, *flags)
    for kind, entity, text in TO_SET:
        named = ("--entity-default",) if entity is None else ("--entity-name", entity)
        called(tools, "kafka-configs", *at, "--alter", "--entity-type", kind, *named, "--add-config", text)
    for acl in ACLS:
        called(tools, "kafka-acls", *at, "--add", *acl)


def change_more(tools: JavaTools, servers: str) -> None:
    """What has happened since is not to be restored."""
    at = ("--bootstrap-server", servers)
    called(tools, "kafka-topics", *at, "--delete", "--topic", "payments.europe")
    called(
        tools,
        "kafka-topics",
        *at,
        "--create",
        "--topic",
        "later",
        "--partitions",
        "1",
        "--replication-factor",
        "1",
    )
    entity = ("--entity-type", "topics", "--entity-name", "orders")
    called(tools, "kafka-configs", *at, "--alter", *entity, "--add-config", "retention.ms=1")
    called(tools, "kafka-acls", *at, "--remove", "--force", *ACLS[0])


def described(tools: JavaTools, servers: str) -> dict[str, list[str]]:
    at = ("--bootstrap-server", servers)
    topics = called(tools, "kafka-topics", *at, "--describe")
    found = {"topics": sorted(str(line) for line in TOPIC_LINE.findall(topics))}
    for kind, name in TO_DESCRIBE:
        entity = ["--entity-default"] if name is None and kind == "brokers" else []
        entity = ["--entity-name", name] if name is not None else entity
        output = called(tools, "kafka-configs", *at, "--describe", "--entity-type", kind, *entity)
        found[f"{kind} {name}"] = sorted(line for line in output.splitlines() if "SCRAM" not in line)
    found["acls"] = sorted(called(tools, "kafka-acls", *at, "--list").split("\n"))
    return found


def killed_restore(plan: Path, servers: str) -> None:
    """kill -9 of a restore after the first line that says what it has done."""
    command = [sys.executable, "-u", "-m", "kraftctl_spark.cli", "restore", "--apply", str(plan)]
    with subprocess.Popen(
        [*command, "--to", servers, "--execute"], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        assert any(line.startswith("done: ") for line in process.stdout)
        process.kill()


@pytest.mark.parametrize(
    ("source", "target"),
    [pytest.param(False, True, id="kraftctl-to-java"), pytest.param(True, False, id="java-to-kraftctl")],
)
def test_an_empty_cluster_is_given_what_another_had(
    source: bool, target: bool, tools: JavaTools, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, plan = tmp_path / "tables", tmp_path / "plan.toml"
    with cluster(tmp_path / "source", java=source) as first:
        fill(tools, first.bootstrap_servers)
        before = described(tools, first.bootstrap_servers)
        reader = DirectoryLocation(first.controller.log_directory).open(None)
        as_of = str(reader.position(0, 0).high_watermark - 1)
        reader.close()
        change_more(tools, first.bootstrap_servers)
        assert described(tools, first.bootstrap_servers) != before
        export_directory(first.controller.log_directory, tables)
        diff = ["diff", "--output", str(tables), "--as-of", as_of, "--to", first.bootstrap_servers]
        assert main([*diff, "--json"]) == 1
        changes = json.loads(capsys.readouterr().out)["changes"]
        assert [(one["kind"], one["subject"], one["before"], one["after"]) for one in changes] == [
            ("ACL", "ALLOW READ on TOPIC LITERAL orders for User:alice from *", "", None),
            ("config", "TOPIC orders retention.ms", "123456", "1"),
            ("topic", "later", None, "1 partitions, replication factor 1"),
            ("topic", "payments.europe", "5 partitions, replication factor 2", None),
        ]
    assert main(["restore", "--output", str(tables), "--as-of", as_of, "--plan", str(plan)]) == 0
    with cluster(tmp_path / "target", java=target) as second:
        servers = second.bootstrap_servers
        restore = ["restore", "--apply", str(plan), "--to", servers]
        assert main(restore) == 0
        assert " to do with --execute" in capsys.readouterr().out
        assert "orders" not in called(tools, "kafka-topics", "--bootstrap-server", servers, "--list")
        killed_restore(plan, servers)
        assert main([*restore, "--execute"]) == 0, capsys.readouterr().out
        assert described(tools, servers) == before
        capsys.readouterr()
        assert main([*restore, "--execute"]) == 0
        output = capsys.readouterr().out
        assert ": 0 done, 0 refused, 0 left as they are, " in output
        assert "not restored: SCRAM credential keeper SCRAM-SHA-256 with 4096 iterations" in output
        main([*diff[:-1], servers, "--json"])
        changes = json.loads(capsys.readouterr().out)["changes"]
        assert {one["kind"] for one in changes} <= {"SCRAM credential", "feature"}
        assert "SCRAM credential" in {one["kind"] for one in changes}
