"""`kraftctl quorum describe` when a majority is gone: what controllers and brokers say, and how soon."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.settings import replication_for
from tests.support.processes.mixed_quorum import JAVA, KRAFTCTL, await_leader, mixed_cluster

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.long]

RESPONSE_SECONDS_MAX = 4.5

NO_LEADER = "The quorum has no leader that answers"
KNOWS = r"does not lead, (?:knows no leader of epoch \d+|says that controller \d+ leads epoch \d+.*)"
"""KIP-996: one that asks for pre-votes keeps the leader that it had."""


@pytest.fixture(params=[KRAFTCTL, JAVA])
def without_majority(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    """One broker, and the second of two controllers is gone; the first is of this kind."""
    kinds = [request.param, KRAFTCTL]
    with mixed_cluster(tmp_path, kinds, brokers=1, settings=replication_for(1)) as cluster:
        await_leader(cluster.controllers)
        cluster.controllers[1].kill()
        yield cluster


def described(flag: str, address: str, what: str = "--status") -> str:
    """The error, which comes in time."""
    begun_s = seconds_of(kraftctl_command("quorum", "--help"))[0]
    seconds, done = seconds_of(kraftctl_command("quorum", flag, address, "describe", what))
    # A busy machine starts processes slowly.
    assert seconds - begun_s < RESPONSE_SECONDS_MAX
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(NO_LEADER)
    return done.stderr


def seconds_of(command: list[str]) -> tuple[float, subprocess.CompletedProcess[str]]:
    began_at = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60.0)
    return time.monotonic() - began_at, done


def test_each_node_says_what_it_knows(without_majority: Cluster) -> None:
    left, gone = without_majority.controllers
    gone_says = rf"{gone.address} is not reached: \[Errno 111\] Connection refused"
    await_no_leader(left.address)
    for what in ("--status", "--replication"):
        error = described("--bootstrap-controller", f"{gone.address},{left.address}", what)
        assert re.search(rf"\n  {left.address} {KNOWS}\n", error), error
        assert re.search(rf"\n  {gone_says}\n", error), error
    (broker,) = without_majority.brokers
    error = described("--bootstrap-server", broker.address)
    assert re.search(
        rf"\n  {broker.address} (gives no response|answers [A-Z_]+): .*\nNext step: ask the", error
    ), error
    left.kill()
    left.start(wait=False)
    await_no_leader(left.address)
    error = described("--bootstrap-controller", left.address)
    assert re.search(rf"\n  {left.address} {KNOWS}\n", error), error


def await_no_leader(address: str) -> None:
    """The one that is left resigns, or ends its fetches, within seconds."""
    for _ in range(20):
        done = subprocess.run(
            kraftctl_command("quorum", "--bootstrap-controller", address, "describe", "--status"),
            capture_output=True,
            text=True,
            timeout=60.0,
        )
        if re.search(KNOWS, done.stderr):
            return
    raise AssertionError(done.stderr)
