"""Clients of other libraries, with their own TLS, reach a controller that offers elliptic curves alone.

By TLS 1.2 and 1.3, with and without a certificate, with one curve, and with finite fields, which are refused.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl.dev.nodes import run_to_the_end
from kraftctl.dev.settings import write_properties
from tests.support.certificates import Authority, Identity, properties_of
from tests.support.processes.kafka import KraftctlController, free_port, kafka, random_id

pytestmark = pytest.mark.interop

SOURCES = Path(__file__).parent

LISTENERS = {
    "none12": ("TLSv1.2", "none"),
    "required12": ("TLSv1.2", "required"),
    "none13": ("TLSv1.3", "none"),
    "required13": ("TLSv1.3", "required"),
}
"""Those of the controller: the version that each speaks, and its ssl.client.auth."""

FINITE_FIELDS = "ffdhe2048"

CURVES = ("X25519", "P-256")

REFUSED = {
    "none12": r"Closing connection from \S+: the SSL handshake failed: no shared cipher ",
    "none13": r"Closing connection from \S+: the SSL handshake failed: no suitable \w+ ",
}
"""The lines about clients that have finite fields alone."""


@dataclass(frozen=True)
class Attempt:
    """One connection to a listener of the controller."""

    listener: str
    group: str = ""
    """The only group that the client has; its own ones if empty."""


MATRIX = [Attempt(listener) for listener in LISTENERS]


class Served:
    """A controller with these listeners, and what clients need to reach it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.cluster_id = random_id()
        self.authority = Authority()
        self.identity = self.authority.issue("CN=client")
        self.ports = {name: free_port() for name in LISTENERS}
        own = self.authority.issue("CN=controller", kind="RSA")
        properties = {
            "controller.listener.names": ",".join(name.upper() for name in LISTENERS),
            "listener.security.protocol.map": ",".join(f"{name.upper()}:SSL" for name in LISTENERS),
            "listeners": ",".join(f"{name.upper()}://localhost:{port}" for name, port in self.ports.items()),
            "controller.quorum.bootstrap.servers": f"localhost:{self.ports['none12']}",
        }
        for name, (version, clients) in LISTENERS.items():
            prefix = f"listener.name.{name}."
            properties |= properties_of(own, self.authority, directory / "controller", prefix)
            properties |= {
                f"{prefix}ssl.enabled.protocols": version,
                f"{prefix}ssl.protocol": version,
                f"{prefix}ssl.client.auth": clients,
            }
        port = self.ports["none12"]
        self.controller = KraftctlController(
            3000, directory / "node", self.cluster_id, port=port, properties=properties
        )

    def address(self, attempt: Attempt) -> str:
        return f"localhost:{self.ports[attempt.listener]}"

    def identity_for(self, attempt: Attempt) -> Identity | None:
        """The certificate of the client, where it is asked for one."""
        return self.identity if attempt.listener.startswith("required") else None


Client = Callable[[Served, list[Attempt]], list[str]]
"""Makes the attempts with one client; returns `served CLUSTER`, or what it says instead."""


def librdkafka(served: Served, attempts: list[Attempt]) -> list[str]:
    """A producer that connects, and learns by ApiVersions what the controller serves."""
    return [_librdkafka(served, attempt) for attempt in attempts]


def _librdkafka(served: Served, attempt: Attempt) -> str:
    outcomes: list[str] = []

    def has_failed(error: KafkaError) -> None:
        if error.code() == KafkaError._SSL:
            outcomes.append(f"refused {error}")

    def is_up(statistics: str) -> None:
        brokers = json.loads(statistics)["brokers"].values()
        if any(broker["state"] == "UP" and broker["req"]["ApiVersion"] > 0 for broker in brokers):
            outcomes.append(f"served {served.cluster_id}")

    keys = {
        "bootstrap.servers": served.address(attempt),
        "security.protocol": "ssl",
        "ssl.ca.pem": served.authority.pem,
        "statistics.interval.ms": 20,
        "stats_cb": is_up,
        "error_cb": has_failed,
        "log_level": 0,
    }
    if own := served.identity_for(attempt):
        keys |= {"ssl.key.pem": own.key_pem(), "ssl.certificate.pem": own.certificates_pem}
    if attempt.group:
        keys["ssl.curves.list"] = attempt.group
    producer = Producer(keys)
    for _ in range(200):
        if producer.poll(0.1) and outcomes:
            break
    producer.purge()
    return outcomes[0] if outcomes else "no outcome"


NAMES_IN_JAVA = {"X25519": "x25519", "P-256": "secp256r1", FINITE_FIELDS: FINITE_FIELDS}


def java(binary: str) -> Client:
    def attempt_all(served: Served, attempts: list[Attempt]) -> list[str]:
        """One JVM for all, whose groups are those of the first."""
        files = []
        for number, attempt in enumerate(attempts):
            directory = served.directory / f"java-{number}"
            own = served.identity_for(attempt)
            stores = properties_of(own or served.identity, served.authority, directory)
            if own is None:
                stores = {key: value for key, value in stores.items() if "truststore" in key}
            files.append(directory / "client.properties")
            keys = {"bootstrap.controllers": served.address(attempt), "security.protocol": "SSL", **stores}
            limits = {"default.api.timeout.ms": "15000", "request.timeout.ms": "15000", "retries": "0"}
            write_properties(files[-1], {**keys, **limits})
        group = NAMES_IN_JAVA.get(attempts[0].group)
        command = [
            binary, "-Xmx256m", *QUICK_JAVA_OPTIONS,
            *([f"-Djdk.tls.namedGroups={group}"] if group else []),
            f"-Dlog4j2.configurationFile={kafka().directory / 'log4j2.properties'}",
            "-Dkraftctl.log.level=OFF", "-cp", kafka().classpath, str(SOURCES / "TlsClient.java"),
        ]  # fmt: skip
        printed = run_to_the_end([*command, *map(str, files)], "a client in Java", 120.0)
        return outcomes_of(printed)

    return attempt_all


def franz_go(served: Served, attempts: list[Attempt]) -> list[str]:
    """Built with Go; its libraries come from the proxy for modules, with the checksums of go.sum."""
    binary = served.directory / "franz-go"
    go = {"GOFLAGS": "-mod=readonly -buildvcs=false"}
    command = [str(GO), "build", "-o", str(binary), "."]
    subprocess.run(command, cwd=SOURCES / "franz_go", env={**os.environ, **go}, check=True, timeout=600)
    files = []
    for number, attempt in enumerate(attempts):
        directory = served.directory / f"go-{number}"
        properties_of(served.identity, served.authority, directory)
        given = {"address": served.address(attempt), "authority": str(directory / "truststore.pem")}
        if served.identity_for(attempt):
            given |= dict.fromkeys(("certificate", "key"), str(directory / "keystore.pem"))
        files.append(directory / "client.json")
        files[-1].write_text(json.dumps({**given, "group": attempt.group}))
    return outcomes_of(run_to_the_end([str(binary), *map(str, files)], "a client in Go", 120.0))


def outcomes_of(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(("served ", "refused "))]


def java_versions() -> dict[int, str]:
    """The `java` of each feature release that is installed, by the file `release` beside it."""
    found = {}
    for file in sorted(Path("/usr/lib/jvm").glob("*/release")):
        binary = file.parent / "bin" / "java"
        if binary.exists() and (version := re.search(r'JAVA_VERSION="(\d+)', file.read_text())):
            found[int(version[1])] = str(binary)
    return found


JAVAS = java_versions()
NEWER = [binary for version, binary in JAVAS.items() if version >= 21]
GO = shutil.which("go") or next((str(each) for each in [Path("/usr/local/go/bin/go")] if each.exists()), None)


def absent(what: object, name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not what, reason=f"{name} is not installed")


CLIENTS = [
    pytest.param(librdkafka, id="librdkafka"),
    pytest.param(
        java(JAVAS.get(17, "")), id="java-17", marks=[pytest.mark.long, absent(17 in JAVAS, "Java 17")]
    ),
    pytest.param(
        java(NEWER[-1] if NEWER else ""),
        id="java-21-or-newer",
        marks=[pytest.mark.long, absent(NEWER, "Java 21 or newer")],
    ),
    pytest.param(franz_go, id="franz-go", marks=[pytest.mark.long, absent(GO, "Go")]),
]


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


@pytest.fixture(scope="module")
def served(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for each client: lines about equal failures of an address are a minute apart."""
    found = Served(tmp_path_factory.mktemp("tls"))
    found.controller.format()
    found.controller.start()
    yield found
    found.controller.kill()


def test_both_versions_serve_it_with_and_without_a_certificate(client: Client, served: Served) -> None:
    assert client(served, MATRIX) == [f"served {served.cluster_id}"] * len(MATRIX)


@pytest.mark.parametrize("curve", CURVES)
def test_one_curve_is_enough(curve: str, client: Client, served: Served) -> None:
    attempts = [Attempt(listener, curve) for listener in ("none12", "required13")]
    assert client(served, attempts) == [f"served {served.cluster_id}"] * len(attempts)


@pytest.mark.parametrize("client", CLIENTS[:-1], indirect=True, scope="module")  # Go has no finite fields
def test_finite_fields_alone_are_refused_with_a_line(client: Client, served: Served) -> None:
    for outcome in client(served, [Attempt(listener, FINITE_FIELDS) for listener in REFUSED]):
        assert outcome.startswith("refused "), outcome
    for line in REFUSED.values():
        served.controller.await_log(line, 10.0)
