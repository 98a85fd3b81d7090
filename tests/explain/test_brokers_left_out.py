"""Nothing follows from a broker's absence in a status that leaves brokers out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftctl.explain.controller_status import left_out_of
from kraftctl.explain.why_broker import explain_broker
from tests.support.explained_log import ExplainedLog
from tests.support.explained_situations import leaving_waits_for_others


@pytest.mark.parametrize(
    ("status", "count"),
    [
        pytest.param({"left_out": {"brokers": 20, "ghosts": 3}}, 20, id="some"),
        pytest.param({"left_out": {}}, 0, id="none"),
        pytest.param({}, 0, id="an-older-release"),
        pytest.param({"left_out": {"brokers": "many"}}, 0, id="no-number"),
        pytest.param(None, 0, id="no-status"),
    ],
)
def test_how_many_brokers_are_left_out(status: object, count: int) -> None:
    assert left_out_of(status) == count


def test_a_broker_that_is_left_out_is_named_as_not_known() -> None:
    log = ExplainedLog()
    log.brokers(1, 2, 3)
    log.fence(3)
    evidence = log.evidence()
    text = "the status shows 0 brokers and leaves out 20, with broker {}: its heartbeats are not known"
    for broker_id in (1, 3):
        assert text.format(broker_id) not in explain_broker(evidence, broker_id).facts
        facts = explain_broker(replace(evidence, left_out_contacts=20), broker_id).facts
        assert text.format(broker_id) in facts


def test_brokers_that_are_left_out_may_delay_one_that_leaves() -> None:
    log = ExplainedLog()
    leaving_waits_for_others(log)
    evidence = replace(log.evidence(), left_out_contacts=20)
    assert (
        explain_broker(evidence, 1)
        .causes[0]
        .text.endswith("broker 2 is at 103, of 20 brokers the status does not say how far they have read")
    )
