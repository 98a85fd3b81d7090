"""Many writers of one numbered log, on real servers, with faults between and processes that are killed."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store import Store
from tests.spark.stores.conftest import client_of
from tests.spark.stores.faulty_proxy import (
    Fault,
    FaultyProxy,
    failed_afterwards,
    internal_error,
    lost_answer,
    lost_request,
    slow_down,
)
from tests.spark.stores.servers import StoreServer

WRITERS = 8
COMMITS = [
    pytest.param(100, id="100"),
    pytest.param(1_000, id="1000", marks=[pytest.mark.long, pytest.mark.timeout(1_200)]),
]
FAULTS: tuple[Fault, ...] = (slow_down, internal_error, lost_request, lost_answer, failed_afterwards)


def name_of(number: int) -> str:
    return f"_commits/{number:020}.json"


def won_by(store: Store, writer: str, commits: int) -> Iterator[int]:
    """Tries every number in turn; yields those that it has created."""
    for number in range(commits):
        if store.create(name_of(number), f"{writer} {number}".encode()):
            yield number


def race(url: str, commits: int) -> None:
    """Each commit has one winner, and the winner's bytes."""
    with ThreadPoolExecutor(WRITERS) as pool:
        stores = [open_store(url) for _ in range(WRITERS)]
        won = list(pool.map(lambda one: list(won_by(stores[one], f"writer-{one}", commits)), range(WRITERS)))
    assert sorted(number for some in won for number in some) == list(range(commits))
    for writer, some in enumerate(won):
        for number in some:
            assert stores[0].read(name_of(number)) == f"writer-{writer} {number}".encode()


@pytest.mark.parametrize("commits", COMMITS)
def test_each_commit_has_one_winner(server: StoreServer, url: str, monkeypatch, commits: int) -> None:
    client_of(monkeypatch, server.endpoint)
    race(url, commits)


@pytest.mark.parametrize("commits", [pytest.param(40, id="40"), pytest.param(400, marks=pytest.mark.long)])
def test_and_so_it_is_while_a_tenth_of_all_requests_fail(
    server: StoreServer, url: str, monkeypatch, commits: int
) -> None:
    chosen = random.Random(commits)
    with FaultyProxy(server.port, lambda: chosen.choice(FAULTS) if chosen.random() < 0.1 else None) as proxy:
        client_of(monkeypatch, proxy.endpoint)
        race(url, commits)


ROOT = Path(__file__).parents[3]

WRITER = """
import sys
sys.path.append(sys.argv[3])
from kraftctl_spark.stores.open_store import open_store
from tests.spark.stores.test_racing_writers import won_by
for number in won_by(open_store(sys.argv[1]), sys.argv[2], 1_000_000):
    print(number, flush=True)
"""


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.long)])
def test_what_a_killed_writer_has_reported_is_there(
    server: StoreServer, url: str, monkeypatch, kills: int
) -> None:
    """It is killed after some reports, in the middle of the next request; the numbers have no gap."""
    client_of(monkeypatch, server.endpoint)
    reported: dict[int, str] = {}
    for kill in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, url, f"writer-{kill}", str(ROOT)],
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            lines = [next(writer.stdout) for _ in range(random.randint(1, 20))]
            writer.kill()
            lines += list(writer.stdout)
        reported.update((int(line), f"writer-{kill}") for line in lines if line.endswith("\n"))
    store = open_store(url)
    for number, name in reported.items():
        assert store.read(name_of(number)) == f"{name} {number}".encode()
    found = store.names("_commits")
    assert found == [name_of(number) for number in range(len(found))]
