"""A cluster with topics that the account may not see is in use: it is given nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_spark.cli import main
from kraftctl_spark.commands import restore
from kraftctl_spark.restore.changes import ITEMS_PER_REQUEST, existing_topics
from kraftctl_spark.restore.cluster_state import TopicReplicas
from kraftctl_spark.restore.connection import open_admin
from tests.spark.restore.fake_broker import FakeCluster
from tests.spark.restore.test_restore_command import plan_file, tables

__all__ = ["plan_file", "tables"]

ONE = TopicReplicas(((1,),))


@pytest.mark.parametrize("flags", [[], ["--execute"], ["--execute", "--change-existing"]])
@pytest.mark.parametrize(
    ("topic", "lists_topics"),
    [
        pytest.param("orders", True, id="in-the-plan"),
        pytest.param("orders", False, id="in-the-plan-of-earlier-brokers"),
        pytest.param("other", True, id="not-in-the-plan"),
    ],
)
def test_a_cluster_whose_topics_are_hidden_is_in_use(
    topic: str, lists_topics: bool, flags: list[str], plan_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = FakeCluster(topics={topic: ONE}, hidden={topic}, lists_topics=lists_topics)
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address, *flags]) == 2
    assert cluster.requests == []
    assert f"may not see ({topic}): it is in use, and not visible: give the account Describe" in caplog.text


def test_a_difference_counts_no_hidden_topic_as_deleted(
    tables: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = FakeCluster(topics={"orders": ONE}, hidden={"orders"})
    with cluster.serve() as node:
        assert main(["diff", "--output", str(tables), "--as-of", "12", "--to", node.address]) == 2
    assert "may not see (orders)" in caplog.text


def test_a_topic_that_exists_and_is_not_shown_is_refused(
    plan_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another client has created it after the cluster was looked at."""
    monkeypatch.setattr(restore, "SHOWN_SECONDS_MAX", 0.0)

    def created_by_another(name: str) -> Errors:
        if name == "orders":
            cluster.topics[name] = ONE
            cluster.hidden.add(name)
        return Errors.NONE

    cluster = FakeCluster(refuses=created_by_another, lists_topics=False)
    with cluster.serve() as node:
        assert main(["restore", "--apply", str(plan_file), "--to", node.address, "--execute"]) == 1
    output = capsys.readouterr().out
    assert (
        "refused: create topic orders: 3 partitions, replication factor 2, retention.ms=1000: it is" in output
    )
    assert "do not show" not in output
    assert "cluster fake: 4 done, 1 refused, 0 left as they are" in output


def test_long_lists_of_topics_are_looked_for_in_parts() -> None:
    names = [f"t{number:04}" for number in range(2 * ITEMS_PER_REQUEST + 1)]
    there = names[:: ITEMS_PER_REQUEST // 2]
    cluster = FakeCluster(topics=dict.fromkeys(there, ONE), hidden=set(there))
    with cluster.serve() as node, open_admin(node.address, None) as client:
        assert existing_topics(client, names) == there
        assert existing_topics(client, []) == []
    assert cluster.topics.keys() == set(there)
