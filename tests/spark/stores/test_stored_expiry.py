"""Records of an object store expire: without a lock, of an expiry and a compaction one wins."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kraftctl_observer import attempts
from kraftctl_spark.cli import main
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.expiry import expire, plan_expiry
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import BUCKET, StoreServer
from tests.spark.stores.stored_export import PER_TASK, stored_output, storing
from tests.spark.typed_export import mixed_batches

ENDS = (20, 40, 60)
START = 40
"""What is there when the first two batches have expired."""


@pytest.fixture
def stored(
    controller: FakeController,
    quorum: FakeQuorum,
    one_server: StoreServer,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """Three batches of records of 1970."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", PER_TASK)
    monkeypatch.setattr(attempts, "PAUSE_S", 0.001)
    client_of(monkeypatch, one_server.endpoint)
    quorum.append(*mixed_batches(0, ENDS[-1]))
    with storing(url, controller.endpoint) as exporter:
        for end in ENDS:
            exporter.export_to(end, 1)
    return url


def offsets(url: str) -> list[int]:
    found: list[int] = read_table(url, "records").column("offset").to_pylist()
    return found


def test_it_needs_the_flag(
    stored: str, one_server: StoreServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And then no report of it can be made any more."""
    flags = ["expire", "--output", stored, "--raw-before", "1d", "--execute"]
    assert main(flags) == 2
    assert "has no history" in caplog.text
    assert main([*flags, "--without-history"]) == 0
    assert offsets(stored) == list(range(START, ENDS[-1]))
    prefix = stored.removeprefix(f"s3://{BUCKET}/")
    there = [name for name in one_server.objects(f"{prefix}/") if name.endswith(".parquet")]
    with stored_output(stored) as output:
        assert len(there) == len([file for one in output.manifests() for file in one.files])
    assert main(["verify", "--output", stored]) == 0
    assert main(["report", "--output", stored, "--to", str(tmp_path / "report.html")]) == 2
    assert f"the records before offset {START}" in caplog.text


def test_its_advice_can_be_followed(
    stored: str,
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only `run --history` continues a history there."""
    flags = ["expire", "--output", stored, "--raw-before", "1d", "--execute"]
    assert main(flags) == 2
    with stored_output(stored) as output:
        HistoryTables.beside(output).catch_up()
    quorum.append(*mixed_batches(ENDS[-1], 100))
    with storing(stored, controller.endpoint) as exporter:
        exporter.export_to(80, 1)
        exporter.export_to(100, 1)
    assert main(flags) == 2
    assert f"ends at offset {ENDS[-1]}, and lacks records before offset 80" in caplog.text
    assert caplog.text.count("one batch of kraftctl-export run --history") == 2
    assert "kraftctl-export history" not in caplog.text
    assert main([*flags, "--history", str(tmp_path / "other")]) == 2
    assert "is beside its tables. Omit the flag" in caplog.text
    with stored_output(stored) as output:
        HistoryTables.beside(output).catch_up()
    assert main(flags) == 0
    assert offsets(stored) == list(range(80, 100))


@pytest.mark.parametrize("first", ["expiry", "compaction"])
@pytest.mark.parametrize("step", [1, 3, 5])
def test_beside_a_compaction(stored: str, first: str, step: int) -> None:
    before_ms = time.time_ns() // 1_000_000

    def expiring(hook: Callable[[str], None]) -> None:
        with stored_output(stored, hook) as output:
            plan = plan_expiry(output, before_ms)
            hook("planned")
            if plan is not None:
                expire(output, plan, in_history=False)
            output.remove_replaced(0)

    def compacting(hook: Callable[[str], None]) -> None:
        with stored_output(stored, hook) as output:
            compact(output, grace_ms=0)

    one, other = (expiring, compacting) if first == "expiry" else (compacting, expiring)
    left = [step]

    def hook(name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            other(lambda step: None)

    with suppress(ExportRefusedError, FileNotFoundError):  # A file of the other is gone already.
        one(hook)
    with stored_output(stored) as output:
        start = output.raw_start
        assert start == 0 or [one.start for one in output.manifests()] == [0, START]
    assert offsets(stored) == list(range(start, ENDS[-1]))
    assert main(["verify", "--output", stored]) == 0
