"""Kafka's command line tools, by the names of their scripts."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution

MAIN_CLASSES = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
}


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
        """Writes an executable script for every tool into `directory`."""
        directory.mkdir(parents=True, exist_ok=True)
        for tool, main_class in MAIN_CLASSES.items():
            command = self._distribution.command(main_class, heap="256m", log_level="ERROR")
            script = directory / tool
            script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            script.chmod(0o755)

    def run(self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = 120.0) -> ToolResult:
        """Runs `tool`, a script's name as `kafka-topics` or a main class, to its end."""
        command = self._distribution.command(
            MAIN_CLASSES.get(tool, tool), *arguments, heap="256m", log_level="ERROR"
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
