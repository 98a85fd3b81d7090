"""`kraftctl start`: the life of a process, and refusals in one line with the next step."""

from __future__ import annotations

import logging
import os
import random
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.start import announce, load_config
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.requests import decode_response, encode_request
from kraftctl_protocol.uuids import random_uuid
from tests.support.certificates import Authority
from tests.support.controller_properties import controller_properties

NODE_ID = 3000
CLUSTER_ID = "q1Sh-9_ISia_zwGINzRvyQ"
STOP_SECONDS_MAX = 30


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """A directory formatted for NODE_ID."""
    directory = tmp_path / "data"
    meta = MetaProperties(CLUSTER_ID, NODE_ID, random_uuid(random.Random(1)))
    write_meta_properties(directory, meta, wall_ms=0)
    return directory


def properties_file(tmp_path: Path, log_dir: Path, **changes: str | None) -> str:
    port = free_port()
    properties: dict[str, str | None] = {
        **controller_properties(log_dir, node_id=NODE_ID, address=f"127.0.0.1:{port}", static=True),
        **{key.replace("__", "."): value for key, value in changes.items()},
    }
    file = tmp_path / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items() if value is not None))
    return str(file)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What standard error says when `kraftctl start` refuses; the log has the same reasons."""
    assert main(["start", *arguments]) == 1
    output, error = capsys.readouterr()
    assert error.startswith("kraftctl start: ")
    assert "Traceback" not in error
    logged = re.findall(
        r"^\[[-0-9: ,]{23}\] FATAL (?:\[ControllerServer id=\d+\] )?Exiting: (.*) \(kraftctl\.server\)$",
        output,
        re.MULTILINE,
    )
    assert logged == [line.removeprefix("kraftctl start: ") for line in error.splitlines()]
    return error


def test_a_missing_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "there is no file" in refusal(capsys, str(tmp_path / "nowhere.properties"))


def test_every_bad_key_has_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    file = properties_file(tmp_path, log_dir, num__partitions="many", broker__session__timeout__ms="x")
    error = refusal(capsys, file)
    assert error.count("\n") == 2
    assert "Invalid value many for configuration num.partitions" in error


def test_overrides_go_before_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    file = properties_file(tmp_path, log_dir)
    assert "num.partitions" in refusal(capsys, file, "--override", "num.partitions=0")
    assert "KEY=VALUE" in refusal(capsys, file, "--override", "nonsense")


def test_a_directory_that_is_not_formatted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = refusal(capsys, properties_file(tmp_path, tmp_path / "empty"))
    assert "has not been formatted" in error
    assert "kraftctl format" in error
    assert error.count("\n") == 1


def test_a_directory_of_another_node(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    file = properties_file(tmp_path, log_dir, node__id="1", controller__quorum__voters="1@h:1")
    error = refusal(capsys, file)
    assert "node.id 3000, expected 1" in error
    assert "Next step" in error


def test_directories_of_two_clusters(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    other = tmp_path / "other"
    write_meta_properties(
        other, MetaProperties("OtherClusterOtherClust", NODE_ID, random_uuid(random.Random(2))), 0
    )
    file = properties_file(tmp_path, other, metadata__log__dir=str(log_dir))
    assert "another cluster" in refusal(capsys, file)


def test_a_directory_in_use(capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path) -> None:
    lock = DirectoryLock.acquire(log_dir)
    try:
        assert "in use" in refusal(capsys, properties_file(tmp_path, log_dir))
    finally:
        lock.release()


def test_a_refused_start_leaves_the_directory_unlocked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    refusal(capsys, properties_file(tmp_path, log_dir, node__id="1", controller__quorum__voters="1@h:1"))
    DirectoryLock.acquire(log_dir).release()


def test_a_port_in_use(capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        file = properties_file(tmp_path, log_dir, listeners=f"CONTROLLER://127.0.0.1:{port}")
        error = refusal(capsys, file)
    assert f"cannot listen on CONTROLLER://127.0.0.1:{port}" in error
    assert "Next step" in error
    DirectoryLock.acquire(log_dir).release()


def started(file: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.Popen(
        [sys.executable, "-m", "kraftctl", "start", file, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def port_when_listening(process: subprocess.Popen[str], lines: list[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if match := re.search(r"Awaiting socket connections on .* \(port (\d+)\)", line):
            return int(match.group(1))
    raise AssertionError("never listened:\n" + "".join(lines))


def api_versions(port: int) -> ApiVersionsResponse:
    header = RequestHeader(
        request_api_key=ApiKey.API_VERSIONS, request_api_version=4, correlation_id=1, client_id="test"
    )
    body = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    with socket.create_connection(("127.0.0.1", port), timeout=STOP_SECONDS_MAX) as connection:
        connection.sendall(encode_frame(encode_request(header, body)))
        stream = connection.makefile("rb")
        frame = stream.read(int.from_bytes(stream.read(4), "big"))
    _, response = decode_response(frame, ApiKey.API_VERSIONS, 4)
    assert isinstance(response, ApiVersionsResponse)
    return response


def test_a_keystore_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, log_dir: Path
) -> None:
    """One line, without the password, before the log is opened."""
    store = tmp_path / "store.p12"
    store.write_bytes(Authority().issue("CN=a").pkcs12("right"))
    keys = {"type": "PKCS12", "location": str(store), "password": "hunter2"}
    file = properties_file(
        tmp_path,
        log_dir,
        listener__security__protocol__map="CONTROLLER:SSL",
        **{f"ssl__keystore__{key}": value for key, value in keys.items()},
    )
    error = refusal(capsys, file)
    assert error.count("\n") == 1
    assert f"Listener CONTROLLER: the keystore {store} cannot be read" in error
    assert "Next step: check its type and ssl.keystore.password" in error
    assert "hunter2" not in error
    assert [path.name for path in log_dir.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_and_starts_again(
    tmp_path: Path, log_dir: Path, number: signal.Signals
) -> None:
    file = properties_file(tmp_path, log_dir, my__own__key="x")
    for _ in range(2):
        lines: list[str] = []
        process = started(file)
        try:
            port = port_when_listening(process, lines)
            assert 63 in {api.api_key for api in api_versions(port).api_keys}
            process.send_signal(number)
            rest, _ = process.communicate(timeout=STOP_SECONDS_MAX)
        finally:
            process.kill()
            process.wait()
        output = "".join(lines) + rest
        assert process.returncode == 0, output
        assert output.count("my.own.key") == 1, "unknown keys are named once"
        assert f"Stopping on {number.name}" in output
        assert "Traceback" not in output


def test_a_flag_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["start", "--foo", "controller.properties"])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert "unrecognized arguments: --foo" in error
    assert "usage: kraftctl start" in error


def test_a_misspelt_key_is_named_with_what_was_meant(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, log_dir: Path
) -> None:
    file = Path(properties_file(tmp_path, log_dir))
    keys = ["num.partitons=3", "zookeeper.connect=x", "my.own.key=1", "num.io.threads=8"]
    config = load_config(file, keys)
    with caplog.at_level(logging.WARNING):
        announce(config, MetaProperties(CLUSTER_ID, NODE_ID, None))
    own, misspelt, removed = (record.message for record in caplog.records)
    assert own.startswith("Kafka has no configuration my.own.key: it has no effect.")
    assert misspelt == "Kafka has no configuration num.partitons: did you mean num.partitions?"
    assert removed.startswith("Kafka has removed the configuration zookeeper.connect, which 3.9 had")


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--version"], ["--help"], ["start", "--help"]):
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        assert exit_.value.code == 0
    output = capsys.readouterr().out
    assert re.search(r"^kraftctl \d+\.\d+\.\d+(\.dev\d+)?$", output, re.MULTILINE)
    assert "--override" in output
    assert main([]) == 2
