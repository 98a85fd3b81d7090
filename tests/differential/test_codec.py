"""The codec of the differential, from schemas alone: every message of Kafka's jars, in every version."""

from __future__ import annotations

import pytest

from tests.differential.codec import Reader, decode, encode
from tests.differential.schemas import Schemas, read_schemas
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.java


@pytest.fixture(scope="module", params=["4.3.1"])
def schemas(request: pytest.FixtureRequest) -> Schemas:
    return read_schemas(kafka(request.param).classpath)


def test_defaults_of_every_message_return(schemas: Schemas) -> None:
    tried = 0
    for schema in [*schemas.requests.values(), *schemas.responses.values(), *schemas.records.values()]:
        for version in range(schema.valid.first, schema.valid.last + 1):
            data = encode(schema, version, {})
            reader = Reader(data)
            body = decode(schema, version, reader)
            assert (reader.left, encode(schema, version, body)) == (0, data), (schema.name, version)
            tried += 1
    assert tried > 600
    assert len(schemas.records) > 25
