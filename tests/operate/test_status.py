"""What `/status.json` says of many brokers, and of controllers that are gone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.operate.committed_counts import CommittedCounts
from kraftctl.operate.readings import ghosts_in
from kraftctl.operate.status import DETAILED_MAX, cut
from tests.node.audited_node import audited_node
from tests.operate.operated_quorum import CLUSTER_ID, get
from tests.support.active_controller import NODE_ID
from tests.support.large_directory import register_brokers


def test_lists_are_cut_and_what_is_left_out_is_counted() -> None:
    lists = {"brokers": [*range(DETAILED_MAX + 7)], "voters": [*range(DETAILED_MAX)], "peers": []}
    assert cut(lists) == {"brokers": 7}
    assert lists == {"brokers": [*range(DETAILED_MAX)], "voters": [*range(DETAILED_MAX)], "peers": []}


def test_a_ghost_is_registered_and_neither_votes_nor_fetches() -> None:
    node = audited_node(1)
    counts = CommittedCounts()
    assert counts.look(node.controller, node.raft.high_watermark)
    assert counts.committed is not None
    figures = node.raft.figures(node.now_ms)
    assert ghosts_in(counts.committed, figures) == []
    with_ghosts = replace(counts.committed, controller_ids=(NODE_ID, 7, 90))
    assert ghosts_in(with_ghosts, figures) == [7, 90]


@pytest.mark.long
def test_of_many_brokers_those_without_a_session_are_shown_first(tmp_path: Path) -> None:
    """The brokers send no heartbeats; one session has time to end before the others."""
    node = KraftctlController(3000, tmp_path, CLUSTER_ID)
    port = free_port()
    node.properties["kraftctl.operate.listeners"] = f"http://127.0.0.1:{port}"
    node.format()
    node.start()
    try:
        register_brokers(node, DETAILED_MAX + 20)

        def said() -> dict[str, object] | None:
            status, body = get(port, "/status.json")
            content: dict[str, object] = json.loads(body)
            if status != 200 or content["left_out"] != {"brokers": 20}:
                return None
            quorum = content["quorum"]
            assert isinstance(quorum, dict)
            return content if quorum["ghosts"] == [] else None

        brokers = await_result(said, "all brokers are known, and no ghosts", 30.0)["brokers"]
        assert isinstance(brokers, list)
        assert len(brokers) == DETAILED_MAX
        ages = [each["heartbeat_age_ms"] for each in brokers]
        known = [age for age in ages if age is not None]
        assert ages == [None] * (len(ages) - len(known)) + sorted(known, reverse=True)
    finally:
        node.kill()
