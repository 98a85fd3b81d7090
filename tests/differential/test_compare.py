"""What differs is named, and nothing else: by the names in lists, and by the brokers that are fenced."""

from __future__ import annotations

import pytest

from tests.differential.call import ANSWERED, Call, Damage, Forwarded, Response
from tests.differential.codec import Body
from tests.differential.compare import OF_DAMAGED, Difference, compared_fencing, compared_responses
from tests.differential.known import KnownDifferences
from tests.differential.names import Names, Normaliser


def places(java: Body, ours: Body) -> list[str]:
    normalisers = Normaliser(Names(1, "/one"), {}), Normaliser(Names(2, "/other"), {})
    responses = Response(ANSWERED, java), Response(ANSWERED, ours)
    return [each.place for each in compared_responses(Call("A", 0), responses, normalisers)]


def test_an_envelope_whose_damaged_request_one_side_finds_differs_as_a_whole() -> None:
    found: Body = {"ErrorCode": 0, "response": {"Topics": [{"ErrorCode": 17}]}}
    call = Call("CreateTopics", 7, forwarded=Forwarded("alice"), damage=Damage(position=1))
    responses = Response(ANSWERED, found), Response(ANSWERED, {"ErrorCode": 35})
    normalisers = Normaliser(Names(1, "/one"), {}), Normaliser(Names(2, "/other"), {})
    difference = Difference("CreateTopics", OF_DAMAGED, (ANSWERED, [0, 17]), (ANSWERED, [35]))
    assert compared_responses(call, responses, normalisers) == [difference]
    assert KnownDifferences("4.3.1").unknown([difference]) == []


def config(name: str, value: str) -> Body:
    return {"Name": name, "Value": value}


def test_what_one_side_lacks_is_named_and_the_rest_is_compared() -> None:
    java = {"Configs": [config("a", "1"), config("c", "1")]}
    ours = {"Configs": [config("a", "2"), config("b", "1"), config("c", "1")]}
    assert places(java, ours) == ["Configs[a].Value", "Configs[b]"]


def test_structures_about_the_same_are_compared_in_any_order() -> None:
    java = {"Responses": [{"Name": "a", "ErrorCode": 42}, {"Name": "a", "ErrorCode": 0}]}
    ours = {"Responses": [{"Name": "a", "ErrorCode": 0}, {"Name": "a", "ErrorCode": 42}]}
    assert places(java, ours) == []
    assert places(java, {"Responses": [{"Name": "a", "ErrorCode": 0}] * 2}) == ["Responses[].ErrorCode"]


def test_no_text_decides_about_the_order() -> None:
    def response(*texts: str) -> Body:
        refused = [[{"PartitionIndex": 0, "ErrorCode": 39, "ErrorMessage": text}] for text in texts]
        done = {"Name": "t", "Partitions": [{"PartitionIndex": 0, "ErrorCode": 0, "ErrorMessage": None}]}
        return {"Responses": [*({"Name": "t", "Partitions": each} for each in refused), done]}

    assert places(response("a", "c"), response("b", "d")) == []
    two_more = {"PartitionIndex": 1, "ErrorCode": 85, "ErrorMessage": None}
    java, ours = response("b", "a"), response("a", "b")
    for body in (java, ours):
        body["Responses"][0]["Partitions"].append(two_more)
    assert places(java, ours) == []


def test_a_list_without_names_differs_as_a_whole() -> None:
    assert places({"Configs": [{"Value": 1}]}, {"Configs": []}) == ["Configs"]
    assert places({"Configs": [config("a", "1"), config("a", "1")]}, {"Configs": [config("a", "1")]}) == [
        "Configs"
    ]


@pytest.mark.parametrize(
    ("java", "ours", "expected"),
    [
        pytest.param([], [], None, id="none"),
        pytest.param([4], [4], None, id="by-a-call"),
        pytest.param([4, 5], [], (2, 0), id="by-the-ends-of-sessions"),
        pytest.param([4, 5], [5], (1, 0), id="by-the-end-of-a-session-during-such-a-call"),
        pytest.param([5], [4], (1, 1), id="another-one"),
        pytest.param([4], [4, 4], (0, 1), id="twice"),
    ],
)
def test_what_both_fence_again_does_not_differ(
    java: list[int], ours: list[int], expected: tuple[int, int] | None
) -> None:
    found = [(each.java, each.kraftctl) for each in compared_fencing("BrokerHeartbeat", java, ours)]
    assert found == ([] if expected is None else [expected])
