"""The requests of a start and of a report do not become more with the commits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl_spark.stores.object_store import ObjectStore
from kraftctl_spark.tables import commit_log
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import DELTA_LOG
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer
from tests.spark.stores.stored_export import compact_and_die, stored_output, storing
from tests.spark.typed_export import mixed_batches

NAMING = ("entries", "names")


@contextmanager
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of a store: its own requests, and what they find."""
    found: list[str] = []
    with monkeypatch.context() as within:
        for name in ("read", "size", "fetch_to", *NAMING):
            asked = getattr(ObjectStore, name)

            def counted(self: ObjectStore, *given: object, asked=asked, name=name) -> object:
                result = asked(self, *given)
                found.append(f"{name} {given[0]}")
                if name in NAMING:
                    listed = result if isinstance(result, list) else result.files
                    found.extend(f"listed {one}" for one in listed)
                return result

            within.setattr(ObjectStore, name, counted)
        yield found


def started(url: str) -> None:
    with stored_output(url) as output, output.locked():
        output.check_files()
        output.remove_leftovers()


def test_a_start_and_a_report_cost_the_same_after_many_commits(
    controller: FakeController,
    quorum: FakeQuorum,
    one_server: StoreServer,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 8)
    costs = []
    for first in (0, 24):
        quorum.append(*mixed_batches(3 * first, 3 * first + 72))
        with storing(url, controller.endpoint) as exporter:
            for end in range(first, first + 24):
                exporter.export_to(3 * (end + 1), 1)
        compact_and_die(url, 0)
        with stored_output(url) as output:
            output._objects.put(f"records/{DELTA_LOG}/{first:020}.json", b"{}")
            with requests(monkeypatch) as of_report:
                output.fetch_all()
            copy = Output(output.directory)
            assert copy.manifests() == output.manifests()
            assert copy.commit_number == output.commit_number
            copy.check_files()
        with requests(monkeypatch) as of_start:
            started(url)
        costs.append((len(of_report), len(of_start)))
        listed = [one for one in of_start if one.startswith("listed")]
        assert not [one for one in listed if DELTA_LOG in one]
        assert len([one for one in listed if commit_log.COMMITS in one]) <= commit_log.COMMITS_PER_STATE
    assert costs[1][0] <= costs[0][0] + 8, costs
    assert costs[1][1] <= costs[0][1] + 8, costs


def test_a_damaged_state_is_passed_over(
    controller: FakeController,
    quorum: FakeQuorum,
    one_server: StoreServer,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 2)
    quorum.append(*mixed_batches(0, 60))
    with storing(url, controller.endpoint) as exporter:
        for end in range(12, 61, 12):
            exporter.export_to(end, 1)
    with stored_output(url) as output:
        newest = output._objects.names(commit_log.STATES)[-1]
        output._objects.put(newest, b"{}")
    with stored_output(url) as output:
        output.fetch_all()
        assert Output(output.directory).manifests() == output.manifests()
