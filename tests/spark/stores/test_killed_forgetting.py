"""`expire` and `forget` are killed at their steps in a store: the same command finishes what they began."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.output import Output
from tests.spark.expired_tables import time_behind
from tests.spark.forgotten_names import TOPIC, USER, made_output
from tests.spark.page_bytes import places_of
from tests.spark.stores.conftest import RETRY_SECONDS, client_of
from tests.spark.stores.killed_lake import killed, processes
from tests.spark.stores.servers import BUCKET, StoreServer
from tests.spark.stores.test_forgotten_objects import fetched, put
from tests.spark.test_forget_expired import BATCHES, certain, expired_output, in_any_order

STRIDES = pytest.mark.parametrize(
    "stride", [pytest.param(7, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)


class StepsOf:
    """Copies of an output in a store, one for each step at which a command is killed."""

    def __init__(self, output: Path, scratch: Path) -> None:
        self._output = output
        self._scratch = scratch

    def copy(self, step: int) -> tuple[str, Store]:
        url = f"s3://{BUCKET}/{self._scratch.name}-{step}"
        store = open_store(url, retry_seconds=RETRY_SECONDS)
        put(self._output, store, self._scratch / f"copy-{step}")
        return url, store


@STRIDES
@pytest.mark.timeout(7200)
def test_a_killed_expiry(
    stride: int, one_server: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    whole, context = made_output(tmp_path / "whole", certain(USER, TOPIC), BATCHES), processes()
    before = time_behind(whole, 4)
    expected = in_any_order(expired_output(tmp_path / "expected", certain(USER, TOPIC)))
    copies = StepsOf(whole, tmp_path)
    for step in itertools.count(1, min(stride, 2)):
        url, store = copies.copy(step)
        command = ["expire", "--output", url, "--raw-before", before, "--execute"]
        was_killed = killed(context, command, step, None)
        assert main(command) == 0
        assert main(["compact", "--output", url]) == 0  # It deletes what was replaced before the kill.
        assert main(["verify", "--output", url]) == 0
        directory = fetched(store, tmp_path / f"fetched-{step}")
        state = Output(directory).log.state()
        assert state.history is not None
        named = {file.path for one in state.batches for file in one.files} | set(state.history.files)
        assert {str(one.relative_to(directory)) for one in directory.rglob("*.parquet")} == named
        assert in_any_order(directory) == expected
        if not was_killed:
            break
    assert step > 1


@STRIDES
@pytest.mark.timeout(7200)
def test_a_killed_forgetting(
    stride: int, one_server: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a history whose records have expired."""
    client_of(monkeypatch, one_server.endpoint)
    made = certain(USER, TOPIC)
    copies = StepsOf(expired_output(tmp_path / "whole", made, 2), tmp_path)
    context, unfinished = processes(), 0
    for step in itertools.count(1, stride):
        url, store = copies.copy(step)
        command = ["forget", "--output", url, "--topic", TOPIC, "--execute"]
        was_killed = killed(context, command, step, None)
        between = Output(fetched(store, tmp_path / f"between-{step}")).log.state().forgotten
        if was_killed:
            as_before = ["--as", between[0].pseudonym] if between else []
            unfinished += bool(between) and not between[0].finished_at_ms
            assert main([*command, *as_before]) == 0
        directory = fetched(store, tmp_path / f"fetched-{step}")
        assert places_of(TOPIC.encode(), directory) == []
        (one,) = Output(directory).log.state().forgotten
        assert one.finished_at_ms
        assert main(["verify", "--output", url]) == 0
        expected = expired_output(tmp_path / f"expected-{step}", certain(USER, one.pseudonym), 2)
        assert in_any_order(directory) == in_any_order(expected)
        if not was_killed:
            break
    assert step > stride
    assert unfinished
