"""`kraftctl dump`: JSON lines of logs and checkpoints; secrets stay hidden; damage is reported."""

from __future__ import annotations

import base64
import json
import shutil
from hmac import digest as hmac_of
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.add_scram import scram_record
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.bootstrap_checkpoint import write_bootstrap_checkpoint
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch
from tests.support.partitions import open_partition

DATA = Path(__file__).parents[1] / "data" / "kafka-4.3.1"


def _dump(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["dump", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_java_snapshot(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _dump(capsys, "snapshot", str(DATA / "00000000000000001643-0000000001.checkpoint"))
    assert [line["count"] for line in lines if "count" in line] == [3, 68, 1]
    assert [line["control"] for line in lines if "control" in line] == [
        "SNAPSHOT_HEADER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
        "SNAPSHOT_FOOTER",
    ]
    assert lines[5] == {
        "offset": 3,
        "timestamp": lines[5]["timestamp"],
        "type": "FeatureLevelRecord",
        "version": 0,
        "data": {"name": "metadata.version", "featureLevel": 30},
    }


def test_log_segment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "00000000000000000007.log"
    path.write_bytes(encode_batch(7, 3, 1_000, [encode_metadata_record(NoOpRecord(), 0)] * 2))
    lines = _dump(capsys, "log", str(path))
    assert [(line.get("baseOffset"), line.get("offset")) for line in lines] == [
        (7, None),
        (None, 7),
        (None, 8),
    ]
    assert len(_dump(capsys, "log", "--batches-only", str(path))) == 1


def test_secrets_are_hidden_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = ConfigRecord(resource_type=4, resource_name="", name="ssl.keystore.password", value="hunter2")
    records = [scram_record("SCRAM-SHA-256=[name=alice,password=x]"), RecordAndVersion(config, 0)]
    write_bootstrap_checkpoint(tmp_path, records, 0)
    path = str(tmp_path / "bootstrap.checkpoint")
    assert main(["dump", "snapshot", path]) == 0
    hidden = capsys.readouterr().out
    assert hidden.count("(redacted)") == 4
    assert "hunter2" not in hidden
    assert main(["dump", "snapshot", "--show-secrets", path]) == 0
    assert "hunter2" in capsys.readouterr().out


TOKEN_SECRET = b"master key of all tokens"


def test_a_dump_hides_what_the_export_hides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is not known to be harmless may be a secret: a plugin's key, a certificate with its key."""
    secret = ["my.plugin.auth.token", "s3.passphrase", "ssl.truststore.certificates", "ssl.keystore.key"]
    secret += ["sasl.jaas.config", "listener.name.x.ssl.keystore.location", "ssl.key.password"]
    records: list[Message] = [
        ConfigRecord(resource_type=4, resource_name="1", name=name, value="hunter2") for name in secret
    ]
    records += [
        ConfigRecord(resource_type=2, resource_name="t", name="my.topic.thing", value="hunter2"),
        ConfigRecord(resource_type=2, resource_name="t", name="ssl.cipher.suites", value="hunter2"),
        ConfigRecord(resource_type=99, resource_name="t", name="retention.ms", value="hunter2"),
        UserScramCredentialRecord(name="bob", salt=b"hunter2", stored_key=b"hunter2", server_key=b"hunter2"),
        DelegationTokenRecord(owner="User:bob", requester="User:bob", token_id="token-7"),
        ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="77"),
        ConfigRecord(resource_type=4, resource_name="", name="ssl.key.password", value=None),
        ConfigRecord(resource_type=4, resource_name="", name="ssl.cipher.suites", value="harmless"),
        ConfigRecord(resource_type=32, resource_name="g", name="share.isolation.level", value="harmless"),
    ]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(encode_batch(0, 1, 0, [encode_metadata_record(record, 0) for record in records]))
    lines = _dump(capsys, "log", str(path))[1:]
    text = json.dumps(lines)
    token_hmac = hmac_of(TOKEN_SECRET, b"token-7", "sha512")
    for hidden in (b"hunter2", token_hmac):
        assert hidden.decode("latin-1") not in text
        assert base64.b64encode(hidden).decode() not in text
    data = [line["data"] for line in lines]
    assert all(isinstance(line, dict) for line in data)
    values = [line.get("value") for line in data if isinstance(line, dict)]
    assert values == ["(redacted)"] * 10 + [None, None, "77", None, "harmless", "harmless"]
    assert isinstance(data[10], dict)
    assert [data[10][key] for key in ("salt", "storedKey", "serverKey")] == ["(redacted)"] * 3
    assert isinstance(data[11], dict)
    assert data[11]["tokenId"] == "token-7"


def test_damage_is_reported_after_sound_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "00000000000000000000.log"
    batch = encode_batch(0, 1, 0, [encode_metadata_record(NoOpRecord(), 0)])
    path.write_bytes(batch + b"torn")
    assert main(["dump", "log", str(path)]) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert f"at byte {len(batch)}" in printed.err


def control(control_type: int, value: bytes) -> bytes:
    return encode_control_batch(5, 1, 0, [(control_type, value)])


NO_VERSION = bytes(2)


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (control(9, NO_VERSION), "unknown control record type 9: a newer release wrote it"),
        (control(2, b"\0\x63"), "control record of version 99; the highest known is 1: a newer release"),
        (control(2, b"\xff\xff"), "control record of version -1"),
        (control(2, b""), "control record without a value"),
        (encode_batch(5, 1, 0, [b"\x01\xe7\x07\0\0"]), "999"),
        (encode_batch(5, 1, 0, [b""]), "at byte"),
    ],
    ids=["control-type", "control-version", "control-version-negative", "no-value", "type", "empty"],
)
def test_a_record_that_cannot_be_decoded_is_named_with_place_and_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batch: bytes, reason: str
) -> None:
    path = tmp_path / "00000000000000000004.log"
    first = encode_batch(4, 1, 0, [encode_metadata_record(NoOpRecord(), 0)])
    path.write_bytes(first + batch)
    assert main(["dump", "log", str(path)]) == 1
    error = capsys.readouterr().err
    assert f"{path}: at byte {len(first)}, offset 5: " in error
    assert reason in error
    assert "Next step: " in error
    assert len(_dump(capsys, "log", "--batches-only", str(path))) == 2


def test_a_snapshot_is_not_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA / "00000000000000001643-0000000001.checkpoint"
    assert main(["dump", "log", str(path)]) == 1
    assert "kraftctl dump snapshot" in capsys.readouterr().err


def test_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_dir = tmp_path / "data"
    shutil.copytree(DATA / "formatted", log_dir)
    partition = open_partition(log_dir)
    partition.log.append(encode_batch(0, 1, 1_000, [encode_metadata_record(NoOpRecord(), 0)]))
    partition.write_quorum_state(ElectionState(epoch=3, voted_id=3000, data_version=1))
    partition.close()
    before = sorted(path.name for path in partition.log.directory.iterdir())
    lines = _dump(capsys, "directory", str(log_dir))
    assert lines[0] == {
        "clusterId": "V50AZlDfQ6SyNYSsdWVE0A",
        "nodeId": 3000,
        "directoryId": "bGzDaR4ySNmJaPXzonU2CA",
    }
    features = lines[1]["bootstrapFeatures"]
    assert isinstance(features, dict)
    assert features["metadata.version"] == 30
    assert lines[2] == {"leaderEpoch": 3, "leaderId": -1, "votedId": 3000, "dataVersion": 1}
    assert lines[3] == {"leaderEpochs": {"1": 0}}
    assert [line.get("snapshot") or line.get("segment") for line in lines[4:]] == [
        "00000000000000000000-0000000000.checkpoint",
        "00000000000000000000.log",
    ]
    assert sorted(path.name for path in partition.log.directory.iterdir()) == before


def test_the_directory_of_the_partition_is_not_that_of_the_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_meta_properties(tmp_path, MetaProperties("V50AZlDfQ6SyNYSsdWVE0A", 1, bytes(15) + b"\x09"), 0)
    partition = tmp_path / PARTITION_DIRECTORY
    partition.mkdir()
    assert main(["dump", "directory", str(partition)]) == 1
    error = capsys.readouterr().err
    assert "not been formatted" not in error
    assert f"Next step: kraftctl dump directory {tmp_path}\n" in error


def test_directory_that_was_never_formatted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "directory", str(tmp_path)]) == 1
    assert "not been formatted" in capsys.readouterr().err
