"""Outputs whose commits say something else than those of the export that wrote the files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import FORMAT, OLD_MANIFEST, HistoryLog, read_manifest
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.commit import Commit, HistoryChange
from kraftctl_spark.tables.commit_log import (
    COMMITS,
    OLD_MANIFESTS,
    STATES,
    CommitLog,
    commit_name,
    numbers_in,
)
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile, sha256_of


def rewrite_commits(root: Path, change: Callable[[Commit], Commit]) -> None:
    """Commits everything again, each commit changed."""
    store = LocalStore(root)
    commits = [Commit.from_bytes(store.read(commit_name(one))) for one in numbers_in(store, COMMITS)]
    _forget_commits(root)
    log = CommitLog(store, root)
    for commit in commits:
        log.append(change(commit))


def rewrite(tables: Path, change: Callable[[Manifest], Manifest]) -> None:
    """Commits the batches again, each changed, with the files' sizes and hashes as they are now."""

    def changed(commit: Commit) -> Commit:
        batches = [change(batch) for batch in commit.batches]
        return replace(
            commit, batches=tuple(replace(one, files=_as_they_are(tables, one.files)) for one in batches)
        )

    rewrite_commits(tables, changed)


def rewrite_history(output: Path, format_number: int | None = None, **fields: Any) -> None:
    """Commits a history in a directory of its own again, its files as they are now."""
    before = HistoryLog(output).read()
    assert before is not None
    _forget_commits(output)
    log = HistoryLog(output)
    assert log.read() is None
    log.commit(replace(before, **{"files": _as_they_are(output, before.files), **fields}))
    if format_number is not None:

        def changed(commit: Commit) -> Commit:
            assert commit.history is not None
            return replace(commit, history=replace(commit.history, format=format_number))

        rewrite_commits(output, changed)


def as_earlier_releases_left_it(tables: Path) -> None:
    """Manifests instead of commits, also for the history beside the tables; no hashes."""
    output = Output(tables)
    (tables / OLD_MANIFESTS).mkdir()
    for batch in output.manifests():
        fields = {**batch.to_dict(), "format": 1, "lag": batch.lag, "files": _without_hashes(batch.files)}
        (tables / OLD_MANIFESTS / f"{batch.name}.json").write_text(json.dumps(fields))
    history = read_manifest(tables / DIRECTORY)
    if history is not None:
        fields = {"format": FORMAT, "cluster_id": history.cluster_id, "end": history.end}
        fields |= {"decoders": sorted(history.decoders), "files": _without_hashes(history.files)}
        (tables / DIRECTORY / OLD_MANIFEST).write_text(json.dumps(fields))
    _forget_commits(tables)


def _without_hashes(files: Iterable[TableFile]) -> list[dict[str, Any]]:
    return [{name: value for name, value in vars(file).items() if name != "sha256"} for file in files]


def of_another_cluster(commit: Commit) -> Commit:
    history: HistoryChange | None = commit.history
    return replace(
        commit,
        batches=tuple(replace(one, cluster_id=f"other-{one.cluster_id}") for one in commit.batches),
        history=history and replace(history, cluster_id=f"other-{history.cluster_id}"),
    )


def _forget_commits(root: Path) -> None:
    for name in (COMMITS, STATES):
        shutil.rmtree(root / name, ignore_errors=True)


def _as_they_are(root: Path, files: Iterable[TableFile]) -> tuple[TableFile, ...]:
    paths = [(file, root / file.path) for file in files]
    return tuple(replace(file, bytes=path.stat().st_size, sha256=sha256_of(path)) for file, path in paths)
