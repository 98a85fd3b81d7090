"""What survives a power failure: a commit only after all files that it names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftctl_spark.log import log_range
from kraftctl_spark.tables.commit import Commit
from kraftctl_spark.tables.commit_log import COMMITS, commit_name
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import exporting, mixed_batches

Step = tuple[str, Path]
"""`forced` to the disk, `named`, or `removed`."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """All changes of files and directories from now on, in order."""
    done: list[Step] = []
    force, replace, link, unlink = os.fsync, Path.replace, os.link, Path.unlink

    def forced(descriptor: int) -> None:
        force(descriptor)
        done.append(("forced", Path(os.readlink(f"/proc/self/fd/{descriptor}"))))

    def named(temporary: Path, path: Path) -> Path:
        assert ("forced", temporary) in done, f"{path} gets its name before its content is on the disk"
        done.append(("named", path))
        return replace(temporary, path)

    def linked(temporary: Path, path: Path) -> None:
        assert ("forced", temporary) in done, f"{path} gets its name before its content is on the disk"
        done.append(("named", path))
        link(temporary, path)

    def removed(path: Path, missing_ok: bool = False) -> None:
        done.append(("removed", path))
        unlink(path, missing_ok)

    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setattr(Path, "replace", named)
    monkeypatch.setattr(os, "link", linked)
    monkeypatch.setattr(Path, "unlink", removed)
    return done


def assert_durable_before(steps: list[Step], number: int, directory: Path) -> None:
    """The files of a commit, before it appears."""
    commit = directory / commit_name(number)
    at = steps.index(("named", commit))
    files = [file for batch in Commit.from_bytes(commit.read_bytes()).batches for file in batch.files]
    assert files
    for file in files:
        path = directory / file.path
        last = max(place for place, step in enumerate(steps) if step == ("named", path))
        assert ("forced", path.parent) in steps[last:at], f"{path} may have no name when {commit} has one"
    assert ("forced", directory) in steps[:at], "tables may have no directory"
    assert ("forced", directory.parent) in steps[:at], "nor have all of them"


def test_a_commit_is_durable_after_all_its_files(
    controller: FakeController,
    quorum: FakeQuorum,
    steps: list[Step],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)
    quorum.append(*mixed_batches(0, 60))
    directory = tmp_path / "new" / "tables"
    with exporting(directory, controller.endpoint) as exporter:
        for end in (40, 60):
            exporter.export_to(end, 1)
    output = Output(directory)
    for number in (0, 1):
        assert_durable_before(steps, number, directory)
    assert ("forced", tmp_path) in steps, "the directory above is new, too"
    replaced = [directory / file.path for one in output.manifests() for file in one.files]
    with output.compacting(wait=True):
        compact(output, grace_ms=0)
    assert_durable_before(steps, 2, directory)
    named = steps.index(("named", directory / commit_name(2)))
    visible = steps.index(("forced", directory / COMMITS), named)
    assert all(steps.index(("removed", path)) > visible for path in replaced)
