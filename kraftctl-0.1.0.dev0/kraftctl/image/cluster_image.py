"""ClusterImage: registered brokers and controllers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import FENCE, IN_CONTROLLED_SHUTDOWN, NO_CHANGE, UNFENCE
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record


class ClusterImage(ImagePart):
    """The registrations, and in `registration_offsets` the offset of each broker's newest
    RegisterBrokerRecord.

    A broker is caught up once it has read that far. After loading a snapshot it is the last offset the
    snapshot contains.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.brokers: dict[int, BrokerRegistration] = {}
        self.controllers: dict[int, ControllerRegistration] = {}
        self.registration_offsets: dict[int, int] = {}

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        """Returns the registration, if there is one."""
        return self.brokers.get(broker_id)

    def active(self, broker_id: int) -> bool:
        """Returns whether the broker is registered, unfenced and not shutting down."""
        registration = self.brokers.get(broker_id)
        return registration is not None and registration.active

    def replay(self, record: Message, offset: int) -> None:
        if isinstance(record, BrokerRegistrationChangeRecord):
            self._change_registration(record)
        elif isinstance(record, RegisterBrokerRecord):
            self._register_broker(record, offset)
        elif isinstance(record, UnregisterBrokerRecord):
            self._unregister_broker(record.broker_id, record.broker_epoch)
        elif isinstance(record, RegisterControllerRecord):
            registration = ControllerRegistration.from_record(record)
            self._journal.put(self.controllers, registration.id, registration)
        elif isinstance(record, UnregisterControllerRecord):
            self._unregister_controller(record.controller_id)
        elif isinstance(record, FenceBrokerRecord):
            self._set_fenced(record.id, record.epoch, True)
        elif isinstance(record, UnfenceBrokerRecord):
            self._set_fenced(record.id, record.epoch, False)
        else:
            super().replay(record, offset)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        for _, broker in view.items(self.brokers, self.brokers):
            entry = cast(BrokerRegistration, broker).to_record(metadata_version)
            yield encode_metadata_record(entry.record, entry.version)
        if features.is_controller_registration_supported(metadata_version):
            for _, controller in view.items(self.controllers, self.controllers):
                entry = cast(ControllerRegistration, controller).to_record()
                yield encode_metadata_record(entry.record, entry.version)

    def _register_broker(self, record: RegisterBrokerRecord, offset: int) -> None:
        self._journal.put(self.brokers, record.broker_id, BrokerRegistration.from_record(record))
        self._journal.put(self.registration_offsets, record.broker_id, offset)

    def _unregister_broker(self, broker_id: int, broker_epoch: int) -> None:
        self._require(broker_id, broker_epoch)
        self._journal.remove(self.brokers, broker_id)
        self._journal.remove(self.registration_offsets, broker_id)

    def _unregister_controller(self, controller_id: int) -> None:
        assert controller_id in self.controllers, f"controller {controller_id} is not registered"
        self._journal.remove(self.controllers, controller_id)

    def _set_fenced(self, broker_id: int, broker_epoch: int, fenced: bool) -> None:
        registration = self._require(broker_id, broker_epoch)
        self._journal.put(self.brokers, broker_id, registration.with_changes(fenced=fenced))

    def _change_registration(self, record: BrokerRegistrationChangeRecord) -> None:
        """Applies a change: 0 keeps a flag, and an empty list of log directories, its default, keeps them."""
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

    def _require(self, broker_id: int, broker_epoch: int) -> BrokerRegistration:
        registration = self.brokers.get(broker_id)
        assert registration is not None, f"broker {broker_id} is not registered"
        assert registration.epoch == broker_epoch, f"broker {broker_id} has epoch {registration.epoch}"
        return registration
