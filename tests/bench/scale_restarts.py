"""Controllers that end and come back: how long no broker is served, and what happens to silent brokers."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import signal
from typing import Final

from kraftctl.dev.nodes import KraftctlController
from kraftctl_protocol.errors import Errors
from tests.bench.scale_brokers import FENCING, RUNNING, SILENT
from tests.bench.scale_cluster import Cluster, Measured, Window, within
from tests.bench.scale_requests import create_led_by
from tests.bench.scale_rows import CHANGE_SECONDS_MAX, until_settled
from tests.bench.scale_watch import longest_without_answer_s

FIRST_NEW: Final = 900
WATCHING_BROKERS: Final = 5
"""Without partitions: their heartbeats are measured while others are silent."""
NEW_BROKERS: Final = itertools.count(FIRST_NEW)


async def restart(cluster: Cluster, number: signal.Signals) -> Measured:
    """The only voter; from its start to the registration of a broker that is not registered."""
    (node,) = cluster.nodes
    await end(cluster, node, number)
    node.start(wait=False)
    async with cluster.measuring(f"start after {number.name}", starting=node) as window:
        broker = cluster.fleet.add(next(NEW_BROKERS))
        await within(CHANGE_SECONDS_MAX, "a registration", broker.registered.wait())
        window.until_s = cluster.now()
        await cluster.leader()
    unanswered_s = longest_without_answer_s(
        cluster.watches[node.node_id].quorum, window.since_s, window.until_s
    )
    window.measured.note = f"DescribeQuorum unanswered {1e3 * unanswered_s:.0f} ms"
    return window.measured


async def silence(cluster: Cluster) -> Measured:
    """The only voter starts again, and no broker that has partitions says anything."""
    (node,) = cluster.nodes
    large = [number for number in cluster.fleet.brokers if number < FIRST_NEW]
    for number in large:
        cluster.fleet.brokers[number].mode = SILENT
    await end(cluster, node, signal.SIGTERM)
    node.start(wait=False)
    await add_watching_brokers(cluster)
    async with cluster.measuring(f"sessions of {len(large)} brokers expire", large) as window:
        begin = window.led.high_watermark
        await cluster.until(lambda: cluster.led[-1].high_watermark > begin, "fenced", CHANGE_SECONDS_MAX)
        window.since_s = next(each.at_s for each in reversed(cluster.led) if each.high_watermark == begin)
        await until_settled(cluster, window)
    return window.measured


async def add_watching_brokers(cluster: Cluster) -> None:
    """Returns when they are unfenced."""
    others = [cluster.fleet.add(next(NEW_BROKERS)) for _ in range(WATCHING_BROKERS)]
    for other in others:
        await within(CHANGE_SECONDS_MAX, "a registration", other.registered.wait())
    await cluster.fleet.await_unfenced([other.broker_id for other in others])
    await cluster.settled()


async def all_return(cluster: Cluster) -> Measured:
    """After `silence`: each is unfenced and leads what it may lead."""
    large = [number for number in cluster.fleet.brokers if number < FIRST_NEW]
    async with cluster.measuring(f"{len(large)} fenced brokers return", large) as window:
        for number in large:
            cluster.fleet.brokers[number].mode = RUNNING
        await within(CHANGE_SECONDS_MAX, "unfenced", cluster.fleet.await_unfenced(large))
        await until_settled(cluster, window)
    return window.measured


async def suspend(cluster: Cluster) -> Measured:
    """The only voter is stopped for longer than a session; heartbeats wait in its sockets meanwhile."""
    (node,) = cluster.nodes
    suspended_s = cluster.session_s + 3.0
    async with cluster.measuring(f"suspended for {suspended_s:g} s") as window:
        node.pause()
        await asyncio.sleep(suspended_s)
        node.resume()
        await until_settled(cluster, window)
    return window.measured


async def end(cluster: Cluster, node: KraftctlController, number: signal.Signals) -> None:
    """Returns when the process has ended."""
    if number == signal.SIGTERM:
        await cluster.stop_node(node)
    else:
        node.kill()


async def wipe(cluster: Cluster) -> Measured:
    """One of three voters starts with an empty directory, until it has everything that is committed."""
    leader = await cluster.leader()
    node = next(each for each in cluster.nodes if each is not leader)
    async with cluster.measuring("a voter starts with an empty directory") as window:
        await cluster.stop_node(node)
        await asyncio.to_thread(shutil.rmtree, node.log_directory)
        await asyncio.to_thread(node.format)
        node.start(wait=False)
        # A record that the voter did not have before: its old end of the log stays known until it fetches.
        await create_led_by(cluster, "after-the-wipe", 1, [0])
        changed_s = cluster.now()
        await cluster.until(
            lambda: cluster.led[-1].at_s > changed_s and node.node_id in cluster.led[-1].caught_up,
            "the voter has caught up",
            CHANGE_SECONDS_MAX,
        )
        window.until_s = cluster.now()
    note_gap(cluster, window)
    return window.measured


async def kill_while_fencing(cluster: Cluster, broker_id: int) -> Measured:
    """The leader ends once the first records of a fencing are committed; the broker still asks for it."""
    leader = await cluster.leader()
    broker = cluster.fleet.brokers[broker_id]
    async with cluster.measuring("leader killed while it fences a broker", {broker_id}) as window:
        begin = window.led.high_watermark
        broker.mode = FENCING
        await cluster.until(lambda: cluster.led[-1].high_watermark > begin, "a record", CHANGE_SECONDS_MAX)
        leader.kill()
        killed_s = cluster.now()
        await cluster.leader()
        window.measured.note = f"next leader after {1e3 * (cluster.led[-1].at_s - killed_s):.0f} ms; "
        await within(CHANGE_SECONDS_MAX, "fenced", broker.until(lambda answer: answer.is_fenced))
        await until_settled(cluster, window)
    window.measured.leader_kept = None
    note_gap(cluster, window)
    leader.start(wait=False)
    return window.measured


def note_gap(cluster: Cluster, window: Window) -> None:
    """The longest time in which no heartbeat of any other broker was answered without an error."""
    moments = sorted(
        each.answered_s
        for each in cluster.fleet.heartbeats
        if each.answered_s is not None
        and each.error_code == Errors.NONE
        and each.broker_id not in window.own
        and window.since_s <= each.answered_s <= window.until_s
    )
    bounds = [window.since_s, *moments, window.until_s]
    gap_s = max(after - before for before, after in itertools.pairwise(bounds))
    window.measured.note += f"no heartbeat served for {1e3 * gap_s:.0f} ms"
