"""What the slim image sets by itself gives way to a mounted file, and both to variables."""

from __future__ import annotations

import json
import os
import shlex
import sys
from functools import partial
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.container.defaults import (
    DEFAULTS,
    KAFKAS_LOG_DIR,
    SAME_AS,
    check_log_dirs,
    default_lines,
)
from kraftctl.config.endpoints import DEFAULT_LISTENERS
from kraftctl.dev.polling import await_result
from kraftctl.dev.processes import ManagedProcess
from kraftctl_protocol.java_properties import decode_properties
from tests.cli.container.test_command import (
    CLUSTER_ID,
    controller_variables,
    is_alive,
    only_these,
    with_only,
)
from tests.support.image_tree import stages

__all__ = ["only_these"]

SLIM = Path(__file__).resolve().parents[3] / "deploy/image/slim/Dockerfile"
INSTRUCTIONS = stages(SLIM, {})[""].instructions
WORDS = json.loads(next(rest for name, rest in INSTRUCTIONS if name == "ENTRYPOINT"))[4:]
"""`container`, and what the image gives to it."""

VARIABLES = {
    "process.roles": "KAFKA_PROCESS_ROLES",
    "controller.listener.names": "KAFKA_CONTROLLER_LISTENER_NAMES",
    "listeners": "KAFKA_LISTENERS",
    "log.dirs": "KAFKA_LOG_DIRS",
    "kraftctl.operate.listeners": "KRAFTCTL_OPERATE_LISTENERS",
}


def image_variables() -> dict[str, str]:
    """What the Dockerfile sets, without the place of Python."""
    lines = [shlex.split(rest) for name, rest in INSTRUCTIONS if name == "ENV"]
    variables = dict(each.split("=", 1) for line in lines for each in line)
    return {name: value for name, value in variables.items() if name != "PATH"}


def directories(tmp_path: Path) -> list[str]:
    return [
        *("--mounted", str(tmp_path / "mounted"), "--secrets", str(tmp_path / "secrets")),
        *("--properties", str(tmp_path / "made.properties")),
    ]


def written(tmp_path: Path, mounted: dict[str, str], *variables: str) -> dict[str, str]:
    """The properties of the slim image with this file and these variables."""
    (tmp_path / "mounted").mkdir(exist_ok=True)
    lines = "".join(f"{key}={value}\n" for key, value in {"node.id": "1", **mounted}.items())
    (tmp_path / "mounted/server.properties").write_text(lines)
    os.environ.update(image_variables())
    assert main([*WORDS, *directories(tmp_path), "--write-only", *variables]) == 0
    return decode_properties((tmp_path / "made.properties").read_bytes())


@pytest.mark.parametrize("value", ["other", "", "${env:OTHER}"])
@pytest.mark.parametrize("key", VARIABLES)
def test_a_default_gives_way(tmp_path: Path, only_these: pytest.MonkeyPatch, key: str, value: str) -> None:
    assert set(VARIABLES) == set(DEFAULTS)
    variable = f"{VARIABLES[key]}={value}"
    assert written(tmp_path, {}) == {"node.id": "1", **DEFAULTS}
    assert written(tmp_path, {key: value}) == {"node.id": "1", **DEFAULTS, key: value}
    assert written(tmp_path, {}, variable) == {"node.id": "1", **DEFAULTS, key: value}
    os.environ.pop(VARIABLES[key])
    assert written(tmp_path, {key: "of-the-file"}, variable)[key] == value


def test_what_kafka_reads_instead_of_a_key_counts(tmp_path: Path, only_these: pytest.MonkeyPatch) -> None:
    assert "log.dirs" not in written(tmp_path, {"log.dir": "/data"})
    assert "log.dirs" not in written(tmp_path, {}, "KAFKA_LOG_DIR=/data")
    assert set(SAME_AS) <= set(DEFAULTS)
    assert DEFAULTS["listeners"] != DEFAULT_LISTENERS


def test_a_log_at_kafkas_default_is_kept(tmp_path: Path) -> None:
    assert b"log.dirs=" in default_lines({}, tmp_path)
    (tmp_path / "meta.properties").touch()
    assert b"log.dirs=" not in default_lines({}, tmp_path)
    assert Path("/tmp/kafka-logs") == KAFKAS_LOG_DIR


@pytest.mark.parametrize(
    ("given", "formatted", "why"),
    [
        ({}, "own", ""),
        ({"log.dirs": "other"}, "", ""),
        ({"log.dirs": "other"}, "own", "other would be used, which has none"),
        ({"log.dir": "other"}, "own", "other would be used, which has none"),
        ({"log.dirs": "other", "metadata.log.dir": "new"}, "own", "new would be used, which has none"),
        ({"log.dirs": "other"}, "own other", ""),
        ({"log.dirs": "other, own"}, "own", ""),
        ({"log.dirs": "./own/"}, "own kafkas", ""),
        ({"metadata.log.dir": "other"}, "own kafkas other", ""),
        ({}, "kafkas", ""),
        ({}, "own kafkas", "and nothing says which"),
    ],
)
@pytest.mark.parametrize("has_defaults", [True, False])
def test_a_log_in_the_directory_of_the_image_is_not_left_silently(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    formatted: str,
    why: str,
    has_defaults: bool,
) -> None:
    """After a change of the image, or of a file: the same node would begin with an empty log."""
    monkeypatch.chdir(tmp_path)
    own, kafkas = tmp_path / "own", tmp_path / "kafkas"
    for name in formatted.split():
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.properties").touch()
    chosen = str(kafkas if "kafkas" in formatted or not has_defaults else own)
    resolved = given if given.keys() & {"log.dirs", "log.dir"} else {**given, "log.dirs": chosen}
    if not given and formatted == "own" and not has_defaults:
        why = f"{kafkas} would be used, which has none"
    if not why:
        check_log_dirs(given, resolved, own, kafkas)
        return
    with pytest.raises(ValueError, match=r"Next step: set log\.dirs") as refused:
        check_log_dirs(given, resolved, own, kafkas)
    assert why in str(refused.value)
    assert str(own) in str(refused.value)


def test_the_container_refuses_to_leave_a_log(
    tmp_path: Path, only_these: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "meta.properties").touch()
    only_these.setitem(DEFAULTS, "log.dirs", str(own))
    assert written(tmp_path, {})["log.dirs"] == str(own)
    (tmp_path / "made.properties").unlink()
    variable = f"KAFKA_LOG_DIRS={tmp_path / 'other'}"
    assert main([*WORDS, *directories(tmp_path), "--write-only", variable]) == 1
    assert f"{own} has meta.properties" in capsys.readouterr().err
    assert not (tmp_path / "made.properties").exists()


def test_the_image_sets_no_property_by_a_variable() -> None:
    assert not [name for name in image_variables() if name.startswith(("KAFKA_", "KRAFTCTL_"))]


def test_the_log_of_a_mounted_file_is_the_one_that_votes(tmp_path: Path) -> None:
    """As with apache/kafka: the file names the directory, and CLUSTER_ID is a variable."""
    given = controller_variables(tmp_path)
    names = {variable: key for key, variable in VARIABLES.items()}
    names |= {"KAFKA_NODE_ID": "node.id", "KAFKA_CONTROLLER_QUORUM_VOTERS": "controller.quorum.voters"}
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    lines = [f"{key}={given[variable]}" for variable, key in names.items()]
    (mounted / "server.properties").write_text("\n".join(lines))
    variables = image_variables() | {"CLUSTER_ID": CLUSTER_ID}
    started = with_only(variables, sys.executable, "-m", "kraftctl", *WORDS, *directories(tmp_path))
    process = ManagedProcess("container", started, tmp_path / "log")
    try:
        await_result(partial(is_alive, process, tmp_path / "made.properties"), "it is alive", 60.0, 0.1)
        process.terminate()
        assert process.wait(60.0) == 0
    finally:
        process.kill_group()
    assert (tmp_path / "data/meta.properties").exists()
    assert (tmp_path / "data/__cluster_metadata-0/quorum-state").exists()
