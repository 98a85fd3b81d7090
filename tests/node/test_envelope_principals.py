"""With nodes bound to their ids, a stolen key of a broker is no super user's: who may be in an envelope."""

from __future__ import annotations

from functools import cache

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.config.node_principals import is_of_node
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.rights.asking import Answer, forward, in_version
from tests.support.rights.row import refusal_of
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.test_config import config

RULE = "User:CN=broker-{id},O=Example;User:CN=controller-{id},O=Example"
SUPER_USERS = "User:admin;User:CN=broker-1,O=Example;User:CN=controller-3000,O=Example"
STOLEN = "CN=broker-1,O=Example"

REFUSED = ("admin", "CN=broker-1,O=Example", "CN=broker-2,O=Example", "CN=controller-3000,O=Example")
CLIENTS = (
    "alice",
    "Admin",
    "admin ",
    "CN=broker-x,O=Example",
    "CN=broker-1",
    "CN=broker-,O=Example",
    "ANONYMOUS",
)

KEYS = {
    "without": {},
    "bound": {"kraftctl_node_principals": RULE},
    "allowed": {
        "kraftctl_node_principals": RULE,
        "kraftctl_envelope_allowed_principals": "User:admin; User:x",
    },
    "none-allowed": {"kraftctl_envelope_allowed_principals": ""},
}

FORWARDED = [api for api in API_TABLE.values() if api.forwardable]


@cache
def node(keys: str) -> LoneNode:
    """Its authorizer admits `alice` and all who have no name of a node to everything."""
    found = LoneNode(
        authorizer_class_name=STANDARD_AUTHORIZER,
        super_users=SUPER_USERS,
        allow_everyone_if_no_acl_found="true",
        **KEYS[keys],  # type: ignore[arg-type]
    )
    found.settle()
    return found


class Door:
    def __init__(self, keys: str) -> None:
        self._node = node(keys)

    def ask(self, principal: KafkaPrincipal, request: Message, version: int | None = None) -> Message | None:
        request_id = self._node.send(request, version, principal)
        self._node.pass_time(200)
        return self._node.answers.get(request_id)


def forwarded(keys: str, name: str, request: Message, version: int, kind: str = "User") -> Answer:
    return forward(Door(keys), KafkaPrincipal(kind, name), request, version, sender=STOLEN)


def errors(answer: Answer) -> set[int]:
    assert answer.error == 0, "the broker takes the error for the client"
    return set() if answer.response is None else {code for _, code in refusal_of(answer.response)}


def creating_topics(name: str = "t", count: int = 1) -> CreateTopicsRequest:
    topics = [
        CreatableTopic(name=f"{name}{number}", num_partitions=1, replication_factor=1)
        for number in range(count)
    ]
    return CreateTopicsRequest(topics=topics)


@pytest.mark.parametrize("api", FORWARDED, ids=lambda api: api.name)
def test_super_users_and_nodes_are_refused_in_every_api(api) -> None:  # type: ignore[no-untyped-def]
    kind = request_class(api.key)
    assert kind is not None
    request = creating_topics() if kind is CreateTopicsRequest else kind()
    version = kind.HIGHEST_VERSION if api.serves(kind.HIGHEST_VERSION) else kind.LOWEST_VERSION
    for name in REFUSED:
        answer = forwarded("bound", name, in_version(request, version), version)
        assert answer.error == 0
        assert answer.response is not None
        code = dict(refusal_of(answer.response)).get("error_code", Errors.CLUSTER_AUTHORIZATION_FAILED)
        assert code == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert not node("bound").process.node.controller.image.topics.topic_by_name("t0")


@pytest.mark.parametrize(
    ("keys", "refused", "served"),
    [
        pytest.param("without", (), (*REFUSED, *CLIENTS), id="as-in-kafka"),
        pytest.param("bound", REFUSED, CLIENTS, id="bound"),
        pytest.param("allowed", REFUSED[1:], ("admin", *CLIENTS), id="allowed"),
        pytest.param(
            "none-allowed", (REFUSED[0], REFUSED[1], REFUSED[3]), (REFUSED[2], *CLIENTS), id="not-bound"
        ),
    ],
)
def test_who_may_arrive(keys: str, refused: tuple[str, ...], served: tuple[str, ...]) -> None:
    for name in (*refused, *served):
        answer = forwarded(keys, name, creating_topics(), 7)
        expected = name in refused
        assert (Errors.CLUSTER_AUTHORIZATION_FAILED in errors(answer)) == expected, name


def test_a_long_request_is_refused_before_it_is_decoded() -> None:
    for keys, expected in (("bound", True), ("without", False)):
        answer = forwarded(keys, "admin", creating_topics("t" * 100, 700), 7)
        assert (Errors.CLUSTER_AUTHORIZATION_FAILED in errors(answer)) == expected


def test_a_stolen_key_makes_no_acl_as_a_super_user() -> None:
    """What the binding of ids was without this rule."""
    everything = AclCreation(
        resource_type=4, resource_name="kafka-cluster", resource_pattern_type=3, principal="User:eve",
        host="*", operation=int(AclOperation.ALL), permission_type=3,
    )  # fmt: skip
    for keys, made in (("without", 1), ("bound", 0)):
        answer = forwarded(keys, "admin", CreateAclsRequest(creations=[everything]), 3)
        assert bool(errors(answer)) == (made == 0)
        assert len(node(keys).process.node.controller.image.acls.acls) == made


def test_the_refusal_says_what_to_do() -> None:
    answer = forwarded("bound", "admin", creating_topics(), 7)
    assert answer.response is not None
    assert (
        answer.response.topics[0].error_message  # type: ignore[attr-defined]
        == "User:admin is a super user, whose requests no broker may forward unless"
        " kraftctl.envelope.allowed.principals names it"
    )


def lines_of(keys: str, name: str, request: Message) -> list[str]:
    notices = node(keys).process.notices
    before = len(notices)
    forwarded(keys, name, request, 7)
    return [line for line in notices[before:] if "forwards" in line]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("count", [1, 700], ids=["short", "long"])
def test_the_log_says_who_forwards_for_whom(name: str, count: int) -> None:
    """The use of a stolen key of a broker is seen there, and nowhere else."""
    (line,) = lines_of("bound", name, creating_topics("t" * 100, count))
    who = "a super user" if name in SUPER_USERS.replace("User:", "").split(";") else "a broker or controller"
    assert line == (
        f"Refusing CreateTopics as User:{name}, which User:{STOLEN} at 127.0.0.1 forwards for a client at"
        f" 127.0.0.1: User:{name} is {who}, whose requests no broker may forward unless"
        f" kraftctl.envelope.allowed.principals names it. Next step: let the tools of User:{name} connect to"
        " controllers (--bootstrap-controller); if it has used none, somebody has the key or password of"
        f" User:{STOLEN}: replace it, and stop accepting the former one"
    )


@pytest.mark.parametrize("name", CLIENTS)
def test_the_log_says_nothing_of_clients(name: str) -> None:
    assert lines_of("bound", name, creating_topics()) == []
    assert lines_of("without", "admin", creating_topics()) == []


def test_super_users_may_still_connect_themselves() -> None:
    answer = Door("bound").ask(KafkaPrincipal("User", "admin"), creating_topics(), 7)
    assert answer is not None
    assert Errors.CLUSTER_AUTHORIZATION_FAILED not in {code for _, code in refusal_of(answer)}


@pytest.mark.parametrize(
    ("principal", "template", "is_one"),
    [
        ("User:b-1", "User:b-{id}", True),
        ("User:b-2147483647", "User:b-{id}", True),
        ("User:b-", "User:b-{id}", False),
        ("User:b--1", "User:b-{id}", False),
        ("User:b-1x", "User:b-{id}", False),
        ("User:b-12", "User:b-{id}2", True),
        ("User:b-2", "User:b-{id}2", False),
        ("User:7.b-7", "User:{id}.b-{id}", True),
        ("User:7.b-8", "User:{id}.b-{id}", False),
        ("User:b-" + "1" * 30_000, "User:b-{id}", False),
        ("User:b-١", "User:b-{id}", False),
    ],
)
def test_principals_of_nodes(principal: str, template: str, is_one: bool) -> None:
    assert is_of_node(principal, template) == is_one


def test_the_start_names_the_principals_that_are_refused() -> None:
    bound = {"kraftctl__node__principals": RULE, "super__users": SUPER_USERS}
    (warning,) = [each for each in config(**bound).warnings if "super users" in each]
    assert f"when a broker forwards them: {'; '.join(RULE.split(';'))}; User:admin. Next step" in warning
    assert "kraftctl.envelope.allowed.principals" in warning
    only_nodes = config(**(bound | {"super__users": "User:CN=broker-1,O=Example"})).warnings
    assert [each for each in only_nodes if "User:CN=broker-{id},O=Example" in each], "nodes are, too"
    decided = config(**(bound | {"kraftctl__envelope__allowed__principals": ""})).warnings
    assert not [each for each in decided if "super users" in each]


def test_an_envelope_that_is_refused_is_held_no_more() -> None:
    """Brokers send it again and again while they do not know the leader."""
    found = node("without")
    answers = found.process.node._responses
    context = RequestContext(
        api=API_TABLE[ApiKey.CREATE_TOPICS],
        version=7,
        client_id=None,
        principal=KafkaPrincipal("User", "alice"),
        listener="CONTROLLER",
        client_address=b"\x7f\0\0\1",
    )
    pending = PendingRequest(1 << 40, context, CreateTopicsRequest())
    pending.in_envelope = True
    before = answers.held_count
    answers.await_body(pending)
    assert answers.held_count == before + 1
    answers.refuse_envelope(pending, ApiError(Errors.NOT_CONTROLLER))
    assert answers.held_count == before
