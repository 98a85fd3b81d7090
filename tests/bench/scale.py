"""No pause at two million partitions: what heartbeats wait for while large things change.

Controllers are processes; brokers are stand-ins in this one, which register and send heartbeats. Each row of
the table is one change: how long it took, and what the other brokers and an impatient client saw meanwhile.

`python tests/bench/scale.py --partitions 2000000 --brokers 20` runs this alone; `--kraftctl PATH` measures
another build. The directory of a cluster is kept in build/bench-scale and copied for each part of the run.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Final

import uvloop

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import random_id
from tests.bench import scale_admin, scale_observed, scale_restarts, scale_rows, scale_snapshots
from tests.bench.scale_brokers import RUNNING
from tests.bench.scale_cluster import Cluster, Measured, restored, within
from tests.bench.scale_requests import (
    PARTITIONS_PER_REQUEST,
    PARTITIONS_PER_TOPIC,
    REPLICATION_FACTOR,
    create_led_by,
    create_partitions,
)
from tests.bench.scale_table import cells, render

CACHE: Final = Path(__file__).resolve().parents[2] / "build" / "bench-scale"
DELETED_PARTITIONS: Final = 300_000
SESSION_PARTITIONS: Final = 100_000
SESSION_TOPICS: Final = (20, 1_000, 20_000)
READY_SECONDS_MAX: Final = 180.0
PREFERRED_NICENESS: Final = -10
LAST_BROKERS: Final = (-1, -2, -3)
"""Of the parts that need brokers to which nothing else happens, counted from the last one."""


@dataclass
class Scale:
    """One kind of cluster, and where the directories of its runs are."""

    partitions: int
    brokers: int
    saved: Path
    scratch: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of the controllers, besides those of every run."""

    def broker_ids(self, *positions: int) -> list[int]:
        return [range(self.brokers)[position] for position in positions]


Part = Callable[[Scale], AsyncIterator[Measured]]


async def creation(scale: Scale) -> AsyncIterator[Measured]:
    """All partitions, from nothing. What it leaves is where the other parts begin."""
    async with _fresh(scale, brokers=scale.brokers) as cluster:
        async with cluster.measuring(f"CreateTopics, {PARTITIONS_PER_REQUEST:,} partitions each") as window:
            await create_partitions(cluster, scale.partitions)
        snapshots = len(list(cluster.nodes[0].metadata_directory.glob(f"*{scale_snapshots.SUFFIX}")))
        window.measured.note = f"{snapshots} snapshots on the disk"
        yield window.measured
        async with cluster.measuring(f"CreateTopics, one topic of {PARTITIONS_PER_REQUEST:,}") as window:
            await create_led_by(cluster, "one", PARTITIONS_PER_REQUEST, scale.broker_ids(*LAST_BROKERS))
        yield window.measured
        await cluster.settled()
        await cluster.stop_node(cluster.nodes[0])
        cluster.save(scale.saved)


async def brokers(scale: Scale) -> AsyncIterator[Measured]:
    """Transitions of one large broker after the other, one voter."""
    async with _loaded(scale, voters=1) as cluster:
        async for measured in scale_rows.brokers_change(cluster):
            yield measured
        # Brokers that have returned are in no ISR: all partitions are looked at, and many have a result.
        yield await scale_admin.elect_all(cluster)


async def requests(scale: Scale) -> AsyncIterator[Measured]:
    """Large requests, and a snapshot meanwhile."""
    async with _loaded(scale, voters=1) as cluster:
        replicas = scale.broker_ids(*LAST_BROKERS)
        changes = await scale_admin.isr_changes(cluster, "led", scale_admin.LED_PARTITIONS, replicas)
        yield await scale_admin.alter_partition(cluster, changes)
        changes = await scale_admin.isr_changes(cluster, "storm", scale_admin.STORM_PARTITIONS, replicas)
        yield await scale_snapshots.storm(cluster, changes)
        yield await scale_admin.reassign(cluster, replicas, 0)
        deleted = min(DELETED_PARTITIONS, scale.partitions // 2)
        yield await scale_admin.delete(cluster, deleted // PARTITIONS_PER_TOPIC, deleted)


async def restarts(scale: Scale) -> AsyncIterator[Measured]:
    """The only voter ends, cleanly and not."""
    async with _loaded(scale, voters=1) as cluster:
        yield await scale_restarts.restart(cluster, SIGTERM)
        yield await scale_restarts.restart(cluster, SIGKILL)


async def silence(scale: Scale) -> AsyncIterator[Measured]:
    """The only voter is suspended; then all brokers are silent, and return."""
    async with _loaded(scale, voters=1) as cluster:
        yield await scale_restarts.suspend(cluster)
        yield await scale_restarts.silence(cluster)
        yield await scale_restarts.all_return(cluster)


async def sessions(scale: Scale) -> AsyncIterator[Measured]:
    """A broker with a replica of each partition, in few topics and in many."""
    partitions = min(SESSION_PARTITIONS, scale.partitions)
    for topics in SESSION_TOPICS:
        async with _fresh(scale, brokers=REPLICATION_FACTOR) as cluster:
            await create_partitions(cluster, partitions, per_topic=max(1, partitions // topics))
            await scale_restarts.add_watching_brokers(cluster)
            measured = await scale_rows.time_out(cluster, 2)
        measured.what += f", {partitions:,} partitions in {topics:,} topics"
        yield measured


async def observed(scale: Scale) -> AsyncIterator[Measured]:
    """Probes, metrics and a console, while nothing changes."""
    port = free_port()
    settings = {**scale.settings, "kraftctl.operate.listeners": f"http://127.0.0.1:{port}"}
    async with _loaded(replace(scale, settings=settings), voters=1) as cluster:
        async for measured in scale_observed.observe(cluster, port):
            yield measured


async def quorum(scale: Scale) -> AsyncIterator[Measured]:
    """Three voters."""
    async with _loaded(scale, voters=3) as cluster:
        async for measured in scale_rows.brokers_change(cluster):
            yield measured
        yield await scale_restarts.wipe(cluster)
        yield await scale_restarts.kill_while_fencing(cluster, scale.broker_ids(-1)[0])


PARTS: Final[dict[str, tuple[int, Part]]] = {
    "creation": (1, creation),
    "brokers": (1, brokers),
    "requests": (1, requests),
    "restarts": (1, restarts),
    "silence": (1, silence),
    "sessions": (1, sessions),
    "observed": (1, observed),
    "quorum": (3, quorum),
}
"""Voters, and what happens."""


def _fresh(scale: Scale, *, brokers: int) -> Ready:
    return Ready(
        Cluster(
            Path(tempfile.mkdtemp(dir=scale.scratch)),
            cluster_id=random_id(),
            voters=1,
            brokers=brokers,
            settings=scale.settings,
        )
    )


def _loaded(scale: Scale, *, voters: int) -> Ready:
    directory = Path(tempfile.mkdtemp(dir=scale.scratch))
    return Ready(restored(scale.saved, directory, voters=voters, settings=scale.settings))


class Ready:
    """A cluster that has started, and whose brokers are all unfenced."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def __aenter__(self) -> Cluster:
        cluster = await self._cluster.__aenter__()
        try:
            cluster.fleet.set_modes(RUNNING)
            await cluster.leader()
            unfenced = cluster.fleet.await_unfenced(list(cluster.fleet.brokers))
            await within(READY_SECONDS_MAX, "all brokers are unfenced", unfenced)
            await cluster.settled()
        except BaseException:
            await cluster.__aexit__()
            raise
        return cluster

    async def __aexit__(self, *error: object) -> None:
        await self._cluster.__aexit__(*error)


async def run(scale: Scale, names: Sequence[str], on_row: Callable[[Measured], None]) -> list[Measured]:
    """The rows of these parts. A part that fails ends with a row that says why."""
    found: list[Measured] = []
    for name in names:
        voters, part = PARTS[name]
        try:
            async with aclosing(part(scale)) as rows:  # type: ignore[type-var]
                async for measured in rows:
                    measured.voters = voters
                    found.append(measured)
                    on_row(measured)
        except (OSError, ValueError, AssertionError, TimeoutError, ProcessFailedError) as error:
            found.append(Measured(name, voters=voters, failed=f"{type(error).__name__}: {error}"))
            on_row(found[-1])
    return found


def selected(only: Sequence[str], voters: int | None, *, is_saved: bool) -> list[str]:
    """The names of the parts to run, in order. Without a saved directory, the partitions are created."""
    names = [name for name, (of, _) in PARTS.items() if (not only or name in only) and voters in (None, of)]
    return names if is_saved or "creation" in names else ["creation", *names]


def worst(runs: Sequence[Sequence[Measured]]) -> list[Measured]:
    """Of each row, the run in which heartbeats waited longest."""
    by_row: dict[tuple[int, int, str], Measured] = {}
    for measured in (each for rows in runs for each in enumerate(rows)):
        key = (measured[0], measured[1].voters, measured[1].what)
        if key not in by_row or measured[1].max_ms > by_row[key].max_ms:
            by_row[key] = measured[1]
    return [by_row[key] for key in sorted(by_row, key=lambda key: key[0])]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--partitions", type=int, default=2_000_000)
    parser.add_argument("--brokers", type=int, default=20)
    parser.add_argument("--voters", type=int, choices=(1, 3), help="measure only quorums of this size")
    parser.add_argument("--only", choices=PARTS, action="append", default=[], help="may be repeated")
    parser.add_argument("--runs", type=int, default=1, help="the worst of several is printed")
    parser.add_argument("--kraftctl", metavar="PATH", help="the executable; by default that of this python")
    options = parser.parse_args(arguments)
    if options.kraftctl:
        os.environ["KRAFTCTL_COMMAND"] = options.kraftctl
    saved = CACHE / f"{options.partitions}-{options.brokers}"
    saved.parent.mkdir(parents=True, exist_ok=True)
    names = selected(options.only, options.voters, is_saved=saved.exists())
    runs = []
    is_preferred = prefer_this_process()
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            scale = Scale(options.partitions, options.brokers, saved, Path(scratch))
            runs.append(uvloop.run(run(scale, names, _progress)))
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{options.partitions:,} partitions, {options.brokers} brokers; load of the machine {load}")
    print(f"This process ran {'before' if is_preferred else 'beside'} the controllers.\n")
    rows = worst(runs)
    print(render(rows))
    print("\nRuns of the cyclic collector, from the leader's start to the end of the row")
    for row in rows:
        print(f"{row.what}: {row.collections or 'its version does not say'}")
    return 1 if any(row.failed for row in rows) else 0


def prefer_this_process() -> bool:
    """Run before the controllers, whose processes begin as usual, where there are too few processors for all:
    otherwise heartbeats wait here, too. Returns whether that is allowed; root may."""
    try:
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, PREFERRED_NICENESS)
    except PermissionError:
        return False
    return True


def _progress(measured: Measured) -> None:
    print(" | ".join(cells(measured)), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
