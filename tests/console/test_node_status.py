"""What is read of /status.json and /metrics; anything else than expected is not known."""

from __future__ import annotations

import pytest

from kraftctl.console.node_status import CertificateDate, NodeStatus, flush_p99_ms, node_status
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.explain.evidence import LeaderView

STATUS: dict[str, object] = {
    "version": "0.1.0",
    "node_id": 3000,
    "ready": False,
    "reasons": ["No leader"],
    "quorum": {"is_active_controller": True},
    "brokers": [{"id": 1, "heartbeat_age_ms": 20, "metadata_offset": 7}],
    "disk": {"free_bytes": 12, "waits_ms": 6_000},
    "certificates": {"expire_at_ms": {"CONTROLLER": 99}},
}

FLUSHES = """\
kraftctl_disk_wait_seconds_bucket{what="WriteSnapshot",le="0.001"} 900
kraftctl_disk_wait_seconds_bucket{what="FlushLog",le="0.001"} 50
kraftctl_disk_wait_seconds_bucket{what="FlushLog",le="0.005"} 990
kraftctl_disk_wait_seconds_bucket{what="FlushLog",le="0.05"} 999
kraftctl_disk_wait_seconds_bucket{what="FlushLog",le="+Inf"} 1000
"""


def test_a_status_is_read() -> None:
    status = node_status("http://c1:9099", STATUS, FLUSHES, None)
    assert (status.node_id, status.version, status.is_ready) == (3000, "0.1.0", False)
    assert (status.reasons, status.is_active) == (("No leader",), True)
    assert (status.free_bytes, status.waits_ms, status.flush_p99_ms) == (12, 6_000, 5.0)
    assert status.certificates == (CertificateDate("CONTROLLER", 99),)
    assert status.contacts[1].heartbeat_age_ms == 20


def test_what_a_status_leaves_out_is_counted() -> None:
    left_out = {"left_out": {"brokers": 40}}
    active = node_status("u", {**STATUS, **left_out}, "", None)
    other = node_status("u", {**STATUS, **left_out, "quorum": {}}, "", None)
    assert (active.left_out_contacts, other.left_out_contacts) == (40, 0)
    view = LeaderView(3000, 1, 1, {})
    assert QuorumReading(view, statuses=(other, active)).left_out_contacts == 40
    assert QuorumReading(None, statuses=(active,)).left_out_contacts == 0


@pytest.mark.parametrize(("epoch", "counts"), [(None, True), (1, True), (2, False), (0, False)])
def test_contacts_are_those_of_the_leader_in_its_epoch(epoch: int | None, counts: bool) -> None:
    """The active controller of another cluster may have its id."""
    active = node_status("u", {**STATUS, "quorum": {"is_active_controller": True, "epoch": epoch}}, "", None)
    contacts = QuorumReading(LeaderView(3000, 1, 1, {}), statuses=(active,)).contacts
    assert bool(contacts) is counts


def test_a_status_that_is_not_read_has_its_reason() -> None:
    assert node_status("u", None, "", "refused") == NodeStatus("u", problem="refused")


@pytest.mark.parametrize("wrong", [None, 7, "text", [1], {"a": 1}, True], ids=repr)
@pytest.mark.parametrize("name", sorted(STATUS))
def test_another_type_is_not_known(name: str, wrong: object) -> None:
    status = node_status("u", {**STATUS, name: wrong}, "", None)
    assert isinstance(status, NodeStatus)
    assert isinstance(status.version, str)
    assert isinstance(status.node_id, int)


@pytest.mark.parametrize("number", [10**400, -1, 2**63], ids=["huge", "negative", "more-than-64-bits"])
def test_a_number_that_no_controller_has_is_not_known(number: int) -> None:
    changed: dict[str, object] = {
        "node_id": number,
        "brokers": [{"id": 1, "heartbeat_age_ms": number, "metadata_offset": number}],
        "disk": {"free_bytes": number, "waits_ms": number},
        "certificates": {"expire_at_ms": {"CONTROLLER": number}},
    }
    status = node_status("u", {**STATUS, **changed}, "", None)
    assert (status.node_id, status.free_bytes, status.waits_ms, status.certificates) == (-1, None, 0, ())
    assert (status.contacts[1].heartbeat_age_ms, status.contacts[1].metadata_offset) == (None, None)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        pytest.param(FLUSHES, 5.0, id="a-bucket"),
        pytest.param("", None, id="none"),
        pytest.param(FLUSHES.replace("990", "10").replace("999", "20"), None, id="beyond-the-last-bound"),
        pytest.param(FLUSHES.replace('"0.005"', '"soon"'), 50.0, id="a-bound-that-is-no-number"),
        pytest.param('kraftctl_disk_wait_seconds_bucket{what="FlushLog"} many', None, id="no-number"),
        pytest.param(FLUSHES.replace(" 1000", " inf").replace(" 50", " nan"), 5.0, id="counts-without-end"),
    ],
)
def test_the_99th_percentile_of_flushes(metrics: str, expected: float | None) -> None:
    assert flush_p99_ms(metrics) == expected
