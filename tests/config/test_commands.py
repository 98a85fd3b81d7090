"""`kraftctl start` and `kraftctl format` refuse what Kafka refuses, before they touch a directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from tests.config.named_cases import file_of

SENTENCE = (
    "Invalid value deleted for configuration log.cleanup.policy: String must be one of: compact, delete"
)


@pytest.mark.parametrize("command", ["start", "format"])
def test_a_key_that_only_brokers_use(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, file = tmp_path / "data", tmp_path / "controller.properties"
    file.write_bytes(file_of({"log.cleanup.policy": "deleted", "log.dirs": str(directory)}))
    cluster_id = ["-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", str(file)]
    assert main([command, *(cluster_id if command == "format" else [str(file)])]) == 1
    assert SENTENCE in capsys.readouterr().err
    assert not directory.exists()
