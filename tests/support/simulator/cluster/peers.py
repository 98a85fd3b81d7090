"""The requests of a simulated controller to the others: as `kraftctl.server.peers`, without sockets.

One connection per address and kind of request, which begins with ApiVersions; requests are sent one after the
other, in the highest version that both sides know.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.server.peers.peers import SOFTWARE, WAITING_MAX
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.peer_versions import unsupported
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.wire import CONNECTION_REFUSED_US, Answered, Exchange, Server, Wire

RECONNECT_BACKOFF_US_MAX = 500_000


class SimulatedPeers:
    """All other controllers, for one life of a process. `offer` gets the responses."""

    def __init__(
        self,
        *,
        node_id: int,
        life: Lifetime,
        wire: Wire,
        servers: dict[tuple[str, int], Server],
        versions_max: dict[int, int],
        config: ControllerConfig,
        offer: Callable[[ResponseReceived], None],
        epoch: Callable[[], int],
    ) -> None:
        self.node_id = node_id
        self.life = life
        self.wire = wire
        self.versions_max = versions_max
        self.timeout_us = config.controller_quorum_request_timeout_ms * 1000
        self.backoff_us = config.controller_quorum_retry_backoff_ms * 1000
        self.offer = offer
        self.epoch = epoch
        self.servers = servers
        self._destinations: dict[tuple[str, int, bool], Destination] = {}

    def send(self, effect: SendRequest) -> None:
        key = (effect.host, effect.port, effect.api_key in RAFT_API_KEYS)
        destination = self._destinations.get(key)
        if destination is None:
            destination = self._destinations[key] = Destination(self, effect.host, effect.port)
        destination.send(effect)

    def end(self) -> None:
        """The process has ended: its connections close."""
        for destination in self._destinations.values():
            destination.end()


class Destination:
    """At most one connection, to a server, or to an address where none listens."""

    def __init__(self, peers: SimulatedPeers, host: str, port: int) -> None:
        self._peers = peers
        self._address = host, port
        self._waiting: deque[tuple[SendRequest, int]] = deque()
        self._busy = False
        self._current: Exchange | None = None
        self._connected_life: Lifetime | None = None
        self._client_id = f"raft-client-{peers.node_id}"
        self._codec: PeerCodec | None = None
        self._failures = 0
        self._connect_at_us = 0
        self._connection_id = 0

    @property
    def _server(self) -> Server | None:
        """Who listens there now."""
        return self._peers.servers.get(self._address)

    def send(self, effect: SendRequest) -> None:
        self._waiting.append((effect, self._peers.wire.time.now_us + self._peers.timeout_us))
        if len(self._waiting) > WAITING_MAX:
            dropped, _ = self._waiting.popleft()
            self._peers.offer(ResponseReceived(dropped.send_id, None))
        if not self._busy:
            self._next()

    def end(self) -> None:
        self._waiting.clear()
        if self._current is not None:
            self._current.abandon()

    def _next(self) -> None:
        """Begin with the next request that waits."""
        if not self._waiting:
            self._busy = False
            return
        self._busy = True
        effect, deadline_us = self._waiting.popleft()
        if self._codec is not None:
            server = self._server
            if server is not None and server.lifetime is self._connected_life:
                self._send(server, self._codec, effect, deadline_us)
                return
            self._codec = None  # the process at the other end is another one
        now_us = self._peers.wire.time.now_us
        if deadline_us <= max(now_us, self._connect_at_us):
            # Its time ends before there may be a connection.
            self._peers.life.after(max(0, deadline_us - now_us), lambda: self._answer(effect, None))
        elif self._connect_at_us > now_us:
            self._peers.life.after(self._connect_at_us - now_us, lambda: self._connect(effect, deadline_us))
        else:
            self._connect(effect, deadline_us)

    def _connect(self, effect: SendRequest, deadline_us: int) -> None:
        server = self._server
        if server is None:
            self._peers.life.after(CONNECTION_REFUSED_US, lambda: self._failed(effect, refused=True))
            return
        codec = PeerCodec(self._client_id, SOFTWARE)
        life = server.lifetime
        self._peers.wire.counts["connections"] += 1
        self._connection_id = self._peers.wire.counts["connections"]

        def answered(payload: bytes | None) -> None:
            if payload is None:
                assert self._current is not None
                self._failed(effect, refused=not self._current.timed_out)
                return
            codec.decode_versions(payload)
            _limit(codec, self._peers.versions_max)
            self._codec = codec
            self._connected_life = life
            self._send(server, codec, effect, deadline_us)

        self._exchange(server, codec.encode_versions_request(), deadline_us, answered)

    def _send(self, server: Server, codec: PeerCodec, effect: SendRequest, deadline_us: int) -> None:
        if effect.is_outdated(self._peers.epoch()):
            self._peers.life.after(0, lambda: self._answer(effect, None))
            return
        payload = codec.encode(effect.request)
        if payload is None:
            self._peers.wire.counts["requests that an older peer does not know"] += 1
            self._peers.life.after(0, lambda: self._answer(effect, unsupported(effect.api_key)))
            return

        if isinstance(effect.request, VoteRequest) and ApiKey.VOTE in self._peers.versions_max:
            self._peers.wire.counts["votes that controllers without pre-votes ask for"] += 1

        def answered(answer: bytes | None) -> None:
            if answer is None:
                self._failed(effect)
            else:
                self._failures = 0
                self._answer(effect, codec.decode(answer))

        self._exchange(server, payload, deadline_us, answered)

    def _exchange(self, server: Server, payload: bytes, deadline_us: int, answered: Answered) -> None:
        peers = self._peers
        timeout_us = max(1, deadline_us - peers.wire.time.now_us)

        def at_home(answer: bytes | None) -> None:
            peers.life.run(lambda: answered(answer))

        connection_id = self._connection_id
        self._current = Exchange(
            peers.wire, peers.node_id, server, payload, timeout_us, at_home, connection_id
        )

    def _failed(self, effect: SendRequest, *, refused: bool = False) -> None:
        backoff_us = min(self._peers.backoff_us << min(self._failures, 10), RECONNECT_BACKOFF_US_MAX)
        self._failures += 1
        self._connect_at_us = self._peers.wire.time.now_us + backoff_us
        self._codec = None
        self._answer(effect, None, refused=refused)

    def _answer(self, effect: SendRequest, response: Message | None, *, refused: bool = False) -> None:
        self._current = None
        self._peers.offer(ResponseReceived(effect.send_id, response, refused=refused))
        self._next()


def _limit(codec: PeerCodec, versions_max: dict[int, int]) -> None:
    """As if the sender were of an older release."""
    versions = codec._versions
    assert versions is not None
    for api_key, version_max in versions_max.items():
        low, high = versions._ranges[api_key]
        versions._ranges[api_key] = (low, min(high, version_max))
