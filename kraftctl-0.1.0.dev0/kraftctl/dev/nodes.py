"""Runs brokers and controllers as processes: those of Apache Kafka, and kraftctl."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from kraftctl.dev.kafka_distribution import KafkaDistribution
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.settings import (
    BROKER_LISTENER,
    BROKER_SETTINGS,
    CONTROLLER_LISTENER,
    CONTROLLER_SETTINGS,
    SMALL_BROKER_SETTINGS,
    write_meta_properties,
    write_properties,
)
from kraftctl_protocol.log_file_names import META_PROPERTIES, PARTITION_DIRECTORY

START_TIMEOUT_S = 120.0

BROKER_READY = r"from RECOVERY to RUNNING"
"""A broker that fails in start-up also prints STARTING to STARTED before it shuts down, so that line
does not help."""

JAVA_CONTROLLER_READY = r"Kafka Server started"


class Node:
    """The common part of brokers and controllers: a directory, a properties file, one process at a time."""

    def __init__(self, name: str, node_id: int, directory: Path, port: int) -> None:
        self.name = name
        self.node_id = node_id
        self.directory = directory
        self.port = port
        self.properties: dict[str, str] = {}
        self.environment: dict[str, str] = {}
        self.process: ManagedProcess | None = None

    @property
    def properties_file(self) -> Path:
        return self.directory / "server.properties"

    @property
    def log_file(self) -> Path:
        """The file with the output of the process, of all its starts one after the other."""
        return self.directory / "output.log"

    @property
    def log_directory(self) -> Path:
        """The directory of meta.properties and __cluster_metadata-0."""
        return self.directory / "data"

    def log_directories(self) -> list[Path]:
        """Returns all of log.dirs; the first one has the metadata log."""
        return [self.log_directory]

    @property
    def metadata_directory(self) -> Path:
        return self.log_directory / PARTITION_DIRECTORY

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.running

    def start(self, *, wait: bool = True, timeout_s: float = START_TIMEOUT_S) -> None:
        """Starts the process (again); with `wait`, returns when it is ready."""
        assert not self.running, f"{self.name} is running already"
        self.write_configuration()
        self.process = ManagedProcess(self.name, self.command(), self.log_file, self.environment)
        if wait:
            self.await_ready(timeout_s)

    def write_configuration(self) -> None:
        directories = ",".join(str(directory) for directory in self.log_directories())
        write_properties(self.properties_file, {**self.properties, "log.dirs": directories})

    def format(self) -> None:
        """Formats the directory for the process."""
        raise AssertionError("overridden by every node")

    def command(self) -> list[str]:
        raise AssertionError("overridden by every node")

    def await_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        raise AssertionError("overridden by every node")

    def is_ready(self) -> bool:
        """Returns what `await_ready` awaits."""
        raise AssertionError("overridden by every node")

    def await_log(self, pattern: str, timeout_s: float = 60.0) -> str:
        """Returns a line printed since the last start in which `pattern` is found."""
        assert self.process is not None, f"{self.name} was never started"
        return self.process.await_line(pattern, timeout_s)

    def has_logged(self, pattern: str) -> bool:
        """Returns whether a line printed since the last start has `pattern` in it."""
        assert self.process is not None, f"{self.name} was never started"
        return any(re.search(pattern, line) for line in self.process.lines())

    def stop(self, timeout_s: float = 60.0) -> int | None:
        """Sends SIGTERM and waits; returns the exit status."""
        return self.process.terminate(timeout_s) if self.process is not None else None

    def kill(self) -> None:
        """Ends the process with SIGKILL."""
        if self.process is not None:
            self.process.kill()

    def pause(self) -> None:
        """Suspends the process, like a very long pause of the garbage collector."""
        assert self.process is not None
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.signal(signal.SIGCONT)


class Controller(Node):
    """The common part of Kafka's controllers and kraftctl."""

    NAME_PREFIX: ClassVar[str]

    def __init__(
        self,
        node_id: int,
        directory: Path,
        cluster_id: str,
        *,
        dynamic: bool = True,
        release_version: str | None = None,
        port: int | None = None,
        properties: Mapping[str, str] | None = None,
        initial_controllers: str | None = None,
    ) -> None:
        """Makes a controller that is alone in its quorum, unless `properties` say otherwise.

        If `dynamic`, `initial_controllers` is the argument of the flag of that name:
        `id@host:port:directory-id,...`.
        """
        super().__init__(f"{self.NAME_PREFIX}-{node_id}", node_id, directory, port or free_port())
        self.cluster_id = cluster_id
        self.dynamic = dynamic
        self.release_version = release_version
        self.initial_controllers = initial_controllers
        self.scram_credentials: list[str] = []
        """The arguments of the flag --add-scram: users of the new cluster."""
        self.properties = controller_properties(node_id, self.port, dynamic=dynamic, extra=properties)

    def format_flags(self) -> list[str]:
        """Returns the arguments of `kafka-storage format` and `kraftctl format`."""
        flags = ["--cluster-id", self.cluster_id, "--config", str(self.properties_file)]
        for credential in self.scram_credentials:
            flags += ["--add-scram", credential]
        if self.initial_controllers is not None:
            flags += ["--initial-controllers", self.initial_controllers]
        elif self.dynamic:
            flags += ["--standalone"]
        return [*flags, "--release-version", self.release_version] if self.release_version else flags


class JavaController(Controller):
    """Apache Kafka's own controller, for tests of the harness and for comparisons."""

    NAME_PREFIX = "java-controller"

    def __init__(
        self,
        kafka: KafkaDistribution,
        node_id: int,
        directory: Path,
        cluster_id: str,
        *,
        dynamic: bool = True,
        release_version: str | None = None,
        port: int | None = None,
        properties: Mapping[str, str] | None = None,
        initial_controllers: str | None = None,
        quick: bool = True,
    ) -> None:
        """Takes `quick`; without it, the JVM has its default compilers and collector, for comparisons."""
        super().__init__(
            node_id,
            directory,
            cluster_id,
            dynamic=dynamic,
            release_version=release_version,
            port=port,
            properties=properties,
            initial_controllers=initial_controllers,
        )
        self.kafka = kafka
        self.quick = quick

    def format(self) -> None:
        """Formats the directory as kafka-storage does; a static voter of the latest release needs no JVM."""
        if not self.dynamic and self.release_version is None:
            write_meta_properties(self.log_directory, cluster_id=self.cluster_id, node_id=self.node_id)
            return
        self.write_configuration()
        command = self.kafka.command(
            "kafka.tools.StorageTool", "format", *self.format_flags(), heap="256m", log_level="WARN"
        )
        run_to_the_end(command, f"formatting {self.log_directory}")

    def command(self) -> list[str]:
        return self.kafka.node_command(self.properties_file, heap="400m", quick=self.quick)

    def await_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        self.await_log(JAVA_CONTROLLER_READY, timeout_s)

    def is_ready(self) -> bool:
        return self.has_logged(JAVA_CONTROLLER_READY)


class KraftctlController(Controller):
    """kraftctl as a process of its own, run by the current interpreter."""

    NAME_PREFIX = "kraftctl"

    def format(self) -> None:
        """Runs kraftctl format, with the flags of kafka-storage."""
        self.write_configuration()
        run_to_the_end(kraftctl_command("format", *self.format_flags()), f"formatting {self.log_directory}")

    def command(self) -> list[str]:
        return kraftctl_command("start", str(self.properties_file))

    def await_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        await_result(self._listens, f"{self.name} listens on {self.port}", timeout_s, interval_s=0.05)

    def resident_bytes(self) -> int:
        """Returns the physical memory of the process (Linux)."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def _listens(self) -> bool:
        assert self.process is not None
        if not self.running:
            raise ProcessFailedError(
                f"{self.name} ended with {self.process.wait(5.0)}\n{self.process.tail()}"
            )
        return self.is_ready()

    def is_ready(self) -> bool:
        return accepts_connections(self.port)


class JavaBroker(Node):
    """An unmodified Apache Kafka broker."""

    def __init__(
        self,
        kafka: KafkaDistribution,
        node_id: int,
        directory: Path,
        cluster_id: str,
        quorum: Mapping[str, str],
        *,
        port: int | None = None,
        properties: Mapping[str, str] | None = None,
        heap: str = "400m",
        further_directories: Sequence[str] = (),
    ) -> None:
        """Takes the result of quorum_properties() as `quorum`.

        `further_directories` names log directories besides the first one (KIP-858).
        """
        super().__init__(f"broker-{node_id}", node_id, directory, port or free_port())
        self.kafka = kafka
        self.cluster_id = cluster_id
        self.heap = heap
        self.further_directories = list(further_directories)
        self.properties = {
            **BROKER_SETTINGS,
            **SMALL_BROKER_SETTINGS,
            "node.id": str(node_id),
            "listeners": f"{BROKER_LISTENER}://localhost:{self.port}",
            **quorum,
            **(properties or {}),
        }

    def log_directories(self) -> list[Path]:
        return [self.log_directory, *[self.directory / name for name in self.further_directories]]

    def format(self) -> None:
        """Writes meta.properties, the only file that a broker needs."""
        for directory in self.log_directories():
            write_meta_properties(directory, cluster_id=self.cluster_id, node_id=self.node_id)

    def directory_ids(self) -> list[str]:
        """Returns the directory.id of every log directory."""
        files = [directory / META_PROPERTIES for directory in self.log_directories()]
        return [name for file in files for name in re.findall(r"(?m)^directory\.id=(.*)$", file.read_text())]

    def command(self) -> list[str]:
        return self.kafka.node_command(self.properties_file, heap=self.heap)

    def await_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        self.await_log(BROKER_READY, timeout_s)

    def is_ready(self) -> bool:
        return self.has_logged(BROKER_READY)


def controller_properties(
    node_id: int, port: int, *, dynamic: bool, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the properties of a controller that is alone in its quorum, unless `extra` says otherwise."""
    return {
        **CONTROLLER_SETTINGS,
        "node.id": str(node_id),
        "listeners": f"{CONTROLLER_LISTENER}://localhost:{port}",
        **quorum_properties({node_id: port}, dynamic=dynamic),
        **(extra or {}),
    }


def quorum_properties(controller_ports: Mapping[int, int], *, dynamic: bool) -> dict[str, str]:
    """Returns how every node finds the controllers; the argument maps node id to port."""
    if dynamic:
        servers = ",".join(f"localhost:{port}" for port in controller_ports.values())
        return {"controller.quorum.bootstrap.servers": servers}
    voters = ",".join(f"{node_id}@localhost:{port}" for node_id, port in controller_ports.items())
    return {"controller.quorum.voters": voters}


def kraftctl_command(*arguments: str) -> list[str]:
    """Runs kraftctl with the current interpreter, or with $KRAFTCTL_COMMAND."""
    configured = os.environ.get("KRAFTCTL_COMMAND")
    return [*(configured.split() if configured else [sys.executable, "-m", "kraftctl"]), *arguments]


def run_to_the_end(command: list[str], what: str, timeout_s: float = 120.0) -> str:
    """Runs a short-lived command; returns its output. Raises ProcessFailedError when it fails."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
    )
    if done.returncode != 0:
        raise ProcessFailedError(f"{what} failed with {done.returncode}\n{done.stdout}")
    return done.stdout
