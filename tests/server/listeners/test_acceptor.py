"""Clients that connect together are accepted in several turns of the loop."""

from __future__ import annotations

import asyncio
import socket

from kraftctl.server.listeners.acceptor import PENDING_MAX, Acceptor


class Everybody:
    """Admits all, and counts."""

    def __init__(self) -> None:
        self.accepted_count = 0

    def may_accept(self) -> bool:
        return True

    def why_not(self, host: str) -> str | None:
        return None

    def pause_seconds(self) -> float:
        return 0.0

    def accepted(self) -> None:
        self.accepted_count += 1

    def refuse(self, peer: str, reason: str) -> None: ...


async def test_one_turn_accepts_a_limited_number() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    listening.setblocking(False)
    clients = [socket.create_connection(listening.getsockname()) for _ in range(50)]
    everybody = Everybody()
    acceptor = Acceptor(asyncio.get_running_loop(), listening, everybody, asyncio.Protocol)
    acceptor.start()
    in_turns: list[int] = []
    while sum(in_turns) < len(clients):
        before = everybody.accepted_count
        await asyncio.sleep(0)
        in_turns.append(everybody.accepted_count - before)
    assert max(in_turns) == PENDING_MAX
    acceptor.stop()
    for client in clients:
        client.close()
