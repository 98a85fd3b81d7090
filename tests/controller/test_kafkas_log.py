"""Kafka's own metadata log as the reference: the records that a Kafka 4.3.1 controller wrote when brokers
registered, left and failed are the records that this controller writes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.json_converter import from_json
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.controller_properties import controller_properties
from tests.support.image_records import image_lines
from tests.support.transitions import (
    records_for_controlled_shutdown,
    records_for_fenced_broker,
    records_for_new_incarnation,
    records_for_offline_directories,
    records_for_unfenced_broker,
)

DATA = Path(__file__).parent.parent / "data" / "kafka-4.3.1"
LOG = DATA / "metadata-log.txt"
SNAPSHOT = DATA / "00000000000000001643-0000000001.checkpoint"

LINE = re.compile(r"\[batch (\d+)-(\d+) .*?\] @(\d+) payload: (.*)")

Batch = list[tuple[int, RecordAndVersion]]


def classes() -> dict[str, type[Message]]:
    """PARTITION_CHANGE_RECORD -> its class."""
    found = {}
    for record_type in range(64):
        known = record_class(record_type)
        if known is not None:
            found[re.sub(r"(?<!^)(?=[A-Z])", "_", known.NAME).upper()] = known
    return found


def batches() -> list[Batch]:
    """(offset, record) lists, as Kafka appended them; control records are not state."""
    known = classes()
    result: dict[str, Batch] = {}
    for line in LOG.read_text().splitlines():
        matched = LINE.match(line)
        if matched is not None:
            value = json.loads(matched[4])
            record = from_json(known[value["type"]], value["data"], value["version"])
            entry = (int(matched[3]), RecordAndVersion(record, value["version"]))
            result.setdefault(matched[1], []).append(entry)
    return list(result.values())


def image_before(index: int) -> MetadataImage:
    image = MetadataImage()
    for batch in batches()[:index]:
        for offset, entry in batch:
            replay(image, entry.record, offset)
    return image


def predicted(image: MetadataImage, batch: Batch) -> list[list[RecordAndVersion]]:
    """This controller's records for the transition in `batch`; after a restart for both kinds of shutdown."""
    config = ControllerConfig(controller_properties(static=True))
    for _, entry in batch:
        record = entry.record
        if isinstance(record, RegisterBrokerRecord):
            existing = image.cluster.broker(record.broker_id)
            if existing is None or existing.incarnation_id == record.incarnation_id:
                return [[entry]]
            return [
                [
                    *records_for_new_incarnation(image, config, record.broker_id, clean_shutdown=clean),
                    entry,
                ]
                for clean in (True, False)
            ]
        if isinstance(record, BrokerRegistrationChangeRecord):
            broker_id = record.broker_id
            if record.fenced == 1 and image.cluster.brokers[broker_id].fenced:
                return [[entry]]  # Kafka's controller fences it again after a shutdown, kraftctl does not.
            if record.fenced == 1:
                return [records_for_fenced_broker(image, config, broker_id)]
            if record.fenced == -1:
                return [records_for_unfenced_broker(image, config, broker_id)]
            if record.in_controlled_shutdown:
                return [records_for_controlled_shutdown(image, config, broker_id)]
            if record.log_dirs:
                registered = image.cluster.brokers[broker_id].directories
                offline = [d for d in registered if d not in record.log_dirs]
                return [records_for_offline_directories(image, config, broker_id, offline)]
    return []


def unordered(records: list[RecordAndVersion]) -> list[str]:
    """Kafka visits topics in the order of a hash table."""
    return sorted(map(repr, records))


def is_cordoning(record: Message) -> bool:
    """Cordoned directories arrive with the same heartbeat as a transition, but are no part of it."""
    return isinstance(record, BrokerRegistrationChangeRecord) and record.cordoned_log_dirs is not None


def transitions() -> list[int]:
    wanted = []
    for index, batch in enumerate(batches()):
        for _, entry in batch:
            record = entry.record
            if isinstance(record, RegisterBrokerRecord | BrokerRegistrationChangeRecord) and not is_cordoning(
                record
            ):
                wanted.append(index)
                break
    return wanted


@pytest.mark.parametrize("index", transitions())
def test_transitions_of_brokers(index: int) -> None:
    batch = batches()[index]
    written = unordered([entry for _, entry in batch if not is_cordoning(entry.record)])
    candidates = [unordered(records) for records in predicted(image_before(index), batch)]
    assert written in candidates


def test_the_log_holds_every_kind_of_transition() -> None:
    assert len(transitions()) >= 15


def test_replaying_kafkas_log_gives_kafkas_snapshot() -> None:
    image = image_before(10**9)
    snapshot = MetadataImage()
    for batch in read_batches(SNAPSHOT.read_bytes()):
        for entry in batch.records:
            if not batch.header.is_control and entry.value is not None:
                replay(snapshot, decode_metadata_record(entry.value).record, 1642)
    assert image_lines(image) == image_lines(snapshot)
