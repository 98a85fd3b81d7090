"""The cluster of `kraftctl dev`: starts it with progress, watches it, and stops it."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.kafka_distribution import (
    KafkaUnavailableError,
    print_progress,
    resolve_kafka,
    why_unavailable,
)
from kraftctl.dev.nodes import JavaController, kraftctl_command
from kraftctl.dev.ports import can_listen, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.restarts import RestartedNode
from kraftctl.dev.settings import random_id, replication_for
from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_protocol.log_file_names import segment_file_name

CONTROLLER_PORT = 9093
"""The port of the configuration that Apache Kafka is distributed with."""

FIRST_BROKER_PORTS = (9092, 9094, 9095, 9096, 9097, 9098)
"""The ports around that of the controller; further brokers get the ports after PROBES_PORT."""

PROBES_PORT = 9099
"""The port of probes and metrics, as in docs/operations/probes-and-metrics.md."""

STATE_FILE = "cluster.json"
"""The file keeps the identity and the ports of a cluster for its next run."""

SCRIPTS = "bin"
"""The directory of Kafka's tools and kraftctl's commands, in that of the cluster."""

AUDIT_LOG = "audit.log"
"""The file is in the directory of the cluster; Kafka's own controller ignores its key."""

WATCH_INTERVAL_S = 0.5

EXPORT_INTERVAL = "10 seconds"
"""The interval is shorter than in production, so that changes appear quickly."""

EXPORTER_ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": "--master local[2] --driver-memory 600m --conf spark.ui.enabled=false"
    " pyspark-shell",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
"""The environment makes Spark small, and lets it listen on loopback only."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class DevError(Exception):
    """The cluster cannot be started as asked; the message says why and what to do."""


class StopRequestedError(Exception):
    """Ctrl-C or SIGTERM, as an exception in the main thread: it interrupts the start-up."""


@dataclass
class DevOptions:
    """The options of the command line."""

    directory: Path
    brokers: int
    kafka_version: str
    temporary: bool
    export: bool
    java_controller: bool


@dataclass
class DevState:
    """The identity and addresses of a development cluster, kept from run to run."""

    cluster_id: str
    controller_port: int
    broker_ports: list[int]
    probes_port: int


def run_session(options: DevOptions) -> int:
    """Runs the cluster until a signal (0), or until it cannot be started (1)."""
    with _StopSignals() as stop:
        session = DevSession(options)
        try:
            session.start()
            return session.watch(stop)
        except StopRequestedError:
            return 0
        except (DevError, KafkaUnavailableError, ProcessFailedError) as error:
            print(f"kraftctl dev: {error}", file=sys.stderr)
            return 1
        finally:
            stop.request_only()
            session.stop()


class DevSession:
    """One run of `kraftctl dev`, from start to stop."""

    def __init__(self, options: DevOptions) -> None:
        self._options = options
        self._directory = options.directory.absolute()
        self._cluster: Cluster | None = None
        self._exporter: ManagedProcess | None = None

    def start(self) -> None:
        """Starts everything in order, with progress. Raises DevError and the errors of nodes."""
        options = self._options
        if (why := why_unavailable(options.kafka_version)) is not None:
            raise KafkaUnavailableError(why)
        kafka = resolve_kafka(options.kafka_version, print_progress)
        if options.temporary:
            self._directory = Path(tempfile.mkdtemp(prefix="kraftctl-dev-"))
        state = load_state(self._directory, options.brokers)
        cluster = Cluster(
            kafka,
            self._directory,
            brokers=options.brokers,
            java_controller=options.java_controller,
            cluster_id=state.cluster_id,
            controller_settings=replication_for(options.brokers),
            broker_settings=replication_for(options.brokers),
            controller_port=state.controller_port,
            broker_ports=state.broker_ports,
        )
        self._cluster = cluster
        cluster.controller.properties["kraftctl.audit.log.path"] = str(self._directory / AUDIT_LOG)
        cluster.controller.properties["kraftctl.operate.listeners"] = probes_address(state)
        cluster.tools().write_scripts(self._directory / SCRIPTS)
        write_own_scripts(self._directory / SCRIPTS)
        cluster.format()
        print_progress(
            f"Starting the controller ({cluster.controller.name}) on {cluster.controller.address} ..."
        )
        cluster.controller.start()
        brokers = counted(len(cluster.brokers), f"Apache Kafka {kafka.version} broker")
        print_progress(f"Starting {brokers} ...")
        for broker in cluster.brokers:
            broker.start(wait=False)
        for broker in cluster.brokers:
            broker.await_ready()
            print_progress(f"  {broker.name} is running on {broker.address}")
        self._start_exporter(cluster)
        print(_what_to_try(cluster, self._directory, self._exporter is not None), flush=True)

    def watch(self, stop: _StopSignals) -> int:
        """Runs until a signal; starts nodes again that end by themselves."""
        assert self._cluster is not None
        nodes = [RestartedNode(node, print_progress, time.monotonic()) for node in self._cluster.nodes]
        while not stop.requested.wait(WATCH_INTERVAL_S):
            for node in nodes:
                node.look(time.monotonic())
            if self._exporter is not None and not self._exporter.running:
                print_progress(f"The exporter has ended, the cluster runs on. See {self._exporter.log_file}")
                self._exporter = None
        return 0

    def stop(self) -> None:
        """Stops the exporter, the brokers, the controller."""
        if self._exporter is not None:
            self._exporter.signal(signal.SIGTERM)
        if self._cluster is not None:
            print_progress("Stopping ...")
            self._cluster.stop()
            self._cluster.kill()
        if self._exporter is not None:
            self._exporter.terminate(15.0)
            self._exporter.kill_group()
        if self._options.temporary and self._directory != self._options.directory.absolute():
            shutil.rmtree(self._directory, ignore_errors=True)

    def _start_exporter(self, cluster: Cluster) -> None:
        """Streams the metadata log to Parquet beside the cluster, when Spark is installed."""
        if not self._options.export:
            return
        if any(importlib.util.find_spec(name) is None for name in ("pyspark", "pyarrow", "kraftctl_spark")):
            print_progress(
                "Not exporting metadata to Parquet: `make setup`, or pip install '.[spark]', installs Spark."
            )
            return
        command = exporter_command(cluster.controller.address, tables_directory(self._directory))
        log_file = self._directory / "exporter.log"
        self._exporter = ManagedProcess("exporter", command, log_file, EXPORTER_ENVIRONMENT)
        print_progress(f"Exporting committed metadata to {tables_directory(self._directory)}")


class _StopSignals:
    """Turns the first stop signal into StopRequestedError in the main thread; later ones change nothing."""

    def __init__(self) -> None:
        self.requested = threading.Event()
        self._raise = True
        self._before = {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def request_only(self) -> None:
        """Notes further signals, which do not interrupt the stop."""
        self._raise = False

    def __enter__(self) -> _StopSignals:
        for number in STOP_SIGNALS:
            signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        first = not self.requested.is_set()
        self.requested.set()
        if first and self._raise:
            raise StopRequestedError


def load_state(directory: Path, brokers: int) -> DevState:
    """Returns the state of an earlier run, or a new one; brokers may be added. Raises DevError."""
    file = directory / STATE_FILE
    if file.exists():
        state = _state_of(json.loads(file.read_text()))
        wanted = [state.controller_port, *state.broker_ports[:brokers]]
        if taken := [port for port in wanted if not can_listen(port)]:
            raise DevError(
                f"the ports {', '.join(map(str, taken))} of the cluster in {directory} are in use: is it"
                " running already? Next step: stop that, or choose another --directory"
                " (make dev DEV_ARGS='--directory DIR')"
            )
    else:
        state = DevState(random_id(), _port_near(CONTROLLER_PORT), [], _port_near(PROBES_PORT))
    while len(state.broker_ports) < brokers:
        state.broker_ports.append(_port_near(_wanted_port(len(state.broker_ports))))
    directory.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(state), indent=1) + "\n")
    return state


def probes_address(state: DevState) -> str:
    """Returns where the probes are in this run: another process may have taken their port."""
    port = _port_near(state.probes_port)
    if port != state.probes_port:
        print_progress(f"Port {state.probes_port} of the probes is in use: they are on {port} in this run")
    return f"http://127.0.0.1:{port}"


def tables_directory(directory: Path) -> Path:
    """Returns where the exporter of a development cluster writes."""
    return directory / "tables"


def exporter_command(controller: str, output: Path) -> list[str]:
    """Returns the command line of the exporter."""
    return export_command(
        *("run", "--bootstrap-controllers", controller, "--output", str(output)),
        *("--interval", EXPORT_INTERVAL),
    )


def export_command(*arguments: str) -> list[str]:
    """Returns the `kraftctl-export` of the Python that runs this."""
    return [sys.executable, "-m", "kraftctl_spark.cli", *arguments]


def write_own_scripts(directory: Path) -> None:
    """Writes `kraftctl` and `kraftctl-export`, of the Python and the sources that run this."""
    sources = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    variables = ["env", f"PYTHONPATH={os.pathsep.join(sources)}"] if sources else []
    for name, command in (("kraftctl", kraftctl_command()), ("kraftctl-export", export_command())):
        script = directory / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join([*variables, *command])} "$@"\n')
        script.chmod(0o755)


def _state_of(saved: dict[str, Any]) -> DevState:
    """Returns a state of the file; one of an earlier release has no port of the probes."""
    is_free = PROBES_PORT not in saved["broker_ports"]
    return DevState(**{"probes_port": _port_near(PROBES_PORT) if is_free else free_port(), **saved})


def _wanted_port(index: int) -> int:
    beyond = index - len(FIRST_BROKER_PORTS) + 1
    return PROBES_PORT + beyond if beyond > 0 else FIRST_BROKER_PORTS[index]


def _port_near(wanted: int) -> int:
    return wanted if can_listen(wanted) else free_port()


def _what_to_try(cluster: Cluster, directory: Path, exporting: bool) -> str:
    log = cluster.controller.metadata_directory / segment_file_name(0)
    server = f"--bootstrap-server {cluster.brokers[0].address}"
    controller = f"--bootstrap-controller {cluster.bootstrap_controllers}"
    brokers = counted(len(cluster.brokers), "broker")
    are = one_or_many(len(cluster.brokers), "is", "are")
    kind = "Java" if isinstance(cluster.controller, JavaController) else "kraftctl"
    facts = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "controller": cluster.bootstrap_controllers,
        "cluster id": cluster.cluster_id,
        "files": str(directory),
        "tools": str(directory / SCRIPTS),
    }
    asked = ""
    if kind == "kraftctl":
        facts["probes"] = cluster.controller.properties["kraftctl.operate.listeners"]
        asked = f" --operate {facts['probes']}"
    if exporting:
        facts["metadata tables"] = str(tables_directory(directory))
    lines = ["", f"kraftctl dev: {brokers} {are} running on one {kind} controller"]
    lines += [f"  {name:<22}{value}" for name, value in facts.items()]
    lines += [
        "",
        "Try, in another terminal:",
        f"  cd {directory}",
        f"  {SCRIPTS}/kafka-topics {server} --create --if-not-exists --topic hello --partitions 6",
        f"  {SCRIPTS}/kafka-console-producer {server} --topic hello",
        f"  {SCRIPTS}/kafka-metadata-quorum {controller} describe --status",
        f"  {SCRIPTS}/kraftctl health {controller}{asked}",
        f"  {SCRIPTS}/kraftctl explain partition hello-0 {controller}",
        f"  {SCRIPTS}/kraftctl dump log {log.relative_to(directory)}",
        f"  kill -9 {_pid_of_last_broker(cluster)}   # {cluster.brokers[-1].name}: is fenced, then restarted",
    ]
    if exporting:
        lines.append(f"  {SCRIPTS}/kraftctl-export status --output tables")
    lines += ["", "Ctrl-C stops everything."]
    return "\n".join(lines)


def _pid_of_last_broker(cluster: Cluster) -> int:
    process = cluster.brokers[-1].process
    assert process is not None
    return process.pid
