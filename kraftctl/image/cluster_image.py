"""ClusterImage: registered brokers and controllers."""

from __future__ import annotations

from kraftctl.image.undo_journal import UndoJournal
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import FENCE, IN_CONTROLLED_SHUTDOWN, NO_CHANGE, UNFENCE
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord


class ClusterImage:
    """`registration_offsets`: broker id -> offset of its newest RegisterBrokerRecord.

    A broker is caught up once it has read that far. After loading a snapshot it is the last offset
    the snapshot contains.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.brokers: dict[int, BrokerRegistration] = {}
        self.controllers: dict[int, ControllerRegistration] = {}
        self.registration_offsets: dict[int, int] = {}

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        """The registration, if there is one."""
        return self.brokers.get(broker_id)

    def active(self, broker_id: int) -> bool:
        """Registered, unfenced and not shutting down."""
        registration = self.brokers.get(broker_id)
        return registration is not None and registration.active

    def replay_register_broker(self, record: RegisterBrokerRecord, offset: int) -> None:
        self._journal.put(self.brokers, record.broker_id, BrokerRegistration.from_record(record))
        self._journal.put(self.registration_offsets, record.broker_id, offset)

    def replay_unregister_broker(self, broker_id: int, broker_epoch: int) -> None:
        self._require(broker_id, broker_epoch)
        self._journal.remove(self.brokers, broker_id)
        self._journal.remove(self.registration_offsets, broker_id)

    def replay_fenced(self, broker_id: int, broker_epoch: int, fenced: bool) -> None:
        registration = self._require(broker_id, broker_epoch)
        self._journal.put(self.brokers, broker_id, registration.with_changes(fenced=fenced))

    def replay_registration_change(self, record: BrokerRegistrationChangeRecord) -> None:
        """0 keeps a flag. An empty list of log directories keeps them, too: that is the field's default."""
        registration = self._require(record.broker_id, record.broker_epoch)
        assert record.fenced in (UNFENCE, NO_CHANGE, FENCE), f"unknown fencing change {record.fenced}"
        leaving = record.in_controlled_shutdown
        assert leaving in (NO_CHANGE, IN_CONTROLLED_SHUTDOWN), f"unknown controlled shutdown change {leaving}"
        changed = registration.with_changes(
            fenced=None if record.fenced == NO_CHANGE else record.fenced == FENCE,
            in_controlled_shutdown=True if leaving == IN_CONTROLLED_SHUTDOWN else None,
            directories=record.log_dirs if record.log_dirs else None,
            cordoned_directories=record.cordoned_log_dirs,
        )
        self._journal.put(self.brokers, record.broker_id, changed)

    def replay_register_controller(self, record: RegisterControllerRecord) -> None:
        registration = ControllerRegistration.from_record(record)
        self._journal.put(self.controllers, registration.id, registration)

    def _require(self, broker_id: int, broker_epoch: int) -> BrokerRegistration:
        registration = self.brokers.get(broker_id)
        assert registration is not None, f"broker {broker_id} is not registered"
        assert registration.epoch == broker_epoch, f"broker {broker_id} has epoch {registration.epoch}"
        return registration
