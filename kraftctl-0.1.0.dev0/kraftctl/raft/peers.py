"""Keeps at most one request in flight per peer, and a pause after each failure (KIP-595)."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.peer_reports import PeerReport, PeerReports
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

NOTHING_IN_FLIGHT: Final = 0

UNANSWERED_MAX: Final = 1_024
"""Every request gets a response, or the notice that there is none, so this limit is never reached."""


class Peer:
    """Another replica, or a bootstrap server (negative id) that may turn out to be one."""

    def __init__(self, peer_id: int, host: str, port: int, report: PeerReport) -> None:
        self.id = peer_id
        self.host = host
        self.port = port
        self.report = report
        """The result of the latest request there, in any state."""
        self.send_id = NOTHING_IN_FLIGHT
        self.timeout_at_ms = 0
        self.fetched_from: OffsetAndEpoch | None = None
        """Where the log ended when the latest Fetch was sent there."""
        self.backoff_until_ms = 0

    def fetches_from(self, end: OffsetAndEpoch) -> None:
        self.fetched_from = end

    def is_ready(self) -> bool:
        return self.send_id == NOTHING_IN_FLIGHT and self.backoff_until_ms == 0

    def back_off(self, until_ms: int) -> None:
        self.backoff_until_ms = until_ms

    def end_backoff(self) -> None:
        self.backoff_until_ms = 0

    def is_backing_off(self) -> bool:
        return self.backoff_until_ms > 0


class RequestManager:
    """Tracks requests in flight, like Kafka's RequestManager. Responses for a former state match no peer."""

    def __init__(self) -> None:
        self._by_address: dict[tuple[int, str, int], Peer] = {}
        self._last_send_id = NOTHING_IN_FLIGHT
        self._asked: dict[int, Peer] = {}
        """The peers by send id, including those of former states."""
        self.reports = PeerReports()

    def peer(self, peer_id: int, host: str, port: int) -> Peer:
        address = (peer_id, host, port)
        peer = self._by_address.get(address)
        if peer is None:
            peer = Peer(peer_id, host, port, self.reports.of(peer_id, host, port))
            self._by_address[address] = peer
        return peer

    def reset(self) -> None:
        """Starts a new state, which sends its own requests to every peer immediately."""
        self._by_address = {}

    def has_any_in_flight(self) -> bool:
        return any(peer.send_id != NOTHING_IN_FLIGHT for peer in self._by_address.values())

    def sent(self, peer: Peer, timeout_at_ms: int) -> int:
        """Returns the send id of a request to `peer` that leaves now."""
        assert peer.is_ready()
        peer.send_id = self.take_send_id()
        peer.timeout_at_ms = timeout_at_ms
        if len(self._asked) >= UNANSWERED_MAX:
            self._asked.pop(next(iter(self._asked)))
        self._asked[peer.send_id] = peer
        return peer.send_id

    def take_send_id(self) -> int:
        """Returns a new send id: no two requests of this process share one."""
        self._last_send_id += 1
        return self._last_send_id

    def take_asked(self, send_id: int) -> Peer | None:
        """Returns the peer of this request, in the present state or a former one; only once."""
        return self._asked.pop(send_id, None)

    def answered(self, send_id: int) -> Peer | None:
        """Returns the peer that responded; None when the request timed out or belongs to a former state."""
        for peer in self._by_address.values():
            if peer.send_id == send_id:
                peer.send_id = NOTHING_IN_FLIGHT
                return peer
        return None

    def expire(self, now_ms: int, backoff_ms: int) -> None:
        """Times out requests that took too long; ends backoffs that are over."""
        for peer in self._by_address.values():
            if peer.send_id != NOTHING_IN_FLIGHT and peer.timeout_at_ms <= now_ms:
                peer.send_id = NOTHING_IN_FLIGHT
                peer.back_off(now_ms + backoff_ms)
            elif 0 < peer.backoff_until_ms <= now_ms:
                peer.end_backoff()

    def next_deadline_ms(self) -> int | None:
        deadlines = [peer.timeout_at_ms for peer in self._by_address.values() if peer.send_id] + [
            peer.backoff_until_ms for peer in self._by_address.values() if peer.backoff_until_ms
        ]
        return min(deadlines, default=None)
