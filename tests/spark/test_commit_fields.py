"""Files of JSON that were changed: each field of another type, and each path outside of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.history import take_over
from kraftctl_spark.publish.publication_state import PublicationState, note, publication_states
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.commit import EXPIRED, Commit, HistoryChange, hash_of
from kraftctl_spark.tables.commit_log import commit_name, state_name
from kraftctl_spark.tables.expired import Expired
from kraftctl_spark.tables.forgot import Forgot, ForgottenName
from kraftctl_spark.tables.kept_removed import NOTES, UNKNOWN, published_commits
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.new_fields import NewFields
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import LiveHistory, OutputState, Removed
from kraftctl_spark.tables.table_files import TableFile
from kraftctl_spark.tables.verification import verify

FILE = TableFile("records", "records/1.parquet", 1, 2, "aa")
OF_HISTORY = TableFile("topics", "history/topics/1.parquet", 1, 2, "aa")
BATCH = Manifest(
    cluster_id="c",
    start=0,
    end=5,
    epoch=1,
    files=(FILE,),
    counts={"records": 5},
    high_watermark=5,
    missing=(0,),
    new_fields=(NewFields("T", 1, None, 2, None),),
    batch_times_ms=(7,),
    expired=Expired(1, None, {"records": 5}, ("d",), ((0, 5),), ((0, 5),)),
)
COMMIT = Commit(
    EXPIRED,
    (BATCH,),
    (FILE,),
    HistoryChange(3, "c", 0, 5, ("d",), (OF_HISTORY,), (OF_HISTORY,)),
    Forgot("topic", "x"),
    number=0,
)
STATE = OutputState(
    number=3,
    sha256="aa",
    batches=[BATCH],
    history=LiveHistory(3, "c", 5, ("d",), {OF_HISTORY.path: OF_HISTORY}),
    removed=[Removed(1, 2, (FILE.path,))],
    forgotten=[ForgottenName("topic", "x", 1, 2, 3, 4)],
    kept_at=3,
)

WRONG: list[Any] = [None, True, 5, 5.5, "x", [], [5], {}, {"x": 5}]
NO_OBJECTS = [b"", b"5", b"null", b'"x"', b"[]", b"true", b"\xff", b"[" * 100_000, b'{"format": 1', b"{}"]

OUTSIDE = [
    "/etc/x.parquet",
    "../x.parquet",
    "records/../../x.parquet",
    "../records/1.parquet",
    "records/../1.parquet",
    "./records/1.parquet",
    "records//1.parquet",
    "1.parquet",
    "a/b/c/1.parquet",
    "records/1.txt",
    "_commits/00000000000000000000.json",
    "records\\..\\1.parquet",
    "records/1\0.parquet",
    "",
]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there is something in a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in parts:
        yield (*path, key)
        yield from places_in(one, (*path, key))


def changed(data: bytes, path: tuple[Any, ...], to: Any) -> bytes:
    fields = json.loads(data)
    within = fields
    for key in path[:-1]:
        within = within[key]
    within[path[-1]] = to
    return json.dumps(fields).encode()


def said(value: Any) -> Any:
    """Without what is left out where there is nothing to say."""
    if isinstance(value, dict):
        return {key: said(one) for key, one in value.items() if one not in (None, [])}
    return [said(one) for one in value] if isinstance(value, list) else value


def state_of(data: bytes) -> OutputState:
    return OutputState.from_bytes(data, STATE.sha256)


READERS: list[Any] = [
    pytest.param(COMMIT.to_bytes(), Commit.from_bytes, id="commit"),
    pytest.param(STATE.to_bytes(), state_of, id="state"),
]


@pytest.mark.parametrize(("data", "read"), READERS)
def test_what_is_written_is_read(data: bytes, read: Callable[[bytes], object]) -> None:
    assert read(data) in (COMMIT, STATE)


@pytest.mark.parametrize(("data", "read"), READERS)
@pytest.mark.parametrize("other", NO_OBJECTS, ids=lambda one: repr(one[:8]))
def test_what_is_no_object_is_refused(data: bytes, read: Callable[[bytes], object], other: bytes) -> None:
    with pytest.raises(ValueError):
        read(other)


@pytest.mark.parametrize(("data", "read"), READERS)
def test_a_field_of_another_type_is_refused(data: bytes, read: Callable[[bytes], Any]) -> None:
    """Everywhere, or it is read as what it says: nothing of another type comes further."""
    fields = json.loads(data)
    for path in places_in(fields):
        for wrong in WRONG:
            try:
                found = read(changed(data, path, wrong))
            except ValueError:
                continue
            given = json.loads(changed(data, path, wrong))
            assert said(json.loads(found.to_bytes())) == said(given), (path, wrong)


@pytest.mark.parametrize(("data", "read"), READERS)
@pytest.mark.parametrize("outside", OUTSIDE)
def test_a_path_outside_of_the_tables_is_refused(
    data: bytes, read: Callable[[bytes], object], outside: str
) -> None:
    """Wherever there is a path, now and in later releases."""
    fields = json.loads(data)
    paths = [path for path in places_in(fields) if "path" in path[-1:] or "paths" in path[-2:-1]]
    assert len(paths) == {"kind": 4, "batches": 3}["kind" if "kind" in fields else "batches"]
    for path in paths:
        with pytest.raises(ValueError, match="is no path of a file of these tables"):
            read(changed(data, path, outside))


@pytest.mark.parametrize("outside", OUTSIDE)
def test_old_manifests_name_files_of_the_tables_alone(tmp_path: Path, outside: str) -> None:
    history = tmp_path / take_over.DIRECTORY / take_over.OLD_MANIFEST
    history.parent.mkdir()
    file = {**FILE.to_dict(), "path": outside}
    old = {"format": take_over.FORMAT, "cluster_id": "c", "end": 5, "decoders": [], "files": [file]}
    history.write_text(json.dumps(old))
    assert take_over._history(tmp_path, (BATCH,)) is None
    manifest = tmp_path / "1.json"
    manifest.write_text(json.dumps({**BATCH.to_dict(), "format": 1, "lag": 0, "files": [file]}))
    with pytest.raises(ExportRefusedError, match="is no path of a file"):
        take_over._read(manifest)


@pytest.mark.parametrize("outside", OUTSIDE[:4])
def test_a_changed_commit_deletes_nothing_outside(tmp_path: Path, outside: str) -> None:
    """Neither with the state that it names, nor with itself."""
    store = LocalStore(tmp_path / "tables")
    target = (tmp_path / "tables" / outside).resolve() if outside[0] != "/" else tmp_path / "x.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"mine")
    named = str(target) if outside[0] == "/" else outside
    state = OutputState(number=0, removed=[Removed(0, 1, (named,))])
    store.create(commit_name(0), Commit("merge", number=0, state=hash_of(state.to_bytes())).to_bytes())
    store.create(state_name(0), state.to_bytes())
    Output(tmp_path / "tables").remove_replaced(0)
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize("data", NO_OBJECTS, ids=lambda one: repr(one[:8]))
def test_verify_and_status_name_the_commit(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    LocalStore(tmp_path).create(commit_name(0), data)
    (problem,) = verify(tmp_path).problems
    assert f"{commit_name(0)} was changed, and is no commit any more" in problem
    assert main(["status", "--output", str(tmp_path)]) == 2
    assert f"{commit_name(0)} is not a commit of this release" in caplog.text


def test_a_note_of_publications_that_was_changed_is_none(tmp_path: Path) -> None:
    """Then nothing is deleted that readers of published tables may need."""
    store = LocalStore(tmp_path)
    note(store, "Delta", PublicationState(5, 6, commit=7))
    assert published_commits(store) == {"Delta": 7}
    right = store.read(NOTES["Delta"])
    for path in places_in(json.loads(right)):
        for wrong in WRONG:
            store.put(NOTES["Delta"], changed(right, path, wrong))
            publication_states(store)
            assert min(published_commits(store).values()) in (UNKNOWN, wrong, 7)
    for data in NO_OBJECTS[:-1]:
        store.put(NOTES["Delta"], data)
        assert publication_states(store) == {}
        assert list(published_commits(store).values()) == [UNKNOWN]
