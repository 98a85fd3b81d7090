"""Kafka's own SslPrincipalMapper and Java's X500Principal give the same names."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import NameAttribute, ObjectIdentifier, RelativeDistinguishedName
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from kraftctl_security.tls.distinguished_name import subject_name
from kraftctl_security.tls.ssl_principal_mapper import NoMatchingRuleError, RuleError, SslPrincipalMapper
from tests.support.certificates import Authority, name
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import kafkas_answers

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "SslNamesOracle.java"

SUBJECTS = (
    "CN=kafka-1,OU=brokers,O=Example,L=Berlin,ST=Berlin,C=DE",
    "CN=duke,OU=ServiceUsers,O=Org,C=US",
    "CN=Duke Jones,OU=Admins,O=Org\\, Inc.,C=US",
    "CN=ÄÖÜ ß İ ſ,O=Ünïcode",
    "CN=a+OU=b,O=c",
    "CN=duke\n,OU=x",
    "CN=$1,OU=\\\\",
    "1.2.840.113549.1.9.1=#1608612e6240632e64,CN=mail",
    "",
)

RULES = (
    "DEFAULT",
    "",
    " DEFAULT , DEFAULT ",
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, RULE:^CN=(.*?),.*$/$1/U, DEFAULT",
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1@$2/L",
    "RULE:^CN=([^,]+),OU=([^,]+).*$/$2-$1-$3-$10-$0/",
    "RULE:^CN=(.*?),(.*)$/$3$4$1/,DEFAULT",
    "RULE:(.*)/x$1/",
    "RULE:.*/x/",
    "RULE:/x/,DEFAULT",
    "RULE:^CN=(\\w+).*$/\\$1 \\/ $1/",
    "RULE:(?<who>CN=.*?),.*/$1/",
    "RULE:(a)?.*/[$1]/",
    "RULE:.*/$1/",
    "RULE:.*/$x/",
    "RULE:(.*)/$1$/",
    "RULE:.*/a\\\\b/L",
    "RULE:.*/",
    "RULE:(/x/",
    "RULE:^CN=(.*?),.*$/$1/X",
    "RULE:^CN=(.*?),.*$/$1/LU",
    "default",
    "DEFAULT/L",
    "RULE:[/x/L",
    "RULE:CN=(.*)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)/$11$12$123/",
)

PIECES = ("CN=", "(.*?)", "(.*)", ".*", ",", "OU=", "[^,]+", "([a-z]*)", "$", "^", "\\w+", "(x)?", "\\.", " ")
REPLACEMENTS = ("$1", "$2", "$3", "$0", "$11", "$01", "\\$", "x", "@", "\\\\", "é", "A b", "$")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def ours(rules: str, subject: str) -> str:
    try:
        return "=" + encoded(SslPrincipalMapper(rules).name(subject))
    except NoMatchingRuleError:
        return "none"
    except RuleError:
        return "bad"


def rule_pairs() -> Iterator[tuple[str, str]]:
    rng = random.Random(FIRST_SEED)
    rules = list(RULES)
    for _ in range(scaled(2_000)):
        pattern = "".join(rng.choices(PIECES, k=rng.randint(1, 6)))
        replacement = "".join(rng.choices(REPLACEMENTS, k=rng.randint(0, 4)))
        rules.append(
            f"RULE:{pattern}/{replacement}/{rng.choice(['', '', 'L', 'U'])}{rng.choice(['', ',DEFAULT'])}"
        )
    for each in rules:
        for subject in SUBJECTS:
            yield each, subject


def test_rules_give_the_same_names() -> None:
    """Java finds a bad replacement when it uses it first: here the rules are refused for every subject."""
    pairs = list(rule_pairs())
    theirs = kafkas_answers(ORACLE, [f"{encoded(rules)}\t{encoded(subject)}" for rules, subject in pairs])
    bad = {rules for (rules, _), answer in zip(pairs, theirs, strict=True) if answer == "bad"}
    differences = [
        f"{rules!r} {subject!r}: Kafka {answer}, here {found}"
        for (rules, subject), answer in zip(pairs, theirs, strict=True)
        if (found := ours(rules, subject)) != answer and not (found == "bad" and is_bad(rules, bad))
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert sum(answer.startswith("=") for answer in theirs) > 1_000


def is_bad(rules: str, bad: set[str]) -> bool:
    """Whether Kafka cannot use these rules either, for some subject that the first pattern matches."""
    replacement = rules.rpartition("/")[0].rpartition("/")[2]
    return rules in bad or "$" in replacement


STRINGS = (
    *("plain", "", " ", "  lead", "trail  ", " both ", "a,b", "a=b", "a+b", "<a>", "#a", "a#b", "a;b", 'q"q'),
    *("b\\s", "\0", "a\0b", "new\nline", "\r", "\rcr\r", " \r x \r ", "tab\t", "äöü", "日本", "\U0001f600"),
    *("'", "$1", "*", "a b"),
)

PRINTABLE = re.compile(r"[A-Za-z0-9 '()+,\-./:=?]*")
"""What a PrintableString may have."""

KINDS = (_ASN1Type.UTF8String, _ASN1Type.PrintableString, _ASN1Type.IA5String, _ASN1Type.T61String)

TYPES = (
    NameOID.COMMON_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME, NameOID.ORGANIZATION_NAME, NameOID.LOCALITY_NAME,
    NameOID.STATE_OR_PROVINCE_NAME, NameOID.STREET_ADDRESS, NameOID.DOMAIN_COMPONENT, NameOID.USER_ID,
    NameOID.EMAIL_ADDRESS, NameOID.SERIAL_NUMBER, NameOID.TITLE, NameOID.GIVEN_NAME, NameOID.SURNAME,
    NameOID.DN_QUALIFIER, NameOID.GENERATION_QUALIFIER, ObjectIdentifier("1.2.3.4.99999"),
    ObjectIdentifier("2.999.1"),
)  # fmt: skip


def attributes() -> Iterator[NameAttribute]:
    for kind in TYPES:
        for string in STRINGS:
            for form in KINDS:
                if form == _ASN1Type.UTF8String or (string and PRINTABLE.fullmatch(string)):
                    yield NameAttribute(kind, string, form, _validate=False)
    yield NameAttribute(NameOID.COUNTRY_NAME, "DE")


@pytest.mark.filterwarnings("ignore:Attribute's length")
def test_certificates_have_the_same_subjects() -> None:
    rng = random.Random(FIRST_SEED)
    found = list(attributes())
    names = [x509.Name([each]) for each in found] + [name(text) for text in ("CN=a,OU=b,O=c", "")]
    for _ in range(scaled(500)):
        relative = [RelativeDistinguishedName(_different(rng, found)) for _ in range(rng.randint(1, 5))]
        names.append(x509.Name(relative))
    authority = Authority()
    certificates = [certificate(authority, each) for each in names]
    asked = [f"certificate\t{base64.b64encode(der).decode()}" for der in certificates]
    theirs = kafkas_answers(ORACLE, asked)
    differences = [
        f"{subject}: Java {base64.b64decode(answer[1:]).decode()!r}, here {subject_name(der)!r}"
        for subject, der, answer in zip(names, certificates, theirs, strict=True)
        if encoded(subject_name(der)) != answer[1:]
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert len(theirs) > 1_000


def _different(rng: random.Random, found: list[NameAttribute]) -> list[NameAttribute]:
    chosen = rng.choices(found, k=rng.choice((1, 1, 2, 3)))
    return list({each.oid: each for each in chosen}.values())


def certificate(authority: Authority, subject: x509.Name) -> bytes:
    builder = authority.builder(subject)
    return builder.sign(authority.key, hashes.SHA256()).public_bytes(Encoding.DER)
