"""A node of `kraftctl dev` that ends by itself is started again: real processes, a virtual clock."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.kafka_distribution import KafkaDistribution
from kraftctl.dev.nodes import JavaBroker, Node
from kraftctl.dev.polling import await_result
from kraftctl.dev.restarts import BROKER_PAUSE_S, PAUSE_S_MAX, QUICK_END_S, RestartedNode


class ShellController(Node):
    """A shell instead of a controller."""

    script = "echo ready; exec sleep 60"

    def command(self) -> list[str]:
        return ["/bin/sh", "-c", self.script]

    def is_ready(self) -> bool:
        return self.has_logged("^ready")


class ShellBroker(JavaBroker):
    """A shell instead of a JVM, which prints what a broker prints."""

    script = "echo from RECOVERY to RUNNING; exec sleep 60"

    def command(self) -> list[str]:
        return ["/bin/sh", "-c", self.script]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[ShellBroker]:
    node = ShellBroker(KafkaDistribution("4.3.1", tmp_path, ""), 1, tmp_path / "broker-1", "cluster", {})
    yield node
    node.kill()


@pytest.mark.parametrize(
    ("number", "how"),
    [
        pytest.param(signal.SIGKILL, "was killed", id="killed"),
        pytest.param(signal.SIGTERM, "has ended with -15", id="stopped"),
    ],
)
def test_a_broker_that_ends_in_any_way_starts_again(
    broker: ShellBroker, number: signal.Signals, how: str
) -> None:
    broker.start()
    said: list[str] = []
    watched = RestartedNode(broker, said.append, 0.0)
    watched.look(100.0)
    _end(broker, number)
    watched.look(100.5)
    watched.look(100.5 + BROKER_PAUSE_S - 0.1)
    assert not broker.running
    assert said == [f"broker-1 {how}; it starts again in {BROKER_PAUSE_S} s. Its log: {broker.log_file}"]
    watched.look(100.5 + BROKER_PAUSE_S)
    assert broker.running
    await_result(broker.is_ready, "the broker is ready", 10.0)
    watched.look(122.0)
    assert said[1:] == ["broker-1 is running again."]


def test_a_node_that_ends_again_and_again_waits_longer_up_to_a_limit(tmp_path: Path) -> None:
    """Each start without a cure costs a JVM; after one that lasts, the pause is short again."""
    node = ShellController("kraftctl-3000", 3000, tmp_path, 9)
    node.script = "exit 3"
    node.start(wait=False)
    said: list[str] = []
    watched, now_s = RestartedNode(node, said.append, 0.0), 0.0
    pauses = []
    for _ in range(10):
        assert node.process is not None
        node.process.wait(10.0)
        watched.look(now_s)
        pause_s = int(said[-1].split(" in ")[-1].split(" s.")[0])
        pauses.append(pause_s)
        now_s += pause_s
        watched.look(now_s)
    assert pauses == [0, 2, 4, 8, 16, 32, 64, PAUSE_S_MAX, PAUSE_S_MAX, PAUSE_S_MAX]
    assert said[2] == (
        "kraftctl-3000 has ended with 3, 3 times in a row within 60 s of its start; it starts again in 4 s."
        f" Its log: {node.log_file}"
    )
    assert node.process is not None
    node.process.wait(10.0)
    watched.look(now_s + QUICK_END_S)
    assert said[-1].startswith("kraftctl-3000 has ended with 3; it starts again in 0 s.")


def test_a_node_that_cannot_be_started_leaves_the_others_running(tmp_path: Path) -> None:
    node = ShellController("kraftctl-3000", 3000, tmp_path, 9)
    node.script = "exit 3"
    node.start(wait=False)
    assert node.process is not None
    node.process.wait(10.0)
    said: list[str] = []
    watched = RestartedNode(node, said.append, 0.0)
    watched.look(100.0)
    node.properties_file.unlink()
    node.properties_file.mkdir()
    watched.look(100.0)
    assert said[1].startswith("kraftctl-3000 cannot start ([Errno 21] Is a directory")
    node.properties_file.rmdir()
    watched.look(100.0 + PAUSE_S_MAX)
    assert node.process.wait(10.0) == 3


@pytest.mark.parametrize("stops", [False, True], ids=["found-ended", "stopped"])
def test_what_a_node_has_started_ends_with_it(tmp_path: Path, stops: bool) -> None:
    """It would hold the pipe of the output for a minute, and the ports of the node."""
    node = ShellController("kraftctl-3000", 3000, tmp_path, 9)
    node.script = "sleep 60 & echo ready $!; wait"
    node.start(wait=False)
    assert node.process is not None
    started = node.await_log("^ready").split()[-1]
    if stops:
        node.stop()
    else:
        os.kill(node.process.pid, signal.SIGKILL)
        await_result(lambda: not node.running, "it has ended", 10.0)
        RestartedNode(node, lambda _line: None, 0.0).look(100.0)
    await_result(lambda: has_ended(started), "what it has started has ended", 10.0)


def has_ended(process_id: str) -> bool:
    """Returns whether it runs no more; its new parent may not have asked for its status yet."""
    try:
        return Path("/proc", process_id, "stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _end(node: Node, number: signal.Signals) -> None:
    assert node.process is not None
    node.await_log("RUNNING")
    node.process.signal(number)
    node.process.wait(10.0)
