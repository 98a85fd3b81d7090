"""What keeps a feature from a higher level: the order of the nodes, and the next step for all of them."""

from __future__ import annotations

import pytest

from kraftctl.explain.why_controller import ASK_LEADER
from kraftctl.explain.why_feature import explain_feature
from tests.support.explained_log import ExplainedLog


def test_a_ghost_is_named_before_other_limits() -> None:
    log = ExplainedLog()
    log.feature("metadata.version", 30)
    log.voters(1, 2)
    log.controllers(1, levels=(7, 33))
    log.controllers(2, 9)
    causes = [cause.text for cause in explain_feature(log.evidence(), "metadata.version").causes]
    assert [text.split(",")[0] for text in causes] == [
        "controller 9 supports levels 7 to 30 of metadata.version",
        "controller 2 supports levels 7 to 30 of metadata.version",
    ]


@pytest.mark.parametrize(
    ("ghosts", "voters", "brokers", "fenced", "step"),
    [
        pytest.param([], [], [1, 2, 3], [], "upgrade brokers 1, 2 and 3", id="brokers"),
        pytest.param(
            [],
            [2],
            [1, 2, 3],
            [3],
            "upgrade controller 2 and brokers 1, 2 and 3;"
            " if broker 3 is gone for good, kafka-cluster unregister --id 3",
            id="a-voter-and-brokers-of-which-one-is-fenced",
        ),
        pytest.param(
            [],
            [],
            [1, 2, 3],
            [1, 3],
            "upgrade brokers 1, 2 and 3; for each of brokers 1 and 3 that is gone for good,"
            " kafka-cluster unregister --id ID",
            id="two-are-fenced",
        ),
        pytest.param(
            [8, 9],
            [],
            [1],
            [],
            f"{ASK_LEADER}; do the same for controller 9; then upgrade broker 1",
            id="ghosts-first",
        ),
    ],
)
def test_the_next_step_names_all_nodes_that_limit_a_feature(
    ghosts: list[int], voters: list[int], brokers: list[int], fenced: list[int], step: str
) -> None:
    log = ExplainedLog()
    log.feature("metadata.version", 30)
    log.voters(1, *voters)
    log.controllers(1, levels=(7, 33))
    log.controllers(*voters, *ghosts)
    log.brokers(*brokers)
    for broker_id in fenced:
        log.fence(broker_id)
    assert explain_feature(log.evidence(), "metadata.version").next_step == step
