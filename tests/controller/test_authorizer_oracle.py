"""The StandardAuthorizer of Kafka 4.4 gives the same responses, over random entries that come and go.

A hundred thousand questions are asked in each run; KRAFTCTL_TEST_EFFORT multiplies them, and a failure names
the seed of its entries. DENY wins, prefixes, wildcards, hosts, networks, implied operations, super users, and
entries that are deleted while others that deny stay (CVE-2024-27309).
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import ask_kafka

pytestmark = [pytest.mark.java, pytest.mark.prevents("CVE-2024-27309")]

ORACLE = Path(__file__).parent / "oracle" / "AuthorizerOracle.java"

SETS = 800
"""Of entries, each with ROUNDS of changes."""

ROUNDS = 5
QUESTIONS = 10

LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3

TYPES = range(ResourceType.TOPIC, ResourceType.USER + 1)
OPERATIONS = range(AclOperation.ALL, AclOperation.TWO_PHASE_COMMIT + 1)

NAMES = (
    *(
        "a",
        "ab",
        "abc",
        "abcd",
        "abd",
        "b",
        "ba",
        "A",
        "*",
        "*a",
        "kafka-cluster",
        "kafka",
        "User:alice",
        "User:",
    ),
    *(
        "é",
        "e\u0301",
        "é日",
        "日本",
        "\U0001f600",
        "\U0001f601",
        "\uffff",
        "\x7f",
        "a.b",
        "a_b",
        "a\u0000",
        "-",
        "+",
    ),
    *("#", "#a", "#ab", "(a", "(ab", " a", "!"),
)

PRINCIPALS = (
    *(
        ("User", "alice"),
        ("User", "bob"),
        ("User", "Alice"),
        ("User", "CN=a,O=b"),
        ("User", ""),
        ("User", "*"),
    ),
    *(("User", "a:b"), ("User:a", "b"), ("", "alice"), ("Group", "alice"), ("user", "alice"), ("User", "é")),
    ("User", "ANONYMOUS"),
)

ADDRESSES = (
    b"\x0a\0\0\1",
    b"\x7f\0\0\1",
    bytes(15) + b"\1",
    b"\xfe\x80" + bytes(13) + b"\2",
    bytes(12) + b"\x0a\0\0\1",
)

HOSTS = (
    *(
        "*",
        "*",
        "*",
        "10.0.0.1",
        "127.0.0.1",
        "0:0:0:0:0:0:0:1",
        "::1",
        "fe80:0:0:0:0:0:0:2",
        "localhost",
        "",
    ),
    *("0:0:0:0:0:ffff:a00:1", "0:0:0:0:0:0:a00:1"),
    *("10.0.0.0/8", "10.0.0.1/32", "0.0.0.0/0", "127.0.0.1/33", "fe80::/10", "::/0", "::a00:1/127"),
)


Fields = tuple[int, str, int, str, str, int, int]
"""Of an entry: type, name, pattern, principal, host, operation, permission."""


class Case:
    """Entries of one seed: the lines that Java gets, and what is asked and answered here."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.questions: list[str] = []
        self.answers: list[str] = []
        self._image = MetadataImage()
        self._next_id = 1
        self._present: dict[int, Fields] = {}
        self._few = self.rng.sample(NAMES, self.rng.choice([3, 8]))
        rng = self.rng
        users = [f"{kind}:{name}" for kind, name in rng.sample(PRINCIPALS, rng.choice([0, 0, 1, 2]))]
        allow = rng.random() < 0.3
        self._authorizer = StandardAuthorizer(self._image, users, allow)
        self._authorizer.metadata_loaded()
        self.lines.append(f"new\t{encoded(';'.join(users))}\t{str(allow).lower()}")
        for _ in range(ROUNDS):
            self._change()
            for _ in range(QUESTIONS):
                self._ask()

    def _change(self) -> None:
        """Delete some entries and create others, as records do."""
        for number in sorted(self._present):
            if self.rng.random() < 0.3:
                del self._present[number]
                replay(self._image, RemoveAccessControlEntryRecord(id=number.to_bytes(16, "big")), number)
                self.lines.append(f"remove\t{number}")
        for _ in range(self.rng.randint(0, 4)):
            self._add()

    def _add(self) -> None:
        rng = self.rng
        record = AccessControlEntryRecord(
            id=self._next_id.to_bytes(16, "big"),
            resource_type=rng.choice(TYPES[:3]),
            resource_name=rng.choice(self._few),
            pattern_type=rng.choice([LITERAL, PREFIXED]),
            principal=rng.choice(["User:*", "User:alice", ":".join(rng.choice(PRINCIPALS))]),
            host=rng.choice(HOSTS),
            operation=rng.choice([AclOperation.ALL, rng.choice(OPERATIONS), rng.choice(OPERATIONS[:6])]),
            permission_type=rng.choice([DENY, ALLOW, ALLOW]),
        )
        fields = (
            record.resource_type,
            record.resource_name,
            record.pattern_type,
            record.principal,
            record.host,
            record.operation,
            record.permission_type,
        )
        if fields in self._present.values():
            return  # a controller writes no entry twice
        number, self._next_id = self._next_id, self._next_id + 1
        self._present[number] = fields
        replay(self._image, record, number)
        kind, name, pattern, principal, host, operation, permission = fields
        texts = f"{encoded(name)}\t{pattern}\t{encoded(principal)}\t{encoded(host)}"
        self.lines.append(f"add\t{number}\t{kind}\t{texts}\t{operation}\t{permission}")

    def _ask(self) -> None:
        rng = self.rng
        kind = rng.choice(TYPES[:3])
        name = rng.choice(self._few) + rng.choice(["", "", "", "b", "\U0001f600"])
        if self._kafka_errs(kind, name):
            return
        operation = rng.choice([AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS, rng.choice(OPERATIONS)])
        principal = KafkaPrincipal(*rng.choice([("User", "alice"), rng.choice(PRINCIPALS)]))
        address = rng.choice(ADDRESSES)
        context = RequestContext(
            api=API_TABLE[ApiKey.CREATE_TOPICS],
            version=7,
            client_id="asker",
            principal=principal,
            listener="CONTROLLER",
            client_address=address,
        )
        self.answers.append("A" if self._authorizer.allows(context, operation, kind, name) else "D")
        who = f"{encoded(principal.type)}\t{encoded(principal.name)}\t{base64.b64encode(address).decode()}"
        self.lines.append(f"ask\t{kind}\t{encoded(name)}\t{operation}\t{who}")
        entries = "".join(f"\n    {fields}" for fields in self._present.values())
        self.questions.append(f"{principal!r} {address.hex()} {operation} {kind} {name!r} with{entries}")

    def _kafka_errs(self, kind: int, name: str) -> bool:
        """Two defects of its search, for names that no topic has.

        An entry for the literal `*` is skipped for a longer name that begins with `*`. A name that sorts
        before `*` and begins like the name of an entry that does not cover it is searched forever, or fails.
        """
        names = [present[1] for present in self._present.values() if present[0] == kind]
        if name.startswith("*") and name != "*":
            return "*" in names
        return name < "*" and any(each[:1] == name[:1] and not name.startswith(each) for each in names)

    def differences(self, theirs: str) -> Iterator[str]:
        for question, ours, answer in zip(self.questions, self.answers, theirs, strict=True):
            if answer != ours and not is_failure_of_kafka(answer, question):
                yield f"seed {self.seed}: Kafka {answer}, here {ours}: {question}"


def is_failure_of_kafka(answer: str, question: str) -> bool:
    """A principal that is called `*` is in a set twice, an exception. Here it has the rights of all."""
    return answer == "X" and "'User', '*'" in question


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def ask(cases: list[Case]) -> str:
    lines = "\n".join(line for case in cases for line in case.lines)
    return ask_kafka(ORACLE, lines + "\n", version="4.4.0").strip()


def test_the_same_answers() -> None:
    cases = [Case(seed) for seed in range(FIRST_SEED, FIRST_SEED + scaled(SETS))]
    theirs = ask(cases)
    differences: list[str] = []
    start = 0
    for case in cases:
        end = start + len(case.answers)
        differences += case.differences(theirs[start:end])
        start = end
    assert start == len(theirs) > scaled(SETS) * ROUNDS * QUESTIONS * 0.9
    assert not differences, "\n".join(differences[:5]) + f"\n{len(differences)} of {len(theirs)}"
    assert min(theirs.count("A"), theirs.count("D")) > len(theirs) // 10
