"""Kafka's command line tools, by the names of their scripts."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution

PACKAGE = "org.apache.kafka.tools"

MAIN_CLASSES = {
    "kafka-acls": (f"{PACKAGE}.AclCommand", "kafka.admin.AclCommand"),
    "kafka-broker-api-versions": (
        f"{PACKAGE}.BrokerApiVersionsCommand",
        "kafka.admin.BrokerApiVersionsCommand",
    ),
    "kafka-client-metrics": (f"{PACKAGE}.ClientMetricsCommand",),
    "kafka-cluster": (f"{PACKAGE}.ClusterTool",),
    "kafka-configs": (f"{PACKAGE}.ConfigCommand", "kafka.admin.ConfigCommand"),
    "kafka-console-consumer": (f"{PACKAGE}.consumer.ConsoleConsumer",),
    "kafka-console-producer": (f"{PACKAGE}.ConsoleProducer", "kafka.tools.ConsoleProducer"),
    "kafka-console-share-consumer": (f"{PACKAGE}.consumer.ConsoleShareConsumer",),
    "kafka-consumer-groups": (f"{PACKAGE}.consumer.group.ConsumerGroupCommand",),
    "kafka-consumer-perf-test": (f"{PACKAGE}.ConsumerPerformance",),
    "kafka-delegation-tokens": (f"{PACKAGE}.DelegationTokenCommand",),
    "kafka-delete-records": (f"{PACKAGE}.DeleteRecordsCommand",),
    "kafka-dump-log": (f"{PACKAGE}.DumpLogSegments", "kafka.tools.DumpLogSegments"),
    "kafka-features": (f"{PACKAGE}.FeatureCommand",),
    "kafka-get-offsets": (f"{PACKAGE}.GetOffsetShell",),
    "kafka-groups": (f"{PACKAGE}.GroupsCommand",),
    "kafka-leader-election": (f"{PACKAGE}.LeaderElectionCommand",),
    "kafka-log-dirs": (f"{PACKAGE}.LogDirsCommand",),
    "kafka-metadata-quorum": (f"{PACKAGE}.MetadataQuorumCommand",),
    "kafka-producer-perf-test": (f"{PACKAGE}.ProducerPerformance",),
    "kafka-reassign-partitions": (f"{PACKAGE}.reassign.ReassignPartitionsCommand",),
    "kafka-replica-verification": (f"{PACKAGE}.ReplicaVerificationTool",),
    "kafka-share-consumer-perf-test": (f"{PACKAGE}.ShareConsumerPerformance",),
    "kafka-share-groups": (f"{PACKAGE}.consumer.group.ShareGroupCommand",),
    "kafka-storage": ("kafka.tools.StorageTool",),
    "kafka-streams-groups": (f"{PACKAGE}.streams.StreamsGroupCommand",),
    "kafka-topics": (f"{PACKAGE}.TopicCommand",),
    "kafka-transactions": (f"{PACKAGE}.TransactionsCommand",),
    "kafka-verifiable-consumer": (f"{PACKAGE}.VerifiableConsumer",),
    "kafka-verifiable-producer": (f"{PACKAGE}.VerifiableProducer",),
    "kafka-verifiable-share-consumer": (f"{PACKAGE}.VerifiableShareConsumer",),
}
"""The class of each script; of a class that has moved, where the latest release has it comes first."""


def main_class(distribution: KafkaDistribution, tool: str) -> str | None:
    """Returns the class of a script; None if the release has none."""
    candidates = MAIN_CLASSES.get(tool, ())
    return next((name for name in candidates if distribution.has_class(name)), None)


class ToolFailedError(Exception):
    """A tool ended with a status other than zero; the message is its output."""


@dataclass
class ToolResult:
    """The output of a tool (standard output, then standard error) and its status."""

    output: str
    exit_code: int


class KafkaTools:
    """Runs tools of one Kafka distribution."""

    def __init__(self, distribution: KafkaDistribution) -> None:
        self._distribution = distribution

    def write_scripts(self, directory: Path) -> None:
        """Writes an executable script for every tool that the release has into `directory`."""
        directory.mkdir(parents=True, exist_ok=True)
        for tool in MAIN_CLASSES:
            name = main_class(self._distribution, tool)
            if name is None:
                continue
            command = self._distribution.command(name, heap="256m", log_level="ERROR")
            script = directory / tool
            script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            script.chmod(0o755)

    def run(self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = 120.0) -> ToolResult:
        """Runs `tool`, a script's name as `kafka-topics` or a main class, to its end."""
        command = self._distribution.command(
            main_class(self._distribution, tool) or tool, *arguments, heap="256m", log_level="ERROR"
        )
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s)
        return ToolResult(done.stdout + done.stderr, done.returncode)

    def output(self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = 120.0) -> str:
        """Returns the output of `run`. Raises ToolFailedError when the tool fails."""
        result = self.run(tool, *arguments, stdin=stdin, timeout_s=timeout_s)
        if result.exit_code != 0:
            raise ToolFailedError(
                f"{tool} {' '.join(arguments)} ended with {result.exit_code}\n{result.output}"
            )
        return result.output
