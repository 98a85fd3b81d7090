"""`kraftctl container` writes, formats and starts; what start scripts and health checks ask."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kraftctl.cli import main
from kraftctl.cli.container import command
from kraftctl.cli.container.livez import LISTENERS, WRITTEN, answer
from kraftctl.cli.container.role import is_controller
from kraftctl.config.operate_config import LISTENERS as OPERATE_LISTENERS
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl_protocol.java_properties import decode_properties

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"


def controller_variables(directory: Path) -> dict[str, str]:
    port = free_port()
    return {
        "CLUSTER_ID": CLUSTER_ID,
        "KAFKA_NODE_ID": "1",
        "KAFKA_PROCESS_ROLES": "controller",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": f"CONTROLLER://localhost:{port}",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"1@localhost:{port}",
        "KAFKA_LOG_DIRS": str(directory / "data"),
        "KRAFTCTL_OPERATE_LISTENERS": f"http://:{free_port()}",
    }


def with_only(variables: Mapping[str, str], *command: str) -> list[str]:
    """A command line with these variables, and those that find the sources."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    return ["env", "-i", *(f"{name}={value}" for name, value in (kept | dict(variables)).items()), *command]


@pytest.fixture
def only_these(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variables of this process; what the command sets is undone."""
    for name in list(os.environ):
        if name.startswith(("KAFKA_", "KRAFTCTL_", "CLUSTER_ID")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return monkeypatch


def container(tmp_path: Path, *words: str) -> int:
    directories = ["--mounted", str(tmp_path / "mounted"), "--secrets", str(tmp_path / "secrets")]
    return main(["container", *directories, "--properties", str(tmp_path / "made/server.properties"), *words])


def test_the_file_is_closed_to_other_accounts(tmp_path: Path, only_these: pytest.MonkeyPatch) -> None:
    only_these.setenv("KAFKA_NODE_ID", "1")
    (tmp_path / "mounted").mkdir()
    (tmp_path / "mounted/server.properties").write_text("node.id=7\nlog.dirs=/data")
    made = tmp_path / "made/server.properties"
    made.parent.mkdir()
    made.touch(mode=0o644)
    assert container(tmp_path, "--write-only", "KAFKA_NODE_ID=2") == 0
    assert made.stat().st_mode & 0o777 == 0o600
    assert decode_properties(made.read_bytes()) == {"node.id": "2", "log.dirs": "/data"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param([], "there are neither KAFKA_", id="nothing"),
        pytest.param(["NODE"], "VARIABLE=VALUE", id="no-variable"),
        pytest.param(["KAFKA_NODE_ID=1", "CLUSTER_ID=x", "KRAFTCTL_FORMAT=-s '"], "quote", id="open-quote"),
        pytest.param(["KAFKA_LOG4J_ROOT_LOGLEVEL=X"], "use one of", id="level"),
        pytest.param(
            ["KAFKA_SSL_KEY_CREDENTIALS=x", "KAFKA_CONTROLLER_LISTENER_NAMES=SSL"],
            "there is no such file",
            id="secret",
        ),
        pytest.param(["KAFKA_NODE_ID=1", "CLUSTER_ID=x"], "process.roles", id="format"),
        pytest.param(["KAFKA_NODE_ID=1"], "process.roles", id="start"),
    ],
)
def test_what_cannot_be_started_is_refused(
    tmp_path: Path,
    only_these: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
    reason: str,
) -> None:
    assert container(tmp_path, *words) == 1
    said = capfd.readouterr()
    assert reason in said.out + said.err


def test_it_formats_starts_is_alive_and_stops(tmp_path: Path) -> None:
    """Twice: what is formatted stays as it is."""
    variables = controller_variables(tmp_path) | {"KAFKA_HEAP_OPTS": "-Xmx1g"}
    made = tmp_path / "server.properties"
    words = [
        "container",
        "--properties",
        str(made),
        "--mounted",
        str(tmp_path / "none"),
        "--secrets",
        str(tmp_path),
    ]
    kraftctl = with_only(variables, sys.executable, "-m", "kraftctl", *words)
    ids = set()
    for _ in range(2):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        process = ManagedProcess("container", kraftctl, log)
        try:
            await_result(partial(is_alive, process, made), "it is alive", 60.0, 0.1)
            process.terminate()
            assert process.wait(60.0) == 0
        finally:
            process.kill_group()
        assert log.read_text().count("Ignored, as there is no JVM: KAFKA_HEAP_OPTS\n") == 1
        ids.add((tmp_path / "data/meta.properties").read_text())
    (only,) = ids
    assert CLUSTER_ID in only


def is_alive(process: ManagedProcess, file: Path) -> bool:
    assert process.running, process.tail()
    return answer(file)[0] == 0


def test_more_flags_of_format(tmp_path: Path) -> None:
    arguments = command.format_arguments(
        tmp_path, {"CLUSTER_ID": "-x", "KRAFTCTL_FORMAT": "--standalone -r '4.2'"}
    )
    assert (arguments.cluster_id, arguments.standalone, arguments.release_version) == ("-x", True, "4.2")
    assert arguments.ignore_formatted


@pytest.mark.parametrize(
    ("text", "words", "ours"),
    [
        pytest.param("process.roles=controller", [], True, id="controller"),
        pytest.param("process.roles : controller ", [], True, id="as-java-reads-it"),
        pytest.param("process.roles=broker", [], False, id="broker"),
        pytest.param("process.roles=broker,controller", [], False, id="combined"),
        pytest.param("", [], False, id="none"),
        pytest.param("process.roles=\\u00", [], False, id="unreadable"),
        pytest.param("process.roles=broker", ["--override", "process.roles=controller"], True, id="override"),
        pytest.param("process.roles=controller", ["--override", "process.roles=broker"], False, id="not-now"),
    ],
)
def test_who_starts_a_file(tmp_path: Path, text: str, words: list[str], ours: bool) -> None:
    file = tmp_path / "server.properties"
    file.write_text(text)
    assert is_controller([str(file), *words]) == ours
    assert not is_controller([str(tmp_path / "none")])


def test_who_starts_variables(tmp_path: Path, only_these: pytest.MonkeyPatch) -> None:
    assert not is_controller([], tmp_path)
    (tmp_path / "server.properties").write_text("process.roles=broker")
    assert not is_controller([], tmp_path)
    only_these.setenv("KAFKA_PROCESS_ROLES", "controller")
    assert is_controller([], tmp_path)


def test_the_role_is_an_exit_status(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    for role, status in (("controller", 0), ("broker", 3)):
        file.write_text(f"process.roles={role}")
        asked = [sys.executable, "-m", "kraftctl.cli.container.role", str(file)]
        assert subprocess.run(asked, check=False).returncode == status


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "nor one of the controller", id="none"),
        pytest.param("listeners=CONTROLLER://:1", "refused", id="ended-without-livez"),
        pytest.param(f"{LISTENERS}=http://localhost", "has no port", id="no-port-at-all"),
        pytest.param(f"{LISTENERS}=${{env:A_PORT}}", "no provider resolves", id="no-variable"),
        pytest.param(f"{LISTENERS}=http://0.0.0.0:1", "refused", id="ended"),
        pytest.param(f"{LISTENERS}=http://localhost:x", "Port", id="no-port"),
    ],
)
def test_what_is_not_alive(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "server.properties"
    file.write_text(text)
    status, said = answer(file)
    assert status == 1
    assert reason in said
    assert answer(tmp_path / "none")[0] == 1


ENV = "config.providers=env\nconfig.providers.env.class="
ENV += "org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("listeners=CONTROLLER://:{}", id="not-set"),
        pytest.param(f"{LISTENERS}=\nlisteners=CONTROLLER://0.0.0.0:{{}},B://:1", id="empty"),
        pytest.param(f"{ENV}listeners=CONTROLLER://${{{{env:HOST_OF_POD}}}}:{{}}", id="by-a-variable"),
    ],
)
def test_without_livez_a_controller_that_accepts_connections_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("HOST_OF_POD", "localhost")
    with socket.create_server(("localhost", 0)) as accepting:
        file = tmp_path / "server.properties"
        file.write_text(text.format(accepting.getsockname()[1]))
        status, said = answer(file)
    assert (status, said.startswith("connected to CONTROLLER://")) == (0, True), said
    assert answer(file)[0] == 1


def test_livez_is_asked_at_an_address_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_OF_POD", "localhost")
    with ThreadingHTTPServer(("localhost", 0), SaysItsPath) as server:
        Thread(target=server.serve_forever).start()
        file = tmp_path / "server.properties"
        file.write_text(f"{ENV}{LISTENERS}=http://${{env:HOST_OF_POD}}:{server.server_port}")
        assert answer(file) == (0, "/livez")
        server.shutdown()


class SaysItsPath(BaseHTTPRequestHandler):
    """Responds with the path that was asked for."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())


def test_the_health_check_knows_key_and_file() -> None:
    """It imports neither: it runs every few seconds."""
    assert LISTENERS == OPERATE_LISTENERS
    assert WRITTEN == command.WRITTEN


def test_an_empty_advertised_address_is_none(tmp_path: Path, only_these: pytest.MonkeyPatch) -> None:
    """As the scripts of the apache/kafka image unset it for a controller."""
    made = tmp_path / "made/server.properties"
    for given, expected in (("", None), ("CONTROLLER://a:1", "CONTROLLER://a:1")):
        words = ["KAFKA_NODE_ID=1", f"KAFKA_ADVERTISED_LISTENERS={given}"]
        assert container(tmp_path, "--write-only", *words) == 0
        assert decode_properties(made.read_bytes()).get("advertised.listeners") == expected
    only_these.setenv("KAFKA_ADVERTISED_LISTENERS", "")
    assert container(tmp_path, "--write-only", "KAFKA_NODE_ID=1") == 0
    assert "advertised.listeners" not in decode_properties(made.read_bytes())


def test_a_shared_block_of_variables_is_for_a_plaintext_controller_too(
    tmp_path: Path, only_these: pytest.MonkeyPatch
) -> None:
    """Without the mount: the scripts of the apache/kafka image do not look at it for a controller."""
    words = ["KAFKA_NODE_ID=1", "KAFKA_SSL_KEYSTORE_FILENAME=store", "KAFKA_SSL_KEY_CREDENTIALS=password"]
    assert container(tmp_path, "--write-only", *words) == 0
    made = tmp_path / "made/server.properties"
    assert decode_properties(made.read_bytes()) == {"node.id": "1"}
