"""JKS stores that Java has written, and damaged ones: what Java reads of each, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl_security.tls.jks import JksError, read_jks
from tests.support.certificates import Authority, Identity
from tests.support.effort import FIRST_SEED, scaled
from tests.support.jks import digest, jks
from tests.support.processes.oracle import kafkas_verdicts

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "JksOracle.java"
PASSWORDS = ("changeit", "", "pässwörd", "日本語パスワード", "\U0001f600", " ", "x" * 300)
ALIASES = ("one", "two words", "ümläut", "日本", "a" * 200)


def encoded(text: str | None) -> str:
    if text is None:
        return "~"
    return base64.b64encode(text.encode()).decode() or "-"


def hexdigest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def ours(data: bytes, password: str | None, key_password: str) -> str:
    """As the oracle prints it."""
    try:
        store = read_jks(data, password)
        found = [
            ":".join(["key", hexdigest(key.unprotected(key_password)), *map(hexdigest, key.chain)])
            for key in store.keys.values()
        ]
    except JksError as error:
        return f"refused {error}"
    found += [f"trusted:{hexdigest(each)}" for each in store.trusted.values()]
    return f"ok {' '.join(sorted(found))}"


class Stores:
    """Identities of both kinds as files, which the oracle puts into stores."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = Authority("CN=Intermediate", parent=Authority())
        self.identities = [self.authority.issue("CN=a", kind="RSA"), self.authority.issue("CN=b", kind="EC")]
        for number, identity in enumerate(self.identities):
            (directory / f"{number}.p12").write_bytes(identity.pkcs12("p12"))
        self.trusted = [Authority(f"CN=Root {number}").certificate for number in range(3)]
        for number, certificate in enumerate(self.trusted):
            (directory / f"{number}.der").write_bytes(certificate.public_bytes(Encoding.DER))

    def write(
        self, path: Path, password: str, keys: Sequence[tuple[str, str, int]], trusted: Sequence[str]
    ) -> str:
        """The command. `keys` are alias, password and number."""
        words = ["write", "JKS", str(path), encoded(password)]
        for alias, key_password, number in keys:
            words += ["key", encoded(alias), encoded(key_password), str(self.directory / f"{number}.p12")]
        for number, alias in enumerate(trusted):
            words += ["trusted", encoded(alias), str(self.directory / f"{number}.der")]
        return " ".join(words)


def stores_of_java(stores: Stores) -> Iterator[tuple[str, Path, str, str]]:
    """Both kinds of keys, several entries, other passwords for keys, passwords and aliases of any script.

    The command, and path, password and password of the keys.
    """
    number = 0
    for password in PASSWORDS:
        for kind, key_password in ((0, password), (1, password), (0, "other"), (1, "öther")):
            number += 1
            path = stores.directory / f"{number}.jks"
            keys = [(ALIASES[number % len(ALIASES)], key_password, kind)]
            keys += [("second", key_password, 1 - kind)] if number % 3 == 0 else []
            yield stores.write(path, password, keys, ("t1", "t2")[: number % 3]), path, password, key_password
    for name, trusted in (("trusted.jks", ("t1", "t2", "日本")), ("empty.jks", ())):
        path = stores.directory / name
        yield stores.write(path, "x", [], trusted), path, "x", "x"


def test_what_java_writes_is_read(tmp_path: Path) -> None:
    cases = list(stores_of_java(Stores(tmp_path)))
    reads, asked = [], []
    for _, path, password, key_password in cases:
        for given, key_given in (
            *((password, key_password), (None, key_password), (password + "x", key_password)),
            *((password, key_password + "x"), ("", key_password), (password.swapcase(), key_password)),
        ):
            reads.append(f"read JKS {path} {encoded(given)} {encoded(key_given)}")
            asked.append((path, given, key_given))
    verdicts = kafkas_verdicts(ORACLE, [*(command for command, *_ in cases), *reads])
    assert set(verdicts[: len(cases)]) == {"ok"}
    accepted = 0
    for (path, given, key_given), theirs in zip(asked, verdicts[len(cases) :], strict=True):
        found = ours(path.read_bytes(), given, key_given)
        accepted += theirs.startswith("ok")
        assert found == theirs or (found + theirs).count("refused") == 2, (path, given, key_given, theirs)
    assert len(asked) - 50 > accepted > 50


def damaged(good: bytes, password: str, rng: random.Random) -> bytes:
    """One change; for most, with a digest that fits it, as a file without an attacker's hand never has."""
    content, position = good[:-20], rng.randrange(len(good) - 20)
    if rng.random() < 0.3:
        position = rng.choice((4, 8, 12, 16, 20, 30, 40))
    what = rng.randrange(5)
    if what == 0:
        content = content[:position]
    elif what == 1:
        content = (
            content[:position] + bytes([content[position] ^ 1 << rng.randrange(8)]) + content[position + 1 :]
        )
    elif what == 2:
        huge = rng.choice(
            (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0", b"\0\x10\0\0")
        )
        content = content[:position] + huge + content[position + 4 :]
    elif what == 3:
        content = content[:position] + rng.randbytes(3) + content[position:]
    else:
        return good[: rng.randrange(len(good))]
    return content + (digest(password, content) if rng.random() < 0.7 else good[-20:])


WITHIN = (
    "CertificateException",
    "CertificateParsingException",
    "UTFDataFormatException",
    "OutOfMemory",
    "InvalidKey",
)
"""Java reads certificates, keys and aliases with the store; here, they are read when it has been."""


def test_damaged_stores(tmp_path: Path) -> None:
    stores, rng = Stores(tmp_path), random.Random(FIRST_SEED)
    trusted = [
        (alias, each.public_bytes(Encoding.DER)) for alias, each in zip("abc", stores.trusted, strict=True)
    ]
    lines, cases = [], []
    for number in range(scaled(400)):
        identity: Identity = rng.choice(stores.identities)
        keys = [("k", identity, "key")][: rng.randrange(2)]
        good = jks("p", keys=keys, trusted=trusted[: rng.randrange(1, 4)], version=rng.choice((1, 2)))
        data = good if number % 10 == 0 else damaged(good, "p", rng)
        path = tmp_path / f"{number}.jks"
        path.write_bytes(data)
        password = rng.choice(("p", "p", None))
        lines.append(f"read JKS {path} {encoded(password)} {encoded('key')}")
        cases.append((data, password))
    accepted = refused = 0
    for (data, password), theirs in zip(cases, kafkas_verdicts(ORACLE, lines), strict=True):
        found = ours(data, password, "key")
        if theirs.startswith("ok"):
            accepted += 1
            assert found == theirs, (data.hex(), password)
        else:
            refused += 1
            is_within = any(each in theirs for each in WITHIN)
            assert found.startswith("refused") or is_within, (theirs, found, data.hex())
    assert min(accepted, refused) > len(cases) // 10
