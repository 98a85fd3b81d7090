"""Which stores may replace those in use: names, dates, and whether peers accept each other."""

from __future__ import annotations

import datetime
from itertools import pairwise

import pytest

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import Stores, client_context, load_stores, server_context
from kraftctl_security.tls.ssl_config import SslConfig, read_listener_ssl_config
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_replacement import check_dates, check_names, check_peers
from kraftctl_security.tls.trial_handshake import why_no_handshake
from tests.support.certificates import DAY, Authority, Identity

NOW = datetime.datetime.now(datetime.UTC)
OLD, NEW = Authority("CN=Old"), Authority("CN=New")
NAME = "CN=controller,O=Example"


def configured(own: Identity, *trusted: Authority, **keys: str) -> SslConfig:
    """Of a listener; `__` in a key is a dot."""
    named = {key.replace("__", "."): value for key, value in keys.items()}
    values = ConfigValues(
        {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": own.key_pem(),
            "ssl.keystore.certificate.chain": own.certificates_pem,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": "".join(each.pem for each in trusted),
            "ssl.client.auth": "required",
            **named,
        }
    )
    found = read_listener_ssl_config(values, "CONTROLLER")
    values.raise_errors()
    return found


def peers(old: SslConfig, new: SslConfig) -> None:
    check_peers(old, load_stores(old), new, load_stores(new), NOW)


def names(old: Identity, new: Identity, **keys: str) -> None:
    config = configured(new, OLD, **keys)
    check_names(config, load_stores(configured(old, OLD)), load_stores(config))


def test_an_authority_is_replaced_in_three_steps() -> None:
    """Both in the truststores, then the new one in the keystores, then it alone in the truststores."""
    old, new = OLD.issue(NAME), NEW.issue(NAME)
    steps = [
        configured(old, OLD),
        configured(old, OLD, NEW),
        configured(new, OLD, NEW),
        configured(new, NEW),
    ]
    for before, after in pairwise(steps):
        peers(before, after)
    with pytest.raises(StoreError, match="first add a new authority to the truststores"):
        peers(steps[0], steps[3])
    with pytest.raises(StoreError, match="the client does not accept the server"):
        peers(steps[0], steps[2])
    with pytest.raises(StoreError, match="two controllers with the new stores cannot connect"):
        peers(steps[0], configured(old, NEW))
    none = {"ssl__client__auth": "none"}
    both = configured(new, OLD, NEW, **none)
    with pytest.raises(StoreError, match="new stores and a client with those in use cannot connect: the cl"):
        peers(configured(old, OLD, **none), both)
    with pytest.raises(StoreError, match="a controller with the stores in use and a client with the new"):
        peers(configured(old, OLD, NEW, **none), configured(new, NEW, **none))


def test_what_two_controllers_cannot_use() -> None:
    with pytest.raises(StoreError, match="two controllers with the new stores cannot connect"):
        peers(configured(OLD.issue(NAME), OLD), configured(OLD.issue(NAME), NEW))


def test_after_the_certificate_in_use_has_expired_only_the_new_one_counts() -> None:
    peers(configured(OLD.issue(NAME, expired=True), OLD), configured(NEW.issue(NAME), NEW))
    with pytest.raises(StoreError, match="two controllers with the new stores"):
        peers(configured(OLD.issue(NAME, expired=True), OLD), configured(NEW.issue(NAME), OLD))


def test_stores_that_never_worked_between_controllers_may_be_replaced() -> None:
    """The only controller of a quorum, whose certificate is of an authority that it does not trust."""
    peers(configured(OLD.issue(NAME), NEW), configured(OLD.issue(NAME), NEW))


def test_host_names_do_not_matter_here() -> None:
    peers(configured(OLD.issue(NAME), OLD), configured(OLD.issue(NAME, hosts=("elsewhere",)), OLD))


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_trial_handshake_in_both_versions(version: str) -> None:
    good = configured(OLD.issue(NAME), OLD, ssl__enabled__protocols=version)
    stranger = configured(NEW.issue(NAME), OLD, ssl__enabled__protocols=version)
    server = server_context(good)
    unknown = "the server does not accept the client: unable to get local issuer certificate"
    for config, expected in [(good, None), (stranger, unknown)]:
        client = client_context(config)
        client.check_hostname = False
        assert why_no_handshake(server, client) == expected


def test_the_subject_stays_unless_it_may_change() -> None:
    old, same = OLD.issue(NAME), OLD.issue("CN=Controller,O=EXAMPLE")
    names(old, same)
    other = OLD.issue("CN=controller-2,O=Example")
    with pytest.raises(StoreError, match=r"is for 'CN=controller-2,O=Example', that in use for 'CN=con"):
        names(old, other)
    names(old, other, ssl__allow__dn__changes="true")


def test_no_alternative_name_is_lost_unless_it_may_be() -> None:
    old = OLD.issue(NAME, hosts=("a.example", "10.0.0.1"))
    names(old, OLD.issue(NAME, hosts=("10.0.0.1", "b.example", "a.example")))
    less = OLD.issue(NAME, hosts=("a.example",))
    with pytest.raises(StoreError, match=r"lacks alternative names of that in use: IPAddress 10\.0\.0\.1"):
        names(old, less)
    with pytest.raises(StoreError, match="lacks alternative names"):
        names(old, OLD.issue(NAME, hosts=()))
    names(old, less, ssl__allow__san__changes="true")
    names(OLD.issue(NAME, hosts=()), old)


def test_a_new_certificate_is_valid_now() -> None:
    stores = load_stores(configured(OLD.issue(NAME), OLD))
    check_dates(stores, NOW)
    with pytest.raises(StoreError, match=f"the certificate '{NAME}' has expired at 20"):
        check_dates(stores, NOW + 3 * DAY)
    with pytest.raises(StoreError, match=f"the certificate '{NAME}' is not valid before 20"):
        check_dates(stores, NOW - 20 * DAY)


def test_the_same_stores_are_recognized() -> None:
    own = OLD.issue(NAME)
    found = load_stores(configured(own, OLD, NEW))
    assert found.same_as(load_stores(configured(own, OLD, NEW)))
    assert not found.same_as(load_stores(configured(OLD.issue(NAME), OLD, NEW)))
    assert not found.same_as(load_stores(configured(own, OLD)))
    assert Stores(None, None).same_as(Stores(None, None))
