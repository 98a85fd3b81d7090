"""What happens to a cluster of many partitions, one change after the other: each is a row of the table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from tests.bench.scale_brokers import FENCING, RUNNING, SHUTTING_DOWN, SILENT
from tests.bench.scale_cluster import Cluster, Measured, Window, within

CHANGE_SECONDS_MAX: Final = 120.0


async def fence(cluster: Cluster, broker_id: int) -> Measured:
    """A heartbeat with WantFence, repeated until the broker is fenced and no record follows."""
    broker = cluster.fleet.brokers[broker_id]
    async with cluster.measuring("WantFence of a broker", {broker_id}) as window:
        broker.mode = FENCING
        await within(CHANGE_SECONDS_MAX, "fenced", broker.until(lambda answer: answer.is_fenced))
        await until_settled(cluster, window)
    return window.measured


async def unfence(cluster: Cluster, broker_id: int) -> Measured:
    broker = cluster.fleet.brokers[broker_id]
    async with cluster.measuring("unfenced again", {broker_id}) as window:
        broker.mode = RUNNING
        await within(CHANGE_SECONDS_MAX, "unfenced", broker.until(lambda answer: not answer.is_fenced))
        await until_settled(cluster, window)
    return window.measured


async def time_out(cluster: Cluster, broker_id: int) -> Measured:
    """From the end of the session, which is when the first record appears."""
    cluster.fleet.brokers[broker_id].mode = SILENT
    await asyncio.sleep(cluster.session_s - 1.0)
    async with cluster.measuring("session of a broker expires", {broker_id}) as window:
        begin = window.led.high_watermark
        await cluster.until(lambda: cluster.led[-1].high_watermark > begin, "fenced", CHANGE_SECONDS_MAX)
        window.since_s = next(each.at_s for each in reversed(cluster.led) if each.high_watermark == begin)
        await until_settled(cluster, window)
    return window.measured


async def come_back(cluster: Cluster, broker_id: int) -> Measured:
    """A new incarnation registers, and is unfenced."""
    broker = cluster.fleet.brokers[broker_id]
    async with cluster.measuring("a new incarnation registers", {broker_id}) as window:
        broker.begin_incarnation()
        broker.mode = RUNNING
        await within(CHANGE_SECONDS_MAX, "unfenced", broker.until(lambda answer: not answer.is_fenced))
        await until_settled(cluster, window)
    return window.measured


async def shut_down(cluster: Cluster, broker_id: int) -> Measured:
    broker = cluster.fleet.brokers[broker_id]
    async with cluster.measuring("controlled shutdown of a broker", {broker_id}) as window:
        broker.mode = SHUTTING_DOWN
        await within(CHANGE_SECONDS_MAX, "shut down", broker.until(lambda answer: answer.should_shut_down))
        broker.mode = SILENT
        await until_settled(cluster, window)
    return window.measured


async def unregister(cluster: Cluster, broker_id: int) -> Measured:
    async with cluster.measuring("UnregisterBroker of a broker", {broker_id}) as window:
        cluster.fleet.brokers[broker_id].mode = SILENT
        request = UnregisterBrokerRequest(broker_id=broker_id)
        answer = await cluster.ask(request, 0, UnregisterBrokerResponse)
        if answer.error_code != Errors.NONE:
            window.measured.failed = Errors(answer.error_code).name
        await until_settled(cluster, window)
    return window.measured


async def until_settled(cluster: Cluster, window: Window) -> None:
    """The change ends with its last record, or now, if that is later."""
    answered_s = cluster.now()
    async with asyncio.timeout(CHANGE_SECONDS_MAX):
        window.until_s = max(await cluster.settled(), answered_s)


async def brokers_change(cluster: Cluster) -> AsyncIterator[Measured]:
    """The transitions of large brokers, of one after the other."""
    yield await fence(cluster, 1)
    yield await unfence(cluster, 1)
    yield await time_out(cluster, 2)
    yield await come_back(cluster, 2)
    yield await shut_down(cluster, 3)
    yield await come_back(cluster, 3)
    yield await unregister(cluster, 4)
