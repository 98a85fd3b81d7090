"""The commands against a log that was exported, and a small cluster in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record, frame_of
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.cli import main
from kraftctl_spark.log.log_location import DirectoryLocation
from kraftctl_spark.restore.changes import carry_out
from kraftctl_spark.restore.cluster_state import ClusterState, QuotaKey, ResourceConfig, TopicReplicas
from kraftctl_spark.restore.comparison import compare
from kraftctl_spark.restore.connection import open_admin
from kraftctl_spark.restore.live_state import live_state
from kraftctl_spark.restore.operations import AddPartitions, Operation, SetConfig
from kraftctl_spark.restore.plan import plan_of
from kraftctl_spark.restore.plan_file import plan_text, read_plan
from kraftctl_spark.tables.reader import read_table
from tests.spark.log_directory import LogDirectory
from tests.spark.restore.fake_broker import FakeCluster
from tests.spark.restore.restored_states import (
    ACL,
    CLEANERS,
    OF_ALL,
    QUOTA,
    RETENTION,
    SMALL,
    random_state,
)
from tests.spark.typed_export import export_directory, exporting

START_MS = 1_795_262_400_000
"""2026-11-21T12:00:00Z."""

OTHER = bytes([*range(16)])

BATCHES: list[list[Message]] = [
    [FeatureLevelRecord("metadata.version", 29)],
    [
        TopicRecord("orders", ONE_UUID),
        PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1),
        PartitionRecord(1, ONE_UUID, [2, 3], [2, 3], leader=2),
        PartitionRecord(2, ONE_UUID, [3, 1], [3, 1], leader=3),
    ],
    [PartitionChangeRecord(1, ONE_UUID, replicas=[4, 2, 3], adding_replicas=[4], removing_replicas=[2])],
    [
        ConfigRecord(2, "orders", "retention.ms", "1000"),
        ConfigRecord(4, "1", "log.cleaner.threads", "2"),
        ConfigRecord(4, "1", "ssl.keystore.password", "hunter2"),
        ConfigRecord(4, "", "log.retention.ms", "86400000"),
    ],
    [AccessControlEntryRecord(ONE_UUID, 2, "orders", 3, "User:alice", "*", 3, 3)],
    [ClientQuotaRecord([EntityData("user", "alice"), EntityData("client-id", None)], QUOTA.key, 1024.5)],
    [UserScramCredentialRecord("keeper", 1, b"salt", b"stored", b"server", 4096)],
]
"""Offsets 0 to 12, one batch a second."""

LATER: list[list[Message]] = [
    [RemoveTopicRecord(ONE_UUID)],
    [TopicRecord("later", OTHER), PartitionRecord(0, OTHER, [1], [1], leader=1)],
    [ConfigRecord(4, "", "log.retention.ms", None)],
]


def write(directory: LogDirectory, second: int, *values: bytes) -> None:
    log = directory.log
    log.append(encode_batch(log.end_offset, 1, START_MS + 1000 * second, list(values)))
    log.flush()


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    directory = LogDirectory(tmp_path / "node")
    for second, batch in enumerate([*BATCHES, *LATER]):
        write(directory, second, *(encode_metadata_record(one, one.HIGHEST_VERSION) for one in batch))
    directory.close()
    export_directory(tmp_path / "node", tmp_path / "tables")
    return tmp_path / "tables"


PLAN = plan_of(
    replace(SMALL, cluster_id="c0ffeec0ffeec0ffeec0ff", tokens=()),
    offset=12,
    time="2026-11-21T12:00:06.000Z",
    with_replicas=True,
)


@pytest.mark.parametrize("as_of", ["12", "2026-11-21T12:00:06Z", "2026-11-21T12:00:06.400Z"])
def test_the_plan_has_what_was_so_at_that_point(as_of: str, tables: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    arguments = ["restore", "--output", str(tables), "--as-of", as_of, "--plan", str(plan)]
    assert main([*arguments, "--keep-replicas"]) == 0
    assert read_plan(plan) == PLAN
    assert "hunter2" not in plan.read_text()


def test_a_plan_has_no_secrets_even_if_the_export_has_them(tables: Path, tmp_path: Path) -> None:
    plan, whole = tmp_path / "plan.toml", tmp_path / "whole"
    location = DirectoryLocation(tmp_path / "node", assume_committed=True)
    with exporting(whole, location, include_secrets=True) as exporter:
        exporter.export_to(13, 1)
    assert b"hunter2" in b"".join(map(bytes, read_table(whole, "records").column("payload").to_pylist()))
    assert main(["restore", "--output", str(whole), "--plan", str(plan)]) == 0
    assert read_plan(plan).configs == PLAN.configs
    assert "hunter2" not in plan.read_text()


def test_within_a_batch_the_whole_batch_counts(tables: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    assert main(["restore", "--output", str(tables), "--as-of", "2", "--plan", str(plan)]) == 0
    (topic,) = read_plan(plan).topics
    assert (read_plan(plan).offset, topic.partitions) == (4, 3)


def test_without_a_point_it_is_the_end(tables: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    assert main(["restore", "--output", str(tables), "--plan", str(plan)]) == 0
    assert [topic.name for topic in read_plan(plan).topics] == ["later"]
    assert OF_ALL not in [one.config for one in read_plan(plan).configs]


def test_a_plan_is_never_overwritten(tables: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("edited")
    assert main(["restore", "--output", str(tables), "--plan", str(plan)]) == 2
    assert plan.read_text() == "edited"


@pytest.fixture
def not_understood(tmp_path: Path) -> Path:
    """The same, and then an ACL of a version that no release knows."""
    directory = LogDirectory(tmp_path / "node")
    for second, batch in enumerate(BATCHES):
        write(directory, second, *(encode_metadata_record(one, one.HIGHEST_VERSION) for one in batch))
    write(directory, 20, frame_of(AccessControlEntryRecord.API_KEY, 99))
    directory.close()
    export_directory(tmp_path / "node", tmp_path / "tables")
    return tmp_path / "tables"


def test_what_is_not_known_is_refused_unless_it_is_accepted(
    not_understood: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan = tmp_path / "plan.toml"
    arguments = ["restore", "--output", str(not_understood), "--plan", str(plan)]
    assert main(arguments) == 2
    since = "since offset 13 (2026-11-21T12:00:20.000Z): unknown version, AccessControlEntryRecord version 99"
    assert f"acls: not known {since}" in caplog.text
    assert not plan.exists()
    assert main([*arguments, "--accept-unknown"]) == 0
    assert read_plan(plan).acls == (ACL,)
    assert read_plan(plan).not_restored[0] == (
        "acls",
        f"not known {since}; the plan has what offset 12 had",
    )
    assert main([*arguments[:3], "--as-of", "12", "--plan", str(tmp_path / "before")]) == 0


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan_of(SMALL, offset=12, time="", with_replicas=False)))
    return file


def test_a_dry_run_changes_nothing(plan_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster()
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address]) == 0
    assert cluster.requests == []
    assert capsys.readouterr().out.splitlines() == [
        f"would set {OF_ALL}=86400000",
        f"would set {CLEANERS}=2",
        f"would create ACL {ACL}",
        f"would set quota {QUOTA}=1024.5",
        "would create topic orders: 3 partitions, replication factor 2, retention.ms=1000",
        *NOT_RESTORED,
        "cluster fake: 5 to do with --execute, 0 left as they are, 4 not restored",
    ]


def test_another_cluster_than_the_named_one_is_left_alone(
    plan_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An address may be that of the cluster in use."""
    cluster = FakeCluster()
    with cluster.serve() as node:
        flags = ["restore", "--apply", str(plan_file), "--to", node.address, "--execute", "--cluster-id"]
        assert main([*flags, "empty"]) == 2
        assert cluster.requests == []
        assert f"--to {node.address} is cluster fake, not empty: nothing was done" in caplog.text
        assert main([*flags, "fake"]) == 0


NOT_RESTORED = [
    f"not restored: {one.what}: {one.reason}"
    for one in plan_of(SMALL, offset=12, time="", with_replicas=False).not_restored
]


def test_what_was_done_is_not_done_again(plan_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster()
    with cluster.serve() as node:
        restore = ["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]
        assert main(restore) == 0
        assert "cluster fake: 5 done, 0 refused, 0 left as they are" in capsys.readouterr().out
        assert cluster.configs == {RETENTION: "1000", CLEANERS: "2", OF_ALL: "86400000"}
        cluster.requests.clear()
        assert main(restore) == 0
        assert "cluster fake: 0 done, 0 refused, 0 left as they are" in capsys.readouterr().out
    assert cluster.requests == []


def test_what_is_refused_leaves_the_others(plan_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster(
        refuses=lambda name: Errors.POLICY_VIOLATION if name in ("orders", CLEANERS.key) else Errors.NONE
    )
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]) == 1
    output = capsys.readouterr().out
    assert f"refused: set {CLEANERS}=2: POLICY_VIOLATION: " in output
    assert "refused: create topic orders: " in output
    assert "cluster fake: 3 done, 2 refused, 0 left as they are" in output
    assert (cluster.acls, cluster.quotas) == ({ACL}, {QUOTA: 1024.5})


def test_one_refused_quota_does_not_refuse_those_of_its_entity(tmp_path: Path) -> None:
    other = QuotaKey(QUOTA.entity, "consumer_byte_rate")
    plan = plan_of(
        ClusterState("one", quotas={QUOTA: 1.0, other: 2.0}), offset=1, time="", with_replicas=False
    )
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan))
    cluster = FakeCluster(refuses=lambda name: Errors.INVALID_REQUEST if name == other.key else Errors.NONE)
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(file), "--to", node.address, "--execute"]) == 1
    assert cluster.quotas == {QUOTA: 1.0}


def test_a_request_is_sent_again_when_the_controller_has_moved(plan_file: Path) -> None:
    moves = [Errors.NOT_CONTROLLER]
    cluster = FakeCluster(refuses=lambda name: moves.pop() if name == "orders" and moves else Errors.NONE)
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]) == 0
    assert sum(isinstance(one, CreateTopicsRequest) for one in cluster.requests) == 2


def test_what_differs_is_left_unless_it_is_to_be_changed(
    plan_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = FakeCluster(topics={"orders": TopicReplicas(((1, 2),))}, configs={RETENTION: "5"})
    with cluster.serve() as node:
        restore = ["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]
        assert main(restore) == 1
        assert f"left: set {RETENTION}=1000 (it is 5): --change-existing does it" in capsys.readouterr().out
        assert (cluster.configs[RETENTION], len(cluster.topics["orders"].replicas)) == ("5", 1)
        assert main([*restore, "--change-existing"]) == 0
        assert (cluster.configs[RETENTION], len(cluster.topics["orders"].replicas)) == ("1000", 3)


def test_a_topic_that_another_client_has_created_meanwhile_is_compared(
    plan_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def created_by_another(name: str) -> Errors:
        if name == "orders":
            cluster.topics[name] = TopicReplicas(((1,),))
        return Errors.NONE

    cluster = FakeCluster(refuses=created_by_another)
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]) == 1
    output = capsys.readouterr().out
    assert "left: add partitions to topic orders, up to 3 (it is 1 now): --change-existing does it" in output
    assert f"left: set {RETENTION}=1000 (it is not set): --change-existing does it" in output
    assert "left: topic orders has replication factor 1, the plan 2" in output
    assert "cluster fake: 5 done, 0 refused, 3 left as they are" in output


def test_long_lists_are_cut(tmp_path: Path) -> None:
    topics = {f"t{number}": TopicReplicas(((1,),) * 900) for number in range(5)}
    acls = frozenset(ACL._replace(principal=f"User:{number}") for number in range(1_200))
    state = ClusterState("one", topics=topics, acls=acls)
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan_of(state, offset=1, time="", with_replicas=False)))
    cluster = FakeCluster()
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(file), "--to", node.address, "--execute"]) == 0
    sizes = [len(getattr(one, "topics", ()) or getattr(one, "creations", ())) for one in cluster.requests]
    assert sizes == [500, 500, 200, 2, 2, 1]


def test_added_partitions_and_configs_are_cut_by_their_records() -> None:
    topics = {f"t{number}": TopicReplicas(((1,),)) for number in range(5)}
    added: list[Operation] = [AddPartitions(name, 901, added=900) for name in topics]
    set_to: list[Operation] = [
        SetConfig(ResourceConfig("GROUP", f"g{number}", f"c{key}"), "1")
        for number in range(5)
        for key in range(900)
    ]
    cluster = FakeCluster(topics=topics)
    with cluster.serve() as node, open_admin(node.address, None) as client:
        assert all(one.error is None for one in carry_out(client, [*added, *set_to]))
    sizes = [len(getattr(one, "topics", ()) or getattr(one, "resources", ())) for one in cluster.requests]
    assert sizes == [2, 2, 1, 2, 2, 1]


def test_thousands_of_partitions_are_described() -> None:
    topics = {f"t{number}": TopicReplicas(((1, 2, 3),) * 100) for number in range(50)}
    with FakeCluster(topics=topics).serve() as node, open_admin(node.address, None) as client:
        assert live_state(client).topics == topics


@pytest.mark.parametrize("seed", range(5))
def test_a_cluster_that_was_given_a_plan_lacks_nothing_of_it(seed: int, tmp_path: Path) -> None:
    state = replace(random_state(seed), brokers=frozenset([1]))
    plan = plan_of(state, offset=1, time="", with_replicas=False)
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan))
    cluster = FakeCluster()
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(file), "--to", node.address, "--execute"]) == 0
        with open_admin(node.address, None) as client:
            found = compare(plan, live_state(client))
    assert (found.missing, found.differing, found.not_possible) == ((), (), ())


def test_a_difference_says_what_has_changed_since(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = FakeCluster(topics={"new": TopicReplicas(((1,),))}, configs={CLEANERS: "4"})
    with cluster.serve() as node:
        diff = ["diff", "--output", str(tables), "--as-of", "12", "--to", node.address]
        assert main(diff) == 1
        lines = capsys.readouterr().out.splitlines()
        assert main([*diff, "--json"]) == 1
    assert f"~ config {CLEANERS}: 2 -> 4" in lines
    assert "+ topic new: 1 partitions, replication factor 1" in lines
    assert "- SCRAM credential keeper SCRAM-SHA-256: 4096 iterations" in lines
    found = json.loads(capsys.readouterr().out)
    assert (found["offset"], found["live_cluster_id"], len(found["changes"])) == (12, "fake", len(lines) - 1)


def test_a_stopped_broker_is_named_once(
    tables: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.spark.restore.fake_broker.BROKER_ID", 7)
    with FakeCluster().serve() as node:
        diff = ["diff", "--output", str(tables), "--as-of", "12", "--to", node.address]
        assert main(diff) == 1
        output = capsys.readouterr().out
        assert main([*diff, "--json"]) == 1
    assert "not known: configs of broker 1, which only it describes, and it is not running\n" in output
    assert CLEANERS.key not in output
    assert json.loads(capsys.readouterr().out)["brokers_not_known"] == [1]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        pytest.param(["--apply", "p"], "name the brokers of the cluster with --to", id="no-cluster"),
        pytest.param(["--output", "o"], "or a file with --plan", id="nowhere"),
        pytest.param(["--apply", "p", "--as-of", "5", "--to", "h:1"], "--as-of is for --output", id="as-of"),
        pytest.param(["--apply", "p", "--keep-replicas", "--to", "h:1"], "--keep-replicas is for", id="kept"),
        pytest.param(["--output", "o", "--plan", "p", "--execute"], "name the brokers", id="execute"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    flags: list[str], complaint: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["restore", *flags]) == 2
    assert complaint in caplog.text


def test_a_cluster_that_cannot_be_reached_is_a_failure(
    plan_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=200\n")
    restore = ["restore", "--apply", str(plan_file), "--command-config", str(config), "--to"]
    assert main([*restore, "127.0.0.1:1"]) == 1
    assert "No node answered MetadataRequest" in caplog.text
    assert main([*restore, "nowhere"]) == 2
    config.write_text("request.timeout.ms=soon\n")
    assert main([*restore, "127.0.0.1:1"]) == 2
    assert "request.timeout.ms=soon is not a number of milliseconds" in caplog.text
