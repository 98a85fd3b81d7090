"""The faults, as generators whose steps look at the clock: several are in progress at the same time."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kraftctl.dev.nodes import Node
from tests.chaos.cluster import ChaosCluster
from tests.chaos.finding import FindError
from tests.chaos.links import Link
from tests.chaos.watching import Watch
from tests.support.file_states import Aftermath

Steps = Iterator[None]

READY_SECONDS_MAX = 120.0
"""A broker reads its logs again after a kill, on a machine that does other work, too."""

LEADER_SECONDS_MAX = 45.0

QUIET_SECONDS = 0.5
"""What was asked for before that is committed."""

DISK_FULL = 28
"""ENOSPC."""


def during(seconds: float) -> Steps:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield


def until(condition: Callable[[], bool], what: str, seconds_max: float) -> Steps:
    """FindError when it takes longer."""
    end = time.monotonic() + seconds_max
    while not condition():
        if time.monotonic() > end:
            raise FindError(f"{what}: not within {seconds_max:g} s")
        yield


class Faults:
    """One fault after the other of one kind of nodes, as its random numbers say, until `closing`."""

    owner = ""
    """Of the cut links."""

    def __init__(self, cluster: ChaosCluster, watch: Watch, seed: int, note: Callable[[str], None]) -> None:
        self.counts: Counter[str] = Counter()
        self.closing = False
        self.cluster = cluster
        self.watch = watch
        self.rng = random.Random(f"{seed} {self.owner}")
        self._note = note

    def steps(self) -> Steps:
        while not self.closing:
            yield from during(self.rng.uniform(0.2, 1.0))
            yield from self.before()
            name, fault = self.choose()
            yield from self._one(name, fault)

    def _one(self, name: str, fault: Callable[[], Steps]) -> Steps:
        self.counts[name] += 1
        began = time.monotonic()
        yield from fault()
        self._note(f"{self.owner}: {name} {self.where}, {time.monotonic() - began:.1f} s")

    where = ""
    """The node of the present fault, for a line of the output."""

    def before(self) -> Steps:
        """Waits until the fault before is over."""
        raise AssertionError("overridden")

    def choose(self) -> tuple[str, Callable[[], Steps]]:
        raise AssertionError("overridden")

    # What both kinds have.

    def ends_and_restarts(self, nodes: Sequence[Node], seconds: float) -> Steps:
        self.cluster.kill(nodes)
        yield from during(seconds)
        yield from self.restarts(nodes)

    def restarts(self, nodes: Sequence[Node]) -> Steps:
        for node in nodes:
            self.cluster.restart(node)
        for node in nodes:
            yield from until(partial(self.cluster.is_ready, node), f"{node.name} is ready", READY_SECONDS_MAX)

    def terminates(self, node: Node, seconds: float) -> Steps:
        """SIGTERM: a controlled shutdown."""
        assert node.process is not None
        self.cluster.down.add(node)
        node.process.signal(signal.SIGTERM)
        yield from until(lambda: not node.running, f"{node.name} ends after SIGTERM", READY_SECONDS_MAX)
        node.process.wait(10.0)
        yield from during(seconds)
        yield from self.restarts([node])

    def pauses(self, node: Node, seconds: float) -> Steps:
        node.pause()
        yield from during(seconds)
        node.resume()

    def cuts(self, links: Sequence[Link], seconds: float) -> Steps:
        """Bytes wait; some of the connections do not survive it."""
        self.cluster.network.cut(self.owner, links)
        yield from during(seconds)
        if self.rng.random() < 0.5:
            self.cluster.network.reset(links)
        self.cluster.network.heal(self.owner)

    def slows(self, links: Sequence[Link], delay_s: float, seconds: float) -> Steps:
        self.cluster.network.delay(self.owner, links, delay_s)
        yield from during(seconds)
        self.cluster.network.heal(self.owner)


class ControllerFaults(Faults):
    """Of leaders and followers. Only power failures and double kills take the majority away."""

    owner = "controllers"
    only = ""
    """The one kind that is chosen, if there is one."""

    @property
    def kinds(self) -> Sequence[tuple[str, int]]:
        """Names of methods, and how often each is chosen."""
        return CONTROLLER_KINDS

    def before(self) -> Steps:
        yield from until(
            lambda: self.watch.leader() is not None, "EventuallyLeaderElected", LEADER_SECONDS_MAX
        )

    def choose(self) -> tuple[str, Callable[[], Steps]]:
        rng, leader = self.rng, self._leader()
        others = [node for node in self.cluster.controllers if node is not leader]
        of_leader = rng.random() < 0.6
        node = leader if of_leader else rng.choice(others)
        role = "leader" if of_leader else "follower"
        self.where = node.name
        seconds = rng.uniform(0.3, 4.0)
        kinds = [one for one in self.kinds if self.cluster.disks or one[0] not in OF_DISKS]
        kinds = [one for one in kinds if one[0] == self.only] or kinds
        kind = rng.choices(*zip(*kinds, strict=True))[0]
        return f"{kind} {role}", partial(getattr(self, f"_{kind}"), node, seconds)

    def _leader(self) -> Node:
        leader_id = self.watch.leader()
        return self.cluster.controllers[0] if leader_id is None else self.cluster.controller(leader_id)

    def _kill(self, node: Node, seconds: float) -> Steps:
        return self.ends_and_restarts([node], seconds)

    def _terminate(self, node: Node, seconds: float) -> Steps:
        return self.terminates(node, seconds)

    def _pause(self, node: Node, seconds: float) -> Steps:
        return self.pauses(node, seconds + 1)

    def _isolate(self, node: Node, seconds: float) -> Steps:
        """From controllers and brokers, or from controllers only: brokers still reach it then.

        In every second case clients only read from it, from a moment before: it does not see that nothing is
        committed any more.
        """
        others = self.cluster.nodes if self.rng.random() < 0.5 else self.cluster.controllers
        if self.rng.random() < 0.5:
            self.where = f"{node.name}, without writes to it,"
            self.cluster.spared.add(node)
            yield from during(QUIET_SECONDS)
        yield from self.cuts(self.cluster.links(node, others), seconds + 2)
        self.cluster.spared.discard(node)

    def _one_way(self, node: Node, seconds: float) -> Steps:
        """It hears nothing of controllers and brokers, or they hear nothing of it."""
        receives = self.rng.random() < 0.5
        links = self.cluster.links(node, self.cluster.nodes)
        return self.cuts([link for link in links if (link[1] == node.name) == receives], seconds + 2)

    def _cut_pair(self, node: Node, seconds: float) -> Steps:
        other = self.rng.choice([one for one in self.cluster.controllers if one is not node])
        return self.cuts(self.cluster.links(node, [other]), seconds + 2)

    def _slow_links(self, node: Node, seconds: float) -> Steps:
        links = self.cluster.links(node, self.cluster.nodes)
        return self.slows(links, self.rng.uniform(0.05, 0.8), seconds + 1)

    def _slow_disk(self, node: Node, seconds: float) -> Steps:
        disk = self.cluster.disks[node]
        disk.rule(f"fsync stall {self.rng.randrange(50, 3000)}")
        yield from during(seconds + 1)
        disk.rule()

    def _full_disk(self, node: Node, seconds: float) -> Steps:
        """A write fails with ENOSPC, which ends the process; it is started again when there is space."""
        disk = self.cluster.disks[node]
        self.cluster.down.add(node)
        disk.rule(f"write fail {DISK_FULL}")
        yield from until(lambda: not node.running, f"{node.name} ends when a write fails", 30.0)
        yield from during(seconds)
        disk.rule()
        yield from self.restarts([node])

    def _power_failure(self, node: Node, seconds: float) -> Steps:
        """Of one, or of all."""
        nodes = [node] if self.rng.random() < 0.5 else list(self.cluster.controllers)
        self.where = ", ".join(one.name for one in nodes)
        for one in nodes:
            # What is acknowledged too early is not forced yet.
            self.cluster.disks[one].rule(f"fsync stall {self.rng.randrange(1000)}")
        yield from during(seconds / 2)
        self.cluster.kill(nodes)
        for one in nodes:
            self.cluster.disks[one].rule()
        for one in nodes:
            # How many numbers the aftermath takes depends on the disk: the next faults must not.
            rng = random.Random(self.rng.random())
            self.cluster.fail_power(one, self.rng.choice(list(Aftermath)), rng)
        yield from during(seconds / 2)
        yield from self.restarts(nodes)

    def _kill_two(self, node: Node, seconds: float) -> Steps:
        other = self.rng.choice([one for one in self.cluster.controllers if one is not node])
        self.where = f"{node.name}, {other.name}"
        return self.ends_and_restarts([node, other], seconds / 2)


CONTROLLER_KINDS = (
    ("kill", 4),
    ("terminate", 1),
    ("pause", 4),
    ("isolate", 4),
    ("one_way", 3),
    ("cut_pair", 2),
    ("slow_links", 2),
    ("slow_disk", 3),
    ("full_disk", 2),
    ("power_failure", 3),
    ("kill_two", 1),
)
OF_DISKS = ("slow_disk", "full_disk", "power_failure")
"""Not of Kafka's controllers: their index files are mapped into memory, where the shim sees no writes."""


class BrokerFaults(Faults):
    """Of one broker at a time."""

    owner = "brokers"

    def before(self) -> Steps:
        def active() -> bool:
            ids = [node.node_id for node in self.cluster.brokers]
            return self.watch.log.read(lambda image: all(image.cluster.active(one) for one in ids))

        yield from until(active, "EventuallyUnfenced", READY_SECONDS_MAX)

    def choose(self) -> tuple[str, Callable[[], Steps]]:
        node = self.rng.choice(self.cluster.brokers)
        self.where = node.name
        kind = self.rng.choices(*zip(*BROKER_KINDS, strict=True))[0]
        return f"{kind} broker", partial(getattr(self, f"_{kind}"), node, self.rng.uniform(0.3, 4.0))

    def _kill(self, node: Node, seconds: float) -> Steps:
        return self.ends_and_restarts([node], seconds)

    def _terminate(self, node: Node, seconds: float) -> Steps:
        return self.terminates(node, seconds)

    def _pause(self, node: Node, seconds: float) -> Steps:
        return self.pauses(node, self.rng.choice((1, 1, 3)) * seconds)

    def _lose_controllers(self, node: Node, seconds: float) -> Steps:
        return self.cuts(self.cluster.links(node, self.cluster.controllers), 2 * seconds)

    def _isolate(self, node: Node, seconds: float) -> Steps:
        return self.cuts(self.cluster.links(node, self.cluster.nodes, clients=True), 2 * seconds)

    def _lose_brokers(self, node: Node, seconds: float) -> Steps:
        return self.cuts(self.cluster.links(node, self.cluster.brokers), 2 * seconds)

    def _slow_links(self, node: Node, seconds: float) -> Steps:
        return self.slows(
            self.cluster.links(node, self.cluster.nodes), self.rng.uniform(0.05, 0.8), seconds + 1
        )


BROKER_KINDS = (
    ("kill", 3),
    ("terminate", 1),
    ("pause", 4),
    ("lose_controllers", 3),
    ("isolate", 3),
    ("lose_brokers", 2),
    ("slow_links", 2),
)
