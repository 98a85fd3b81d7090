"""Tables with secrets are closed to other accounts, also after they were merged; others are shared."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import NO_OP, batches_of, exporting


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    previous = os.umask(0o022)
    yield
    os.umask(previous)


def modes(directory: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in directory.rglob("*.parquet")}


@pytest.mark.parametrize(("include_secrets", "mode"), [(True, 0o600), (False, 0o644)])
def test_files_with_secrets_are_for_their_owner(
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    include_secrets: bool,
    mode: int,
) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)
    quorum.append(*batches_of(dict.fromkeys(range(60), NO_OP), 10))
    for end in (30, 60):
        with exporting(tmp_path, controller.endpoint, include_secrets=include_secrets) as exporter:
            exporter.export_to(end, 1)
    assert modes(tmp_path) == {mode}
    HistoryTables(tmp_path, tmp_path / "history").rebuild()
    assert modes(tmp_path / "history") == {mode}
    output = Output(tmp_path)
    with output.compacting(wait=True):
        assert compact(output, grace_ms=0).merged_manifests > 1
    assert modes(tmp_path) == {mode}
