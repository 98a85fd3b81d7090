"""What `kraftctl doctor` calls OK, it has checked: secret files, rights below the directory, cluster ids."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kraftctl.cli.readable_secrets import (
    SECRET_FILES,
    TOKEN_URL,
    readable_secret_files,
    readable_secrets,
)
from kraftctl.config.operate_config import TOKEN_PATH
from kraftctl.storage.witness import FILE_NAME as LAST_OPENED
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.cli.quorum_cases import Replica, ScriptedQuorum, leader_node
from tests.cli.test_doctor import CLUSTER_ID, Doctor, doctor
from tests.cli.test_doctor_addresses import few_flushes, with_servers
from tests.support.wire.scripted_node import ScriptedNode

__all__ = ["doctor", "few_flushes"]

PREFIXES = ("", "listener.name.controller.", "listener.name.controller.oauthbearer.")
NAMING = [
    *((f"{prefix}{name}", "{}") for prefix in PREFIXES for name in SECRET_FILES),
    *((f"{prefix}{TOKEN_URL}", "file://{}") for prefix in PREFIXES),
]


@pytest.mark.parametrize(("mode", "needed"), [(0o600, None), (0o640, "600"), (0o604, "600")])
@pytest.mark.parametrize(("key", "form"), NAMING, ids=[key for key, _ in NAMING])
def test_files_that_are_secret(tmp_path: Path, key: str, form: str, mode: int, needed: str | None) -> None:
    file = tmp_path / "a key"
    file.touch()
    file.chmod(mode)
    expected = {} if needed is None else {str(file): (needed, [key])}
    assert readable_secret_files({key: form.format(file)}) == expected


@pytest.mark.parametrize(
    ("group", "mode", "needed"),
    [
        pytest.param(1, 0o640, None, id="of-root-for-the-group-of-the-service"),
        pytest.param(1, 0o440, None, id="as-a-volume-of-secrets-has-it"),
        pytest.param(1, 0o644, "o-rwx", id="of-root-for-everyone"),
        pytest.param(0, 0o640, "600", id="of-root-alone"),
    ],
)
def test_root_leaves_the_group_of_the_service_its_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, mode: int, needed: str | None
) -> None:
    """As our package leaves its file: `chmod 600` by root would keep the service from its next start."""
    file = tmp_path / "controller.properties"
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / file.name).touch()
    file.symlink_to(tmp_path / "..data" / file.name)
    status = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, 0, group, *[0] * 4))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "stat", lambda path, **_: status)
    keys = {"ssl.key.password": "x"}
    assert readable_secrets(file, keys, ()) == ((needed, [*keys]) if needed else (None, []))
    assert readable_secret_files({TOKEN_PATH: str(file)}) == (
        {str(file): (needed, [TOKEN_PATH])} if needed else {}
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("ssl.truststore.location", "{}", id="certificates"),
        pytest.param(TOKEN_URL, "https://issuer{}", id="an-endpoint"),
        pytest.param("sasl.oauthbearer.jwks.endpoint.url", "file://{}", id="public-keys"),
        pytest.param("ssl.keystore.location", "", id="empty"),
    ],
)
def test_files_that_are_not_secret(tmp_path: Path, key: str, value: str) -> None:
    file = tmp_path / "file"
    file.touch(0o644)
    assert readable_secret_files({key: value.format(file)}) == {}


def test_a_private_key_that_others_read_is_named(doctor: Doctor) -> None:
    file = doctor.directory / "keystore.pem"
    file.touch(0o644)
    file.chmod(0o644)
    doctor.properties["listener.name.controller.ssl.keystore.location"] = str(file)
    doctor.write()
    (row,) = [each for each in doctor.rows() if each["check"] == "secrets"]
    assert (row["level"], row["found"]) == ("WARN", f"other accounts can read {file}")
    assert (row["key"], row["next_step"]) == ("listener.name.controller.ssl.keystore.location", "chmod 600")


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param(PARTITION_DIRECTORY, 0o500, id="partition-cannot-be-written"),
        pytest.param(PARTITION_DIRECTORY, 0o600, id="partition-cannot-be-entered"),
        pytest.param(f"{PARTITION_DIRECTORY}/{0:020}.log", 0o400, id="segment-cannot-be-written"),
        pytest.param(f"{PARTITION_DIRECTORY}/{0:020}.timeindex", 0o400, id="times-cannot-be-written"),
        pytest.param(".lock", 0o400, id="lock-cannot-be-taken"),
        pytest.param(f"{PARTITION_DIRECTORY}/quorum-state", 0o200, id="votes-cannot-be-read"),
        pytest.param("meta.properties", 0o000, id="identity-cannot-be-read"),
        pytest.param("bootstrap.checkpoint", 0o200, id="first-records-cannot-be-read"),
        pytest.param("metadata-recovery-point", 0o200, id="recovery-point-cannot-be-read"),
        pytest.param(f"{PARTITION_DIRECTORY}/{0:020}.index", 0o400, id="index-cannot-be-written"),
        pytest.param(f"{PARTITION_DIRECTORY}/leader-epoch-checkpoint", 0o200, id="epochs-cannot-be-read"),
        pytest.param(f"{PARTITION_DIRECTORY}/partition.metadata", 0o200, id="topic-cannot-be-read"),
        pytest.param(f"{PARTITION_DIRECTORY}/{LAST_OPENED}", 0o200, id="witness-cannot-be-read"),
    ],
)
def test_a_right_that_is_missing_below(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, name: str, mode: int
) -> None:
    """The tests may run as root, who has all rights: the modes count here as for an owner who is not."""
    partition = doctor.data / PARTITION_DIRECTORY
    partition.mkdir(0o700)
    segment = [f"{0:020}{suffix}" for suffix in (".log", ".index", ".timeindex")]
    for each in (*segment, "quorum-state", f"{7:020}-{1:010}.checkpoint", "../.lock"):
        (partition / each).touch(0o600)
    (doctor.data / name).touch(0o600)
    for stray in (doctor.data, partition):
        (stray / "copy.tar").touch(0o000)  # No start opens it.
        (stray / "copy.tar").chmod(0o000)
    doctor.write()
    monkeypatch.setattr(os, "access", lambda path, asked: (os.stat(path).st_mode >> 6) & asked == asked)
    assert doctor.bad() == []
    (partition / f"{7:020}-{1:010}.checkpoint").chmod(0o400)  # Nothing writes to a snapshot that is whole.
    assert doctor.bad() == []
    doctor.flags = ["--offline"]
    (doctor.data / name).chmod(mode)
    (row,) = [each for each in doctor.rows() if each["check"] == "access" and each["level"] == "ERROR"]
    assert row["found"] == f"this account cannot read and write {doctor.data / name}"


def test_without_an_identity_no_address_is_of_this_cluster(doctor: Doctor) -> None:
    with leader_node(ScriptedQuorum(3, [Replica(3, 90)])) as node:
        node.script[VoteRequest] = lambda _: None
        with_servers(doctor, node.address)
        (doctor.data / "meta.properties").unlink()
        (row,) = [each for each in doctor.rows() if each["check"] == "peers"]
    assert row["level"] == "UNKNOWN"
    assert row["found"] == (
        f"{node.address} is of cluster V50AZlDfQ6SyNYSsdWVE0A, and no meta.properties here has an id to"
        " compare with"
    )


def of_cluster(cluster_id: str, node: ScriptedNode) -> ScriptedNode:
    node.script[VoteRequest] = lambda _: None
    node.script[DescribeClusterRequest] = lambda _: DescribeClusterResponse(
        endpoint_type=2, cluster_id=cluster_id, controller_id=3
    )
    return node


@pytest.mark.parametrize(
    ("second", "errors"), [(CLUSTER_ID, []), ("AnotherClusterAnotherC", ["ERROR"])], ids=["same", "other"]
)
def test_without_an_identity_addresses_are_compared_with_each_other(
    doctor: Doctor, second: str, errors: list[str]
) -> None:
    quorum = ScriptedQuorum(3, [Replica(3, 90)])
    with (
        of_cluster(CLUSTER_ID, leader_node(quorum)) as one,
        of_cluster(second, leader_node(quorum)) as other,
    ):
        with_servers(doctor, one.address, other.address)
        (doctor.data / "meta.properties").unlink()
        rows = [each for each in doctor.rows() if each["check"] == "peers"]
    assert [each["level"] for each in rows] == [*errors, "UNKNOWN", "UNKNOWN"]
    if errors:
        assert rows[0]["found"] == f"the addresses are of several clusters: {second}, {CLUSTER_ID}"
