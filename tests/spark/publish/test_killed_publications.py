"""A publication that is killed at any step, and repeated: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import multiprocessing
import random
import shutil
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from kraftctl_spark.publish.publication import publish
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.publish.killed_publisher import publish_and_die
from tests.spark.publish.published_tables import FORMATS, assert_published, target_in
from tests.spark.typed_export import exporting, mixed_batches

KEPT_MS = 86_400_000
TABLES = 3

MOST = {"delta": (6, 0.1), "iceberg": (20, 0.4)}
"""The steps, and seconds, that a publication of a batch takes."""


@pytest.fixture
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.publish.killed_publisher"])
    return context


def killed(processes: ForkServerContext, *arguments: object) -> bool:
    child = processes.Process(target=publish_and_die, args=arguments)
    child.start()
    child.join(60)
    assert child.exitcode in (0, -9)
    return child.exitcode == -9


@pytest.mark.parametrize(
    "kills", [pytest.param(6, id="a-few"), pytest.param(50, id="fifty", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.timeout(1200)
def test_killed_again_and_again_while_tables_grow_and_are_merged(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    tmp_path: Path,
    kind: str,
    kills: int,
) -> None:
    """Every second kill is after a time, in the middle of anything; the others are after a step."""
    rng = random.Random(kills)
    quorum.append(*mixed_batches(0, 200 * kills))
    steps, most_s = MOST.get(kind, MOST["iceberg"])
    output, done = tmp_path / "tables", 0
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(end := 15, 1)
        while done < kills:
            exporter.export_to(end := end + 5, 1)
            if rng.random() < 0.2:
                with Output(output).compacting(wait=True):
                    compact(Output(output), KEPT_MS)
            at = (rng.randrange(1, steps), None) if done % 2 else (0, rng.random() * most_s)
            if killed(processes, tmp_path, kind, *at):
                done += 1
            if rng.random() < 0.2:
                publish(Output(output), target_in(tmp_path, kind))
                assert_published(tmp_path, kind, output, TABLES)
    publish(Output(output), target_in(tmp_path, kind))
    assert_published(tmp_path, kind, output, TABLES)
    assert publish(Output(output), target_in(tmp_path, kind)) == 0


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("steps", ["creation", "replacement"])
def test_killed_after_each_step_of_a_table(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    tmp_path: Path,
    kind: str,
    steps: str,
) -> None:
    """Of its creation, or of a commit that adds and removes files: the first table has all of the steps."""
    quorum.append(*mixed_batches(0, 60))
    place, saved = tmp_path / "here", tmp_path / "saved"
    output = place / "tables"
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(30, 1)
        if steps == "replacement":
            publish(Output(output), target_in(place, kind))
        exporter.export_to(60, 1)
    with Output(output).compacting(wait=True):
        compact(Output(output), KEPT_MS)
    place.rename(saved)
    for step in range(1, 9 if kind == "iceberg" else 4):
        shutil.copytree(saved, place)
        assert killed(processes, place, kind, step)
        publish(Output(output), target_in(place, kind))
        assert_published(place, kind, output, TABLES)
        assert publish(Output(output), target_in(place, kind)) == 0
        shutil.rmtree(place)
