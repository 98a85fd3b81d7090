"""What `kraftctl doctor` says of the files that keys of kraftctl name, without which no controller starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftctl.config.own_keys import OWN_KEYS
from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ProcessFailedError
from tests.cli.test_doctor import Doctor, doctor

__all__ = ["doctor"]

PATH_KEYS = [key for key in OWN_KEYS if key.endswith(".path")]
OTHERS = {"kraftctl.operate.token.path": {"kraftctl.operate.listeners": f"http://127.0.0.1:{free_port()}"}}


def named(doctor: Doctor, key: str, path: Path) -> None:
    doctor.properties.update({**OTHERS.get(key, {}), key: str(path)})
    doctor.write()


@pytest.mark.parametrize("key", PATH_KEYS)
def test_a_file_without_which_no_controller_starts_is_an_error(doctor: Doctor, key: str) -> None:
    named(doctor, key, doctor.directory / "nowhere" / "file")
    assert doctor.bad() == [("ERROR", "files", key)]
    with pytest.raises(ProcessFailedError, match=f"FATAL .*{key}"):
        run_to_the_end(kraftctl_command("start", str(doctor.file)), "starting", 30.0)


@pytest.mark.parametrize("key", PATH_KEYS)
def test_a_directory_in_the_place_of_a_file_is_an_error(doctor: Doctor, key: str) -> None:
    named(doctor, key, doctor.directory)
    assert doctor.bad() == [("ERROR", "files", key)]


@pytest.mark.parametrize("key", PATH_KEYS)
def test_a_file_that_can_be_used_is_none(doctor: Doctor, key: str) -> None:
    file = doctor.directory / "file"
    if "log" not in key:
        file.write_text("SCRAM-SHA-512=[name=a,password=planted]" if "scram" in key else "token")
        file.chmod(0o600)
    named(doctor, key, file)
    assert doctor.bad() == []
    assert "planted" not in doctor.printed
    assert file.exists() == ("log" not in key), "it writes nothing"


@pytest.mark.parametrize("key", [key for key in PATH_KEYS if "log" in key])
def test_a_log_that_cannot_be_renamed_is_a_warning(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """A controller starts with it, and its lines are lost when it is full. A device is never renamed."""
    logs = doctor.directory / "logs"
    logs.mkdir()
    (logs / "file").touch()
    named(doctor, key, logs / "file")
    monkeypatch.setattr(os, "access", lambda path, asked: not (asked & os.W_OK and Path(path) == logs))
    assert doctor.bad() == [("WARN", "files", key)]
    (logs / "file").unlink()
    os.mkfifo(logs / "file")
    assert doctor.bad() == []
