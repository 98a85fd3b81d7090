"""Kafka's classes as its processes need them, in an archive that Java maps: a start takes half the time.

`python -m tests.support.processes.class_archive` makes it where there is none, in some ten seconds, from the
classes of a node that is broker and controller; tests/lanes.py does that first, and the differential for its
release. Tests run without it, too.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION, KafkaDistribution, resolve_kafka
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.dev.settings import random_id, write_properties
from kraftctl.dev.tools import KafkaTools

ARCHIVE = "classes.jsa"
STARTED = "Kafka Server started"
SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
"""An archive that does not fit, of other jars or another Java, is not used, and no output says so."""


class ArchivedKafka(KafkaDistribution):
    """A distribution whose processes use its archive, if there is one."""

    @property
    def archive(self) -> Path:
        return self.directory / ARCHIVE

    def command(
        self,
        main_class: str,
        *arguments: str,
        heap: str = "512m",
        log_level: str = "INFO",
        quick: bool = True,
    ) -> list[str]:
        java, *rest = super().command(main_class, *arguments, heap=heap, log_level=log_level, quick=quick)
        return [java, *self._options(), *rest] if quick else [java, *rest]

    def _options(self) -> list[str]:
        return [f"-XX:SharedArchiveFile={self.archive}", *SILENT] if self.archive.exists() else []


def archived(distribution: KafkaDistribution) -> ArchivedKafka:
    return ArchivedKafka(distribution.version, distribution.directory, distribution.classpath)


def make_archive(distribution: ArchivedKafka, directory: Path) -> None:
    """A node is started, and writes the archive when it ends."""
    made = directory / ARCHIVE
    properties = directory / "node.properties"
    port = free_port()
    write_properties(
        properties,
        {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": f"PLAINTEXT://localhost:{free_port()},CONTROLLER://localhost:{port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@localhost:{port}",
            "log.dirs": str(directory / "data"),
        },
    )
    KafkaTools(distribution).output("kafka-storage", "format", "-t", random_id(), "-c", str(properties))
    java, *rest = distribution.node_command(properties)
    node = ManagedProcess("kafka", [java, f"-XX:ArchiveClassesAtExit={made}", *rest], directory / "node.log")
    try:
        node.await_line(STARTED, 60.0)
        node.terminate(60.0)
    finally:
        node.kill_group()
    os.replace(made, distribution.archive)


def with_archive(version: str) -> ArchivedKafka:
    """Returns the distribution, with its archive made where there is none."""
    distribution = archived(resolve_kafka(version, print))
    if not distribution.archive.exists():
        with tempfile.TemporaryDirectory(dir=distribution.directory) as name:
            make_archive(distribution, Path(name))
    return distribution


def main() -> None:
    print(f"Kafka's classes are in {with_archive(DEFAULT_KAFKA_VERSION).archive}")


if __name__ == "__main__":
    main()
