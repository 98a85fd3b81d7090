"""Apache Kafka for tests: the distribution, its tools and its nodes, all from `kraftctl.dev`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.kafka_distribution import (
    DEFAULT_KAFKA_VERSION,
    KafkaDistribution,
    print_progress,
    resolve_kafka,
)
from kraftctl.dev.nodes import (
    JavaBroker,
    JavaController,
    KraftctlController,
    Node,
    quorum_properties,
    run_to_the_end,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl.dev.tools import KafkaTools, ToolFailedError, ToolResult
from tests.support.processes.class_archive import archived

__all__ = [
    "Cluster",
    "JavaBroker",
    "JavaController",
    "KafkaDistribution",
    "KafkaTools",
    "KraftctlController",
    "Node",
    "ToolFailedError",
    "ToolResult",
    "await_result",
    "dump_log",
    "free_port",
    "kafka",
    "quorum_properties",
    "random_id",
    "run_java_source",
    "tools",
]


@cache
def kafka(version: str = DEFAULT_KAFKA_VERSION) -> KafkaDistribution:
    """Kafka of one version; fetched by Maven the first time on this machine."""
    return archived(resolve_kafka(version, print_progress))


def tools(version: str = DEFAULT_KAFKA_VERSION) -> KafkaTools:
    """Kafka's command line tools: `tools().output("kafka-topics", "--list", ...)`."""
    return KafkaTools(kafka(version))


def dump_log(*files: Path, version: str = DEFAULT_KAFKA_VERSION) -> str:
    """What kafka-dump-log prints for metadata segments or snapshots."""
    names = ",".join(str(file) for file in files)
    return tools(version).output("kafka-dump-log", "--cluster-metadata-decoder", "--files", names)


def run_java_source(
    source: Path, *arguments: str, version: str = DEFAULT_KAFKA_VERSION, timeout_s: float = 300.0
) -> str:
    """Runs a single-file Java program with Kafka's classes; returns what it printed."""
    distribution = kafka(version)
    command = [
        distribution.java,
        "-Xmx512m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        distribution.classpath,
        str(source),
        *arguments,
    ]
    return run_to_the_end(command, f"running {source.name}", timeout_s)
