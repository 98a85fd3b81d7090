"""Who could do something, as `who_could` says, against the decisions of the controller's authorizer."""

from __future__ import annotations

import random
from pathlib import Path

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, OPERATIONS
from tests.spark.history.asked_macros import with_macros
from tests.spark.made_history import made_tables

ACLS = 40
QUESTIONS = 120
NAMED, OTHER = "10.0.0.1", "10.0.0.9"
DENY, ALLOW = 2, 3


def entry(rng: random.Random) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=rng.randbytes(16),
        resource_type=rng.choice([2, 3]),
        resource_name=rng.choice(["*", "o", "ord", "orders", "x"]),
        pattern_type=rng.choice([3, 4]),
        principal=rng.choice(["User:*", "User:a", "User:b"]),
        host=rng.choice(["*", "*", NAMED]),
        operation=rng.choice(sorted(OPERATIONS)[:10]),
        permission_type=rng.choice([ALLOW, ALLOW, ALLOW, DENY]),
    )


def sender(name: str, host: str) -> RequestContext:
    return RequestContext(
        api=API_TABLE[19],
        version=0,
        client_id=None,
        principal=KafkaPrincipal("User", name),
        listener="CONTROLLER",
        client_address=bytes(map(int, host.split("."))),
    )


def test_it_is_what_the_authorizer_allows(tmp_path: Path) -> None:
    rng = random.Random(20261121)
    entries = [entry(rng) for _ in range(ACLS)]
    made_tables(tmp_path / "raw", list(enumerate(entries)))
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    allowed = narrowed = 0
    with with_macros(tmp_path / "raw", tmp_path / "versions", tmp_path) as asked:
        image, authorizer = MetadataImage(), None
        for as_of, record in enumerate(entries):
            replay(image, record, as_of)
            authorizer = StandardAuthorizer(image, [], False)
            authorizer.metadata_loaded()
            for _ in range(QUESTIONS // ACLS):
                name, resource = rng.choice("abc"), rng.choice(["orders", "ord", "x", "y"])
                kind, operation = rng.choice([2, 3]), rng.choice(sorted(OPERATIONS)[1:10])
                kind_name, operation_name = ACL_RESOURCES[kind], OPERATIONS[operation]
                given = f"'User:{name}', '{operation_name}', '{kind_name}', '{resource}', {as_of}"
                rows = asked.rows(f"FROM who_could({given})")
                for host in (OTHER, NAMED):
                    expected = authorizer.allows(sender(name, host), operation, kind, resource)
                    found = any(row["host"] in ("*", host) for row in rows)
                    if host == OTHER or not any(row["narrower_denials"] for row in rows):
                        assert found == expected, (given, host)
                        allowed += expected
                    else:
                        narrowed += 1
    assert allowed > 10
    assert narrowed > 0
