"""KIP-1170: bootstrap records in bootstrap.checkpoint, in the 0-0 checkpoint, in both, in neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.metadata import features
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.storage.bootstrap_checkpoint import (
    check_bootstrap,
    read_bootstrap_checkpoint,
    write_bootstrap_checkpoint,
)
from kraftctl.storage.errors import StorageError
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch

USER = RecordAndVersion(UserScramCredentialRecord(name="alice", mechanism=2, iterations=4096), 0)
OF_4_4 = 33
NEWER_LEVEL = 35


def levels(metadata_version: int, **others: int) -> list[RecordAndVersion]:
    named = {"metadata.version": metadata_version}
    named |= {name.replace("_", "."): level for name, level in others.items()}
    records = [FeatureLevelRecord(name=name, feature_level=level) for name, level in named.items()]
    return [RecordAndVersion(record, 0) for record in records]


def write_checkpoint(
    log_dir: Path, records: list[RecordAndVersion], id_: OffsetAndEpoch = BOOTSTRAP_SNAPSHOT_ID
) -> Path:
    content = SnapshotBatches(id_.epoch, 5_000)
    store = SnapshotStore.open(log_dir / PARTITION_DIRECTORY)
    store.write(id_, [content.header(5_000, 1), *content.records(records), content.footer()])
    return store.path(id_)


@pytest.mark.prevents("newer-bootstrap-layout")
def test_the_0_0_checkpoint_alone(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, [*levels(21), USER])
    bootstrap = read_bootstrap_checkpoint(tmp_path)
    assert bootstrap.records == [*levels(21), USER]
    assert (bootstrap.metadata_version, bootstrap.source) == (21, str(path))


def test_a_0_0_checkpoint_of_control_records_leaves_it_to_the_file(tmp_path: Path) -> None:
    """The layout of a dynamic quorum, as Kafka up to 4.3 and kraftctl format it."""
    write_checkpoint(tmp_path, [])
    write_bootstrap_checkpoint(tmp_path, levels(25), 5_000)
    bootstrap = read_bootstrap_checkpoint(tmp_path)
    assert (bootstrap.metadata_version, bootstrap.source) == (25, str(tmp_path / "bootstrap.checkpoint"))


def test_a_0_0_checkpoint_of_control_records_alone_is_the_default(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, [])
    assert read_bootstrap_checkpoint(tmp_path).metadata_version == features.DEFAULT_METADATA_VERSION


@pytest.mark.prevents("newer-bootstrap-layout")
def test_the_0_0_checkpoint_goes_before_the_file(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, levels(21))
    write_bootstrap_checkpoint(tmp_path, levels(25), 5_000)
    assert read_bootstrap_checkpoint(tmp_path).metadata_version == 21


def test_a_newer_snapshot_goes_before_both(tmp_path: Path) -> None:
    """Whatever the 0-0 checkpoint holds: the cluster is not empty."""
    write_checkpoint(tmp_path, levels(OF_4_4))
    write_checkpoint(tmp_path, levels(30), OffsetAndEpoch(100, 2))
    assert read_bootstrap_checkpoint(tmp_path).source == "the default bootstrap"


def test_a_0_0_checkpoint_without_metadata_version_is_refused(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, [USER])
    with pytest.raises(StorageError, match=r"metadata\.version.*Next step") as raised:
        read_bootstrap_checkpoint(tmp_path)
    assert str(path) in str(raised.value)


def test_a_0_0_checkpoint_without_its_end_is_refused(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, levels(21))
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(whole[:-75])
    with pytest.raises(StorageError, match="SnapshotFooter"):
        read_bootstrap_checkpoint(tmp_path)


def test_a_record_that_is_not_known_is_refused_with_its_place(tmp_path: Path) -> None:
    """Not as damage: the advice for a damaged file is another one."""
    content = SnapshotBatches(0, 5_000)
    header, footer = content.header(5_000), content.footer()
    unknown = encode_batch(1, 0, 5_000, [b"\x01\x1e\x00\x00\x00\x0b\xb8\x00"])
    store = SnapshotStore.open(tmp_path / PARTITION_DIRECTORY)
    store.write(BOOTSTRAP_SNAPSHOT_ID, [header, unknown, footer])
    with pytest.raises(StorageError, match=r"record 1 is of type 30 in version 0.*newer release.*Next step"):
        read_bootstrap_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        pytest.param(levels(NEWER_LEVEL), "metadata.version 35, .* 7 to 33", id="metadata.version"),
        pytest.param(levels(34), "metadata.version 34, .* 7 to 33", id="unstable"),
        pytest.param(levels(6), "metadata.version 6, .* 7 to 33", id="too-old"),
        pytest.param(levels(30, share_version=3), "share.version 3, .* 0 to 2", id="share.version"),
        pytest.param(levels(30, next_version=1), "next.version 1, .* not know", id="unknown-feature"),
    ],
)
@pytest.mark.parametrize("layout", ["0-0", "file"])
def test_a_level_that_is_not_known_never_begins_a_log(
    tmp_path: Path, layout: str, records: list[RecordAndVersion], reason: str
) -> None:
    path = tmp_path / "bootstrap.checkpoint"
    if layout == "0-0":
        path = write_checkpoint(tmp_path, records)
    else:
        write_bootstrap_checkpoint(tmp_path, records, 5_000)
    bootstrap = read_bootstrap_checkpoint(tmp_path)
    with pytest.raises(StorageError, match=rf"{reason}.*Next step") as raised:
        check_bootstrap(tmp_path, bootstrap, features.supported_features(False))
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param(levels(30, transaction_version=2, next_version=0), id="4.3"),
        pytest.param(levels(OF_4_4, share_version=2), id="the-default-of-4.4"),
    ],
)
def test_levels_that_are_known_begin_a_log(tmp_path: Path, records: list[RecordAndVersion]) -> None:
    write_checkpoint(tmp_path, [*records, USER])
    check_bootstrap(tmp_path, read_bootstrap_checkpoint(tmp_path), features.supported_features(False))


@pytest.mark.prevents("newer-bootstrap-layout")
def test_two_layouts_that_contradict_each_other_never_begin_a_log(tmp_path: Path) -> None:
    """Formatted by Kafka 4.4, then again without emptying the directory: the user of one would be lost."""
    path = write_checkpoint(tmp_path, levels(30))
    write_bootstrap_checkpoint(tmp_path, [*levels(30), USER], 5_000)
    supported = features.supported_features(False)
    with pytest.raises(StorageError, match=r"different bootstrap records.*Next step") as raised:
        check_bootstrap(tmp_path, read_bootstrap_checkpoint(tmp_path), supported)
    assert str(path) in str(raised.value)
    assert str(tmp_path / "bootstrap.checkpoint") in str(raised.value)
    write_bootstrap_checkpoint(tmp_path, levels(30), 5_000)
    check_bootstrap(tmp_path, read_bootstrap_checkpoint(tmp_path), supported)
