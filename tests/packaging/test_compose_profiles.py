"""deploy/compose/docker-compose.yml: what each profile starts, with the settings of `kraftctl dev`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml
from confluent_kafka.admin import AdminClient, NewTopic

from kraftctl.cli import format_storage, main
from kraftctl.cli.container.command import format_arguments
from kraftctl.cli.container.environment import property_lines
from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION, resolve_kafka
from kraftctl.dev.nodes import BROKER_READY
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.dev.settings import (
    BROKER_SETTINGS,
    CONTROLLER_SETTINGS,
    write_meta_properties,
    write_properties,
)
from kraftctl_protocol.java_properties import parse_properties
from tests.cli.container.test_command import with_only

DIRECTORY = Path(__file__).resolve().parents[2] / "deploy/compose"
COMPOSE = yaml.safe_load((DIRECTORY / "docker-compose.yml").read_text())
SERVICES: dict[str, dict] = COMPOSE["services"]
BROKERS = ["broker-1", "broker-2", "broker-3"]
CONTROLLERS = ["controller", "controller-1", "controller-2", "controller-3", "secure-controller"]

PROFILES = {
    "single": ["controller", *(f"single-{name}" for name in BROKERS)],
    "quorum": ["controller-1", "controller-2", "controller-3", *BROKERS],
    "secure": ["secure-controller", "secure-broker"],
    "observe": ["prometheus", "grafana", "console"],
}

OF_THE_CONTAINER = {
    "node.id",
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "log.dirs",
    "controller.quorum.bootstrap.servers",
    "kraftctl.operate.listeners",
}
"""Addresses and directories."""


PASSWORD = "${ADMIN_PASSWORD:-}"
PROTOCOLS = "listener.security.protocol.map"


def properties(name: str) -> dict[str, str]:
    variables = {key: value.replace("$$", "$") for key, value in SERVICES[name]["environment"].items()}
    return parse_properties("\n".join(property_lines(variables)))


def settings(name: str) -> dict[str, str]:
    return {key: value for key, value in properties(name).items() if key not in OF_THE_CONTAINER}


def test_profiles() -> None:
    found: dict[str, list[str]] = {profile: [] for profile in PROFILES}
    for name, service in SERVICES.items():
        for profile in service["profiles"]:
            found[profile].append(name)
    assert {key: sorted(names) for key, names in found.items()} == {
        key: sorted(names) for key, names in PROFILES.items()
    }


def test_nodes_have_the_settings_of_kraftctl_dev() -> None:
    for names, expected in ((BROKERS, BROKER_SETTINGS), (CONTROLLERS[:-1], CONTROLLER_SETTINGS)):
        for name in names:
            assert settings(name) == {
                key: each for key, each in expected.items() if key not in OF_THE_CONTAINER
            }
            assert properties(name)[PROTOCOLS].startswith(expected[PROTOCOLS])


def test_secured_nodes_agree_with_kraftctl_dev_in_all_that_both_set() -> None:
    """Except for counts of replicas, as there is one broker."""
    for name, expected in (("secure-broker", BROKER_SETTINGS), ("secure-controller", CONTROLLER_SETTINGS)):
        both = settings(name).keys() & expected.keys() - {"inter.broker.listener.name"}
        for key in sorted(both):
            count = "replicas" in key or "replication" in key or key.endswith("min.isr")
            assert settings(name)[key] == ("1" if count else expected[key]), key


def test_images_are_pinned_and_ports_are_of_this_machine() -> None:
    for name, service in SERVICES.items():
        tag = service["image"].partition(":")[2]
        assert re.fullmatch(r"v?\d+(\.\d+)+(@sha256:[0-9a-f]{64})?|slim(-console)?", tag), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    assert {SERVICES[name]["image"].partition("@")[0] for name in [*BROKERS, "secure-broker"]} == {
        f"apache/kafka:{DEFAULT_KAFKA_VERSION}"
    }


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_need_no_right_and_no_writable_root(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    volume, target = service["volumes"][0].split(":")
    assert target == properties(name)["log.dirs"]
    assert volume in COMPOSE["volumes"]


def test_what_observes_has_no_rights_and_no_password_that_all_know() -> None:
    """Grafana's own administrator would be admin, with the password admin."""
    for name in ("prometheus", "grafana", "console"):
        assert SERVICES[name]["cap_drop"] == ["ALL"], name
        assert SERVICES[name]["security_opt"] == ["no-new-privileges:true"], name
    environment = SERVICES["grafana"]["environment"]
    assert environment["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert "GF_AUTH_ANONYMOUS_ORG_ROLE" not in environment, "a Viewer, unless it says otherwise"


def test_what_is_mounted_and_built_is_there() -> None:
    mounted = [each for service in SERVICES.values() for each in service.get("volumes", ())]
    files = {each.split(":")[0] for each in mounted if each.startswith(".")}
    assert files - {"./certs"} == {
        "./prometheus.yml",
        "./grafana-datasource.yml",
        "../prometheus/kraftctl-alerts.yml",
        "../grafana/kraftctl.json",
    }
    assert all((DIRECTORY / each).is_file() for each in files - {"./certs"})
    build = SERVICES["controller"]["build"]
    assert (DIRECTORY / build["context"] / build["dockerfile"]).is_file()


def on_localhost(variables: dict[str, str], ports: dict[str, int]) -> dict[str, str]:
    """The same nodes on this machine: each address of the file at a port of its own."""
    found = {}
    for key, value in variables.items():
        for address, port in ports.items():
            value = value.replace(address, f"localhost:{port}")
        found[key] = value
    return found


@pytest.mark.interop
@pytest.mark.java
@pytest.mark.slow
@pytest.mark.long
def test_the_secured_nodes_serve_a_user(tmp_path: Path) -> None:
    """Controller and broker connect by certificates, and a client by SCRAM."""
    certificates = tmp_path / "certs"
    subprocess.run([DIRECTORY / "certificates.sh", certificates], check=True)
    controller, inside, outside, probes = (free_port() for _ in range(4))
    ports = {
        "secure-controller:9093": controller,
        "secure-broker:9092": inside,
        "localhost:29091": outside,
        "//:9093": controller,
        "INTERNAL://:9092": inside,
        "HOST://:19092": outside,
    }
    variables = on_localhost(SERVICES["secure-controller"]["environment"], ports)
    variables = {key: each.replace("//:", "//localhost:") for key, each in variables.items()}
    listeners = {"KAFKA_LISTENERS": f"CONTROLLER://localhost:{controller}"}
    own = {
        "KAFKA_LOG_DIRS": f"{tmp_path}/controller",
        "KRAFTCTL_OPERATE_LISTENERS": f"http://127.0.0.1:{probes}",
    }
    flags = {"KRAFTCTL_FORMAT": variables["KRAFTCTL_FORMAT"].replace(PASSWORD, "admin-secret")}
    words = ["container", "--secrets", str(certificates), "--properties", str(tmp_path / "server.properties")]
    command = with_only({**variables, **listeners, **own, **flags}, sys.executable, "-m", "kraftctl", *words)
    process = ManagedProcess("controller", command, tmp_path / "controller.log")
    file = tmp_path / "broker.properties"
    of_broker = on_localhost(properties("secure-broker"), ports)
    of_broker["listeners"] = f"INTERNAL://localhost:{inside},HOST://localhost:{outside}"
    of_broker["log.dirs"] = str(tmp_path / "broker")
    for store in ("keystore", "truststore"):
        of_broker[f"ssl.{store}.location"] = of_broker[f"ssl.{store}.location"].replace(
            "/etc/kafka/secrets", str(certificates)
        )
    write_properties(file, of_broker)
    write_meta_properties(tmp_path / "broker", cluster_id=variables["CLUSTER_ID"], node_id=1)
    broker: ManagedProcess | None = None
    try:
        process.await_line("Becoming the active controller", 60.0)
        broker = ManagedProcess("broker", resolve_kafka().node_command(file), tmp_path / "broker.log")
        broker.await_line(BROKER_READY, 180.0)
        admin = AdminClient(
            {
                "bootstrap.servers": f"localhost:{outside}",
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "admin",
                "sasl.password": "admin-secret",
                "ssl.ca.location": str(certificates / "ca.pem"),
            }
        )
        admin.create_topics([NewTopic("t", 1, 1)])["t"].result(60)
    finally:
        for each in filter(None, (broker, process)):
            each.terminate()


def test_prometheus_finds_the_controllers_of_every_profile() -> None:
    (job,) = yaml.safe_load((DIRECTORY / "prometheus.yml").read_text())["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    aliases = SERVICES["controller"]["networks"]["default"]["aliases"]
    assert set(found["names"]) == {*aliases, *CONTROLLERS[1:]}
    for name in CONTROLLERS:
        assert properties(name)["kraftctl.operate.listeners"] == f"http://:{found['port']}"
    assert job["job_name"].startswith("kafka-controller")


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_controller_is_formatted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own variables, with another directory. Trial certificates are made as the page says."""
    for variable in [each for each in os.environ if each.startswith(("KAFKA_", "KRAFTCTL_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    certificates = tmp_path / "certs"
    if name.startswith("secure"):
        subprocess.run([DIRECTORY / "certificates.sh", certificates], check=True)
    variables = {
        key: each.replace(PASSWORD, "admin-secret") for key, each in SERVICES[name]["environment"].items()
    }
    words = [f"{key}={each}" for key, each in variables.items()]
    words += [f"KAFKA_LOG_DIRS={tmp_path}/data"]
    file = tmp_path / "server.properties"
    places = ["--secrets", str(certificates), "--mounted", str(tmp_path / "none")]
    assert main(["container", "--write-only", "--properties", str(file), *places, *words]) == 0
    assert main(["doctor", "--offline", str(file)]) in (0, 10)
    flags = format_arguments(file, variables)
    assert flags.cluster_id == SERVICES["broker-1"]["environment"]["CLUSTER_ID"]
    assert format_storage.run(flags) == 0
    assert (tmp_path / "data/meta.properties").exists()


def test_profiles_share_no_volume() -> None:
    """A broker that is registered with one quorum does not start with another."""
    found: dict[str, set[str]] = {}
    for service in SERVICES.values():
        (profile,) = service["profiles"]
        named = {each.split(":")[0] for each in service.get("volumes", ())} & COMPOSE["volumes"].keys()
        found.setdefault(profile, set()).update(named)
    assert sum(map(len, found.values())) == len(set().union(*found.values())) == len(COMPOSE["volumes"])
    # Earlier files had others: a controller that knows topics does not begin with empty brokers.
    assert {each.partition("-")[0] for each in found["single"]} == {"single"}


def test_no_password_of_the_super_user_is_no_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without ADMIN_PASSWORD; Compose itself would refuse the other profiles, too."""
    file = tmp_path / "server.properties"
    write_properties(file, properties("controller") | {"log.dirs": str(tmp_path / "data")})
    variables = SERVICES["secure-controller"]["environment"]
    flags = {"KRAFTCTL_FORMAT": variables["KRAFTCTL_FORMAT"].replace(PASSWORD, "")}
    assert format_storage.run(format_arguments(file, {**variables, **flags})) == 1
    assert "password" in capsys.readouterr().err
    assert not (tmp_path / "data/meta.properties").exists()


def test_the_console_has_a_token_for_each_start(tmp_path: Path) -> None:
    """Its command, with directories and ports of this test; no container of the network reads the page."""
    service = SERVICES["console"]
    (script,) = service["command"]
    port = free_port()
    (published,) = service["ports"]
    assert published.rpartition(":")[2] == "8080"
    program = tmp_path / "kraftctl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kraftctl "$@"\n')
    program.chmod(0o755)
    assert "/run/kraftctl" in service["tmpfs"]
    here = {"$$": "$", "/run/kraftctl": str(tmp_path), "0.0.0.0:8080": f"127.0.0.1:{port}"}
    for there, place in here.items():
        script = script.replace(there, place)
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = ManagedProcess(
        "console", [*service["entrypoint"], script], tmp_path / "log", {**os.environ, "PATH": path}
    )
    try:
        address = process.await_line(r"http://localhost:8080/\?token=.{43}$", 60.0)
        process.await_line("has the console", 120.0)
        token = {"Authorization": f"Bearer {address.rpartition('=')[2]}"}
        for headers, status in ((token, 200), ({}, 401)):
            assert status_of(Request(f"http://127.0.0.1:{port}/", headers=headers)) == status
    finally:
        process.terminate()


def status_of(request: Request) -> int:
    try:
        with urlopen(request, timeout=60.0) as response:
            return response.status
    except HTTPError as error:
        return error.code
