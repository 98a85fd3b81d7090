"""Snapshots while changes flow: whether they end, and how long that takes."""

from __future__ import annotations

from typing import Final

from kraftctl.dev.nodes import KraftctlController
from tests.bench.scale_admin import IsrChanges
from tests.bench.scale_cluster import Cluster, Measured

STORM_SECONDS_MAX: Final = 60.0
SUFFIX: Final = ".checkpoint"


async def storm(cluster: Cluster, changes: IsrChanges) -> Measured:
    """AlterPartition without a pause, until a snapshot of what was there at its beginning is complete."""
    leader = await cluster.leader()
    async with cluster.measuring("a snapshot while AlterPartition flows") as window:
        begin = window.led.high_watermark
        requests = 0
        while newest_snapshot(leader) < begin and cluster.now() - window.since_s < STORM_SECONDS_MAX:
            await changes.change(cluster)
            requests += 1
    measured = window.measured
    if newest_snapshot(leader) < begin:
        measured.failed = f"no snapshot in {STORM_SECONDS_MAX:g} s"
    measured.note = f"{requests} requests"
    return measured


def newest_snapshot(node: KraftctlController) -> int:
    """Its end offset; 0 without one."""
    names = [path.name for path in node.metadata_directory.glob(f"*{SUFFIX}")]
    return max((int(name.split("-")[0]) for name in names), default=0)
