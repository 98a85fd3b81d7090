"""What is known is not found again, and what no longer occurs is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.differential.call import Call, Ref
from tests.differential.calls.avoided import (
    MIGRATING,
    UNASSIGNED,
    Before,
    before,
    why_avoided,
    why_avoided_now,
)
from tests.differential.calls.features import kraft_version_raised
from tests.differential.codec import Body
from tests.differential.compare import FENCED_AGAIN, Difference
from tests.differential.known import FILE, KnownDifferences
from tests.differential.names import Names
from tests.differential.picture import Broker, Partition, Picture
from tests.differential.rounds import with_what_follows

ENTRIES = """
[[difference]]
name = "one"
reason = "because"
api = "A"
java = "0"
kraftctl = "4*"
kafka = "4.3.*"
"""

REFUSED = Difference("A", "ErrorCode", 0, 42)
LOGGED = Difference("A", "log", ["record"], [])


def known(tmp_path: Path, kafka: str = "4.3.1") -> KnownDifferences:
    file = tmp_path / "known.toml"
    file.write_text(ENTRIES)
    return KnownDifferences(kafka, file)


def test_what_fits_an_entry_is_known_and_so_is_what_follows_in_the_log(tmp_path: Path) -> None:
    assert known(tmp_path).unknown([REFUSED, LOGGED]) == []


def test_everything_else_is_new(tmp_path: Path) -> None:
    other = Difference("A", "ErrorCode", 3, 42)
    assert known(tmp_path).unknown([LOGGED]) == [LOGGED]
    assert known(tmp_path).unknown([REFUSED, other, LOGGED]) == [other, LOGGED]
    assert known(tmp_path, "4.4.0").unknown([REFUSED]) == [REFUSED]


NARROW = """
[[difference]]
name = "with its text"
reason = "because"
text = "*because of this*"

[[difference]]
name = "avoided"
reason = "because"
avoided = "a partition twice"
"""


def test_an_entry_with_a_text_needs_it_in_the_response(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(NARROW)
    entries = KnownDifferences("4.3.1", file)
    text = Difference("A", "ErrorMessage", None, "text: refused because of this")
    assert entries.unknown([REFUSED]) == [REFUSED]
    assert entries.unknown([REFUSED, text]) == []


def test_an_entry_of_avoided_calls_covers_no_other(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(NARROW)
    entries = KnownDifferences("4.3.1", file)
    assert entries.unknown([LOGGED]) == [LOGGED]
    assert entries.unknown([replace(LOGGED, avoided=frozenset({"no host"}))]) != []
    assert entries.unknown([replace(LOGGED, avoided=frozenset({"no host", "a partition twice"}))]) == []


def registered(*hosts: str) -> Body:
    """A broker with listeners of one name."""
    listeners = [{"Name": "L", "Host": host, "Port": 1, "SecurityProtocol": 0} for host in hosts]
    return {"BrokerId": 1, "Listeners": listeners, "Features": []}


def quotas_of(*entities: list[str]) -> Body:
    return {
        "Entries": [
            {"Entity": [{"EntityType": "ip", "EntityName": name} for name in names], "Ops": []}
            for names in entities
        ]
    }


def of_the_cluster(name: str, value: str) -> Body:
    config = {"Name": name, "ConfigOperation": 0, "Value": value}
    return {"Resources": [{"ResourceType": 4, "ResourceName": "", "Configs": [config]}]}


def of_loggers(node: str) -> Body:
    return {"Resources": [{"ResourceType": 8, "ResourceName": node, "ConfigurationKeys": None}]}


@pytest.mark.parametrize(
    ("call", "is_one"),
    [
        (Call("ElectLeaders", 2, {"TopicPartitions": [{"Topic": "t", "Partitions": [0, 0]}]}), True),
        (Call("ElectLeaders", 2, {"TopicPartitions": [{"Topic": "t", "Partitions": [0, 1]}]}), False),
        (Call("ElectLeaders", 2, {"TopicPartitions": None}), False),
        (Call("FetchSnapshot", 1, {"Topics": []}), True),
        (Call("DescribeCluster", 1, {}), False),
        (Call("DescribeConfigs", 4, of_loggers("3000")), True),
        (Call("DescribeConfigs", 4, of_loggers("1")), False),
        (Call("AlterClientQuotas", 1, quotas_of(["a", "b"], ["b"])), True),
        (Call("AlterClientQuotas", 1, quotas_of(["a", "b"], ["a"])), False),
        (Call("AddRaftVoter", 1, {"Listeners": [{"Name": " ", "Host": "h"}]}), True),
        (Call("IncrementalAlterConfigs", 1, of_the_cluster("max.connections", "null")), True),
        (Call("IncrementalAlterConfigs", 1, of_the_cluster("max.connections", "0")), True),
        (Call("IncrementalAlterConfigs", 1, of_the_cluster("max.connections", "10")), False),
        (Call("IncrementalAlterConfigs", 1, of_the_cluster("log.cleaner.threads", "null")), False),
        (Call("BrokerRegistration", 4, registered("\0")), True),
        (Call("BrokerRegistration", 4, registered("h")), False),
    ],
)
def test_calls_that_are_known_to_end_a_round_are_avoided(call: Call, is_one: bool) -> None:
    assert bool(why_avoided(call, "4.3.1")) == is_one


@pytest.mark.parametrize(
    ("hosts", "is_one"), [(("", "h"), True), (("h", ""), False), (("",), False), (("h", "h"), False)]
)
def test_a_malformed_listener_is_replaced_by_a_later_one_alone(hosts: tuple[str, ...], is_one: bool) -> None:
    found = why_avoided(Call("BrokerRegistration", 4, registered(*hosts)), "4.3.1")
    assert ("a malformed listener that another one replaces" in found) == is_one


def test_a_level_of_4_4_is_avoided_with_controllers_before_it() -> None:
    call = Call("UpdateFeatures", 1, {"FeatureUpdates": [{"Feature": "share.version", "MaxVersionLevel": 2}]})
    assert (why_avoided(call, "4.3.1"), why_avoided(call, "4.4.0")) == ({"a level of 4.4"}, set())


@pytest.mark.parametrize(
    ("fence", "stop", "fenced", "expected"),
    [
        (False, False, set(), set()),
        (True, False, {1}, set()),
        (False, False, {1}, {"a directory fails with an unfencing"}),
        (True, False, set(), {"a directory fails with a fencing"}),
        (False, True, set(), {"a directory fails with a fencing"}),
    ],
)
def test_only_a_directory_that_fails_while_its_broker_changes_is_known_to_differ(
    fence: bool, stop: bool, fenced: set[int], expected: set[str]
) -> None:
    body = {"BrokerId": 1, "OfflineLogDirs": ["d"], "WantFence": fence, "WantShutDown": stop}
    assert why_avoided_now(Call("BrokerHeartbeat", 1, body), Before(fenced)) == expected


def returning(version: int, previous_epoch: object, broker: int = 1) -> Call:
    body = {"BrokerId": broker, "PreviousBrokerEpoch": previous_epoch}
    return Call("BrokerRegistration", version, body)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(Call("UnregisterBroker", 0, {"BrokerId": 1}), True, id="unregistered"),
        pytest.param(Call("UnregisterBroker", 0, {"BrokerId": 2}), False, id="of-no-elr"),
        pytest.param(returning(4, -1), True, id="without-an-epoch"),
        pytest.param(returning(4, Ref("epoch", 1)), False, id="clean"),
        pytest.param(returning(4, 17), False, id="clean-as-it-was-sent"),
        pytest.param(returning(4, 16), True, id="of-an-epoch-before"),
        pytest.param(returning(2, Ref("epoch", 1)), True, id="of-a-version-without-epochs"),
        pytest.param(returning(4, Ref("epoch", 3), broker=3), True, id="unregistered-before"),
    ],
)
def test_only_brokers_of_elrs_that_were_cleared_are_known_to_differ(call: Call, expected: bool) -> None:
    found = why_avoided_now(call, Before(of_cleared_elrs={1, 3}, epochs={1: 17, 2: 18}))
    assert found == ({"an ELR was cleared"} if expected else set())


@pytest.mark.parametrize(("replicas", "expected"), [([1, 2, 3], False), ([2, 3], True), (None, True)])
def test_only_reassignments_that_remove_a_member_are_known_to_differ(
    replicas: list[int] | None, expected: bool
) -> None:
    partition = {"PartitionIndex": 0, "Replicas": replicas}
    call = Call("AlterPartitionReassignments", 1, {"Topics": [{"Name": "a", "Partitions": [partition]}]})
    found = why_avoided_now(call, Before(members={("a", 0): {1, 2}}))
    assert found == ({"a member is removed"} if expected else set())
    assert why_avoided_now(call, Before(members={("b", 0): {1, 2}})) == set()


def test_a_directory_out_of_an_isr_is_known_to_differ() -> None:
    body = {"BrokerId": 1, "OfflineLogDirs": ["d"], "WantFence": False, "WantShutDown": False}
    call = Call("BrokerHeartbeat", 1, body)
    assert why_avoided_now(call, Before(outside={1})) == {"a directory fails out of the ISR"}
    assert why_avoided_now(call, Before(outside={2})) == set()


def test_only_topics_of_partitions_with_different_numbers_of_replicas_are_known_to_differ() -> None:
    topic = {"Name": "a", "Count": 4, "Assignments": [{"BrokerIds": [1]}]}
    call = Call("CreatePartitions", 3, {"Topics": [topic]})
    assert why_avoided_now(call, Before(unequal=["b"])) == set()
    assert why_avoided_now(call, Before(unequal=["a"])) == {"partitions with different numbers of replicas"}


@pytest.mark.parametrize(
    ("names", "expected"), [(["kraft.version", "a"], True), (["kraft.version"], False), (["a", "b"], False)]
)
def test_kraft_version_is_raised_behind_what_may_have_raised_it(names: list[str], expected: bool) -> None:
    call = Call("UpdateFeatures", 1, {"FeatureUpdates": [{"Feature": name} for name in names]})
    assert with_what_follows([call]) == [call, *([kraft_version_raised()] if expected else [])]


def code(api: str, java: int, kraftctl: int, *avoided: str) -> Difference:
    return Difference(f"{api}DelegationToken", "ErrorCode", java, kraftctl, frozenset(avoided))


@pytest.mark.parametrize(
    ("difference", "is_known"),
    [
        pytest.param(code("Renew", 62, 0, "a new token"), True, id="of-a-new-token"),
        pytest.param(code("Renew", 62, 0), False, id="of-one-that-lives-on-in-kraftctl"),
        pytest.param(code("Create", 0, 89), True, id="of-the-quota"),
        pytest.param(code("Create", 61, 89), False, id="of-the-quota-where-kafka-refuses"),
        pytest.param(code("Describe", 0, 89), False, id="of-the-quota-by-what-changes-nothing"),
    ],
)
def test_only_some_differences_of_tokens_are_known(difference: Difference, is_known: bool) -> None:
    assert (KnownDifferences("4.3.1", FILE).unknown([difference]) == []) == is_known


def change(isr: list[int] | None, elr: list[int] | None, *avoided: str) -> Difference:
    record = ("PartitionChangeRecord", 2, {"Isr": isr, "Leader": -2, "EligibleLeaderReplicas": elr})
    return Difference("CreateAcls", "log", [record], [], frozenset(avoided))


@pytest.mark.parametrize(
    ("difference", "is_known"),
    [
        pytest.param(change([], [1], FENCED_AGAIN), True, id="the-last-in-an-isr"),
        pytest.param(change([], [1]), False, id="no-session-has-ended"),
        pytest.param(change([2], [1], FENCED_AGAIN), False, id="not-the-last"),
        pytest.param(change([], None, FENCED_AGAIN), False, id="not-into-an-elr"),
    ],
)
def test_the_end_of_the_session_of_a_fenced_broker_may_come_during_any_call(
    difference: Difference, is_known: bool
) -> None:
    assert (KnownDifferences("4.3.1", FILE).unknown([difference]) == []) == is_known


def test_a_token_is_new_until_kafka_has_published_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names, now = Names(1, "directory"), [100.0]
    monkeypatch.setattr("tests.differential.names.time.monotonic", lambda: now[0])
    names.learn_hmac(b"first")
    now[0] = 104.0
    names.learn_hmac(b"second")
    now[0] = 106.0
    new = names.new_hmacs(5.0)
    assert new == {b"second"}
    for hmac, expected in ((b"first", set()), (b"second", {"a new token"})):
        call = Call("ExpireDelegationToken", 2, {"Hmac": hmac, "ExpiryTimePeriodMs": -1})
        assert why_avoided_now(call, Before(new_tokens=new)) == expected


def assigned(broker: int, directory: str) -> Call:
    return Call("AssignReplicasToDirs", 0, {"BrokerId": broker, "Directories": [{"Id": directory}]})


@pytest.mark.parametrize(
    ("isr", "adding", "removing", "elr", "unsettled"),
    [
        pytest.param([1, 2], [2], [3], [], {1, 3}, id="a-reassignment-is-complete"),
        pytest.param([1], [2], [3], [], set(), id="a-reassignment-is-not-complete"),
        pytest.param([1, 2], [], [3], [], {1, 2, 3}, id="a-removal-is-complete"),
        pytest.param([3], [], [3], [], set(), id="a-removal-of-all-that-is-in-sync"),
        pytest.param([1, 2], [], [], [], set(), id="settled"),
        pytest.param([4, 1], [], [], [], {1, 2, 3}, id="a-leader-that-shuts-down"),
        pytest.param([5, 1], [], [], [], {1, 2, 3}, id="a-fenced-leader"),
        pytest.param([-1], [], [], [], {1, 2, 3}, id="no-leader"),
        pytest.param([1, 2], [], [], [3], {1, 2, 3}, id="an-elr"),
    ],
)
def test_only_failed_directories_of_replicas_whose_partition_changes_besides_are_known_to_differ(
    isr: list[int], adding: list[int], removing: list[int], elr: list[int], unsettled: set[int]
) -> None:
    partition = Partition([1, 2, 3], isr, adding, removing, leader=isr[0], leader_epoch=0, epoch=0, elr=elr)
    brokers = {each: Broker("", [f"d{each}"], fenced=each == 5, shutting_down=each == 4) for each in range(6)}
    now = before(Picture(topics={"a": {0: partition}}, brokers=brokers))
    for broker in (1, 2, 3):
        assert not why_avoided_now(assigned(broker, f"d{broker}"), now)
        assert bool(why_avoided_now(assigned(broker, "failed"), now)) == (broker in unsettled)


@pytest.mark.parametrize(
    ("directory", "is_lost"), [("d1", False), (UNASSIGNED, False), (MIGRATING, False), ("d9", True)]
)
def test_a_leader_that_has_lost_its_directory_leaves_its_partition_unsettled(
    directory: str, is_lost: bool
) -> None:
    partition = Partition([1, 2], [1, 2], [], [], 1, 0, 0, directories=[directory, "d2"])
    brokers = {each: Broker("", [f"d{each}"], fenced=False) for each in (1, 2)}
    now = before(Picture(topics={"a": {0: partition}}, brokers=brokers))
    assert bool(why_avoided_now(assigned(2, "failed"), now)) == is_lost


def test_an_entry_that_does_not_occur_is_stale(tmp_path: Path) -> None:
    entries = known(tmp_path)
    assert [each.name for each in entries.stale()] == ["one"]
    entries.unknown([REFUSED])
    assert entries.stale() == []
    assert known(tmp_path, "4.4.0").stale() == []


def test_every_entry_has_its_reason() -> None:
    entries = KnownDifferences("4.3.1", FILE).entries
    assert [each.name for each in entries if len(each.reason) < 10] == []


@pytest.mark.parametrize(
    ("assignments", "one_shuts_down", "expected"),
    [
        ([], True, {"by chance on a broker that shuts down"}),
        ([], False, set()),
        ([{"BrokerIds": [1]}], True, set()),
    ],
)
def test_only_what_is_placed_by_chance_meets_a_broker_that_shuts_down(
    assignments: list[object], one_shuts_down: bool, expected: set[str]
) -> None:
    call = Call("CreateTopics", 7, {"Topics": [{"Name": "a", "Assignments": assignments}]})
    assert why_avoided_now(call, Before(one_shuts_down=one_shuts_down)) == expected
