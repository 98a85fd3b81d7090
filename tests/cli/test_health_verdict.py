"""The verdict of `kraftctl health` as a function of what was collected, and its forms."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.admin.node_answers import NamedNode, NodeAnswers
from kraftctl.cli.health.collection import Collected, OperatePages
from kraftctl.cli.health.forms import FORMS, status_of
from kraftctl.cli.health.verdict import (
    BROKERS_NOT_CHECKED,
    HEALTHY,
    NO_ACTIVE_PAGE,
    NOT_KNOWN,
    PARTITIONS_NOT_CHECKED,
    UNHEALTHY,
    health_of,
)
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica, VoterEndpoint
from kraftctl.dev.ports import free_port
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from kraftctl_protocol.generated.fetch_response import PartitionData as FetchedPartition
from tests.cli.quorum_cases import CASES, Replica, ScriptedQuorum, directory_id, leader_node
from tests.support.wire.scripted_node import Script, ScriptedNode

NOW_MS = 1_790_000_000_000

ONE, TWO, THREE = ("one", 1), ("two", 2), ("three", 3)
ADDRESSES = {1: ONE, 2: TWO, 3: THREE}


def replica(node_id: int, behind_ms: int | None = 0, end_offset: int = 90) -> QuorumReplica:
    time_ms = None if behind_ms is None else NOW_MS - behind_ms
    return QuorumReplica(node_id, directory_id(node_id), end_offset, time_ms, time_ms)


def quorum(*behind_ms: int | None, leader_id: int = 1) -> QuorumInfo:
    return QuorumInfo(
        leader_id=leader_id,
        leader_epoch=7,
        high_watermark=90,
        voters=tuple(replica(node_id, behind) for node_id, behind in enumerate(behind_ms, 1)),
        observers=(),
        endpoints={node_id: (VoterEndpoint("C", *ADDRESSES[node_id]),) for node_id in ADDRESSES},
    )


def reached(endpoint: tuple[str, int], **answers: object) -> NodeAnswers:
    return replace(NodeAnswers(endpoint, is_reached=True, is_controller=True), **answers)  # type: ignore[arg-type]


def standby(endpoint: tuple[str, int], **answers: object) -> NodeAnswers:
    return reached(endpoint, quorum_error=Errors.NOT_LEADER_OR_FOLLOWER, epoch=7, **answers)


def collected(
    *answers: NodeAnswers, pages: tuple[OperatePages, ...] = (), to_controllers: bool = True
) -> Collected:
    return Collected({each.endpoint: each for each in answers}, pages, to_controllers, [ONE])


def leader(*behind_ms: int | None) -> NodeAnswers:
    return reached(ONE, quorum=quorum(*behind_ms or (0, 100, 200)), cluster_id="a")


ACTIVE = {"is_active_controller": True}
ALL = (leader(), standby(TWO, leader_id=1), standby(THREE, leader_id=1))
SHORT = "kraftctl_under_min_isr_partitions 2\n"
OFFLINE = "# TYPE x gauge\nkafka_controller_kafkacontroller_offlinepartitionscount 4\n"
FENCED = "kafka_controller_kafkacontroller_fencedbrokercount {}\n"
ONE_OF_EACH = OFFLINE.replace(" 4", " 1") + FENCED.format(1)
WELL = OFFLINE.replace(" 4", " 0") + FENCED.format(0)
COUNTED = WELL.replace("fencedbrokercount 0", "fencedbrokercount 102")

VERDICTS = [
    pytest.param(collected(*ALL), HEALTHY, [], id="all-three"),
    pytest.param(
        collected(*ALL[:2], NodeAnswers(THREE, "refused")), UNHEALTHY,
        ["voter 3: it is not reached at three:3: refused"], id="one-is-not-reached",
    ),
    pytest.param(
        collected(leader(0, 9_000, 0), *ALL[1:]), UNHEALTHY,
        ["voter 2: it had everything 9.0 s ago, and lacks 0 records"], id="one-lags",
    ),
    pytest.param(
        collected(leader(0, None, 0), *ALL[1:]), UNHEALTHY,
        ["voter 2: it has had nothing of this leader yet"], id="one-has-never-fetched",
    ),
    pytest.param(
        collected(replace(standby(ONE), epoch=8), standby(TWO, leader_id=3), NodeAnswers(THREE, "refused")),
        UNHEALTHY,
        ["no leader answers", "one:1 knows no leader of epoch 8",
         "two:2 says that controller 3 leads epoch 7", "three:3 is not reached: refused"],
        id="no-leader",
    ),
    pytest.param(collected(NodeAnswers(ONE, "refused")), NOT_KNOWN, ["one:1: refused"], id="unreached"),
    pytest.param(
        collected(reached(ONE, quorum_error=Errors.CLUSTER_AUTHORIZATION_FAILED)), NOT_KNOWN,
        ["one:1 answers DescribeQuorum with CLUSTER_AUTHORIZATION_FAILED"], id="without-the-right",
    ),
    pytest.param(
        collected(standby(TWO, leader_id=3, leader_endpoint=THREE), NodeAnswers(THREE, "refused")), NOT_KNOWN,
        ["controller 3 leads epoch 7, says two:2, and it is not reached at three:3: refused",
         "two:2 says that controller 3 leads epoch 7", "three:3 is not reached: refused"],
        id="a-leader-that-is-not-reached",
    ),
    pytest.param(
        collected(standby(TWO, leader_id=3)), NOT_KNOWN,
        ["controller 3 leads epoch 7, says two:2, and its address is not known",
         "two:2 says that controller 3 leads epoch 7"],
        id="a-leader-without-an-address",
    ),
    pytest.param(
        collected(
            standby(TWO, leader_id=3, registered=[NamedNode(3, *THREE)]), NodeAnswers(THREE, "refused")
        ),
        NOT_KNOWN,
        ["controller 3 leads epoch 7, says two:2, and it is not reached at three:3: refused",
         "two:2 says that controller 3 leads epoch 7", "three:3 is not reached: refused"],
        id="the-address-of-a-registration",
    ),
    pytest.param(
        collected(standby(TWO, leader_id=3, leader_endpoint=THREE), standby(THREE)), UNHEALTHY,
        ["no leader answers", "two:2 says that controller 3 leads epoch 7",
         "three:3 knows no leader of epoch 7"],
        id="a-leader-that-does-not-lead",
    ),
    pytest.param(
        collected(*ALL[:2], standby(THREE, cluster_id="b")), UNHEALTHY,
        ["the addresses are of several clusters: a, b"], id="two-clusters",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE, "brokers": [
            {"id": 5, "fenced": True}, {"id": 4, "fenced": False}]}, WELL),)),
        UNHEALTHY, ["broker 5 is fenced"], id="a-fenced-broker-of-a-status",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE, "brokers": [
            {"id": 5, "fenced": True}]}, COUNTED),)),
        UNHEALTHY, ["broker 5 is fenced", "101 more brokers are fenced"], id="more-than-a-status-lists",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE}, COUNTED),)),
        UNHEALTHY, ["102 brokers are fenced"], id="fenced-brokers-of-the-metrics",
    ),
    pytest.param(
        collected(reached(ONE, quorum=quorum(0, 0, 0), registered=[NamedNode(5, "h", 1, is_fenced=True)]),
                  to_controllers=False),
        UNHEALTHY, ["broker 5 is fenced"], id="a-fenced-broker-of-a-broker",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE}, OFFLINE + FENCED.format(0)),)),
        UNHEALTHY, ["4 partitions have no leader"], id="leaderless-partitions",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE}, ONE_OF_EACH),)),
        UNHEALTHY, ["1 broker is fenced", "1 partition has no leader"], id="one-of-each",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE}, WELL), OperatePages("v", problem="no"))),
        HEALTHY, [], id="the-page-of-the-active-one-is-enough",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": {"is_active_controller": False}}, OFFLINE),)),
        NOT_KNOWN, [NO_ACTIVE_PAGE], id="counts-of-a-standby",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"node_id": 3, "quorum": ACTIVE}, WELL),)),
        NOT_KNOWN, [NO_ACTIVE_PAGE], id="counts-of-a-former-leader",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"quorum": ACTIVE}, problem="/metrics: refused"),)),
        NOT_KNOWN, [NO_ACTIVE_PAGE], id="metrics-are-missing",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", problem="refused"),)), NOT_KNOWN, [NO_ACTIVE_PAGE],
        id="a-status-is-missing",
    ),
    pytest.param(
        collected(*ALL, pages=(OperatePages("u", {"brokers": "x", "quorum": 3}),)), NOT_KNOWN,
        [NO_ACTIVE_PAGE], id="a-status-of-another-shape",
    ),
    pytest.param(
        replace(collected(*ALL), uncommitted_ms=1_999), HEALTHY, [], id="records-of-this-moment",
    ),
    pytest.param(
        replace(collected(reached(ONE, quorum=replace(quorum(0, 0, 0), high_watermark=23)), *ALL[1:]),
                uncommitted_ms=2_000),
        UNHEALTHY,
        ["the log of the leader 1 ends at 90, 23 is committed, and the rest was not within 2.0 s"],
        id="nothing-is-committed",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("found", "kind", "reasons"), VERDICTS)
def test_verdicts(found: Collected, kind: str, reasons: list[str]) -> None:
    health = health_of(found)
    assert (health.kind, list(health.reasons)) == (kind, reasons)


PAGES = [
    pytest.param("a", HEALTHY, (), id="of-this-cluster"),
    pytest.param(None, HEALTHY, (), id="of-a-release-that-does-not-say"),
    pytest.param(
        "b",
        UNHEALTHY,
        ("u is of another cluster, b, than the controllers, a", NO_ACTIVE_PAGE),
        id="of-another",
    ),
]


@pytest.mark.parametrize(("cluster_id", "kind", "reasons"), PAGES)
def test_a_page_of_another_cluster_does_not_count(
    cluster_id: str | None, kind: str, reasons: tuple[str, ...]
) -> None:
    """Its active controller may have the same id: all that it counts would be of partitions elsewhere."""
    page = OperatePages("u", {"quorum": ACTIVE, "node_id": 1, "cluster_id": cluster_id}, WELL)
    found = health_of(collected(*ALL, pages=(page,)))
    assert (found.kind, found.reasons) == (kind, reasons)


def test_a_page_counts_where_no_node_says_its_cluster() -> None:
    """Over the listener of controllers, that takes the right ALTER on the cluster."""
    page = OperatePages("u", {"quorum": ACTIVE, "node_id": 1, "cluster_id": "b"}, WELL)
    silent = [replace(each, cluster_id=None) for each in ALL]
    assert health_of(collected(*silent, pages=(page,))).kind == HEALTHY


NOWHERE = "127.0.0.1:1"


@pytest.mark.parametrize("value", ["-1", "x", "1.5", "", "9" * 10])
@pytest.mark.parametrize("flag", ["--interval-ms", "--timeout-ms", "--wait-ms", "--max-lag-ms"])
def test_a_time_that_is_none(flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A negative pause would be none, and rounds without a pause a load on the cluster."""
    with pytest.raises(SystemExit) as ended:
        main(["health", "--bootstrap-controllers", NOWHERE, f"{flag}={value}"])
    assert ended.value.code == 2
    assert flag in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--interval-ms", "--timeout-ms"])
def test_no_time_at_all_is_too_little(flag: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["health", "--bootstrap-controllers", NOWHERE, flag, "0"])
    assert ended.value.code == 2


def test_the_leader_of_the_highest_epoch_counts() -> None:
    old = reached(TWO, quorum=replace(quorum(0, 99_000, 99_000, leader_id=2), leader_epoch=6))
    assert health_of(collected(ALL[0], old, ALL[2])).leader_id == 1


FORMS_OF: list[tuple[str, int, str, int]] = [
    (
        "text",
        0,
        "QUORUM HEALTHY: partitions and brokers were not checked\nleader 1, epoch 7, high watermark 90\n",
        0,
    ),
    (
        "nagios",
        0,
        "KRAFT OK - leader 1, 3 voters; partitions and brokers were not checked | voters=3 voters_well=3",
        0,
    ),
    (
        "nagios",
        1,
        "KRAFT CRITICAL - voter 3: it is not reached at three:3: refused; partitions and brokers",
        2,
    ),
    ("nagios", 5, "KRAFT UNKNOWN - one:1: refused; partitions and brokers were not checked | voters=0", 3),
    ("text", 5, "UNKNOWN\none:1: refused\nnote: partitions and brokers were not checked", 1),
]


@pytest.mark.parametrize(("form", "index", "text", "status"), FORMS_OF)
def test_forms(form: str, index: int, text: str, status: int) -> None:
    health = health_of(VERDICTS[index].values[0])  # type: ignore[arg-type]
    assert FORMS[form](health).startswith(text)
    assert status_of(health, form) == status


def test_what_was_not_checked_is_a_note() -> None:
    assert health_of(collected(*ALL)).notes == (BROKERS_NOT_CHECKED,)
    assert health_of(collected(*ALL, to_controllers=False)).notes == (PARTITIONS_NOT_CHECKED,)
    page = OperatePages("u", {"quorum": ACTIVE, "ready": False, "node_id": 1}, problem="/metrics: refused")
    assert health_of(collected(*ALL, pages=(page,))).notes == (
        "u: /metrics: refused",
        "u: controller 1 is not ready: ",
    )


def test_json_is_one_line() -> None:
    printed = FORMS["json"](health_of(collected(*ALL)))
    assert json.loads(printed)["verdict"] == HEALTHY
    assert json.loads(printed)["not_checked"] == ["partitions and brokers"]
    assert "\n" not in printed


def test_what_is_healthy_is_the_first_word() -> None:
    by_broker = health_of(collected(*ALL, to_controllers=False))
    assert FORMS["text"](by_broker).startswith("QUORUM AND BROKERS HEALTHY: partitions were not checked\n")
    assert json.loads(FORMS["json"](by_broker))["not_checked"] == ["partitions"]
    everything = replace(by_broker, notes=())
    assert FORMS["text"](everything).startswith("HEALTHY\n")
    assert json.loads(FORMS["json"](everything))["not_checked"] == []


@pytest.mark.parametrize("name", ["three-voters-and-observers", "before-timestamps", "before-directory-ids"])
def test_a_leader_of_each_release_is_asked(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the leader can be reached: what it says of the others decides where it names no addresses."""
    case = CASES[name]
    with leader_node(case.quorum, case.versions) as node:
        status = main(
            ["health", "--bootstrap-controllers", node.address, "--timeout-ms", "700", "--output", "json"]
        )
    said = json.loads(capsys.readouterr().out)
    assert status in (0, 10)
    assert said["leader_id"] == case.quorum.leader_id
    assert said["voters"][str(case.quorum.leader_id)] == "leader"


@pytest.mark.parametrize("is_running", [True, False])
def test_a_follower_names_its_leader(is_running: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the right Alter, only Fetch has the address of the leader."""
    with leader_node(CASES["all-voters-at-the-same-offset"].quorum) as leading:
        port = leading.port if is_running else free_port()
        partition = FetchedPartition(
            error_code=int(Errors.NOT_LEADER_OR_FOLLOWER), current_leader=LeaderIdAndEpoch(3, 7)
        )
        fetched = FetchResponse(
            responses=[FetchableTopicResponse(partitions=[partition])],
            node_endpoints=[NodeEndpoint(node_id=3, host="127.0.0.1", port=port)],
        )
        refused = ScriptedQuorum(3, [], error=Errors.NOT_LEADER_OR_FOLLOWER).described()
        script: Script = {DescribeQuorumRequest: lambda _: refused, FetchRequest: lambda _: fetched}
        with ScriptedNode(script) as follower:
            asked = ["health", "--bootstrap-controllers", follower.address, "--timeout-ms", "2000"]
            status = main([*asked, "--output", "json"])
    said = json.loads(capsys.readouterr().out)
    if is_running:
        assert (status, said["leader_id"]) == (0, 3)
    else:
        assert (status, said["verdict"]) == (1, NOT_KNOWN)
        assert f"it is not reached at 127.0.0.1:{port}" in said["reasons"][0]


@pytest.mark.parametrize(
    ("moves", "status"), [pytest.param(0, 10, id="a-frozen-disk"), pytest.param(90, 0, id="a-busy-leader")]
)
def test_a_leader_that_commits_nothing_is_unhealthy(
    moves: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its only voter is caught up with itself; records that wait for a moment are no trouble."""
    described = ScriptedQuorum(3000, [Replica(3000, 73)], high_watermark=23)

    def answer(_: object) -> DescribeQuorumResponse:
        response = described.described()
        described.high_watermark += moves
        described.voters[0] = replace(described.voters[0], end_offset=73 + described.high_watermark)
        return response

    with leader_node(described) as node:
        node.script[DescribeQuorumRequest] = answer
        assert main(["health", "--bootstrap-controllers", node.address]) == status
    assert ("and the rest was not within 2." in capsys.readouterr().out) is (status == 10)


def test_it_is_repeated_until_the_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    """Also with a cluster that is healthy; --exit-when-healthy ends with the first such round."""
    with leader_node(CASES["all-voters-at-the-same-offset"].quorum) as node:
        asked = ["health", "--bootstrap-controllers", node.address, "--output", "json", "--interval-ms", "10"]
        assert main([*asked, "--watch", "--wait-ms", "100"]) == 0
        assert len(capsys.readouterr().out.splitlines()) > 1
        assert main([*asked, "--exit-when-healthy", "--wait-ms", "60000"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_others_have_chosen_is_one_line() -> None:
    page = OperatePages("u", {"ready": False, "node_id": 1, "reasons": ["a\nvoter 9: b\x1b[2J"]})
    printed = FORMS["text"](health_of(collected(*ALL, pages=(page,))))
    assert printed.splitlines()[-1] == "note: u: controller 1 is not ready: a\\nvoter 9: b\\x1b[2J".replace(
        "\\n", "\\x0a"
    )


def test_a_wrong_url_and_a_wrong_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "client.properties"
    file.write_text("request.timeout.ms=x\n")
    asked = ["health", "--bootstrap-controllers", "h:1"]
    assert main([*asked, "--operate", "file:///etc/passwd"]) == 1
    assert main([*asked, "--command-config", str(file)]) == 1
    assert main([*asked, "--command-config", str(tmp_path / "none")]) == 1
    assert main([*asked, "--command-config", str(file), "--output", "nagios"]) == 3
    assert "request.timeout.ms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metrics", "kind"),
    [pytest.param(WELL, HEALTHY, id="counted"), pytest.param("", NOT_KNOWN, id="uncounted")],
)
def test_brokers_that_a_status_leaves_out_are_counted_or_not_known(metrics: str, kind: str) -> None:
    status = {"quorum": ACTIVE, "node_id": 1, "brokers": [], "left_out": {"brokers": 20}}
    health = health_of(collected(*ALL, pages=(OperatePages("http://one", status, metrics),)))
    assert health.kind == kind
    assert health.notes == ("http://one: /status.json leaves out 20 brokers, which cannot be named",)
