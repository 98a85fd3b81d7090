"""The properties files in examples/: formatted and started with the commands in their comments, and asked."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.settings import random_id
from tests.support.certificates import Authority
from tests.support.processes.kafka import JavaController, kafka

EXAMPLES = Path(__file__).parents[2] / "examples"
SINGLE, THREE, MIXED, TLS = (
    f"{name}.properties" for name in ("single-controller", "quorum-of-three", "mixed-quorum", "tls-and-scram")
)

LISTENING = "Awaiting socket connections on"


@pytest.fixture(autouse=True)
def absolute_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, paths)))


def commands(text: str) -> list[list[str]]:
    """The words of each `kraftctl` in the comments, without its name."""
    comment = "".join(re.findall(r"^#   (.*\n)", text, re.MULTILINE)).replace("\\\n", " ")
    found = [shlex.split(line) for line in comment.splitlines() if line.startswith("kraftctl ")]
    return [words[1:] for words in found]


def in_directory(name: str, directory: Path, replaced: dict[str, str]) -> Path:
    """The example, for a directory and the ports of this test."""
    text = (EXAMPLES / name).read_text()
    places = dict.fromkeys(("/var/lib/", "/var/log/", "/etc/"), f"{directory}/")
    for old, new in {**places, **replaced}.items():
        assert old in text or old in places
        text = text.replace(old, new)
    directory.mkdir()
    for place in ("kraftctl", "kraftctl/secrets"):
        (directory / place).mkdir()
    file = directory / name
    file.write_text(text)
    return file


def format_as_it_says(file: Path, replaced: dict[str, str]) -> None:
    """Runs its first command, `$(kraftctl random-uuid)` too, and `start --check` after it."""
    formatting, starting, *_ = commands(file.read_text())
    assert starting == ["start", file.name]
    run_as_it_says(formatting, file, replaced)
    run_to_the_end(kraftctl_command("start", "--check", str(file)), "checking")


def run_as_it_says(command: list[str], file: Path, replaced: dict[str, str]) -> None:
    words = []
    for word in command:
        for old, new in {**replaced, file.name: str(file)}.items():
            word = word.replace(old, new)
        if word == "$(kraftctl random-uuid)":
            word = run_to_the_end(kraftctl_command("random-uuid"), "an id").strip()
        words.append(word)
    run_to_the_end(kraftctl_command(*words), " ".join(words))


@contextmanager
def started(file: Path) -> Iterator[ManagedProcess]:
    process = ManagedProcess(
        file.parent.name, kraftctl_command("start", "--strict", str(file)), file.parent / "output", {}
    )
    try:
        process.await_line(LISTENING, 30.0)
        yield process
        assert process.terminate() == 0
    finally:
        process.kill()


def describe(port: int, *flags: str) -> str:
    asked = ("quorum", "--bootstrap-controller", f"localhost:{port}", *flags, "describe", "--status")
    return run_to_the_end(kraftctl_command(*asked), "asking")


def voters(port: int, *flags: str) -> list[str]:
    """Ids in CurrentVoters; none without a leader."""
    try:
        found = re.search(r"CurrentVoters: +(.*)", describe(port, *flags))
    except ProcessFailedError:
        return []
    return [] if found is None else re.findall(r'"id": (\d+)', found[1])


def test_the_examples_are_these() -> None:
    assert {path.name for path in EXAMPLES.glob("*.properties")} == {SINGLE, THREE, MIXED, TLS}


def test_a_single_controller(tmp_path: Path) -> None:
    port = free_port()
    file = in_directory(SINGLE, tmp_path / "one", {"localhost:9093": f"localhost:{port}"})
    format_as_it_says(file, {})
    with started(file):
        await_result(lambda: voters(port) == ["3000"], "the controller leads", 30.0)


@pytest.mark.slow
def test_a_quorum_of_three(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    hosts = {f"controller-{n}:9093": f"localhost:{port}" for n, port in enumerate(ports, 1)}
    ids = {"CLUSTER_ID": random_id(), **{f"ID_{n}": random_id() for n in (1, 2, 3)}}
    with ExitStack() as stack:
        for n, port in enumerate(ports):
            own = {
                "node.id=3000": f"node.id=300{n}",
                "CONTROLLER://controller-1:9093": f"CONTROLLER://localhost:{port}",
            }
            file = in_directory(THREE, tmp_path / f"node-{n}", {**own, **hosts})
            format_as_it_says(file, ids)
            stack.enter_context(started(file))
        expected = ["3000", "3001", "3002"]
        await_result(lambda: sorted(voters(ports[0])) == expected, "a leader of three voters", 30.0)
    for n in range(3):
        assert (tmp_path / f"node-{n}/kraftctl/audit.log").exists()


@pytest.mark.slow
@pytest.mark.interop
def test_beside_a_controller_of_kafkas_own(tmp_path: Path) -> None:
    """One of them, in place of three."""
    port, cluster_id = free_port(), random_id()
    java = JavaController(kafka(), 1, tmp_path / "java", cluster_id)
    java.format()
    addresses = ",".join(f"controller-{n}:9093" for n in (1, 2, 3))
    file = in_directory(
        MIXED, tmp_path / "mixed", {addresses: java.address, "controller-4:9093": f"localhost:{port}"}
    )
    replaced = {"CLUSTER_ID": cluster_id, "controller-1:9093": java.address}
    try:
        java.start()
        format_as_it_says(file, replaced)
        with started(file):
            *_, adding = commands(file.read_text())

            def is_added() -> bool:
                try:
                    run_as_it_says(adding, file, replaced)
                except ProcessFailedError:
                    return False
                return True

            await_result(is_added, "it has the log, and is added", 30.0)
            await_result(lambda: voters(port) == ["1", "3000"], "both are voters", 30.0)
    finally:
        java.kill()


def test_tls_and_scram(tmp_path: Path) -> None:
    port = free_port()
    replaced = {"localhost:9093": f"localhost:{port}"}
    file = in_directory(TLS, tmp_path / "tls", replaced)
    secrets = file.parent / "kraftctl"
    authority = Authority()
    (secrets / "ca.pem").write_text(authority.pem)
    (secrets / "controller-keystore.pem").write_text(authority.issue("CN=controller").pem())
    (secrets / "secrets.properties").write_text("password=between-controllers\n")
    (secrets / "controller-users").write_text(
        "SCRAM-SHA-512=[name=controller,password=between-controllers]\n"
    )
    format_as_it_says(file, {"password=...": "password=of-a-client"})
    client = tmp_path / "client.properties"
    client.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        ' username="ada" password="of-a-client";\n'
        f"ssl.truststore.type=PEM\nssl.truststore.location={secrets / 'ca.pem'}\n"
        "default.api.timeout.ms=3000\n"
    )
    with started(file):
        known = ("--command-config", str(client))
        await_result(lambda: voters(port, *known) == ["3000"], "the controller leads", 30.0)
        client.write_text(client.read_text().replace("of-a-client", "wrong"))
        with pytest.raises(ProcessFailedError, match="invalid credentials"):
            describe(port, *known)
    said = (file.parent / "output").read_text()
    assert "between-controllers" not in said
    assert "of-a-client" not in said
