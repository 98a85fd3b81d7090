"""A start looks at all directories first, and refuses before it writes: the log stays where it began."""

from __future__ import annotations

import errno
import os
import random
import shutil
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.quorum.controller_properties import read_controller_properties
from kraftctl.cli.start import open_directory
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.storage.errors import StorageError
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.meta_properties import read_meta_properties
from tests.storage.log_dirs_cases import (
    AN_EMPTY_ITEM,
    CASES,
    CLUSTER_ID,
    NO_ITEM,
    NO_VALUE,
    NODE_ID,
    PARTITION,
    RECOVERY_POINT,
    REORDERED,
    STARTS,
    UNUSABLE,
    Case,
    Node,
    lived,
    read_tree,
)

NOTE = "metadata-log-dir"

OF_A_CONTROLLER = {
    "process.roles": "controller",
    "node.id": str(NODE_ID),
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://localhost:9093",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}
BAD_ADVICE = ("kraftctl format", "format the directory", "format a new directory", "delete", "remove the")
AT_START_ONLY = ("log.dirs newly set beside log.dir", "under another name in its own place")
"""Format looks at what it is to format."""
NEW_DIRECTORIES = ("is gone", "is empty", "is not formatted", "leads nowhere")
"""They hold nothing, so that formatting them is a next step."""


def by_name(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases])


def start(properties: dict[str, str]) -> None:
    """Up to where the log is opened."""
    _, lock = open_directory(ControllerConfig(OF_A_CONTROLLER | properties))
    lock.release()


def refusal(properties: dict[str, str]) -> str:
    with pytest.raises((StorageError, ConfigException)) as refused:
        start(properties)
    return str(refused.value)


@by_name(STARTS)
def test_it_starts(tmp_path: Path, case: Case) -> None:
    start(case.build(tmp_path))


@pytest.mark.prevents("reordered-directories")
@by_name(REORDERED + UNUSABLE)
def test_it_is_refused_before_anything_is_written(tmp_path: Path, case: Case) -> None:
    properties = case.build(tmp_path)
    before = read_tree(tmp_path)
    reason = refusal(properties)
    for part in case.says:
        assert part.format(root=tmp_path) in reason
    assert "Errno" not in reason
    if not any(part in reason for part in (AN_EMPTY_ITEM, NO_ITEM, NO_VALUE)):
        assert "Next step: " in reason
    assert "--standalone" not in reason  # beside other voters it begins a second quorum
    if not case.name.endswith(NEW_DIRECTORIES):
        assert [advice for advice in BAD_ADVICE if advice in reason] == []
    assert read_tree(tmp_path) == before


@pytest.mark.prevents("reordered-directories")
@by_name([case for case in REORDERED if case.name not in AT_START_ONLY])
@pytest.mark.parametrize("ignore_formatted", [False, True], ids=["", "ignore-formatted"])
def test_format_makes_no_second_log(tmp_path: Path, case: Case, ignore_formatted: bool) -> None:
    """Not in what is formatted already, and not in a directory that is new."""
    properties = case.build(tmp_path)
    before = read_tree(tmp_path)
    with pytest.raises(StorageError) as refused:
        format_again(properties, ignore_formatted=ignore_formatted)
    assert "Next step: " in str(refused.value)
    assert read_tree(tmp_path) == before


def format_again(properties: dict[str, str], *, ignore_formatted: bool, log_is_lost: bool = False) -> None:
    config = ControllerConfig(OF_A_CONTROLLER | properties)
    Formatter(
        cluster_id=CLUSTER_ID,
        node_id=NODE_ID,
        log_dirs=[Path(log_dir) for log_dir in config.log_dirs],
        metadata_log_dir=Path(config.metadata_log_dir),
        has_dynamic_quorum=True,
        ignore_formatted=ignore_formatted,
        log_is_lost=log_is_lost,
    ).format(random.Random(1), 0, lambda line: None)


def test_a_supervisor_does_not_format_where_the_log_was(tmp_path: Path) -> None:
    """Its disk may not be mounted, or is lost: then an operator says so, by moving the note away."""
    node = lived(tmp_path, dynamic=True)
    start(node.starts_with("a,b"))
    (tmp_path / "a").rename(tmp_path / "unmounted")
    properties = node.starts_with("a,b")
    with pytest.raises(
        StorageError, match=r"a has no meta\.properties, and held the metadata log.*mount its"
    ):
        format_again(properties, ignore_formatted=True)
    assert not (tmp_path / "a").exists()
    (tmp_path / "b" / NOTE).rename(tmp_path / NOTE)
    format_again(properties, ignore_formatted=True)
    shutil.rmtree(tmp_path / "a")
    (tmp_path / NOTE).rename(tmp_path / "b" / NOTE)
    format_again(properties, ignore_formatted=True, log_is_lost=True)  # as `quorum replace-voter` does
    assert (tmp_path / "a" / "meta.properties").exists()


def test_the_command_format_names_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    properties = OF_A_CONTROLLER | lived(tmp_path, dynamic=True).starts_with("new,a")
    file = tmp_path / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    assert main(["format", "-t", CLUSTER_ID, "-c", str(file), "--standalone", "--ignore-formatted"]) == 1
    error = capsys.readouterr().err
    assert f"log.dirs={tmp_path}/new,{tmp_path}/a" in error
    assert f"set metadata.log.dir={tmp_path}/a" in error
    assert not (tmp_path / "new").exists()


def test_a_voter_is_not_added_with_the_id_of_another_directory(tmp_path: Path) -> None:
    controller = read_controller_properties(OF_A_CONTROLLER | lived(tmp_path).starts_with("b,a"))
    with pytest.raises(StorageError, match=r"set metadata\.log\.dir="):
        controller.directory_id()


@pytest.mark.prevents("reordered-directories")
@pytest.mark.parametrize(
    ("log_dirs", "metadata"), [("b", None), ("b,c", None), ("c,b", None), ("b", "c"), ("b,c", "b")]
)
def test_a_log_whose_directory_has_left_the_list(tmp_path: Path, log_dirs: str, metadata: str | None) -> None:
    """The directories that stay have noted where it is, once a controller has started with all of them."""
    node = lived(tmp_path)
    start(node.starts_with("a,b,c"))
    before = read_tree(tmp_path)
    reason = refusal(node.starts_with(log_dirs, metadata))
    assert f"the metadata log of this node is in {tmp_path}/a (directory.id " in reason
    assert f"set metadata.log.dir={tmp_path}/a" in reason
    assert NOTE in reason
    assert read_tree(tmp_path) == before


def test_a_disk_that_is_mounted_elsewhere(tmp_path: Path) -> None:
    node = lived(tmp_path)
    start(node.starts_with("a,b"))
    node.move("a", "x")
    start(node.starts_with("x,b"))
    assert f"{tmp_path}/x" in refusal(node.starts_with("b"))
    assert "set metadata.log.dir=" + str(tmp_path / "x") in refusal(node.starts_with("b,x"))


@pytest.mark.parametrize("name", ["a/lost+found", ""], ids=["lost+found", "the directory above"])
def test_a_new_disk_beside_what_others_may_not_list(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ext4 makes lost+found for root alone: the next step is still to format the directory."""
    node = Node(tmp_path).make("a").make("a/lost+found")
    hidden, listed = str(tmp_path / name), os.listdir

    def listdir(path: str) -> list[str]:
        if os.fspath(path) == hidden:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), hidden)
        return listed(path)

    monkeypatch.setattr(os, "listdir", listdir)
    reason = refusal(node.starts_with("a"))
    assert f"{tmp_path}/a has not been formatted" in reason
    assert "kraftctl format" in reason


def test_a_log_that_was_moved_with_its_promises(tmp_path: Path) -> None:
    """The directory that was noted as one of data holds the log now: it says so itself."""
    node = lived(tmp_path)
    start(node.starts_with("a,b"))
    for name in (PARTITION, RECOVERY_POINT):
        node.move(f"a/{name}", f"b/{name}")
    start(node.starts_with("b,c"))
    assert f"directory.id={directory_id(tmp_path / 'b')}" in (tmp_path / "c" / NOTE).read_text()


def test_a_note_that_cannot_be_read(tmp_path: Path) -> None:
    node = lived(tmp_path).write(f"b/{NOTE}", "directory.id=x\n")
    assert f"{tmp_path}/b/{NOTE} cannot be used" in refusal(node.starts_with("b"))
    start(node.starts_with("a,b"))
    assert f"metadata.log.dir={tmp_path}/a" in (tmp_path / "b" / NOTE).read_text()


def test_a_note_of_another_release_is_left_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A later release may have written more than this one knows; it keeps guarding the log meanwhile."""
    node = lived(tmp_path)
    start(node.starts_with("a,b"))
    file = tmp_path / "b" / NOTE
    node.write(f"b/{NOTE}", file.read_text().replace("version=1", "version=2") + "new=1\n")
    before = file.read_text()
    start(node.starts_with("a,b"))
    assert file.read_text() == before
    (warned,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert f"{file} cannot be used: it is of version 2, 1 is supported" in warned
    assert "cannot be used: it is of version 2" in refusal(node.starts_with("b"))


@pytest.mark.parametrize("content", ["version=2\nnew=1\n", "directory.id=x\n"], ids=["newer", "damaged"])
def test_a_note_that_cannot_be_read_guards_the_log_all_the_same(tmp_path: Path, content: str) -> None:
    """The directory of the log may not be mounted: it is not formatted, and that is not the advice."""
    node = lived(tmp_path, dynamic=True).write(f"b/{NOTE}", content)
    (tmp_path / "a").rename(tmp_path / "unmounted")
    properties = node.starts_with("a,b")
    with pytest.raises(StorageError, match=f"b/{NOTE} cannot be used"):
        format_again(properties, ignore_formatted=True)
    assert not (tmp_path / "a").exists()
    reason = refusal(properties)
    assert f"{tmp_path}/a has not been formatted" in reason
    assert f"{tmp_path}/b/{NOTE} cannot be used" in reason
    assert [advice for advice in BAD_ADVICE if advice in reason] == []


def test_a_directory_that_never_held_the_log_is_chosen_before_the_first_start(tmp_path: Path) -> None:
    node = Node(tmp_path).format("a", "b")
    start(node.starts_with("a,b"))
    start(node.starts_with("b,a"))


def test_a_replica_whose_meta_properties_lost_its_directory_id_stays_itself(tmp_path: Path) -> None:
    """With another id it would be an observer, and what it has promised would count for another replica."""
    node = lived(tmp_path)
    before = directory_id(tmp_path / "a")
    file = tmp_path / "a" / "meta.properties"
    node.write("a/meta.properties", file.read_text().replace(f"directory.id={before}\n", ""))
    start(node.starts_with("a,b"))
    assert directory_id(tmp_path / "a") == before


def directory_id(log_dir: Path) -> str:
    meta = read_meta_properties(log_dir)
    assert meta is not None
    return meta.properties()["directory.id"]


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
