"""What keeps a feature from a higher level: the order of the nodes, and the next step for all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.explain.evidence import connection_of
from kraftctl.explain.explanation import explanation_json, explanation_text
from kraftctl.explain.why_controller import ASK_LEADER
from kraftctl.explain.why_feature import explain_feature
from kraftctl.metadata import features
from tests.support.explained_log import ExplainedLog

UPGRADE = "kraftctl features --bootstrap-controller HOST:PORT upgrade --feature"


@pytest.mark.parametrize(
    ("present", "levels", "cost"),
    [
        pytest.param(
            30,
            (7, 33),
            "There is no way back from 32 and 33; brokers of 4.3 cannot join; an earlier release of kraftctl"
            " does not start on this log",
            id="two-levels-without-a-way-back",
        ),
        pytest.param(
            30,
            (7, 31),
            "Brokers of 4.3 cannot join; an earlier release of kraftctl does not start on this log",
            id="a-level-with-a-way-back",
        ),
        pytest.param(22, (7, 23), "There is no way back from 23; brokers of 3.9 cannot join", id="one-level"),
    ],
)
def test_an_upgrade_that_is_offered_has_its_cost_and_is_no_next_step(
    present: int, levels: tuple[int, int], cost: str
) -> None:
    log = ExplainedLog()
    log.feature("metadata.version", present)
    log.controllers(1, levels=levels)
    explanation = explain_feature(log.evidence(), "metadata.version")
    assert (explanation.is_healthy, explanation.next_step) == (True, "")
    assert explanation.offer == f"{cost}. To raise it: {UPGRADE} metadata.version={levels[1]}"
    assert explanation_text(explanation, 0).splitlines()[-1] == f"  {explanation.offer}"
    assert explanation_json(explanation, 0, 9)["offer"] == explanation.offer


def test_the_command_of_an_upgrade_has_the_address_that_was_asked() -> None:
    log = ExplainedLog()
    log.feature("metadata.version", 30)
    log.controllers(1, levels=(7, 33))
    evidence = replace(log.evidence(), connection=connection_of("a:1,b:2", Path("my client")))
    assert explain_feature(evidence, "metadata.version").offer.endswith(
        "kraftctl features --bootstrap-controller a:1,b:2 --command-config 'my client' upgrade"
        " --feature metadata.version=33"
    )


@pytest.mark.parametrize(
    ("name", "level", "cost"),
    [
        pytest.param("kraft.version", 1, "there is no way back from 1", id="kraft"),
        pytest.param(
            "share.version",
            2,
            "nodes that do not support share.version 2 cannot join; an earlier release of kraftctl does not"
            " start on this log",
            id="share",
        ),
        pytest.param("group.version", 1, "nodes that do not support group.version 1 cannot join", id="group"),
    ],
)
def test_each_feature_has_a_cost(name: str, level: int, cost: str) -> None:
    assert features.cost_of_raising(name, 0, level) == cost


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
