"""The driver carries effects out in the order in which the node asks for them: durable before visible."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kraftctl.node_io import ClientRequest
from kraftctl.raft import effects
from kraftctl.raft.election_state import ElectionState
from kraftctl.server.clock import Clock
from kraftctl.server.driver import Driver
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from tests.server.stalling_disk import CONTEXT
from tests.support.partitions import open_partition


class Voter:
    """A node that grants every vote, and asks for that to be written before the answer."""

    next_deadline_ms = None
    may_stop = True

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        if not isinstance(event, ClientRequest):
            return []
        vote = ElectionState(epoch=5, voted_id=2)
        return [effects.WriteQuorumState(vote), effects.Respond(event.request_id, VoteResponse())]


def test_a_vote_is_on_disk_when_its_answer_leaves(tmp_path: Path) -> None:
    """ElectionSafety: or a crash between the two lets this voter vote again."""

    async def scenario() -> None:
        partition = open_partition(tmp_path)
        node: Any = Voter()
        driver = Driver(
            node,
            partition,
            Clock(),
            retention_bytes=-1,
            retention_ms=-1,
            client_id="test",
            request_timeout_ms=1_000,
            retry_backoff_ms=20,
        )
        on_disk: asyncio.Future[ElectionState | None] = asyncio.get_running_loop().create_future()
        driver.submit(
            CONTEXT, VoteRequest(), lambda response: on_disk.set_result(partition.read_quorum_state())
        )
        async with asyncio.timeout(20):
            state = await on_disk
        await driver.stop()
        partition.close()
        assert state is not None
        assert (state.epoch, state.voted_id) == (5, 2)

    asyncio.run(scenario())
