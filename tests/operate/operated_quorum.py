"""Controllers as processes, each with a listener for probes and metrics, and what their probes say."""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from kraftctl.dev.nodes import run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.storage.meta_properties import read_meta_properties, write_meta_properties
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid, uuid_to_string

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"

SECONDS_MAX = 10.0
"""A probe is right within so long."""

BLOCKING = """
import os, sys, threading, time
blocked, name = sys.argv[1], sys.argv[2]
pause = threading.Event()
def wait_for_release():
    while os.path.exists(blocked):
        pause.wait(0.05)
if name == "loop":
    from kraftctl.operate.watch import Watch
    look = Watch._facts
    def look_late(*args):
        wait_for_release()
        return look(*args)
    Watch._facts = look_late
else:
    call = getattr(os, name)
    def wait(*args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            wait_for_release()
        return call(*args, **kwargs)
    setattr(os, name, wait)
sys.argv[1:] = sys.argv[3:]
from kraftctl.cli import main
sys.exit(main())
"""
"""Runs a command in which one call of the disk, on another thread than the loop's, waits while a file exists;
or the loop itself."""


@dataclass
class Probe:
    """What a probe said; status 0 where nothing answers."""

    status: int
    content: dict[str, object]

    @property
    def text(self) -> str:
        reasons = self.content.get("reasons", [])
        assert isinstance(reasons, list)
        return "\n".join(reasons)


def get(port: int, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Asks on loopback; status 0 where nothing answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5.0)
    try:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()


def probe(port: int, path: str = "/readyz") -> Probe:
    status, body = get(port, path)
    return Probe(status, json.loads(body) if body else {})


def run(*arguments: str) -> str:
    """Runs a command of kraftctl; returns what it prints."""
    return run_to_the_end([sys.executable, "-m", "kraftctl", *arguments], " ".join(arguments[:2]))


class OperatedController:
    """One process on a directory of its own; `blocking` names a function of os that `block` stalls."""

    def __init__(self, directory: Path, node_id: int, properties: dict[str, str], blocking: str) -> None:
        self.directory = directory
        self.node_id = node_id
        self.operate_port = free_port()
        self.properties = {
            **properties,
            "node.id": str(node_id),
            "kraftctl.operate.listeners": f"http://127.0.0.1:{self.operate_port}",
            "log.dirs": str(directory / "data"),
        }
        self.process: ManagedProcess
        self._blocking = blocking

    @property
    def partition(self) -> Path:
        return self.directory / "data" / PARTITION_DIRECTORY

    @property
    def file(self) -> Path:
        """The properties file, which is written anew."""
        file = self.directory / "controller.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in self.properties.items()))
        return file

    def format(self, *flags: str) -> None:
        run("format", "--cluster-id", CLUSTER_ID, "--config", str(self.file), *flags)

    def directory_id(self) -> str:
        meta = read_meta_properties(self.directory / "data")
        assert meta is not None
        assert meta.directory_id is not None
        return uuid_to_string(meta.directory_id)

    def start(self) -> None:
        command = [sys.executable, "-m", "kraftctl"]
        if self._blocking:
            command = [sys.executable, "-c", BLOCKING, str(self.directory / "blocked"), self._blocking]
        environment = {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        log = self.directory / "output.log"
        self.process = ManagedProcess(
            f"controller-{self.node_id}", [*command, "start", str(self.file)], log, environment
        )

    def block(self) -> None:
        (self.directory / "blocked").touch()

    def release(self) -> None:
        (self.directory / "blocked").unlink()

    def lose_log(self) -> None:
        shutil.rmtree(self.partition)

    def probe(self, path: str = "/readyz") -> Probe:
        return probe(self.operate_port, path)

    def answers(self) -> bool:
        return self.probe().status > 0

    def leads(self) -> bool:
        status, body = get(self.operate_port, "/status.json")
        return status == 200 and json.loads(body)["quorum"]["is_active_controller"] is True

    def may_stop(self) -> bool:
        return get(self.operate_port, "/restartz")[0] == 200

    def await_ready(self, seconds_max: float = 30.0) -> None:
        await_result(
            lambda: self.probe().status == 200, f"controller {self.node_id} is ready", seconds_max, 0.05
        )

    def await_not_ready(self, text: str, seconds_max: float = SECONDS_MAX) -> Probe:
        """Returns what it says once that has the text."""

        def look() -> Probe | None:
            found = self.probe()
            return found if found.status == 503 and text in found.text else None

        try:
            return await_result(look, f"not ready: {text}", seconds_max, 0.05)
        except TimeoutError as error:
            raise AssertionError(f"{error}; it says {self.probe()}\n{self.process.tail()}") from None


class OperatedQuorum:
    """Static voters 1, 2, ... with Kafka's default time-outs, all running unless `starts` says otherwise."""

    def __init__(
        self,
        directory: Path,
        count: int = 3,
        *,
        blocking: str = "",
        is_dynamic: bool = False,
        change: Callable[[dict[str, str]], None] = lambda _properties: None,
    ) -> None:
        ports = [free_port() for _ in range(count)]
        voters = ",".join(f"{voter_id}@127.0.0.1:{port}" for voter_id, port in enumerate(ports, 1))
        self.controllers: list[OperatedController] = []
        for node_id, port in enumerate(ports, 1):
            home = directory / str(node_id)
            home.mkdir()
            if not is_dynamic:
                meta = MetaProperties(CLUSTER_ID, node_id, random_uuid(random.Random(node_id)))
                write_meta_properties(home / "data", meta, wall_ms=0)
            properties: dict[str, str] = {
                "process.roles": "controller",
                "controller.listener.names": "CONTROLLER",
                "listeners": f"CONTROLLER://127.0.0.1:{port}",
                "controller.quorum.voters": voters,
            }
            if is_dynamic:
                del properties["controller.quorum.voters"]
                servers = ",".join(f"127.0.0.1:{each}" for each in ports)
                properties["controller.quorum.bootstrap.servers"] = servers
            change(properties)
            self.controllers.append(OperatedController(home, node_id, properties, blocking))
        if is_dynamic:
            ids = [uuid_to_string(random_uuid(random.SystemRandom())) for _ in ports]
            initial = ",".join(
                f"{node_id}@127.0.0.1:{port}:{directory_id}"
                for node_id, (port, directory_id) in enumerate(zip(ports, ids, strict=True), 1)
            )
            for each in self.controllers:
                each.format("--initial-controllers", initial)

    def start(self) -> None:
        """Starts all, and waits until each answers probes."""
        for each in self.controllers:
            each.start()
        for each in self.controllers:
            await_result(each.answers, "it answers probes", 60.0, 0.05)

    def await_ready(self) -> None:
        for each in self.controllers:
            each.await_ready()

    def leader(self) -> OperatedController:
        """Returns the one that leads, once there is one."""
        return await_result(
            lambda: next((each for each in self.controllers if each.leads()), None), "one leads", 30.0
        )

    def followers(self) -> list[OperatedController]:
        leader = self.leader()
        return [each for each in self.controllers if each is not leader]

    def __enter__(self) -> OperatedQuorum:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for each in self.controllers:
            if hasattr(each, "process"):
                each.process.kill()
