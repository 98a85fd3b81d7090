"""The audit log of a controller is joined with the exporter's tables as docs/operations/audit.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_spark.cli import main
from kraftctl_spark.log.log_location import QuorumLocation
from tests.node.test_rights import forwarded
from tests.spark.typed_export import exporting
from tests.support.wire.controller_client import ControllerClient, StandInBroker

PAGE = Path(__file__).parents[2] / "docs" / "operations" / "audit.md"
PATH_OF_PAGE = "kraftctl.audit.log.path=/var/log/kraftctl/audit.log"


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in names]
    )


def change_metadata(controller: KraftctlController) -> None:
    """Two topics of the client itself, one of a client of a broker, and one that exists already."""
    client = ControllerClient(controller.port)
    try:
        broker = StandInBroker(client, 1, controller.cluster_id)
        assert broker.register()
        await_result(broker.is_unfenced, "the broker is unfenced", 30.0, 0.02)
        client.call(topics("a", "b"), 7, CreateTopicsResponse)
        alice = forwarded(topics("c"), KafkaPrincipal("User", "alice"))
        client.call(alice, 0, EnvelopeResponse)
        client.call(topics("a"), 7, CreateTopicsResponse)
    finally:
        client.close()


def export(controller: KraftctlController, tables: Path) -> None:
    """All that is committed, as Spark's tasks would, without Spark."""
    where = QuorumLocation((("localhost", controller.port),))
    reader = where.open(controller.cluster_id)
    position = reader.position(0, 0)
    reader.close()
    with exporting(tables, where, cluster_id=controller.cluster_id) as exporter:
        exporter.export_to(position.high_watermark, position.leader_epoch)


def test_who_created_each_topic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text()
    (statement,) = re.findall(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (key, _, _) = PATH_OF_PAGE.partition("=")
    assert f"{PATH_OF_PAGE}\n" in text
    audit_log = tmp_path / "audit.log"
    controller = KraftctlController(
        3000, tmp_path / "controller", random_id(), properties={key: str(audit_log)}
    )
    controller.format()
    controller.start()
    try:
        controller.await_log("Becoming the active controller")
        change_metadata(controller)
        export(controller, tmp_path / "tables")
    finally:
        assert controller.stop() == 0
    monkeypatch.chdir(tmp_path)
    rows = duckdb.connect().execute(statement).fetchall()
    assert [row[:3] for row in rows] == [
        ("a", "User:ANONYMOUS", "127.0.0.1"),
        ("b", "User:ANONYMOUS", "127.0.0.1"),
        ("c", "User:alice", "127.0.0.1"),
    ]
    page = tmp_path / "report.html"
    flags = ["--output", str(tmp_path / "tables"), "--to", str(page), "--audit-log", str(audit_log)]
    assert main(["report", *flags]) == 0
    created = re.findall(r"<tr>(.*>created<.*)</tr>", page.read_text())
    assert [re.findall(r"User:\w+ from [\d.]+", row) for row in created] == [
        ["User:alice from 127.0.0.1"],
        ["User:ANONYMOUS from 127.0.0.1"],
        ["User:ANONYMOUS from 127.0.0.1"],
    ]
    lines = [json.loads(line) for line in audit_log.read_text().splitlines()]
    assert [(line["api"], line["outcome"]) for line in lines] == [
        ("BrokerRegistration", "committed"),
        ("CreateTopics", "committed"),
        ("CreateTopics", "committed"),
        ("CreateTopics", "refused"),
    ]
    assert audit_log.stat().st_mode & 0o777 == 0o600
