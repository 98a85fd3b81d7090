"""Kafka's own SslFactory takes and refuses the same new stores."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

from kraftctl_security.tls.contexts import load_stores
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_replacement import check_names, check_peers
from tests.security.tls.test_store_replacement import NAME, NOW, configured
from tests.support.certificates import Authority, Identity
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import ask_kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "SslReplacementOracle.java"

Store = tuple[Identity, tuple[Authority, ...]]


def cases() -> list[tuple[Store, Store, str]]:
    old, new, between = Authority("CN=Old"), Authority("CN=New"), Authority("CN=Between", parent=Authority())
    own = old.issue(NAME)
    subjects = (NAME, "CN=Controller,O=EXAMPLE", "CN=\\ controller,O=Example", "CN=controller-2,O=Example",
                "O=Example,CN=controller", "CN=controller", "CN=controller\\ \\ ,O=Example")  # fmt: skip
    found: list[tuple[Store, Store, str]] = []
    for subject in subjects:
        found += [((own, (old,)), (old.issue(subject), (old,)), allow) for allow in ("", "dn", "san")]
    hosts = (("a.example",), ("a.example", "10.0.0.1"), ("10.0.0.1", "b.example", "a.example"), ())
    for before in hosts:
        for after in hosts:
            stores = (old.issue(NAME, before), (old,)), (old.issue(NAME, after), (old,))
            found += [(*stores, ""), (*stores, "san")]
    identities = (own, new.issue(NAME), between.issue(NAME))
    trusted = ((old,), (new,), (old, new), (old, new, between))
    for identity in identities:
        for authorities in trusted:
            found += [((own, first), (identity, authorities), "peers") for first in ((old,), (old, new))]
    return found


def test_kafka_takes_the_same_stores() -> None:
    asked = random.Random(FIRST_SEED).sample(cases(), scaled(20))
    lines = "".join(f"{_line(old)}\t{_line(new)}\t{allow}\n" for old, new, allow in asked)
    expected = ask_kafka(ORACLE, lines).split()
    assert {"yes", "no"} == set(expected)
    ours = [_taken(*each) for each in asked]
    differences = [
        (old, new, allow, theirs)
        for (old, new, allow), mine, theirs in zip(asked, ours, expected, strict=True)
        if mine != theirs and not _is_of_no_use(new)
    ]
    assert differences == []


def _is_of_no_use(store: Store) -> bool:
    """Two controllers with it would not accept each other: Kafka compares with the old store only."""
    identity, trusted = store
    return identity.chain[0].issuer not in [each.subject for each in trusted]


def _taken(old: Store, new: Store, allow: str) -> str:
    keys = {f"ssl__allow__{kind}__changes": str(kind in allow).lower() for kind in ("dn", "san")}
    before, after = configured(old[0], *old[1], **keys), configured(new[0], *new[1], **keys)
    try:
        check_names(after, load_stores(before), load_stores(after))
        if allow.startswith("peers"):
            check_peers(before, load_stores(before), after, load_stores(after), NOW)
    except StoreError:
        return "no"
    return "yes"


def _line(store: Store) -> str:
    identity, trusted = store
    texts = (identity.key_pem(), identity.certificates_pem, "".join(each.pem for each in trusted))
    return "|".join(base64.b64encode(text.encode()).decode() for text in texts)
