"""replay: how each metadata record changes the image; total over all record types by test.

A record that does not fit the state is a bug of its writer, or a damaged log: assertions and
KeyErrors from here must stop the process, never be swallowed (KAFKA-14275).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message


def replay(image: MetadataImage, record: Message, offset: int) -> None:
    """Apply `record`, which has `offset` in the metadata log (in a snapshot: its last contained offset)."""
    image.journal.start_record(offset)
    if isinstance(record, PartitionChangeRecord):
        image.topics.replay_partition_change(record)
    elif isinstance(record, PartitionRecord):
        image.topics.replay_partition(record)
    else:
        REPLAY_BY_RECORD_TYPE[record.API_KEY](image, record, offset)


def _register_broker(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RegisterBrokerRecord)
    image.cluster.replay_register_broker(record, offset)


def _unregister_broker(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, UnregisterBrokerRecord)
    image.cluster.replay_unregister_broker(record.broker_id, record.broker_epoch)


def _topic(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, TopicRecord)
    image.topics.replay_topic(record.name, record.topic_id)


def _partition(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, PartitionRecord)
    image.topics.replay_partition(record)


def _config(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, ConfigRecord)
    image.configurations.replay(record)


def _partition_change(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, PartitionChangeRecord)
    image.topics.replay_partition_change(record)


def _fence_broker(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, FenceBrokerRecord)
    image.cluster.replay_fenced(record.id, record.epoch, True)


def _unfence_broker(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, UnfenceBrokerRecord)
    image.cluster.replay_fenced(record.id, record.epoch, False)


def _remove_topic(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RemoveTopicRecord)
    image.configurations.replay_topic_removed(image.topics.replay_remove_topic(record.topic_id))


def _delegation_token(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, DelegationTokenRecord)
    image.delegation_tokens.replay(record)


def _user_scram_credential(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, UserScramCredentialRecord)
    image.scram.replay(record)


def _feature_level(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, FeatureLevelRecord)
    image.features.replay(record, offset)


def _client_quota(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, ClientQuotaRecord)
    image.client_quotas.replay(record)


def _producer_ids(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, ProducerIdsRecord)
    image.producer_ids.replay(record)


def _broker_registration_change(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, BrokerRegistrationChangeRecord)
    image.cluster.replay_registration_change(record)


def _access_control_entry(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, AccessControlEntryRecord)
    image.acls.replay(record)


def _remove_access_control_entry(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RemoveAccessControlEntryRecord)
    image.acls.replay_removed(record.id)


def _nothing(image: MetadataImage, record: Message, offset: int) -> None:
    """NoOpRecord and ZkMigrationStateRecord do not change the image."""


def _remove_user_scram_credential(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RemoveUserScramCredentialRecord)
    image.scram.replay_removed(record.mechanism, record.name)


def _begin_transaction(image: MetadataImage, record: Message, offset: int) -> None:
    image.journal.begin_transaction()


def _end_transaction(image: MetadataImage, record: Message, offset: int) -> None:
    image.journal.end_transaction()


def _abort_transaction(image: MetadataImage, record: Message, offset: int) -> None:
    image.journal.abort_transaction()


def _remove_delegation_token(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RemoveDelegationTokenRecord)
    image.delegation_tokens.replay_removed(record.token_id)


def _register_controller(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, RegisterControllerRecord)
    image.cluster.replay_register_controller(record)


def _clear_elr(image: MetadataImage, record: Message, offset: int) -> None:
    assert isinstance(record, ClearElrRecord)
    image.topics.replay_clear_elr(record.topic_name)


REPLAY_BY_RECORD_TYPE: Final[dict[int, Callable[[MetadataImage, Message, int], None]]] = {
    0: _register_broker,
    1: _unregister_broker,
    2: _topic,
    3: _partition,
    4: _config,
    5: _partition_change,
    7: _fence_broker,
    8: _unfence_broker,
    9: _remove_topic,
    10: _delegation_token,
    11: _user_scram_credential,
    12: _feature_level,
    14: _client_quota,
    15: _producer_ids,
    17: _broker_registration_change,
    18: _access_control_entry,
    19: _remove_access_control_entry,
    20: _nothing,
    21: _nothing,
    22: _remove_user_scram_credential,
    23: _begin_transaction,
    24: _end_transaction,
    25: _abort_transaction,
    26: _remove_delegation_token,
    27: _register_controller,
    28: _clear_elr,
}
"""Metadata record type -> how it changes the image."""
