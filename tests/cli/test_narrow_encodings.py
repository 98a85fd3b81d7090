"""Names that an encoding does not have are escaped: no command ends with a traceback because of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.log_file_names import segment_file_name
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch

NAME = "Zoë-\u5b57"
SHOWN = {"ascii": "Zo\\xeb-\\u5b57", "latin-1": "Zoë-\\u5b57", "utf-8": NAME}


def printed(encoding: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-m", "kraftctl", *arguments], capture_output=True, env=environment, check=False
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(encoding)
    return done.stdout.decode(encoding)


@pytest.mark.parametrize("encoding", SHOWN)
def test_a_key_of_a_file(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "controller.properties"
    file.write_text(f"{NAME}=1\n", encoding="utf-8")
    assert SHOWN[encoding] in printed(encoding, "doctor", "--offline", str(file))


@pytest.mark.parametrize("encoding", SHOWN)
def test_a_user_in_a_log(encoding: str, tmp_path: Path) -> None:
    record = UserScramCredentialRecord(name=NAME, mechanism=1, iterations=4096)
    file = tmp_path / segment_file_name(0)
    file.write_bytes(encode_batch(0, 1, 0, [encode_metadata_record(record, 0)]))
    assert (
        printed(encoding, "shell", "-s", str(file), "ls", "/image/scram/SCRAM-SHA-256").strip()
        == (SHOWN[encoding])
    )
