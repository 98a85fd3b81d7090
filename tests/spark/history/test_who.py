"""Who asked for each event: the smallest request that contains its offset, without a comparison of all."""

from __future__ import annotations

import json
import random
from pathlib import Path

import duckdb

from kraftctl_spark.history.questions.dialects import DIALECTS
from kraftctl_spark.history.questions.macros import AUDIT_LOG, with_audit_log

CLUSTER = "c0ffeec0ffeec0ffeec0ff"
SPANS = (0, 1, 14, 15, 16, 17, 255, 256, 257, 4_095, 4_096, 70_000)
"""Around the widths of the parts."""

OFFSETS = 9_000


def drawn(chance: random.Random, span: int, number: int) -> dict[str, object]:
    first = chance.randrange(OFFSETS)
    cluster = chance.choice([None, CLUSTER, "another"])
    outcome = chance.choice(["committed", "appended", "denied"])
    place: dict[str, object] = {
        "first_offset": first,
        "last_offset": first + span,
        "cluster_id": cluster,
        "outcome": outcome,
    }
    return place | {"principal": f"User:{number}"}


def expected(lines: list[dict[str, object]], offset: int) -> set[object]:
    """The principals of the smallest ones; there may be two."""
    found = [
        line
        for line in lines
        if line["outcome"] != "denied"
        and line["cluster_id"] in (None, CLUSTER)
        and int(str(line["first_offset"])) <= offset <= int(str(line["last_offset"]))
    ]
    size = {id(line): int(str(line["last_offset"])) - int(str(line["first_offset"])) for line in found}
    return {line["principal"] for line in found if size[id(line)] == min(size.values())} or {None}


def test_it_is_the_smallest_request_that_contains_the_event(tmp_path: Path) -> None:
    chance = random.Random(38)
    lines = [drawn(chance, span, number) for number, span in enumerate(SPANS * 12)]
    (tmp_path / "audit.log").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    offsets = sorted(chance.sample(range(OFFSETS), 700))
    with duckdb.connect() as connection:
        kinds = {"int32": "INTEGER", "int64": "BIGINT", "string": "VARCHAR"}
        columns = ", ".join(f"{name}: '{kinds[kind]}'" for name, kind in AUDIT_LOG.items())
        log = f"read_json('{tmp_path / 'audit.log'}', format = 'newline_delimited', columns = {{{columns}}})"
        connection.execute(f"CREATE VIEW audit_log AS SELECT * FROM {log}")
        connection.execute(
            f"""CREATE TABLE events AS SELECT unnest({offsets}) AS "offset", NULL AS time,
            'ISR shrank' AS kind, '' AS subject, '' AS before, '' AS after, NULL AS topic_id,
            NULL AS partition_id, NULL AS broker_id, '{CLUSTER}' AS cluster_id"""
        )
        (macro,) = with_audit_log()
        query = DIALECTS["duckdb"].query(macro.query)
        rows = connection.sql(f"SELECT * FROM ({query})").to_arrow_table().to_pylist()
        plan = str(connection.sql(f"EXPLAIN SELECT * FROM ({query})").fetchall())
    assert sorted(row["offset"] for row in rows) == offsets
    answered = 0
    for row in rows:
        assert row["principal"] in expected(lines, row["offset"]), row
        answered += row["principal"] is not None
    assert answered > 100
    assert not any(join in plan.lower() for join in ("piecewise", "nested", "ie join", "ie_join"))
