"""`kraftctl debug-bundle`: what is in the archive, and that no secret is."""

from __future__ import annotations

import json
import stat
import tarfile
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.health.verdict import OFFLINE_PARTITIONS
from kraftctl.cli.hidden_values import HiddenValues, shown_properties
from kraftctl_security.resolved_properties import ResolvedProperties
from tests.cli.test_doctor import SECRET_KEYS, Doctor, doctor, plant
from tests.operate.operated_quorum import OperatedQuorum

__all__ = ["doctor"]

OFFLINE = {"versions.json", "controller.properties", "doctor.json", "quorum.txt", "files.txt"}


def parts(archive: Path) -> dict[str, str]:
    with tarfile.open(archive) as opened:
        found = {member.name: opened.extractfile(member) for member in opened.getmembers()}
        return {
            name.removeprefix("kraftctl-debug/"): file.read().decode()
            for name, file in found.items()
            if file is not None
        }


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT"])
@pytest.mark.parametrize("is_valid", [True, False])
def test_no_secret_is_in_it(doctor: Doctor, protocol: str, is_valid: bool) -> None:
    secrets = plant(doctor)
    if is_valid:
        # A start refuses these two keys.
        for number in (12, 8):
            del doctor.properties[SECRET_KEYS[number]], secrets[number]
    doctor.properties["listener.security.protocol.map"] = f"CONTROLLER:{protocol}"
    doctor.properties["kraftctl.scram.users.path"] = "users"
    doctor.write()
    log = doctor.directory / "server.log"
    log.write_text("\n".join(f"a line with {each}, in parts {each[:6]}" for each in secrets))
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--log", str(log), "--offline"]) == 0
    found = parts(archive)
    assert {*OFFLINE, "log.txt"} == found.keys()
    text = "".join(found.values())
    assert [each for each in secrets if each in text] == []
    assert found["log.txt"].count("a line with ") == len(secrets)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_what_is_not_secret_is_in_it(doctor: Doctor) -> None:
    doctor.properties["num.partitions"] = "7"
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 0
    found = parts(archive)
    assert "num.partitions=7" in found["controller.properties"]
    assert "meta.properties" in found["files.txt"]
    checks = {each["check"] for each in json.loads(found["doctor.json"])["findings"]}
    assert "room" in checks
    assert "flushes" not in checks, "a bundle may be made of a cluster in trouble: it puts no load on disks"
    assert json.loads(found["versions.json"])["libraries"]["cryptography"] != "none"


def test_an_archive_is_not_replaced(doctor: Doctor) -> None:
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    archive.write_text("kept")
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 1
    assert archive.read_text() == "kept"


def test_without_the_file_there_is_no_archive(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tar.gz"
    assert main(["debug-bundle", str(tmp_path / "none"), "--to", str(archive)]) == 1
    assert not archive.exists()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_running_controller_adds_its_status(tmp_path: Path) -> None:
    """The pages need a token, which is a secret, too."""
    token = tmp_path / "token"
    token.write_text("token-of-probes")

    def change(properties: dict[str, str]) -> None:
        properties["kraftctl.operate.token.path"] = str(token)

    with OperatedQuorum(tmp_path, 1, change=change) as alone:
        (controller,) = alone.controllers
        controller.await_ready()
        archive = tmp_path / "bundle.tar.gz"
        log = controller.directory / "output.log"
        assert main(["debug-bundle", str(controller.file), "--to", str(archive), "--log", str(log)]) == 0
    found = parts(archive)
    assert {*OFFLINE, "log.txt", "status.json", "metrics.txt", "health.json"} == found.keys()
    assert json.loads(found["status.json"])["ready"] is True
    assert json.loads(found["health.json"])["verdict"] == "healthy"
    assert "kraftctl_ready 1" in found["metrics.txt"]
    offline = OFFLINE_PARTITIONS.search(found["metrics.txt"])
    assert offline is not None
    assert offline.group(1) == "0"
    assert "LeaderId:               1" in found["quorum.txt"]
    assert "token-of-probes" not in "".join(found.values())


SHOWN: list[tuple[str, str, bool]] = [
    ("num.partitions", "3", True),
    ("listeners", "C://h:1", True),
    ("listener.name.controller.ssl.client.auth", "required", True),
    ("kraftctl.operate.token.path", "a/path", True),
    ("ssl.key.password", "x", False),
    ("listener.name.controller.ssl.key.password", "x", False),
    ("listener.name.controller.plain.sasl.jaas.config", "x", False),
    ("listener.name.other.ssl.client.auth", "required", False),
    ("my.plugin", "x", False),
    ("kraftctl.unknown", "x", False),
]


@pytest.mark.parametrize(("key", "value", "is_shown"), SHOWN)
def test_which_values_are_shown(key: str, value: str, is_shown: bool) -> None:
    names = {"listeners": "CONTROLLER://h:1", "listener.security.protocol.map": "CONTROLLER:SSL"}
    properties = ResolvedProperties({**names, key: value}, {}, (), {})
    assert shown_properties(properties)[key] == (value if is_shown else "(redacted)")


def test_an_unknown_key_does_not_hide_a_common_word(doctor: Doctor) -> None:
    doctor.properties["my.plugin.host"] = "localhost"
    doctor.properties["my.plugin.secret"] = "planted-secret"
    doctor.write()
    hidden = HiddenValues(read_config_file(doctor.file))
    assert hidden.hide("localhost has planted-secret") == "localhost has [hidden]"
