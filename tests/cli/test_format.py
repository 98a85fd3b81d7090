"""`kraftctl format`: the rules of kafka-storage format, as a table, and the files it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.add_scram import scram_record
from kraftctl.cli.initial_controllers import parse_initial_controllers
from kraftctl.storage.bootstrap_checkpoint import read_bootstrap_checkpoint
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.recovery_point import RecoveryPoint, RecoveryPointFile, read_recovery_point
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string
from tests.support.partitions import open_partition

CLUSTER_ID = "V50AZlDfQ6SyNYSsdWVE0A"
DIRECTORY_IDS = ["bGzDaR4ySNmJaPXzonU2CA", "TzUHEs1aSdqvjJVJ7jWF2w"]
VOTERS = f"1@one:9093:{DIRECTORY_IDS[0]},2@[::1]:9094:{DIRECTORY_IDS[1]}"


def _config(tmp_path: Path, node_id: int = 1, static: bool = False, **more: str) -> Path:
    quorum = (
        "controller.quorum.voters=1@localhost:9093"
        if static
        else ("controller.quorum.bootstrap.servers=localhost:9093")
    )
    lines = [
        "process.roles=controller",
        f"node.id={node_id}",
        "listeners=CONTROLLER://localhost:9093",
        "controller.listener.names=CONTROLLER",
        quorum,
        f"log.dirs={tmp_path / 'a'},{tmp_path / 'b'}",
        *(f"{key.replace('_', '.')}={value}" for key, value in more.items()),
    ]
    path = tmp_path / "controller.properties"
    path.write_text("\n".join(lines))
    return path


def _format(config: Path, *flags: str) -> int:
    return main(["format", "-t", CLUSTER_ID, "-c", str(config), *flags])


def test_standalone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _format(_config(tmp_path), "--standalone") == 0
    meta = read_meta_properties(tmp_path / "a")
    other = read_meta_properties(tmp_path / "b")
    assert meta is not None
    assert other is not None
    assert (meta.cluster_id, meta.node_id, meta.version) == (CLUSTER_ID, 1, 1)
    assert meta.directory_id != other.directory_id
    partition = open_partition(tmp_path / "a")
    assert partition.snapshots.ids() == [OffsetAndEpoch(0, 0)]
    header = partition.snapshots.reader(OffsetAndEpoch(0, 0)).header()
    assert header.kraft_version == 1
    assert header.voters is not None
    (voter,) = header.voters.voters
    assert (voter.voter_id, voter.voter_directory_id) == (1, meta.directory_id)
    endpoint = voter.endpoints[0]
    assert (endpoint.name, endpoint.host, endpoint.port) == ("CONTROLLER", "localhost", 9093)
    assert not (tmp_path / "b" / PARTITION_DIRECTORY).exists()
    assert (
        _levels(tmp_path / "a")
        == _levels(tmp_path / "b")
        == {
            "metadata.version": 30,
            "eligible.leader.replicas.version": 1,
            "group.version": 1,
            "share.version": 1,
            "streams.version": 1,
            "transaction.version": 2,
        }
    )
    printed = capsys.readouterr().out
    assert "dynamic metadata voter directory" in printed
    assert "data directory" in printed


def _levels(log_dir: Path) -> dict[str, int]:
    records = [item.record for item in read_bootstrap_checkpoint(log_dir).records]
    return {record.name: record.feature_level for record in records if isinstance(record, FeatureLevelRecord)}


def test_initial_controllers_of_a_voter_and_of_another_node(tmp_path: Path) -> None:
    assert _format(_config(tmp_path), "-I", VOTERS) == 0
    meta = read_meta_properties(tmp_path / "a")
    assert meta is not None
    assert meta.directory_id == uuid_from_string(DIRECTORY_IDS[0])
    outsider = tmp_path / "outsider"
    outsider.mkdir()
    assert _format(_config(outsider, node_id=7), "-I", VOTERS) == 0
    header = open_partition(outsider / "a").snapshots.reader(OffsetAndEpoch(0, 0)).header()
    assert header.voters is not None
    assert [(voter.voter_id, voter.endpoints[0].host) for voter in header.voters.voters] == [
        (1, "one"),
        (2, "::1"),
    ]


def test_joining_controller_has_no_voters(tmp_path: Path) -> None:
    assert _format(_config(tmp_path), "--no-initial-controllers") == 0
    assert not (tmp_path / "a" / PARTITION_DIRECTORY).exists()


def test_static_quorum_has_no_voters_on_disk(tmp_path: Path) -> None:
    assert _format(_config(tmp_path, static=True)) == 0
    assert not (tmp_path / "a" / PARTITION_DIRECTORY).exists()


def test_metadata_log_dir_apart_from_log_dirs(tmp_path: Path) -> None:
    config = _config(tmp_path, metadata_log_dir=str(tmp_path / "metadata"))
    assert _format(config, "--standalone") == 0
    assert (tmp_path / "metadata" / PARTITION_DIRECTORY).is_dir()
    assert not (tmp_path / "a" / PARTITION_DIRECTORY).exists()
    assert read_meta_properties(tmp_path / "b") is not None


@pytest.mark.parametrize(
    ("flags", "levels"),
    [
        pytest.param(["-r", "3.9"], {"metadata.version": 21}, id="3.9-knows-none-of-the-later-features"),
        pytest.param(["-r", "3.3-IV3"], {"metadata.version": 7}, id="oldest"),
        pytest.param(["-f", "metadata.version=21"], {"metadata.version": 21}, id="by-feature"),
        pytest.param(
            ["-r", "4.0", "-f", "transaction.version=1", "-f", "group.version=0"],
            {"metadata.version": 25, "transaction.version": 1},
            id="feature-overrides-release",
        ),
    ],
)
def test_feature_levels(tmp_path: Path, flags: list[str], levels: dict[str, int]) -> None:
    assert _format(_config(tmp_path), "--standalone", *flags) == 0
    assert _levels(tmp_path / "a") == levels


@pytest.mark.prevents("KAFKA-17794", "KAFKA-19489")
@pytest.mark.parametrize(
    ("static", "flags", "reason"),
    [
        pytest.param(
            False, [], "--standalone, --initial-controllers or --no-initial-controllers", id="which"
        ),
        pytest.param(True, ["--standalone"], "controller.quorum.voters", id="static-and-standalone"),
        pytest.param(True, ["-I", VOTERS], "controller.quorum.voters", id="static-and-initial"),
        pytest.param(
            False,
            ["-s", "-f", "kraft.version=0"],
            "kraft.version 0 is for static voters",
            id="dynamic-version-0",
        ),
        pytest.param(True, ["-f", "kraft.version=1"], "kraft.version to 1", id="static-version-1"),
        pytest.param(False, ["-s", "-r", "4.3", "-f", "metadata.version=30"], "give one", id="ambiguous"),
        pytest.param(False, ["-s", "-r", "9.9"], "Unknown metadata.version '9.9'", id="release"),
        pytest.param(False, ["-s", "-r", "4.5-IV0"], "Unknown metadata.version", id="unstable-release"),
        pytest.param(False, ["-s", "-f", "metadata.version=34"], "not yet stable", id="unstable-level"),
        pytest.param(False, ["-s", "-f", "metadata.version=99"], "level 99", id="level"),
        pytest.param(False, ["-s", "-f", "nope=1"], "Unsupported feature: nope", id="feature"),
        pytest.param(False, ["-s", "-f", "group.version=9"], "feature level 9", id="feature-level"),
        pytest.param(False, ["-s", "-f", "group.version"], "it has no =", id="feature-syntax"),
        pytest.param(False, ["-s", "-f", "group.version=x"], "the level x is no number", id="feature-number"),
        pytest.param(
            False,
            ["-s", "-r", "3.9", "-f", "eligible.leader.replicas.version=1"],
            "needs metadata.version 23",
            id="dependency",
        ),
        pytest.param(
            False,
            ["-s", "-r", "3.4", "-S", "SCRAM-SHA-256=[name=a,password=b]"],
            "3.5-IV2",
            id="scram-too-old",
        ),
        pytest.param(False, ["-I", "1@one:9093"], "no colon after the port", id="voter-syntax"),
    ],
)
def test_refusals_leave_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], static: bool, flags: list[str], reason: str
) -> None:
    assert _format(_config(tmp_path, static=static), *flags) == 1
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["controller.properties"]


@pytest.mark.parametrize("flags", [[], ["--ignore-formatted"]], ids=["plain", "ignore-formatted"])
def test_formatting_again_with_another_cluster_id_says_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """As who runs the commands of a guide twice, with a new id each time."""
    config = _config(tmp_path)
    assert _format(config, "--standalone") == 0
    other = "AnotherClusterAnother1"
    assert main(["format", "-t", other, "-c", str(config), "--standalone", *flags]) == 1
    error = capsys.readouterr().err
    assert f"{tmp_path / 'a'} is already formatted, for the cluster {CLUSTER_ID}, not {other}" in error
    assert "Next step: kraftctl start" in error


def test_formatted_directories_are_refused_or_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = _config(tmp_path)
    assert _format(config, "--standalone") == 0
    before = read_meta_properties(tmp_path / "a")
    assert _format(config, "--standalone") == 1
    assert "formatted before" in capsys.readouterr().err
    assert _format(config, "--standalone", "--ignore-formatted") == 0
    assert "formatted before" in capsys.readouterr().out
    (tmp_path / "b" / "meta.properties").unlink()
    assert _format(config, "--standalone", "-g") == 0
    assert read_meta_properties(tmp_path / "a") == before
    assert read_meta_properties(tmp_path / "b") is not None


def test_directories_of_another_cluster_or_node_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _format(_config(tmp_path), "--standalone") == 0
    assert main(["format", "-t", "other", "-c", str(_config(tmp_path)), "-s", "-g"]) == 1
    assert "already formatted, for the cluster" in capsys.readouterr().err
    assert _format(_config(tmp_path, node_id=2), "-s", "-g") == 1
    assert "another node" in capsys.readouterr().err


def test_a_log_without_meta_properties_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_partition(tmp_path / "a").close()
    assert _format(_config(tmp_path), "--standalone") == 1
    assert "holds a metadata log" in capsys.readouterr().err


def test_interrupted_format_can_be_repeated(tmp_path: Path) -> None:
    assert _format(_config(tmp_path), "--standalone") == 0
    for name in ("a", "b"):
        (tmp_path / name / "meta.properties").unlink()
    assert _format(_config(tmp_path), "--standalone") == 0
    meta = read_meta_properties(tmp_path / "a")
    header = open_partition(tmp_path / "a").snapshots.reader(OffsetAndEpoch(0, 0)).header()
    assert meta is not None
    assert header.voters is not None
    assert header.voters.voters[0].voter_directory_id == meta.directory_id


def test_bad_configuration_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["format", "-t", CLUSTER_ID, "-c", str(tmp_path / "missing"), "-s"]) == 1
    assert "missing" in capsys.readouterr().err


def test_scram_defaults_are_a_fresh_salt_and_4096_iterations() -> None:
    one = scram_record("SCRAM-SHA-256=[name=alice,password=x]").record
    two = scram_record("SCRAM-SHA-256=[name=alice,password=x]").record
    assert isinstance(one, UserScramCredentialRecord)
    assert isinstance(two, UserScramCredentialRecord)
    assert one.iterations == 4096
    assert one.salt != two.salt


def test_initial_controllers_are_ordered_by_id() -> None:
    first, second = VOTERS.split(",")
    voters = parse_initial_controllers(f" {second} , {first}", "controller")
    assert voters.voter_ids() == [1, 2]
    assert [uuid_to_string(node.key.directory_id) for node in voters.nodes.values()] == DIRECTORY_IDS
    assert voters.nodes[2].endpoints == {"CONTROLLER": ("::1", 9094)}


def test_an_empty_cluster_id_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["format", "-t", "", "-c", str(_config(tmp_path)), "--standalone"]) == 1
    assert "--cluster-id must not be empty" in capsys.readouterr().err
    assert read_meta_properties(tmp_path / "a") is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _format(tmp_path / "nowhere", "--standalone") == 1
    assert f"there is no file {tmp_path / 'nowhere'}" in capsys.readouterr().err


def test_the_metadata_log_directory_gets_a_recovery_point_that_knows_nothing(tmp_path: Path) -> None:
    assert _format(_config(tmp_path), "--standalone") == 0
    meta = read_meta_properties(tmp_path / "a")
    assert meta is not None
    assert meta.directory_id is not None
    assert read_recovery_point(tmp_path / "a") == RecoveryPoint(meta.directory_id)
    assert read_recovery_point(tmp_path / "b") is None


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
def test_a_directory_that_has_only_its_recovery_point_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], static: bool
) -> None:
    """A static voter would vote again as if it never had; in a dynamic quorum it is another voter."""
    old_id = uuid_from_string(DIRECTORY_IDS[1])
    (tmp_path / "a").mkdir()
    recovery_point = RecoveryPointFile.open(tmp_path / "a", old_id, lambda: 0)
    recovery_point.begin(RecoveryPoint(old_id, quorum_epoch=4))
    if static:
        assert _format(_config(tmp_path, static=True)) == 1
        assert f"directory.id={DIRECTORY_IDS[1]}" in capsys.readouterr().err
        assert read_meta_properties(tmp_path / "a") is None
    else:
        assert _format(_config(tmp_path), "--no-initial-controllers") == 0
        point = read_recovery_point(tmp_path / "a")
        assert point is not None
        assert point.directory_id != old_id
        assert point.quorum_epoch == 0
