"""SCRAM answers unknown users and tokens as it answers known ones: one message shows no difference."""

from __future__ import annotations

import base64
import os
import re
from collections import Counter
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.server.security.unknown_users import FILE_NAME, unknown_users_secret
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.scram import ScramCredential
from kraftctl_security.sasl.scram_salts import derived_salt, new_salt, unknown_credential
from kraftctl_security.sasl.scram_server import ScramServer
from kraftctl_security.sasl.scram_users import parse_scram_user, parse_scram_users
from tests.security.sasl.known_users import SHA_256, SHA_512, KnownUsers
from tests.server.security.test_local_users import SASL
from tests.server.serving import PROPERTIES

SECRET = b"of all controllers"

NAMES = [f"user-{number}" for number in range(1_000)]

KAFKA_SALT = re.compile(rb"[0-9a-z]{20,26}")


class Seen:
    """What a client sees of a user in one message."""

    def __init__(
        self, known: KnownUsers, name: str, mechanism: int = SHA_256, *, token_auth: bool = False
    ) -> None:
        extension = ",tokenauth=true" if token_auth else ""
        server = ScramServer(mechanism, known, nonce="servers")
        _, salt, iterations = server.evaluate(f"n,,n={name},r=clients{extension}".encode(), 0).split(b",")
        self.salt = base64.b64decode(salt.removeprefix(b"s="))
        self.iterations = int(iterations.removeprefix(b"i="))

    @property
    def form(self) -> tuple[bool, int, int]:
        is_of_kafka = KAFKA_SALT.fullmatch(self.salt) is not None
        return is_of_kafka, 0 if is_of_kafka else len(self.salt), self.iterations


def known(users: dict[str, tuple[bytes, int]], secret: bytes = SECRET) -> KnownUsers:
    found = KnownUsers(secret)
    for name, (salt, iterations) in users.items():
        for mechanism in (SHA_256, SHA_512):
            found.users[mechanism, name] = ScramCredential(
                salt=salt, stored_key=b"s", server_key=b"k", iterations=iterations
            )
    return found


def of_clients(*forms: tuple[int, int], count: int = 30) -> dict[str, tuple[bytes, int]]:
    """Users by turns with these bytes of salt (0: as Kafka's tools make them) and iterations."""
    return {
        f"known-{number}": (os.urandom(size) if size else new_salt(), iterations)
        for number in range(count)
        for size, iterations in (forms[number % len(forms)],)
    }


POPULATIONS = {
    "no-users": {},
    "kafka-configs": of_clients((0, 4_096)),
    "more-iterations": of_clients((0, 8_192)),
    "librdkafka": of_clients((64, 10_000)),
    "franz-go": of_clients((24, 8_192)),
    "format-of-before": of_clients((26, 4_096)),
    "mixed": of_clients((0, 4_096), (64, 10_000), (0, 16_384)),
}


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
@pytest.mark.parametrize("population", sorted(POPULATIONS))
def test_unknown_users_have_the_forms_of_known_ones(population: str, mechanism: int) -> None:
    users = POPULATIONS[population]
    credentials = known(users)
    of_known = Counter(Seen(credentials, name, mechanism).form for name in users) or {(True, 0, 4_096): 1}
    of_unknown = Counter(Seen(credentials, name, mechanism).form for name in NAMES)
    assert of_unknown.keys() == of_known.keys()
    for form, count in of_known.items():
        share = count / sum(of_known.values())
        assert abs(of_unknown[form] / len(NAMES) - share) < 0.25, "as frequent as among known users"


def test_salts_of_unknown_users_have_the_lengths_of_kafkas() -> None:
    made = Counter(len(new_salt()) for _ in range(4_000))
    derived = Counter(len(derived_salt(SECRET, SHA_256, name)) for name in NAMES * 4)
    assert set(made) | set(derived) <= {22, 23, 24, 25, 26}
    assert abs(made[26] - derived[26]) < 400, "four in ten have 26 digits"


def test_an_unknown_user_looks_the_same_each_time() -> None:
    credentials = known(POPULATIONS["mixed"])
    for name in NAMES[:100]:
        one, two = Seen(credentials, name), Seen(credentials, name)
        assert (one.salt, one.iterations) == (two.salt, two.iterations)


def test_no_two_unknown_users_look_the_same() -> None:
    credentials = known({})
    salts = {Seen(credentials, name, mechanism).salt for name in NAMES for mechanism in (SHA_256, SHA_512)}
    salts |= {Seen(credentials, name, token_auth=True).salt for name in NAMES}
    salts |= {Seen(known({}, b"another"), name).salt for name in NAMES}
    assert len(salts) == 4 * len(NAMES)


def test_a_new_user_changes_few_unknown_ones_and_one_of_the_same_form_none() -> None:
    users = POPULATIONS["kafka-configs"]
    before = {
        name: unknown_credential(SECRET, SHA_256, name, known(users).examples(SHA_256)) for name in NAMES
    }
    same = known(users | {"new": (new_salt(), 4_096)}).examples(SHA_256)
    assert all(unknown_credential(SECRET, SHA_256, name, same) == before[name] for name in NAMES)
    other = known(users | {"new": (new_salt(), 8_192)}).examples(SHA_256)
    changed = sum(unknown_credential(SECRET, SHA_256, name, other) != before[name] for name in NAMES)
    assert 0 < changed < 100


def test_new_credentials_have_kafkas_salts() -> None:
    assert KAFKA_SALT.fullmatch(parse_scram_user("SCRAM-SHA-256=[name=alice,password=x]").credential.salt)
    one, two = (parse_scram_user("SCRAM-SHA-256=[name=alice,password=x]") for _ in range(2))
    assert one.credential.salt != two.credential.salt


def test_a_user_of_a_file_has_the_salt_that_an_unknown_one_would_have() -> None:
    (user,) = parse_scram_users("SCRAM-SHA-256=[name=alice,password=x]", SECRET).values()
    without = Seen(known({}), "alice")
    assert (user.salt, user.iterations) == (without.salt, without.iterations)


def config(path: Path, **more: str) -> ControllerConfig:
    return ControllerConfig(
        {**PROPERTIES, **SASL, "log.dirs": str(path), "metadata.log.dir": str(path), **more}
    )


def test_the_secret_outlives_the_process(tmp_path: Path) -> None:
    secret = unknown_users_secret(config(tmp_path), "cluster")
    assert len(secret) == 32
    assert unknown_users_secret(config(tmp_path), "cluster") == secret
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    (tmp_path / FILE_NAME).write_bytes(b"\xff")
    assert unknown_users_secret(config(tmp_path), "cluster") != secret


def test_all_controllers_have_the_same_secret_if_they_have_the_key_of_tokens(tmp_path: Path) -> None:
    key = {"delegation.token.secret.key": "hunter2-hunter2"}
    found = {unknown_users_secret(config(tmp_path / str(number), **key), "cluster") for number in range(3)}
    assert len(found) == 1
    assert unknown_users_secret(config(tmp_path, **key), "another") not in found
    assert not any(tmp_path.iterdir())


def test_without_scram_there_is_no_secret(tmp_path: Path) -> None:
    plain = dict(PROPERTIES.items()) | {"log.dirs": str(tmp_path)}
    assert unknown_users_secret(ControllerConfig(plain), "cluster") == b""
    assert not any(tmp_path.iterdir())


def test_a_secret_that_cannot_be_kept_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(StorageError, match=FILE_NAME):
        unknown_users_secret(config(tmp_path), "cluster")
