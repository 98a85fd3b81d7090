"""MetadataState: a controller's state for tests, built by replaying records as from the log."""

from __future__ import annotations

import random

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl.metadata.directory_id import UNASSIGNED
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import (
    RecordAndVersion,
    decode_metadata_record,
    encode_metadata_record,
)
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.controller_properties import controller_properties

UNLIMITED = 1 << 30
"""Units of long work: all of it is done in one slice."""

BROKER_EPOCH = 100
"""Broker n has epoch BROKER_EPOCH + n."""


def uuid(number: int) -> bytes:
    """A recognisable UUID that is not reserved."""
    return bytes([0xAA]) + number.to_bytes(15, "big")


def directory(broker_id: int, number: int = 0) -> bytes:
    """The id of a broker's log directory."""
    return uuid(1_000_000 + broker_id * 10 + number)


class MetadataState:
    """Offsets count up from 0; every record goes through its encoding, as it would through the log."""

    def __init__(
        self,
        metadata_version: int = features.LATEST_PRODUCTION,
        *,
        elr: bool = False,
        properties: dict[str, str] | None = None,
    ) -> None:
        self.image = MetadataImage()
        self.next_offset = 0
        config = ControllerConfig(controller_properties(static=True, more=properties))
        self.controller = ControllerState(config, "cluster", self.image, random.Random(1))
        self.feature(features.METADATA_VERSION, metadata_version)
        if elr:
            self.feature(features.ELIGIBLE_LEADER_REPLICAS_VERSION, 1)

    def moment(self, now_ms: int = 0) -> Moment:
        """What a handler needs besides the state."""
        return Moment(now_ms, now_ms, self.next_offset, UNLIMITED)

    @property
    def metadata_version(self) -> int:
        return self.image.features.metadata_version

    def append(self, record: Message, version: int = 0) -> int:
        """Encode, decode and replay; returns the offset."""
        offset = self.next_offset
        decoded = decode_metadata_record(encode_metadata_record(record, version))
        replay(self.image, decoded.record, offset)
        self.next_offset += 1
        return offset

    def append_all(self, records: list[RecordAndVersion]) -> None:
        for entry in records:
            self.append(entry.record, entry.version)

    def apply(self, result: ControllerResult) -> ControllerResult:
        """Append what a handler returned."""
        self.append_all(result.records)
        return result

    def feature(self, name: str, level: int) -> None:
        self.append(FeatureLevelRecord(name=name, feature_level=level))

    def config(self, resource_type: int, resource: str, **configs: str | None) -> None:
        """`__` in a config's name is a dot."""
        for name, value in configs.items():
            key = name.replace("__", ".")
            self.append(
                ConfigRecord(resource_type=resource_type, resource_name=resource, name=key, value=value)
            )

    def broker(
        self,
        broker_id: int,
        *,
        fenced: bool = False,
        in_controlled_shutdown: bool = False,
        rack: str | None = None,
        directories: int = 1,
        cordoned: list[bytes] | None = None,
    ) -> None:
        """Register a broker with epoch BROKER_EPOCH + its id."""
        record = RegisterBrokerRecord(
            broker_id=broker_id,
            broker_epoch=BROKER_EPOCH + broker_id,
            incarnation_id=uuid(2_000_000 + broker_id),
            rack=rack,
            fenced=fenced,
            in_controlled_shutdown=in_controlled_shutdown,
        )
        if features.is_directory_assignment_supported(self.metadata_version):
            record.log_dirs = [directory(broker_id, number) for number in range(directories)]
        if features.is_cordoned_log_dirs_supported(self.metadata_version):
            record.cordoned_log_dirs = cordoned
        self.append(record, features.register_broker_record_version(self.metadata_version))

    def brokers(self, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            self.broker(broker_id)

    def change_broker(self, broker_id: int, *, fenced: int = 0, in_controlled_shutdown: int = 0) -> None:
        record = BrokerRegistrationChangeRecord(
            broker_id=broker_id,
            broker_epoch=BROKER_EPOCH + broker_id,
            fenced=fenced,
            in_controlled_shutdown=in_controlled_shutdown,
        )
        self.append(record, 1 if in_controlled_shutdown else 0)

    def change_broker_of(self, broker_id: int, *, fenced: int) -> None:
        """The registered incarnation, whatever its epoch."""
        epoch = self.image.cluster.brokers[broker_id].epoch
        self.append(BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=epoch, fenced=fenced))

    def topic(self, name: str, *partitions: PartitionRecord, number: int = 1) -> bytes:
        """A topic with id uuid(number); `partitions` get that id and, in order, their index."""
        topic_id = uuid(number)
        self.append(TopicRecord(name=name, topic_id=topic_id))
        for index, record in enumerate(partitions):
            record.topic_id = topic_id
            record.partition_id = index
            self._fill_directories(record)
            self.append(record, features.partition_record_version(self.metadata_version))
        return topic_id

    def _fill_directories(self, record: PartitionRecord) -> None:
        if not features.is_directory_assignment_supported(self.metadata_version) or record.directories:
            return
        for replica in record.replicas:
            registration = self.image.cluster.broker(replica)
            known = registration is not None and len(registration.directories) == 1
            record.directories.append(directory(replica) if known else UNASSIGNED)

    def allow_only(self, *rights: tuple[int, int, str]) -> None:
        """Allow the tester (operation, resource type, name), and nothing else."""
        for number, (operation, resource_type, name) in enumerate(rights):
            self.append(
                AccessControlEntryRecord(
                    id=uuid(3_000_000 + number),
                    resource_type=resource_type,
                    resource_name=name,
                    pattern_type=3,
                    principal="User:tester",
                    host="*",
                    operation=operation,
                    permission_type=3,
                )
            )
        self.controller.authorizer = StandardAuthorizer(self.image, [], False)
        self.controller.authorizer.metadata_loaded()

    def partition(self, index: int = 0, topic_id: bytes = uuid(1)) -> PartitionRegistration:
        partition = self.image.topics.partition(topic_id, index)
        assert partition is not None
        return partition

    def context(self, api_key: int, version: int) -> RequestContext:
        return RequestContext(
            api=API_TABLE[api_key],
            version=version,
            client_id="test",
            principal=KafkaPrincipal("User", "tester"),
            listener="CONTROLLER",
            client_address=bytes([127, 0, 0, 1]),
        )


def partition_record(
    replicas: list[int],
    isr: list[int] | None = None,
    *,
    leader: int | None = None,
    leader_epoch: int = 5,
    partition_epoch: int = 10,
    recovering: bool = False,
    removing: list[int] | None = None,
    adding: list[int] | None = None,
    elr: list[int] | None = None,
    last_known_elr: list[int] | None = None,
    directories: list[bytes] | None = None,
) -> PartitionRecord:
    """In sync and led by the first of the ISR unless said otherwise."""
    in_sync = replicas if isr is None else isr
    if leader is None:
        leader = in_sync[0] if in_sync else -1
    return PartitionRecord(
        replicas=list(replicas),
        isr=list(in_sync),
        removing_replicas=removing or [],
        adding_replicas=adding or [],
        leader=leader,
        leader_recovery_state=1 if recovering else 0,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        directories=directories or [],
        eligible_leader_replicas=elr,
        last_known_elr=last_known_elr,
    )
