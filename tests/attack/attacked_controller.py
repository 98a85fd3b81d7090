"""A controller as a process, alone on the loopback, whose memory, log and heartbeats are measured."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from tests.attack.client import Client
from tests.attack.encryption import client_context, ssl_properties
from tests.attack.frames import (
    ALL,
    API_VERSIONS,
    CLUSTER,
    SET,
    TOPIC,
    acl,
    compact,
    config_change,
    new_acls,
    request,
)
from tests.attack.honest_brokers import ADDRESSES, Seen
from tests.support.controller_properties import controller_properties, properties_file

NODE_ID = 3000

START_SECONDS_MAX = 60.0
REPORT_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 5.0

MEMORY_PAUSE_S = 0.05

HONEST = ADDRESSES[1]
"""The address of broker 1: with an authorizer, ACLs admit the addresses of brokers and no other."""

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

UNRELATED_ACLS = 5_000
ACLS_PER_REQUEST = 500
LARGE_VALUES = 280
"""Values of 32 kB: 9 MB of log, more than one answer to Fetch may have."""

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kraftctl", *arguments]


class Template:
    """A formatted directory with what the attacks find in it, copied for each of them."""

    def __init__(self, directory: Path, *, authorizer: bool, over_ssl: bool = False) -> None:
        self.directory = directory
        self.authorizer = authorizer
        self.over_ssl = over_ssl
        self._ssl_properties: dict[str, str] = {}
        self.cluster_id = random_id()

    def properties(self, directory: Path, port: int, settings: dict[str, str]) -> Path:
        address = f"127.0.0.1:{port}"
        lines = {
            **controller_properties(directory / "log", node_id=NODE_ID, address=address, static=True),
            "broker.session.timeout.ms": "120000",
            **settings,
            **self._ssl_properties,
        }
        if self.authorizer:
            lines["authorizer.class.name"] = STANDARD_AUTHORIZER
        return properties_file(directory, lines)

    def make(self) -> None:
        self.directory.mkdir(parents=True)
        if self.over_ssl:
            self._ssl_properties = ssl_properties(self.directory)
        file = self.properties(self.directory, free_port(), {})
        subprocess.run(
            command("format", "-t", self.cluster_id, "-c", str(file)),
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
        )
        settings = {"super.users": "User:ANONYMOUS"} if self.authorizer else {}
        with AttackedController(self, self.directory, settings) as controller:
            controller.fill()


def _replaced(settings: dict[str, str], texts: dict[str, str]) -> dict[str, str]:
    for old, new in texts.items():
        settings = {key: value.replace(old, new) for key, value in settings.items()}
    return settings


class AttackedController:
    """A context: the process and, after `begin`, three honest brokers."""

    def __init__(
        self,
        template: Template,
        directory: Path,
        settings: dict[str, str] | None = None,
        *,
        files_max: int = 0,
    ) -> None:
        self.port = free_port()
        self.cluster_id = template.cluster_id
        self.authorizer = template.authorizer
        self.context = client_context() if template.over_ssl else None
        self.log_file = directory / "controller.out"
        self.brokers: subprocess.Popen[str] | None = None
        if directory != template.directory:
            shutil.copytree(template.directory, directory)
            self.log_file.unlink()
        self.sasl_port = free_port()
        """Of another listener, where the settings have one."""
        ports = {"{port}": str(self.port), "{sasl_port}": str(self.sasl_port)}
        self._file = template.properties(directory, self.port, _replaced(settings or {}, ports))
        self._files_max = files_max
        self._process: subprocess.Popen[bytes]
        self._ended = threading.Event()
        self.memory_max_mb = 0.0
        """The largest resident size since the brokers have begun."""

    def __enter__(self) -> AttackedController:
        def limited() -> None:
            if self._files_max:
                resource.setrlimit(resource.RLIMIT_NOFILE, (self._files_max, self._files_max))
            # If the machine's memory ends, this process ends first.
            Path("/proc/self/oom_score_adj").write_text("1000")

        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(
                command("start", str(self._file)),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                preexec_fn=limited,
            )
        try:
            await_result(self._responses, "the controller answers", START_SECONDS_MAX)
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self.brokers is not None:
            self.brokers.kill()
            self.brokers.communicate()
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log_bytes(self) -> int:
        return self.log_file.stat().st_size

    def begin(self) -> None:
        """The honest brokers register, and their first large request is served."""
        script = str(Path(__file__).with_name("honest_brokers.py"))
        self.brokers = subprocess.Popen(
            [sys.executable, script, str(self.port), self.cluster_id, *(["ssl"] if self.context else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

        served = 0

        def ready() -> bool:
            nonlocal served
            seen = self.seen()
            served += seen.large_served
            return seen.ready and seen.heartbeats > 0 and served > 0

        await_result(ready, "the brokers are served", START_SECONDS_MAX)
        self.seen()
        self._measure_memory_from_here()

    def seen(self) -> Seen:
        """What the honest brokers have seen since the last call."""
        brokers = self.brokers
        assert brokers is not None
        assert brokers.stdin is not None
        assert brokers.stdout is not None
        brokers.stdin.write("?\n")
        brokers.stdin.flush()
        readable, _, _ = select.select([brokers.stdout], [], [], REPORT_SECONDS_MAX)
        if not readable:
            raise TimeoutError("the honest brokers do not report")
        return Seen(**json.loads(brokers.stdout.readline()))

    def _measure_memory_from_here(self) -> None:
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")
        self.memory_max_mb = self._memory_mb()
        threading.Thread(target=self._watch_memory, daemon=True).start()

    def _watch_memory(self) -> None:
        """The kernel's maximum; read all the time, since it is gone when the process has ended."""
        while not self._ended.wait(MEMORY_PAUSE_S):
            self.memory_max_mb = max(self.memory_max_mb, self._memory_mb())

    def _memory_mb(self) -> float:
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return 0.0
        found = re.search(r"VmHWM:\s*(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/fd")) if self.alive else 0

    def fill(self) -> None:
        """A log longer than a response may be; with an authorizer, rights for the brokers' addresses."""
        client = Client(self.port, HONEST, timeout_s=30.0, context=self.context)
        change = config_change([(b"log.retention.ms", SET, b"1000")])
        # Before the election it is refused. The error code of the first resource is at 10.
        await_result(lambda: client.ask(change)[10:12] == b"\0\0", "a configuration is changed")
        if self.authorizer:
            rights = [acl(CLUSTER, b"kafka-cluster", address.encode(), ALL) for address in ADDRESSES.values()]
            others = [acl(TOPIC, b"topic-%d" % index, b"10.0.0.1", ALL) for index in range(UNRELATED_ACLS)]
            client.ask(new_acls(rights))
            for start in range(0, UNRELATED_ACLS, ACLS_PER_REQUEST):
                client.ask(new_acls(others[start : start + ACLS_PER_REQUEST]))
        for number in range(LARGE_VALUES):
            value = b"%06d" % number + b"x" * 32_000
            client.ask(config_change([(b"ssl.keystore.location", SET, value)]))
        client.close()

    def _responses(self) -> bool:
        if not self.alive:
            raise RuntimeError(f"the controller has ended: {self.log_file.read_text()[-2000:]}")
        client = Client(self.port, HONEST, timeout_s=1.0, context=self.context)
        answer = client.ask(request(API_VERSIONS, 3, compact(b"attack") + compact(b"1") + b"\0"))
        client.close()
        return bool(answer)
