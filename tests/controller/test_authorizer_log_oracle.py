"""Kafka's StandardAuthorizer logs the same lines: same words, same rule, same level."""

from __future__ import annotations

import random
from ipaddress import ip_address
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorizer_log import DEBUG, INFO, TRACE
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.principal import parse_principal
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import ask_kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "AuthorizerLogOracle.java"

LOGGING = """\
status = error
appender.stdout.type = Console
appender.stdout.name = STDOUT
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = %p %m%n
rootLogger.level = OFF
logger.audit.name = kafka.authorizer.logger
logger.audit.level = TRACE
logger.audit.appenderRef.stdout.ref = STDOUT
"""

LEVELS = {TRACE: "TRACE", DEBUG: "DEBUG", INFO: "INFO"}

NAMES = ("t", "to", "topic", "topic-1", "other")
PRINCIPALS = ("User:alice", "User:bob", "User:CN=a,O=b", "Group:alice", "User:*")
HOSTS = ("10.0.0.1", "::1", "fe80::a:1")
SUPER_USERS = ("User:root", "User:CN=c,O=d")

Question = tuple[str, str, int, int, int, str, bool, bool]
"""Principal, host, API key, operation, resource type and name, and the two log controls."""


def entries(rng: random.Random) -> list[AclEntry]:
    """What Kafka admits: no operation or permission that only filters have."""
    return list(
        {
            AclEntry(
                resource_type=kind,
                resource_name="kafka-cluster" if kind == 4 else rng.choice(("*", *NAMES)),
                pattern_type=rng.choice((3, 4)),
                principal=rng.choice(PRINCIPALS),
                host=rng.choice(("*", "10.0.0.1", "0:0:0:0:0:0:0:1")),
                operation=rng.choice((2, 3, 5, 6, 7, 8, 9, 10, 11)),
                permission_type=rng.choice((2, 3, 3)),
            )
            for kind in (rng.choice((2, 2, 3, 4, 7)) for _ in range(rng.randint(0, 40)))
        }
    )


def question(rng: random.Random) -> Question:
    """Of an API that Kafka 4.3 has: the class that the program needs is gone from 4.4."""
    kind = rng.choice((2, 2, 3, 4, 6, 7))
    return (
        rng.choice((*PRINCIPALS[:4], *SUPER_USERS)),
        rng.choice(HOSTS),
        rng.choice([key for key in API_TABLE if key != ApiKey.UNREGISTER_CONTROLLER]),
        rng.choice((3, 5, 6, 7, 8, 9, 10, 11, 12, 13)),
        kind,
        "kafka-cluster" if kind == 4 else rng.choice(NAMES),
        rng.random() < 0.5,
        rng.random() < 0.5,
    )


def ask(acls: list[AclEntry], questions: list[Question], allow_everyone: bool, directory: Path) -> list[str]:
    lines = ["\t".join((";".join(SUPER_USERS), str(allow_everyone).lower()))]
    lines += ["\t".join(("acl", *map(str, acl.identity))) for acl in acls]
    lines += ["\t".join(("ask", *map(str, each))) for each in questions]
    logging = directory / "log4j2.properties"
    logging.write_text(LOGGING)
    flag = f"-Dlog4j2.configurationFile={logging}"
    return ask_kafka(ORACLE, "\n".join(lines) + "\n", flag).splitlines()


def ours(acls: list[AclEntry], questions: list[Question], allow_everyone: bool) -> list[str]:
    image = MetadataImage()
    for number, entry in enumerate(acls):
        image.acls.index.add(number.to_bytes(16, "big"), entry)
    authorizer = StandardAuthorizer(image, list(SUPER_USERS), allow_everyone)
    authorizer.metadata_loaded()
    authorizer.log.threshold = TRACE
    found: list[str] = []
    for principal, host, api_key, operation, kind, name, logs_grant, logs_denial in questions:
        context = RequestContext(
            api=API_TABLE[api_key],
            version=0,
            client_id=None,
            principal=parse_principal(principal),
            listener="CONTROLLER",
            client_address=ip_address(host).packed,
        )
        authorizer.allows(context, operation, kind, name, logs_grant, logs_denial)
        found += [f"{LEVELS[line.level]} {line.text}" for line in authorizer.log.take()]
    return found


@pytest.mark.parametrize("allow_everyone", [False, True])
def test_lines_are_those_of_kafka(allow_everyone: bool, tmp_path: Path) -> None:
    rng = random.Random(FIRST_SEED + allow_everyone)
    acls = entries(rng)
    questions = [question(rng) for _ in range(scaled(2_000))]
    theirs = ask(acls, questions, allow_everyone, tmp_path)
    found = ours(acls, questions, allow_everyone)
    differences = [
        f"Kafka {line}\nhere  {own}" for line, own in zip(theirs, found, strict=True) if line != own
    ]
    assert not differences, "\n".join(differences[:5]) + f"\n{len(differences)} in all"
    rules = {line.rpartition("based on rule ")[2].partition("(")[0] for line in theirs}
    assert rules >= {"MatchingAcl", "SuperUser", "DefaultAllow" if allow_everyone else "DefaultDeny"}
