"""BrokerHeartbeatManager: soft state about brokers that the metadata log does not have (KIP-631).

It has the last contact of each broker, the metadata offset that it reported, the offset at which its
controlled shutdown may end, and whether it is leaving ISRs right now. It exists on the active controller
only and is empty at each activation, so a failover delays the fencing of a broker that dies at that time by
up to one session timeout.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.message import Message

UNKNOWN_OFFSET: Final = -1

NO_SESSION_MS: Final = -1
"""The time of the last contact of a broker that has no session."""

NO_ACTIVE_BROKER_OFFSET: Final = (1 << 63) - 1

SHUTDOWN_UNDER_WAY: Final = 1 << 63
"""No broker reaches this `controlled_shutdown_offset`: there is more to write."""


class BrokerHeartbeatState:
    """The soft state of one registered broker.

    `contact_ms` is when it last sent a heartbeat, NO_SESSION_MS if its session has ended. `metadata_offset`
    is inclusive, as the broker reports it. `controlled_shutdown_offset` is the offset of the last record by
    which it leaves ISRs and leaderships in its controlled shutdown, SHUTDOWN_UNDER_WAY before that is
    written, -1 when it is not shutting down.
    """

    def __init__(self, epoch: int, fenced: bool) -> None:
        self.epoch = epoch
        self.fenced = fenced
        self.contact_ms = NO_SESSION_MS
        self.metadata_offset = UNKNOWN_OFFSET
        self.controlled_shutdown_offset = UNKNOWN_OFFSET

    @property
    def has_session(self) -> bool:
        return self.contact_ms != NO_SESSION_MS

    @property
    def shutting_down(self) -> bool:
        return self.controlled_shutdown_offset >= 0

    @property
    def active(self) -> bool:
        return not self.fenced and not self.shutting_down


class BrokerHeartbeatManager:
    """Sessions and reported offsets of all registered brokers.

    A session belongs to (broker id, broker epoch): the next incarnation of a broker does not inherit it.
    """

    def __init__(self, session_timeout_ms: int) -> None:
        self._session_timeout_ms = session_timeout_ms
        self.activated_ms = NO_SESSION_MS
        self._brokers: dict[int, BrokerHeartbeatState] = {}
        self._oldest: BrokerHeartbeatState | None = None
        self._oldest_contact_ms = NO_SESSION_MS
        self.leaving = LeavingBrokers()

    def activate(self, registrations: list[BrokerRegistration], now_ms: int) -> None:
        """Gives unfenced brokers a full session from now on (KAFKA-18138), fenced ones none (KAFKA-19047)."""
        self.activated_ms = now_ms
        for registration in registrations:
            self.register(registration.id, registration.epoch, registration.fenced)
            if not registration.fenced:
                self.update_contact_time(registration.id, registration.epoch, now_ms)

    def state(self, broker_id: int) -> BrokerHeartbeatState:
        """Returns the state of a registered broker."""
        return self._brokers[broker_id]

    def contacts(self) -> list[tuple[int, int]]:
        """Returns the last contact of each registered broker, in the order of ids; NO_SESSION_MS without a
        session.
        """
        return [(broker_id, self._brokers[broker_id].contact_ms) for broker_id in sorted(self._brokers)]

    def update_contact_time(self, broker_id: int, broker_epoch: int, now_ms: int) -> None:
        """Notes a heartbeat. One that names no registered incarnation opens no session."""
        state = self._incarnation(broker_id, broker_epoch)
        if state is not None:
            state.contact_ms = now_ms

    def has_valid_session(self, broker_id: int, broker_epoch: int, now_ms: int) -> bool:
        """Returns whether that incarnation sent a heartbeat within the session timeout."""
        state = self._incarnation(broker_id, broker_epoch)
        return state is not None and state.has_session and not self._expired(state.contact_ms, now_ms)

    def end_session(self, broker_id: int, broker_epoch: int) -> None:
        """Ends the session of an incarnation: the next one may register before it would have run out."""
        state = self._incarnation(broker_id, broker_epoch)
        if state is not None:
            state.contact_ms = NO_SESSION_MS

    def _incarnation(self, broker_id: int, broker_epoch: int) -> BrokerHeartbeatState | None:
        state = self._brokers.get(broker_id)
        return state if state is not None and state.epoch == broker_epoch else None

    def oldest_expired(self, now_ms: int) -> tuple[int, int] | None:
        """Returns (broker id, broker epoch) of the oldest session, if it ran out; `end_session` ends it."""
        contact_ms = self.oldest_contact_ms
        if contact_ms is None or not self._expired(contact_ms, now_ms):
            return None
        for broker_id, state in self._brokers.items():
            if state.contact_ms == contact_ms:
                return broker_id, state.epoch
        return None

    @property
    def oldest_contact_ms(self) -> int | None:
        """Returns the last contact of the broker that has been silent longest; None without sessions.

        It visits all brokers once that one is heard: keeping them in order would cost every heartbeat more.
        """
        if self._oldest is None or self._oldest.contact_ms != self._oldest_contact_ms:
            self._find_oldest()
        return None if self._oldest is None else self._oldest_contact_ms

    def _find_oldest(self) -> None:
        """Finds the oldest contact: the others only become later, until a broker is registered or removed."""
        self._oldest = None
        for state in self._brokers.values():
            if state.has_session and (self._oldest is None or state.contact_ms < self._oldest_contact_ms):
                self._oldest = state
                self._oldest_contact_ms = state.contact_ms

    def expiry_ms(self, contact_ms: int) -> int:
        """Returns when a session with a last contact at `contact_ms` runs out."""
        return contact_ms + self._session_timeout_ms + 1

    def _expired(self, contact_ms: int, now_ms: int) -> bool:
        return contact_ms + self._session_timeout_ms < now_ms

    def follow(self, registration: BrokerRegistration, record: Message) -> None:
        """Follows a record about the broker; one that registers it again ends its controlled shutdown, as in
        Kafka.
        """
        state = self._brokers.get(registration.id)
        if state is not None and isinstance(record, RegisterBrokerRecord):
            state.controlled_shutdown_offset = UNKNOWN_OFFSET
            state.metadata_offset = UNKNOWN_OFFSET
        self.register(registration.id, registration.epoch, registration.fenced)

    def register(self, broker_id: int, broker_epoch: int, fenced: bool) -> None:
        """Follows the registration: a new epoch has a new state, a fenced broker is no longer shutting down.

        A change that neither fences nor unfences forgets the offset until the next heartbeat, as in Kafka:
        until then no other broker finishes its controlled shutdown.
        """
        state = self._brokers.get(broker_id)
        if state is None or state.epoch != broker_epoch:
            self._brokers[broker_id] = BrokerHeartbeatState(broker_epoch, fenced)
            self._oldest = None
            return
        if state.fenced == fenced:
            state.metadata_offset = UNKNOWN_OFFSET
        state.fenced = fenced
        if fenced:
            state.controlled_shutdown_offset = UNKNOWN_OFFSET

    def remove(self, broker_id: int) -> None:
        """Forgets an unregistered broker."""
        self._brokers.pop(broker_id, None)
        self._oldest = None

    def touch(self, broker_id: int, fenced: bool, metadata_offset: int) -> None:
        """Notes the outcome of a heartbeat."""
        state = self._brokers[broker_id]
        state.fenced = fenced
        state.metadata_offset = metadata_offset
        if fenced:
            state.controlled_shutdown_offset = UNKNOWN_OFFSET

    def begin_controlled_shutdown(self, broker_id: int, offset: int) -> None:
        """Remembers the last offset of its changes, or SHUTDOWN_UNDER_WAY; the first one stays."""
        state = self._brokers[broker_id]
        assert not state.fenced, "a fenced broker shuts down immediately"
        if not state.shutting_down:
            state.controlled_shutdown_offset = offset

    def end_changes_of_shutdown(self, broker_id: int, broker_epoch: int, offset: int) -> None:
        """Notes that the last change of a running controlled shutdown is written at `offset`.

        With UNKNOWN_OFFSET it has failed: the next heartbeat begins it again.
        """
        state = self._brokers.get(broker_id)
        if state is None or state.epoch != broker_epoch:
            return
        if state.controlled_shutdown_offset == SHUTDOWN_UNDER_WAY:
            state.controlled_shutdown_offset = offset

    def lowest_active_offset(self) -> int:
        """Returns the metadata offset that every active broker has reached."""
        offsets = [state.metadata_offset for state in self._brokers.values() if state.active]
        return min(offsets, default=NO_ACTIVE_BROKER_OFFSET)
