"""`kraftctl shell` shows the tree of kafka-metadata-shell, of snapshots, segments and directories.

`testdata/shell.json` was printed by Kafka's tool; `REWRITE=1 pytest -m java` on this file records it again.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftctl.cli.shell.java_texts import double_text, time_text
from kraftctl.cli.shell.loaded_metadata import load_metadata
from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, segment_file_name
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.support.processes.called_command import CalledCommand, call_command
from tests.support.processes.kafka import kafka

SNAPSHOT = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"

RECORDED = Path(__file__).parent / "testdata" / "shell.json"

RELEASE = "4.3.1"

MAIN_CLASS = "org.apache.kafka.shell.MetadataShell"

OF_THE_LOADER = "Ignoring control record"
"""It logs that to the standard output of the tool."""

ATTEMPTS = 4
"""Kafka's tool may run its command before it has loaded the file, and shows an empty image then."""

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kraftctl</groupId><artifactId>kafka-shell-class-path</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-shell</artifactId><version>{version}</version>
    </dependency>
  </dependencies>
</project>
"""

COMMANDS = (
    "ls",
    "ls /",
    "ls /image",
    "ls /image /image/topics",
    "ls /image/topics/byName",
    "ls /image/topics/byName/t*",
    "ls /image/topics/byName/*",
    "ls /image/producerIds/nextProducerId",
    "ls /image/producerIds/nextProducerId image/features",
    "ls /image/../local",
    "ls /image/cluster/brokers/[12]",
    "ls /image/cluster/brokers/?",
    "ls /absent",
    "ls /absent /image/acls",
    "ls /image/nothing*",
    "cat image/producerIds/nextProducerId /image/features/metadataVersion",
    "cat /image/topics/byName/*/name",
    "cat /image/topics/byName/t1/0",
    "cat /image/configs/TOPIC:t1/retention.ms",
    "cat /image",
    "cat /absent",
    "find /image/configs/TOPIC:t1",
    "find /image/features/metadataVersion",
    "find /absent",
    "tree /",
    "tree image/producerIds/nextProducerId",
)


def shell(path: Path, *words: str) -> CalledCommand:
    return call_command("shell", "-s", str(path), *words)


HIDDEN_QUOTA = ("clientId(cc):", "clientId(cc)_user():", "controller_mutation_rate:", "5.0")


def recorded() -> dict[str, tuple[int, str]]:
    return {
        command: (status, output) for command, (status, output) in json.loads(RECORDED.read_text()).items()
    }


def without_own_values(output: str) -> str:
    """Drops the lines about the tool itself and about the file, and the quota that Kafka's tool hides."""
    lines = output.splitlines()
    for name in ("provenance:", "commitId:", "version:"):
        lines = [line for before, line in zip(["", *lines], lines, strict=False) if before.strip() != name]
    return "\n".join(line for line in lines if line.strip() not in HIDDEN_QUOTA)


REFUSAL = re.compile(r"^(?:ls|cat|find|tree): .*(?:such file or directory\.|Is a directory)\n", re.MULTILINE)
"""Kafka's tool prints these to standard output, and ends with 0."""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_output_is_kafkas(command: str) -> None:
    _, output = recorded()[command]
    called = shell(SNAPSHOT, "--show-secrets", *shlex.split(command))
    assert without_own_values(called.output) == without_own_values(REFUSAL.sub("", output))
    refusals = len(REFUSAL.findall(output))
    assert (called.status, len(called.errors.splitlines())) == (min(refusals, 1), refusals)


@pytest.mark.java
@pytest.mark.long
@pytest.mark.slow
def test_kafka_still_prints_it(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text(POM.format(version=RELEASE))
    jars = tmp_path / "classpath"
    maven = ("mvn", "-B", "-q", "-f", str(tmp_path / "pom.xml"), "dependency:build-classpath")
    subprocess.run([*maven, f"-Dmdep.outputFile={jars}"], check=True, capture_output=True)
    shutil.copy(SNAPSHOT, tmp_path)
    release = kafka(RELEASE)
    java = [release.java, *QUICK_JAVA_OPTIONS, "-Xmx256m"]
    java += ["-cp", os.pathsep.join((jars.read_text(), release.classpath)), MAIN_CLASS]
    printed: dict[str, list[object]] = {}
    for command in COMMANDS:
        words = [*java, "-s", str(tmp_path / SNAPSHOT.name), *shlex.split(command)]
        for _ in range(ATTEMPTS):
            done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            lines = [line for line in done.stdout.splitlines(keepends=True) if OF_THE_LOADER not in line]
            printed[command] = [done.returncode, "".join(lines)]
            if tuple(printed[command]) == recorded().get(command):
                break
    if os.environ.get("REWRITE") == "1":
        RECORDED.write_text(json.dumps(printed, indent=1) + "\n")
    assert json.loads(RECORDED.read_text()) == printed


TOPIC_ID = bytes(range(16))


def batch(base_offset: int, *records: tuple[Message, int]) -> bytes:
    values = [encode_metadata_record(record, version) for record, version in records]
    return encode_batch(base_offset, 2, 1_790_000_000_000, values)


def segment(folder: Path, base_offset: int, *batches: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / segment_file_name(base_offset)
    path.write_bytes(b"".join(batches))
    return path


TOPIC = (TopicRecord(name="orders", topic_id=TOPIC_ID), 0)
PARTITION = (PartitionRecord(partition_id=0, topic_id=TOPIC_ID, replicas=[1], isr=[1], leader=1), 0)


def test_a_segment(tmp_path: Path) -> None:
    path = segment(tmp_path, 0, batch(0, TOPIC), batch(1, PARTITION))
    assert shell(path, "cat", "/image/topics/byName/orders/0").output == (
        "PartitionRegistration(replicas=[1], directories=[AAAAAAAAAAAAAAAAAAAAAA], isr=[1],"
        " removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=1,"
        " leaderRecoveryState=RECOVERED, leaderEpoch=-1, partitionEpoch=-1)\n"
    )
    assert shell(path, "cat", "/image/provenance").output == (
        "offset 1, epoch 2, time 2026-09-21T14:13:20Z[UTC]\n"
    )


def test_a_directory_is_a_snapshot_and_the_log_after_it(tmp_path: Path) -> None:
    partition = tmp_path / PARTITION_DIRECTORY
    segment(partition, 0, b"what the snapshot has replaced is not read")
    segment(partition, 1643, batch(1643, TOPIC))
    shutil.copy(SNAPSHOT, partition)
    for path in (tmp_path, partition):
        called = shell(path, "ls", "/image/topics/byName")
        assert called.status == 0, called.errors
        assert {"orders", "t1"} <= set(called.output.splitlines())
    assert shell(tmp_path, "cat", "/image/provenance").output.startswith("offset 1643, epoch 2, ")


@pytest.mark.parametrize("end", [(), ((AbortTransactionRecord(), 0), TOPIC)], ids=["plain", "aborted"])
def test_nothing_is_kept_for_undoing(tmp_path: Path, end: tuple[tuple[Message, int], ...]) -> None:
    begin = ((BeginTransactionRecord(), 0),) if end else ()
    path = segment(tmp_path, 0, batch(0, *begin, TOPIC, *end, PARTITION))
    image = load_metadata(path).image
    assert (list(image.topics.ids_by_name), image.topics.partition_count) == (["orders"], 1)
    assert image.journal.entry_count == 0


def test_an_aborted_transaction_leaves_nothing(tmp_path: Path) -> None:
    path = segment(
        tmp_path,
        0,
        batch(0, (BeginTransactionRecord(), 0), TOPIC),
        batch(2, (AbortTransactionRecord(), 0)),
    )
    assert shell(path, "ls", "/image/topics/byName").output == ""


ENDS = [
    pytest.param((EndTransactionRecord(), 0), ["orders"], "", id="ended"),
    pytest.param((AbortTransactionRecord(), 0), [], "", id="aborted"),
    pytest.param(None, [], "The transaction that begins at offset 1 has not ended", id="open"),
]


@pytest.mark.parametrize(("end", "topics", "said"), ENDS)
def test_a_transaction_is_shown_once_it_has_ended(
    tmp_path: Path, end: tuple[Message, int] | None, topics: list[str], said: str
) -> None:
    """As by Kafka's tool: what is open may still be aborted."""
    other = TopicRecord(name="other", topic_id=bytes(15) + b"o")
    ends = [] if end is None else [batch(3, end)]
    path = segment(tmp_path, 0, batch(0, (other, 0), (BeginTransactionRecord(), 0), TOPIC), *ends)
    called = shell(path, "ls", "/image/topics/byName")
    assert called.output.split() == [*topics, "other"]
    assert called.errors.startswith(said)
    assert bool(called.errors) is bool(said)


def test_an_unfinished_write_ends_the_log(tmp_path: Path) -> None:
    path = segment(tmp_path, 0, batch(0, TOPIC), batch(1, PARTITION)[:-3])
    called = shell(path, "ls", "/image/topics/byName/orders")
    assert (called.status, called.output) == (0, "id\nname\n")
    assert f"{path}: " in called.errors
    assert "What follows is not shown" in called.errors


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        pytest.param(segment_file_name(7), batch(7, TOPIC), "what precedes it ends at -1", id="a-gap"),
        pytest.param(segment_file_name(0), batch(0, PARTITION), "does not fit what precedes", id="no-topic"),
        pytest.param("7.log", batch(7, TOPIC), "Next step: give a copied file its name back", id="name"),
        pytest.param("0-0.checkpoint", b"no batch", "is damaged", id="damaged-snapshot"),
    ],
)
def test_files_that_are_refused(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    called = shell(tmp_path / name, "ls")
    assert (called.status, called.output) == (1, "")
    assert reason in called.errors


def test_missing_files(tmp_path: Path) -> None:
    assert "has neither a snapshot nor a segment" in shell(tmp_path, "ls").errors
    absent = shell(tmp_path / segment_file_name(0), "ls")
    assert absent.status == 1
    assert segment_file_name(0) in absent.errors


def test_secrets_are_hidden(tmp_path: Path) -> None:
    path = segment(
        tmp_path,
        0,
        batch(
            0,
            (
                UserScramCredentialRecord(
                    name="bob",
                    mechanism=1,
                    salt=b"\x01",
                    stored_key=b"\x02",
                    server_key=b"\x03",
                    iterations=4096,
                ),
                0,
            ),
            (
                ConfigRecord(
                    resource_type=4, resource_name="1", name="listener.name.x.ssl.key.password", value="pw"
                ),
                0,
            ),
        ),
    )
    words = (
        "cat",
        "/image/scram/SCRAM-SHA-256/bob",
        "/image/configs/BROKER:1/listener.name.x.ssl.key.password",
    )
    hidden = "(redacted)"
    assert shell(path, *words).output == (
        f"ScramCredentialData(salt={hidden}, storedKey={hidden}, serverKey={hidden}, iterations=4096)\n"
        f"{hidden}\n"
    )
    assert shell(path, "--show-secrets", *words).output == (
        "ScramCredentialData(salt=01, storedKey=02, serverKey=03, iterations=4096)\npw\n"
    )


def test_commands_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "cd image/topics/byName\n\npwd\ncd nothing\ncat t1/name ../../producerIds/*\nls 'x\nexit\npwd\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    called = shell(SNAPSHOT)
    assert called.status == 0
    assert called.output == "/image/topics/byName\nt1\n2000\n"
    assert len(called.errors.splitlines()) == 2


def test_a_quota_of_a_default_user_is_shown() -> None:
    """Kafka's tool lists it under the name of the client alone, and finds nothing there."""
    called = shell(SNAPSHOT, "cat", "/image/clientQuotas/clientId(cc)_user()/controller_mutation_rate")
    assert called.output == "5.0\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (50.0, "50.0"),
        (9999999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (123456789.125, "1.23456789125E8"),
        (0.001, "0.001"),
        (0.0009, "9.0E-4"),
        (-2.5e10, "-2.5E10"),
        (1e21, "1.0E21"),
        (float("inf"), "Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_numbers_as_java_writes_them(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z[UTC]"),
        (60_500, "1970-01-01T00:01:00.5Z[UTC]"),
        (1_503, "1970-01-01T00:00:01.503Z[UTC]"),
    ],
)
def test_times_as_java_writes_them(time_ms: int, text: str) -> None:
    assert time_text(time_ms) == text
