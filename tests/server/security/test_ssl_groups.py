"""No client chooses a key exchange that costs a tenth of a second: elliptic curves alone are offered."""

from __future__ import annotations

import ssl

import pytest

from kraftctl_security.tls import openssl_settings
from tests.server.security.ssl_serving import authority, context_of, identity, node_context
from tests.support.wire.tls_records import (
    ALERT,
    FINITE_FIELDS,
    GROUPS,
    HANDSHAKE,
    X25519,
    chosen_group,
    client_hello,
)

OFFERS = {
    **{name: client_hello([group], shares=[group]) for name, group in FINITE_FIELDS.items()},
    **{f"{name}-without-a-share": client_hello([group]) for name, group in FINITE_FIELDS.items()},
    "all-of-them": client_hello([*FINITE_FIELDS.values()], shares=[260]),
    "suites-of-dhe": client_hello([*FINITE_FIELDS.values()], dhe=True),
    "suites-of-dhe-without-groups": client_hello([], dhe=True),
}


def answer_of(context: ssl.SSLContext, hello: bytes) -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    side = context.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(hello)
    with pytest.raises(ssl.SSLError):  # it wants more, or refuses
        side.do_handshake()
    return outgoing.read()


@pytest.fixture(params=["EC", "RSA"], scope="module")
def listener(request: pytest.FixtureRequest) -> ssl.SSLContext:
    return node_context(authority().issue("CN=controller", kind=request.param))


@pytest.mark.parametrize("offer", OFFERS)
def test_finite_fields_are_refused_without_work(offer: str, listener: ssl.SSLContext) -> None:
    answer = answer_of(listener, OFFERS[offer])
    assert answer[0] == ALERT
    assert len(answer) == 7


@pytest.mark.parametrize("group", GROUPS)
def test_curves_are_accepted(group: str, listener: ssl.SSLContext) -> None:
    for offered in ([GROUPS[group]], [260, GROUPS[group]]):
        assert chosen_group(answer_of(listener, client_hello(offered))) == GROUPS[group]


def test_a_share_of_a_finite_field_is_not_taken_where_a_curve_is_offered(listener: ssl.SSLContext) -> None:
    answer = answer_of(listener, client_hello([260, X25519], shares=[260]))
    assert chosen_group(answer) == X25519


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_our_connections_offer_no_finite_field(version: str) -> None:
    """A controller or issuer that is an attacker would choose it."""
    outgoing = ssl.MemoryBIO()
    context = context_of(identity(), ssl__enabled__protocols=version)
    side = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        side.do_handshake()
    assert not any(each["name"].startswith("DHE") for each in context.get_ciphers())
    hello = outgoing.read()
    for group in FINITE_FIELDS.values():
        assert answer_of(only(group), hello)[0] == ALERT
    assert answer_of(node_context(), hello)[0] == HANDSHAKE


def only(group: int) -> ssl.SSLContext:
    """A server that has one group."""
    names = {number: name.encode() for name, number in FINITE_FIELDS.items()}
    context = node_context()
    openssl_settings._control(context, openssl_settings.SET_GROUPS_LIST, 0, names[group])
    return context


def test_without_the_functions_of_the_library_there_is_one_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openssl_settings, "_library", lambda: None)
    context = node_context()
    for group in FINITE_FIELDS.values():
        assert answer_of(context, client_hello([group], shares=[group]))[0] == ALERT
    hello = client_hello([260, X25519, GROUPS["P-256"]], shares=[260])
    assert chosen_group(answer_of(context, hello)) == GROUPS["P-256"]
