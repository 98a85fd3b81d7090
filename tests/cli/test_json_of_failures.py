"""With `--output json`, standard output is one JSON value on each path: also where a command fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftctl.cli import main

NOWHERE = "127.0.0.1:1"
FAST = "default.api.timeout.ms=300\nrequest.timeout.ms=200\n"
SUBJECTS = ("broker 1", "partition t-0", "topic t", "reassignment", "feature f", "controller 1")

OF_A_CLUSTER = [
    *(f"explain {subject} --bootstrap-controllers" for subject in SUBJECTS),
    "features describe --bootstrap-controller",
    "features describe --bootstrap-server",
    "features upgrade --feature f=1 --bootstrap-controller",
    "cluster cluster-id --bootstrap-controller",
    "cluster list-endpoints --bootstrap-controller",
]

LOCAL = [
    *(f"explain {subject} --directory NONE" for subject in (*SUBJECTS, "quorum")),
    "explain broker 1 --directory NONE --command-config NONE",
    "explain broker 1 --bootstrap-controllers h",
    "explain quorum --bootstrap-controllers h:1 --status NONE",
    "health --bootstrap-controllers h:1 --command-config NONE",
    "health --bootstrap-controllers h:1 --operate ftp://h",
    "health --bootstrap-controllers h",
    "doctor NONE",
    "start --check NONE",
    "storage info -c NONE",
    "storage info -c BAD",
    "storage version-mapping --release-version 9.9",
    "storage feature-dependencies --feature f=1",
    "features version-mapping --release-version 9.9",
    "features feature-dependencies --feature f=1",
    "features describe",
    "cluster cluster-id --bootstrap-server h",
]


def value_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The one value that is printed; the reason is on standard error, too."""
    status = main([*arguments, "--output", "json"])
    printed = capsys.readouterr()
    assert status == 1, printed
    found: dict[str, object] = json.loads(printed.out)
    assert isinstance(found["error"], str)
    assert found["error"] in printed.err
    return found


@pytest.mark.parametrize("call", LOCAL)
def test_what_fails_before_a_cluster_is_asked(
    call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad").write_text("node.id=x\n")
    places = {"NONE": str(tmp_path / "none"), "BAD": str(tmp_path / "bad")}
    found = value_of([places.get(word, word) for word in call.split()], capsys)
    if call.startswith(("explain", "health")):
        assert found["verdict"] == "unknown"


@pytest.mark.parametrize("call", OF_A_CLUSTER)
def test_a_cluster_that_is_not_reached(call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "client.properties"
    config.write_text(FAST)
    value_of([*call.split(), NOWHERE, "--command-config", str(config)], capsys)


@pytest.mark.parametrize("call", ["--operate ftp://h", "--command-config NONE"])
def test_nagios_shows_the_reason(call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(tmp_path / "a|b") if word == "NONE" else word for word in call.split()]
    assert main(["health", "--bootstrap-controllers", "h:1", *words, "--output", "nagios"]) == 3
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("KRAFT UNKNOWN - kraftctl health: ")
    assert "|" not in line, "figures follow a bar"
