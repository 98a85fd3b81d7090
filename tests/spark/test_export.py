"""The whole job against a real broker and both controllers: every committed offset, exactly once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftctl.dev.settings import CONTROLLER_LISTENER, write_properties
from kraftctl_observer.log_reader import LogReader
from kraftctl_observer.observer import AccessDeniedError, QuorumObserver
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from kraftctl_spark.log.client_config import read_command_config
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation, parse_endpoints
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.busy_cluster import RECORD_TYPES, change_much, lose_a_broker
from tests.spark.typed_check import compare_export_with_dump, compare_tables_with_dump
from tests.spark.typed_export import exporting
from tests.support.certificates import Authority, properties_of
from tests.support.metadata_row import row_list
from tests.support.processes.kafka import (
    Cluster,
    JavaController,
    KraftctlController,
    await_result,
    kafka,
    random_id,
)
from tests.support.processes.spark_export import ExportJob, export_now, spark_environment

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="java-controller", marks=pytest.mark.long),
        pytest.param(False, id="kraftctl"),
    ],
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("cluster")
    authorizer = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with Cluster(
        kafka(),
        directory,
        java_controller=request.param,
        broker_settings=authorizer,
        controller_settings=authorizer,
    ) as started:
        change_much(started, "first")
        lose_a_broker(started)
        yield started


def _high_watermark(bootstrap_controllers: str) -> int:
    return _high_watermark_of(QuorumObserver(list(parse_endpoints(bootstrap_controllers)), timeout_s=20))


def _high_watermark_of(reader: LogReader) -> int:
    try:
        return reader.position(0, 0).high_watermark
    finally:
        reader.close()


def _reaches(location: LogLocation, offset: int) -> bool:
    """Before the first records are committed, the controller does not know the users that they name."""
    try:
        return _high_watermark_of(location.open(None)) > offset
    except AccessDeniedError:
        return False


@pytest.mark.long
@pytest.mark.spark
def test_every_committed_offset_is_in_the_tables_as_kafka_shows_it(cluster: Cluster, tmp_path: Path) -> None:
    output = tmp_path / "table"
    controllers = cluster.bootstrap_controllers
    reached = _high_watermark(controllers)
    export_now(controllers, output, "--max-offsets-per-trigger", "100")
    assert compare_export_with_dump(output, cluster.controller.log_directory) >= reached

    change_much(cluster, "second")
    reached = _high_watermark(controllers)
    export_now(controllers, output)
    assert compare_export_with_dump(output, cluster.controller.log_directory) >= reached
    types = set(read_table(output, "records").column("type").to_pylist())
    assert types >= RECORD_TYPES
    assert types.isdisjoint({"Unknown", "Undecodable"})


def test_typed_tables_hold_what_kafka_shows(cluster: Cluster, tmp_path: Path) -> None:
    """The same log through the quorum and through the directory, by the tasks of `kraftctl-export`."""
    quorum = QuorumLocation(parse_endpoints(cluster.bootstrap_controllers))
    directory = DirectoryLocation(cluster.controller.log_directory)
    high_watermark = _high_watermark(cluster.bootstrap_controllers)
    for location in (quorum, directory):
        output = tmp_path / type(location).__name__
        reached = _export_to(output, location, high_watermark, include_secrets=True)
        types = compare_tables_with_dump(output, cluster.controller.log_directory, reached)
        assert types >= RECORD_TYPES
        assert len(RECORD_TYPES) >= 20
    redacted = tmp_path / "redacted"
    _export_to(redacted, directory, high_watermark, include_secrets=False)
    _assert_only_secrets_differ(tmp_path / "DirectoryLocation", redacted)


def _export_to(output: Path, location: LogLocation, end: int, *, include_secrets: bool) -> int:
    reader = location.open(None)
    try:
        cluster_id = reader.cluster_id()
        place = reader.position(0, 0)
        assert place.high_watermark >= end
    finally:
        reader.close()
    with exporting(output, location, include_secrets=include_secrets, cluster_id=cluster_id) as exporter:
        reached = exporter.export_to(end, place.leader_epoch)
    assert reached.offset == end
    return end


def _assert_only_secrets_differ(everything: Path, redacted: Path) -> None:
    assert "salt" in repr(read_table(everything, "user_scram_credential_record").to_pylist())
    for table in ("records", "user_scram_credential_record"):
        for row in read_table(redacted, table).to_pylist():
            assert b"salt" not in (row.get("salt") or row.get("payload") or b"")
    hidden = read_table(redacted, "records").to_pylist()
    shown = read_table(everything, "records").to_pylist()
    assert [row["offset"] for row in hidden] == [row["offset"] for row in shown]
    different = {before["type"] for before, after in zip(shown, hidden, strict=True) if before != after}
    assert different == {"UserScramCredentialRecord"}, "nothing else in this log is a secret"


@pytest.mark.spark
@pytest.mark.long
def test_a_running_job_that_is_killed_and_one_that_is_stopped(cluster: Cluster, tmp_path: Path) -> None:
    output = tmp_path / "table"
    controllers = cluster.bootstrap_controllers
    flags = ["--interval", "1 second", "--max-offsets-per-trigger", "100"]
    with ExportJob(controllers, output, *flags) as job:
        job.await_batches(1)
        job.kill()
    with ExportJob(controllers, output, *flags) as job:
        reached = _high_watermark(controllers)
        await_result(lambda: Output(output).position().offset >= reached, f"{reached} in {output}", 120)
        job.terminate()
        assert "stopped; last batch" in job.printed()
    assert compare_export_with_dump(output, cluster.controller.log_directory) >= reached


@pytest.mark.long
@pytest.mark.spark
def test_a_directory_and_a_quorum_as_tables(tmp_path: Path) -> None:
    """Kafka's tool reads kraftctl's segments, Spark the directory and Fetch responses: the same rows.

    The controller admits users of its log with a certificate only, and nothing that is written has secrets.
    """
    file, listener = _with_certificates(tmp_path)
    node = KraftctlController(3000, tmp_path / "node", random_id(), properties=listener)
    node.scram_credentials = [f"SCRAM-SHA-512=[name=exporter,password={SECRET}]"]
    node.format()
    node.start()
    try:
        location = QuorumLocation(parse_endpoints(node.address), read_command_config(file))
        await_result(lambda: _reaches(location, 15), "offset 15")
        reached = _high_watermark_of(location.open(None))
        export_now(node.address, tmp_path / "table", "--command-config", str(file))
        assert compare_export_with_dump(tmp_path / "table", node.log_directory) >= reached
        directory = {"directory": str(node.log_directory)}
        quorum = {"bootstrapControllers": node.address, "commandConfig": str(file)}
        part = {"startingOffset": "3", "endingOffset": "11"}
        beyond = {"endingOffset": "1000000"}
        slowly = {"maxOffsetsPerTrigger": "7"}
        found = _spark_reads(quorum | slowly, directory, directory | part, quorum | part, quorum | beyond)
    finally:
        node.kill()
    from_quorum, from_directory, *parts, refusal = found["read"]
    for offsets in (from_directory, from_quorum):
        assert offsets == list(range(len(offsets)))
        assert len(offsets) >= reached
    assert parts == [list(range(3, 11))] * 2
    assert "option endingOffset=1000000: the log is committed up to" in refusal
    ends = [batch["endOffset"]["offset"] for batch in found["stream"]]
    assert ends == [*range(7, ends[-1], 7), ends[-1]]
    for batch in found["stream"]:
        assert batch["latestOffset"]["offset"] >= ends[-1], "the difference is the lag"
    written = [
        path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "stores" not in path.parents
    ]
    assert len(written) > 10
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]


SECRET = "a-word-of-the-client"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def _with_certificates(directory: Path) -> tuple[Path, dict[str, str]]:
    """The client's properties file, and the properties of a controller that admits it."""
    authority = Authority()
    stores = directory / "stores"
    client = properties_of(authority.issue("CN=exporter"), authority, stores / "client")
    keystore = stores / "client" / "keystore.pem"
    keystore.write_text(authority.issue("CN=exporter").pem(SECRET))
    file = stores / "client.properties"
    sasl = {
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{SCRAM_MODULE} required username="exporter" password="{SECRET}";',
    }
    write_properties(file, {"security.protocol": "SASL_SSL", **client, "ssl.key.password": SECRET, **sasl})
    prefix = f"listener.name.{CONTROLLER_LISTENER.lower()}."
    return file, {
        "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SASL_SSL",
        **properties_of(authority.issue("CN=controller"), authority, stores / "controller", prefix),
        f"{prefix}ssl.client.auth": "required",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "sasl.mechanism.controller.protocol": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": (
            f'{PLAIN_MODULE} required username="controller" password="word" user_controller="word";'
        ),
        f"{prefix}scram-sha-512.sasl.jaas.config": f"{SCRAM_MODULE} required;",
    }


def _spark_reads(*options: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.spark.spark_reads", *(json.dumps(each) for each in options)]
    ran = subprocess.run(command, env=spark_environment(), capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert SECRET not in ran.stdout + ran.stderr
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


@pytest.mark.spark
@pytest.mark.long
def test_a_quorum_that_cannot_be_reached_fails_the_job(tmp_path: Path) -> None:
    with ExportJob("127.0.0.1:1", tmp_path / "table", "--request-timeout-ms", "1000") as job:
        job.await_end(expected_status=1)
        assert "no response about DescribeCluster within 1 s" in job.printed()


def test_a_whole_log_and_a_snapshot_of_a_real_leader(tmp_path: Path) -> None:
    node = JavaController(
        kafka(),
        3000,
        tmp_path,
        random_id(),
        properties={"metadata.log.max.record.bytes.between.snapshots": "100"},
    )
    node.format()
    node.start()
    observer = QuorumObserver(list(parse_endpoints(node.address)), timeout_s=20)
    try:
        await_result(lambda: _newest_snapshot(node) is not None, "a snapshot", 60)
        position = observer.position(0, 0)
        end = position.high_watermark
        assert position.snapshot is None
        batches = observer.read(0, position.leader_epoch, end)
        offsets = [row.offset for rows in rows_of_log(batches, 0, end) for row in row_list(rows)]
        assert offsets == list(range(end)), "it offers a snapshot, but has the whole log"
        newest = _newest_snapshot(node)
        assert newest is not None
        snapshot, path = newest
        (fetched,) = rows_of_snapshot(observer.read_snapshot(snapshot), end)
        (local,) = rows_of_snapshot(read_batches(path.read_bytes()), end)
        assert row_list(fetched) == row_list(local)
        assert row_list(fetched)[-1].type == "SnapshotFooterRecord"
    finally:
        observer.close()
        node.kill()


def _newest_snapshot(node: JavaController) -> tuple[OffsetAndEpoch, Path] | None:
    found = None
    for path in sorted(node.metadata_directory.glob("*.checkpoint")):
        offset, epoch = path.stem.split("-")
        if int(offset) > 0:
            found = OffsetAndEpoch(int(offset), int(epoch)), path
    return found
