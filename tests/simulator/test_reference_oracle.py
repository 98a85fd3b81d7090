"""The reference against Kafka's own MetadataImage, on random streams of records with aborted transactions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from kraftctl_protocol.uuids import uuid_to_string
from tests.spark.compared_rows import compare_rows
from tests.spark.metadata_histories import Generator, History
from tests.spark.view_check import kafka_states
from tests.support.simulator.reference.reference import Reference
from tests.support.simulator.reference.rows import State, rows_of

pytestmark = [pytest.mark.java, pytest.mark.slow]

BATCHES = 200
OFFSETS_COMPARED = 40
SEED = 11

Table = list[dict[str, Any]]

RESOURCES = {2: "TOPIC", 4: "BROKER"}
PATTERNS = {3: "LITERAL", 4: "PREFIXED"}
MECHANISMS = {1: "SCRAM-SHA-256"}
"""Of what the streams have: names of Kafka's enumerations."""


def stream() -> History:
    """It ends outside of a transaction."""
    generator = Generator(SEED)
    for _ in range(BATCHES):
        generator.append_random()
    while generator.in_transaction:
        generator.append_random()
    return generator.history


def replayed(history: History) -> Reference:
    reference = Reference(as_controller=False)
    for batch in read_batches(b"".join(history.batches)):
        for record in batch.records:
            if not batch.header.is_control:
                reference.replay(decode_metadata_record(record.value or b"").record, record.offset)
    return reference


def tables(state: State) -> dict[str, Table]:
    """In the columns that the program of the comparison prints."""
    return {
        "topics": [
            {
                "topic_id": uuid_to_string(key[1]),
                "topic": name,
                "partitions": len(list(rows_of(state, "partition", key[1]))),
            }
            for key, name in rows_of(state, "topic")
        ],
        "partitions": [
            {
                "topic_id": uuid_to_string(topic_id),
                "topic": state["topic", topic_id],
                "partition_id": index,
                **{
                    name: list(value) if isinstance(value, tuple) else value
                    for name, value in partition._asdict().items()
                },
                "directories": [uuid_to_string(one) for one in partition.directories],
            }
            for (_, topic_id, index), partition in rows_of(state, "partition")
        ],
        **nodes(state),
        **settings(state),
        **security(state),
    }


def nodes(state: State) -> dict[str, Table]:
    return {
        "brokers": [
            {
                "broker_id": one.id,
                "broker_epoch": one.epoch,
                "fenced": one.fenced,
                "in_controlled_shutdown": one.in_controlled_shutdown,
                "incarnation_id": uuid_to_string(one.incarnation_id),
                "rack": one.rack,
                "log_dirs": [uuid_to_string(each) for each in one.directories],
                "cordoned_log_dirs": (
                    None
                    if one.cordoned_directories is None
                    else [uuid_to_string(each) for each in one.cordoned_directories]
                ),
                **listed(one),
            }
            for _, one in rows_of(state, "broker")
        ],
        "controllers": [
            {
                "controller_id": one.id,
                "incarnation_id": uuid_to_string(one.incarnation_id),
                "zk_migration_ready": one.zk_migration_ready,
                **listed(one),
            }
            for _, one in rows_of(state, "controller")
        ],
    }


def listed(node: Any) -> dict[str, Table]:
    return {
        "end_points": [one._asdict() for one in node.listeners.values()],
        "features": [
            {"name": name, "min_supported_version": one.min, "max_supported_version": one.max}
            for name, one in node.supported_features.items()
        ],
    }


def settings(state: State) -> dict[str, Table]:
    return {
        "configs": [
            {"resource_type": RESOURCES[kind], "resource_name": resource, "name": name, "value": value}
            for (_, kind, resource, name), value in rows_of(state, "config")
        ],
        "quotas": [
            {
                "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity],
                "key": key,
                "value": value,
            }
            for (_, entity, key), value in rows_of(state, "quota")
        ],
        "features": [{"name": key[1], "level": level} for key, level in rows_of(state, "feature")],
        "producer_ids": [{"next_producer_id": value} for _, value in rows_of(state, "producer ids")],
    }


def security(state: State) -> dict[str, Table]:
    return {
        "acls": [
            {
                "id": uuid_to_string(key[1]),
                "resource_type": RESOURCES[one.resource_type],
                "resource_name": one.resource_name,
                "pattern_type": PATTERNS[one.pattern_type],
                "principal": one.principal,
                "host": one.host,
                "operation": "READ",
                "permission": "ALLOW",
            }
            for key, one in rows_of(state, "acl")
        ],
        "scram_credentials": [
            {"user": key[2], "mechanism": MECHANISMS[key[1]], "iterations": one.iterations}
            for key, one in rows_of(state, "scram")
        ],
        "delegation_tokens": [
            {
                "token_id": one.token_id,
                "owner": one.owner,
                "requester": one.requester,
                "renewers": list(one.renewers),
                "issue_time": one.issue_timestamp_ms,
                "max_time": one.max_timestamp_ms,
                "expiration_time": one.expiration_timestamp_ms,
            }
            for _, one in rows_of(state, "token")
        ],
    }


def outside_of_transactions(reference: Reference) -> list[int]:
    """Ends at which no transaction is open: the program of the comparison gets none of those aborted."""
    return [
        end for end in range(1, reference.end_offset + 1) if ("transaction",) not in reference.rows.at(end)
    ]


def test_it_is_what_kafkas_image_is(tmp_path: Path) -> None:
    history = stream()
    reference = replayed(history)
    ends = random.Random(SEED).sample(outside_of_transactions(reference), OFFSETS_COMPARED)
    kafkas = kafka_states(history.values, [end - 1 for end in ends], tmp_path / "records.txt")
    counts = dict.fromkeys(tables({}), 0)
    for end in ends:
        found = tables(reference.rows.at(end))
        assert set(found) == set(kafkas[end - 1])
        for kind, expected in kafkas[end - 1].items():
            compare_rows(f"{kind} before {end}", found[kind], expected)
            counts[kind] += len(expected)
    assert all(counts.values()), counts
