"""Running servers, one of each kind for all tests of this folder, and their stores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store import Store
from tests.spark.stores.servers import BUCKET, StoreServer, moto, variables, versitygw

KINDS = {"moto": moto, "versitygw": versitygw}
RETRY_SECONDS = 20.0

_prefixes = itertools.count()


Servers = Callable[[str], StoreServer]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Starts the server of a kind when a test needs it first."""
    with ExitStack() as running:
        yield cache(lambda kind: running.enter_context(KINDS[kind](tmp_path_factory.mktemp(kind))))


@pytest.fixture(scope="session", params=KINDS)
def server(request: pytest.FixtureRequest, servers: Servers) -> StoreServer:
    return servers(request.param)


@pytest.fixture(scope="session")
def one_server(servers: Servers) -> StoreServer:
    """Moto, which starts in a second: for what does not depend on the server."""
    return servers("moto")


@pytest.fixture
def url() -> str:
    """A prefix that no other test has."""
    return f"s3://{BUCKET}/tables-{next(_prefixes)}"


def client_of(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """Sets the environment of our client; no proxy of the machine is between it and a loopback port."""
    for name, value in variables(endpoint).items():
        monkeypatch.setenv(name, value)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def store(server: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    client_of(monkeypatch, server.endpoint)
    return open_store(url, retry_seconds=RETRY_SECONDS)
