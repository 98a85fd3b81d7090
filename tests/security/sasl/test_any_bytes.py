"""Whatever bytes arrive and whatever a file contains: a response or a documented error, nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_security.sasl.jaas import LOGIN_MODULES, JaasError, parse_entries, parse_jaas_config
from kraftctl_security.sasl.login_configuration import parse_login_configuration
from kraftctl_security.sasl.mechanism import SaslAuthenticationError, SaslServer
from kraftctl_security.sasl.plain import PlainClient, PlainServer, PlainUsers
from kraftctl_security.sasl.scram_client import ScramClient
from kraftctl_security.sasl.scram_messages import parse_client_first
from tests.security.sasl.known_users import SHA_256, WALL_MS, KnownUsers, server
from tests.support.effort import examples

MECHANISMS = st.sampled_from(sorted(MECHANISM_NAMES))

SCRAM_FIELDS = (
    *(
        "n",
        "y",
        "",
        "a=alice",
        "n=alice",
        "n=a=2C",
        "r=x",
        "r=clientsservers",
        "tokenauth=true",
        "m=x",
        "x=y",
    ),
    *(
        "c=biws",
        "c=",
        "p=AAAA",
        "p=",
        "s=c2FsdA==",
        "s=",
        "i=4096",
        "i=1",
        "i=-1",
        "v=AAAA",
        "e=no",
        "é",
        "=",
    ),
)
SCRAM_TEXT = st.lists(st.sampled_from(SCRAM_FIELDS), max_size=6).map(lambda fields: ",".join(fields).encode())

TOKENS = st.one_of(st.binary(max_size=100), SCRAM_TEXT)

JAAS_PIECES = (
    *LOGIN_MODULES,
    *(" required ", " a=b", '="', '"', ";", "{", "}", "KafkaServer", "//", "/*", "\\"),
)
JAAS_TEXT = st.lists(st.one_of(st.sampled_from(JAAS_PIECES), st.text(max_size=4)), max_size=12).map("".join)


def users() -> KnownUsers:
    known = KnownUsers()
    known.add(SHA_256, "alice", "alice-secret")
    return known


def answered(side: SaslServer, token: bytes) -> bool:
    try:
        side.evaluate(token, WALL_MS)
    except SaslAuthenticationError:
        return False
    return True


@given(first=TOKENS, final=TOKENS)
@examples(500)
def test_a_scram_server_authenticates_no_client_by_chance(first: bytes, final: bytes) -> None:
    side = server(users())
    if answered(side, first):
        answered(side, final)
    assert side.authenticated is None


@given(token=st.one_of(st.binary(max_size=100), st.lists(st.binary(max_size=5)).map(b"\0".join)))
@examples(500)
def test_a_plain_server_authenticates_no_client_by_chance(token: bytes) -> None:
    side = PlainServer(PlainUsers({"user_alice": "alice-secret"}))
    assert not answered(side, token)
    assert side.authenticated is None


@given(first=TOKENS, final=TOKENS, mechanism=MECHANISMS)
@examples(200)
def test_a_scram_client_trusts_no_server_by_chance(first: bytes, final: bytes, mechanism: int) -> None:
    side = ScramClient(mechanism, "alice", "alice-secret", nonce="clients", token_auth=False)
    side.evaluate(b"")
    try:
        side.evaluate(first)
        side.evaluate(final)
    except SaslAuthenticationError:
        pass
    assert not side.is_complete


@given(name=st.text(st.characters(min_codepoint=1, max_codepoint=0x7F), min_size=1))
def test_a_name_arrives_as_it_was_sent(name: str) -> None:
    side = ScramClient(SHA_256, name, "x", nonce="clients", token_auth=False)
    assert parse_client_first(side.evaluate(b"") or b"").name == name


@given(name=st.text(min_size=1), password=st.text(min_size=1))
def test_a_user_of_plain_is_who_has_the_password(name: str, password: str) -> None:
    token = PlainClient(name, password).evaluate(b"")
    assert token is not None
    side = PlainServer(PlainUsers({f"user_{name}": password}))
    has_zero = "\0" in name + password
    assert answered(side, token) != has_zero
    assert (side.authenticated is None) == has_zero
    assert not answered(PlainServer(PlainUsers({f"user_{name}": password + "x"})), token)


@given(text=JAAS_TEXT)
@examples(500)
def test_a_jaas_text_is_parsed_or_refused(text: str) -> None:
    for parse in (
        parse_entries,
        parse_jaas_config,
        lambda each: parse_login_configuration("jaas.conf", each),
    ):
        try:
            parse(text)
        except JaasError:
            pass
