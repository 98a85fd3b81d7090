"""ConnectionAccounts: limits what all connections hold together and closes the largest holders."""

from __future__ import annotations

import logging
from collections.abc import Callable
from operator import attrgetter

from kraftctl.raft.raft_config import RESPONSE_BYTES_MAX as RECORDS_BYTES_MAX
from kraftctl.server.connections.byte_budget import ByteBudget
from kraftctl.server.connections.connection import Connection
from kraftctl.server.connections.metrics import RequestMetrics
from kraftctl.server.connections.voter_connections import VoterConnections
from kraftctl.server.listeners.connection_quotas import ConnectionQuotas
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.response_reads import READS_MAX

logger = logging.getLogger("kraftctl.server.listener")

RESPONSE_BYTES_MAX = RECORDS_BYTES_MAX + 64 * 1024
"""The largest responses are those of Fetch and FetchSnapshot, with the fields around their records."""

UNSENT_BYTES_MAX = 8 * RESPONSE_BYTES_MAX
"""The limit of responses that clients have not read: eight of the largest, thousands of the usual size."""

READ_ROOM_BYTES = READS_MAX * RESPONSE_BYTES_MAX
"""The room for running reads, of the largest size each. Beyond it they are put off."""

IDLE_SECONDS_MIN = 10.0
"""At the limit of open files, a connection that was silent for this long is closed. Brokers send a
heartbeat every 2 seconds."""

ROOM_SHARE = 64
"""This part of the connections is closed at a time, because finding the idle ones visits all."""

MAKE_ROOM_SECONDS = 0.1
"""The shortest interval between two such visits; clients are refused if none was idle."""

UNFINISHED = "unfinished requests"
UNREAD = "answers that were not read"


class ConnectionAccounts:
    """Accounts for connections, descriptors, and bytes of requests and responses."""

    def __init__(
        self,
        quotas: ConnectionQuotas,
        unfinished_bytes_max: int,
        metrics: RequestMetrics,
        refusals: RateLimitedLog,
        time: Callable[[], float],
    ) -> None:
        self.quotas = quotas
        self.budget: ByteBudget[Connection] = ByteBudget(unfinished_bytes_max)
        self.unsent: ByteBudget[Connection] = ByteBudget(UNSENT_BYTES_MAX)
        self.voters: VoterConnections[Connection] = VoterConnections()
        self.connections: set[Connection] = set()
        self.leaving: set[Connection] = set()
        """The connections that are being closed to make room."""
        self._make_room_at = 0.0
        self._metrics = metrics
        self._refusals = refusals
        self._time = time

    def admit(self, connection: Connection) -> bool:
        """Returns whether quotas leave room; logs a refusal."""
        client = connection.client
        reason = self.quotas.why_not(client.host, client.listener_name)
        if reason is not None:
            self.refuse(client.peer, reason)
            return False
        self.quotas.add(client.host, client.listener_name)
        self.connections.add(connection)
        self._metrics.connections_count += 1
        return True

    def refuse(self, peer: str, reason: str) -> None:
        """Counts and logs a client that is refused."""
        self._metrics.refused_connections_count += 1
        self._refusals.warning("Refusing connection from %s: %s", peer, reason)

    def release(self, connection: Connection) -> None:
        """Forgets a connection that is lost, whether it was admitted or not."""
        if connection in self.connections:
            self.connections.remove(connection)
            self.leaving.discard(connection)
            self.quotas.remove(connection.client.host, connection.client.listener_name)
            self._metrics.connections_count -= 1

    def reap(self, idle_since: float) -> None:
        """Closes connections that have been silent since `idle_since` and do not wait for a response."""
        for connection in list(self.connections):
            if not connection.busy and connection.last_active <= idle_since:
                logger.debug("Closing idle connection from %s", connection.client.peer)
                connection.abort()

    def enforce_budgets(self) -> None:
        """Closes connections that hold too many bytes of requests or responses."""
        self._enforce(self.budget, UNFINISHED, self.budget.losers(self._time()))
        if not self._unsent_has_room(0):
            voters = self.voters.connections()
            self._enforce(self.unsent, UNREAD, self.unsent.losers(self._time(), voters))

    def has_room(self) -> bool:
        """Returns whether more responses may be read from files: two of the largest fit into the budget."""
        return self._unsent_has_room(READ_ROOM_BYTES)

    def _unsent_has_room(self, size_bytes: int) -> bool:
        unsent = self.unsent
        if unsent.has_room(size_bytes):
            return True
        now = self._time()
        for connection in unsent.holders():
            connection.note_unread(now)
        return unsent.has_room(size_bytes)

    def _enforce(self, budget: ByteBudget[Connection], what: str, losers: list[Connection]) -> None:
        held_bytes = budget.held_bytes
        for connection in losers:
            self._refusals.warning(
                "Closing connection from %s: it holds %d of %d bytes of %s; all may hold %d together",
                connection.client.peer,
                budget.held_by(connection),
                held_bytes,
                what,
                budget.bytes_max,
            )
            self._metrics.closed_holders_count += 1
            connection.abort()

    def may_accept(self) -> bool:
        """Returns whether to accept now, which is needed to refuse a client, too.

        At the limit of open files, idle connections of the address with the most connections are closed.
        """
        if self.quotas.has_descriptors:
            return True
        if not self.leaving and self._time() >= self._make_room_at:
            self._make_room()
        return not self.leaving

    def close_excess(self) -> None:
        """Closes the connections that were idle longest while there are more than max.connections, as Kafka's
        SocketServer does. Those over which voters fetch stay: commits wait for them.
        """
        connections_max = self.quotas.limits.max_connections
        excess = self.quotas.count - connections_max
        if excess <= 0:
            return
        voters = set(self.voters.connections())
        others = [connection for connection in self.connections if connection not in voters]
        others.sort(key=attrgetter("busy", "last_active"))
        for connection in others[:excess]:
            self._refusals.warning(
                "Closing connection from %s: max.connections=%d was lowered, and others were active later",
                connection.client.peer,
                connections_max,
            )
            connection.abort()

    def _make_room(self) -> None:
        self._make_room_at = self._time() + MAKE_ROOM_SECONDS
        address = self.quotas.crowded_address()
        idle_since = self._time() - IDLE_SECONDS_MIN
        idle = [
            connection
            for connection in self.connections
            if connection.peer_host == address
            and not connection.busy
            and connection.last_active <= idle_since
        ]
        idle.sort(key=attrgetter("last_active"))
        self.leaving.update(idle[: self.quotas.count // ROOM_SHARE + 1])
        for connection in list(self.leaving):
            self._refusals.warning(
                "Closing connection from %s: it is idle, and no descriptor is left for another one",
                connection.client.peer,
            )
            self._metrics.closed_idle_count += 1
            connection.abort()
