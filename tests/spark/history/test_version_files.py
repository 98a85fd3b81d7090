"""Files of a history: durable before they have their names; what fails in a thread leaves none behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from kraftctl_spark.history import version_files
from kraftctl_spark.history.damage import open_file
from kraftctl_spark.history.schema import encode_versions
from kraftctl_spark.history.version_files import AHEAD, MakeRows, VersionFiles
from kraftctl_spark.history.versions.kinds import KINDS, TOPICS
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.stores.durable import fsync, no_hook

ROWS_PER_GROUP = 10


def one_topic(number: int) -> Mapping[str, pa.Table]:
    version = Version((f"t{number}",), ("x",), number, number, False, number)
    return {"topics": encode_versions(TOPICS, [version], "c")}


def features(count: int) -> pa.Table:
    versions = [Version((f"f{n}",), (1,), n, n, False, n) for n in range(count)]
    (kind,) = (one for one in KINDS if one.name == "features")
    return encode_versions(kind, versions, "c")


def unmakeable() -> Mapping[str, pa.Table]:
    raise ValueError("these rows cannot be made")


def publish(output: Path, makes: Sequence[MakeRows]) -> None:
    """With a file that has rows already."""
    with VersionFiles(output, no_hook) as files:
        files.add("features", "0", features(3 * ROWS_PER_GROUP))
        for make in makes:
            files.add_made("0", make)
        files.publish({})


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_files, "ROWS_PER_GROUP", ROWS_PER_GROUP)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(unmakeable, "cannot be made", id="made"),
        pytest.param(lambda: {"topics": features(ROWS_PER_GROUP)}, "schema", id="written"),
        pytest.param(lambda: {"topics": features(1)}, "schema", id="written-at-the-end"),
    ],
)
@pytest.mark.parametrize("later", [0, 4 * AHEAD], ids=["as-the-last-one", "before-others"])
def test_what_fails_in_a_thread_is_raised(tmp_path: Path, make: MakeRows, reason: str, later: int) -> None:
    with pytest.raises(ValueError, match=reason):
        publish(tmp_path, [make, *[lambda: {"features": features(ROWS_PER_GROUP)}] * later])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_rows_are_written_in_the_order_in_which_they_were_given(tmp_path: Path) -> None:
    with VersionFiles(tmp_path, no_hook) as files:
        for n in range(4 * AHEAD):
            files.add_made("0", partial(one_topic, n))
            files.add("topics", "0", one_topic(n + 15)["topics"])
        (file,) = files.publish({}).values()
    found = open_file(tmp_path / file.path).read().column("topic_id").to_pylist()
    assert found == [f"t{n + more}" for n in range(4 * AHEAD) for more in (0, 15)]


def test_files_are_complete_and_durable_before_they_have_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[object] = []

    def noted(path: Path) -> None:
        fsync(path)
        steps.append("directory" if path.is_dir() else path.stat().st_size)

    monkeypatch.setattr(version_files, "fsync", noted)
    with VersionFiles(tmp_path, steps.append) as files:
        files.add("features", "0", features(ROWS_PER_GROUP + 1))
        files.add_made("0", partial(one_topic, 0))
        published = list(files.publish({}).values())
    sizes = {file.bytes for file in published}
    assert len(sizes) == 2
    assert set(steps[:2]) == sizes
    assert steps[2:] == ["files-durable", "file-renamed", "file-renamed", "directory", "directory"]
