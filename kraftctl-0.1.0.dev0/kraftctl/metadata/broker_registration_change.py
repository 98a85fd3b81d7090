"""BrokerRegistrationChangeRecord: what its numbers mean, and the records that change a registration.

KIP-631 (fencing), KIP-841 (controlled shutdown), KIP-858 (log directories), KIP-1066 (cordoned directories).
"""

from __future__ import annotations

from typing import Final

from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

NO_CHANGE: Final = 0
FENCE: Final = 1
UNFENCE: Final = -1
IN_CONTROLLED_SHUTDOWN: Final = 1

FENCING_VERSION: Final = 0
CONTROLLED_SHUTDOWN_VERSION: Final = 1
LOG_DIRS_VERSION: Final = 2
CORDONED_LOG_DIRS_VERSION: Final = 3
"""The field exists from this version of the record on."""


def fencing_record(registration: BrokerRegistration) -> RecordAndVersion:
    """Returns the record that fences a broker."""
    return _record(registration, FENCE)


def unfencing_record(registration: BrokerRegistration) -> RecordAndVersion:
    """Returns the record that unfences a broker."""
    return _record(registration, UNFENCE)


def _record(registration: BrokerRegistration, fenced: int) -> RecordAndVersion:
    record = BrokerRegistrationChangeRecord(
        broker_id=registration.id, broker_epoch=registration.epoch, fenced=fenced
    )
    return RecordAndVersion(record, FENCING_VERSION)


def controlled_shutdown_record(registration: BrokerRegistration) -> RecordAndVersion:
    """Returns the record that begins a broker's controlled shutdown."""
    record = BrokerRegistrationChangeRecord(
        broker_id=registration.id,
        broker_epoch=registration.epoch,
        in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN,
    )
    return RecordAndVersion(record, CONTROLLED_SHUTDOWN_VERSION)


def log_dirs_record(registration: BrokerRegistration, directories: list[Uuid]) -> RecordAndVersion:
    """Returns the record that leaves a broker only `directories`."""
    record = BrokerRegistrationChangeRecord(
        broker_id=registration.id, broker_epoch=registration.epoch, log_dirs=directories
    )
    return RecordAndVersion(record, LOG_DIRS_VERSION)


def cordoned_log_dirs_record(registration: BrokerRegistration, cordoned: list[Uuid]) -> RecordAndVersion:
    """Returns the record that keeps new replicas out of `cordoned`."""
    record = BrokerRegistrationChangeRecord(
        broker_id=registration.id, broker_epoch=registration.epoch, cordoned_log_dirs=cordoned
    )
    return RecordAndVersion(record, CORDONED_LOG_DIRS_VERSION)
