"""Kafka's own formatters ask a token endpoint with the same headers and bodies."""

from __future__ import annotations

import base64
import subprocess
from itertools import product
from pathlib import Path

import pytest

from kraftctl_security.sasl.oauthbearer.assertion_config import AssertionFile
from kraftctl_security.sasl.oauthbearer.client_credentials import (
    ClientAssertion,
    ClientSecret,
    Credentials,
    JwtBearer,
    token_request,
)
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "TokenRequestOracle.java"

TEXTS = ("plain", "a b+c", "ä€\U0001f600", "-_.*~!'()", "a:b=c&d%20", '"<>\\/', "eyJ.eyJ.x-_")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def ours(kind: str, name: str, proof: str, scope: str, url_encoded: str) -> str:
    file, wanted = AssertionFile(""), scope or None
    if kind == "secret":
        credentials: Credentials = ClientSecret(
            client_id=name, client_secret=proof, scope=wanted, url_encoded=url_encoded == "true"
        )
    elif kind == "bearer":
        credentials = JwtBearer(scope=wanted, assertion=file)
    else:
        credentials = ClientAssertion(client_id=name, scope=wanted, assertion=file)
    headers, body = token_request(credentials, proof)
    text = ", ".join(f"{key}={value}" for key, value in sorted(headers.items()))
    return f"={encoded('{' + text + '}')}:{encoded(body.decode())}"


def test_requests_are_the_same() -> None:
    kinds = ("secret", "bearer", "assertion")
    cases = list(product(kinds, TEXTS, TEXTS, ("", *TEXTS), ("true", "false")))
    lines = ["\t".join(map(encoded, case)) for case in cases]
    command = [kafka().java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", kafka().classpath, str(ORACLE)]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True
    )
    theirs = [line for line in done.stdout.split("\n") if line.startswith("=")]
    assert len(theirs) == len(cases) > 2_000
    assert [ours(*case) for case in cases] == theirs
