"""Every attack by name: what one client does to a controller that serves three brokers meanwhile."""

from __future__ import annotations

import os
import random
import resource
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tests.attack import frames
from tests.attack.attacked_controller import HONEST, NODE_ID, AttackedController
from tests.attack.client import Client
from tests.attack.crowds import CROWDS, crowd
from tests.attack.dense_bodies import DENSE, names_to_delete, tags
from tests.attack.frames import APPEND, SET, compact, config_change, envelope, metadata_fetch, request
from tests.attack.sasl_attacks import SASL, first_messages, silent_clients, unfinished_tokens
from tests.attack.ssl_attacks import changes_of_keys, finite_fields, records_of_a_byte

RESPONSE_SECONDS_MAX = 120.0

DENSE_SIZES_BYTES = (2_900_000, 1_700_000, 900_000, 400_000, 150_000)
"""Some are just below a limit, wherever that is: what is served takes the most then."""

CONNECTIONS_IN_A_ROW = 25
"""Then a pause: what does not fit into the backlog waits a second for the kernel to try again."""


@dataclass(frozen=True)
class Scale:
    """How large an attack is: in full, or quick for CI."""

    dense_bytes: int
    seconds: float
    unread: int
    idle: int
    slow: int
    parked: int


FULL = Scale(dense_bytes=15_000_000, seconds=5.0, unread=300, idle=10_000, slow=5_000, parked=3_000)
QUICK = Scale(dense_bytes=5_000_000, seconds=1.5, unread=300, idle=2_000, slow=1_000, parked=1_200)


@dataclass
class Target:
    """What is attacked, and what attackers have open: the run closes it."""

    controller: AttackedController
    scale: Scale
    opened: list[Client] = field(default_factory=list)

    def connect(self, source: str = "127.0.0.1", *, port: int = 0, **options: float) -> Client:
        """Another `port` is that of the listener with SASL, without SSL."""
        context = None if port else self.controller.context
        chosen = port or self.controller.port
        client = Client(chosen, source, context=context, **options)  # type: ignore[arg-type]
        self.opened.append(client)
        return client


Run = Callable[[Target], str]
"""Carries the attack out; returns what is worth noting."""


@dataclass(frozen=True)
class Attack:
    name: str
    what: str
    run: Run
    settings: dict[str, str] = field(default_factory=dict)
    files_max: int = 0
    with_authorizer_only: bool = False
    over_ssl_only: bool = False
    takes_the_leadership: bool = False
    """Without an authorizer: votes as a voter are believed, and meanwhile nothing is served."""


def nothing(target: Target) -> str:
    """Only the brokers, for comparison."""
    threading.Event().wait(target.scale.seconds)
    return ""


def one_frame(target: Target, payload: Callable[[int], bytes], size_bytes: int = 0) -> str:
    """One request, as large as it is; its response is read."""
    body = payload(size_bytes or target.scale.dense_bytes)
    client = target.connect(timeout_s=RESPONSE_SECONDS_MAX)
    began = time.monotonic()
    answer = client.ask(body)
    took_s = time.monotonic() - began
    outcome = f"answered with {len(answer) / 1e6:.3g} MB" if answer else "closed"
    return f"{len(body) / 1e6:.3g} MB, {outcome} after {took_s:.2g} s"


def repeated(target: Target, payloads: list[bytes], seconds: float = 0.0) -> str:
    """These requests over and over, on new connections where one is closed."""
    deadline = time.monotonic() + (seconds or target.scale.seconds)
    client = target.connect()
    answered = closed = 0
    while time.monotonic() < deadline:
        for payload in payloads:
            if not client.open:
                client = target.connect()
            if client.ask(payload):
                answered += 1
            else:
                closed += 1
    return f"{answered} answered, {closed} closed"


def envelopes(target: Target) -> str:
    """Envelopes in envelopes, with damaged and with dense requests in them."""
    quotas = DENSE["AlterClientQuotas"](1_000_000)
    nested = envelope(b"")
    for _ in range(1000):
        nested = envelope(nested)
    inside_out = envelope(quotas)
    damaged = [envelope(inside_out[:cut]) for cut in (0, 1, 7, 8, 11, 20)]
    principals = [envelope(quotas, os.urandom(size)) for size in (0, 1, 2, 40, 70_000)]
    addresses = [envelope(quotas, None, os.urandom(size)) for size in (0, 3, 5, 16, 100_000)]
    return repeated(target, [nested, inside_out, envelope(inside_out), *damaged, *principals, *addresses])


def api_versions_tags(target: Target) -> str:
    section = tags(min(target.scale.dense_bytes, 20_000_000))
    body = compact(b"attack") + compact(b"1")
    in_header = partial(_as_is, request(frames.API_VERSIONS, 3, body + b"\0", tags=section))
    in_body = partial(_as_is, request(frames.API_VERSIONS, 3, body + section))
    return f"header: {one_frame(target, in_header)}; body: {one_frame(target, in_body)}"


def _as_is(payload: bytes, _size_bytes: int) -> bytes:
    return payload


def _epoch_and_end_offset(target: Target) -> tuple[int, int]:
    """As Fetch answers them to anybody who may ask."""
    client = target.connect()
    epoch = frames.leader_epoch(client.ask(metadata_fetch(0, 0)), NODE_ID)
    return epoch, frames.high_watermark(client.ask(metadata_fetch(epoch, 0)))


def unread_answers(target: Target) -> str:
    """Fetches from the start of the log on connections that never read."""
    fetch = metadata_fetch(_epoch_and_end_offset(target)[0], 0)
    for _ in range(target.scale.unread):
        client = target.connect(receive_bytes=4096)
        client.send(fetch)
        client.send(fetch)
    threading.Event().wait(target.scale.seconds)
    return f"{target.scale.unread} connections"


def hoarders(target: Target) -> str:
    """Ten connections that begin the largest frames, hold all the budget, and begin again when closed."""
    deadline = time.monotonic() + target.scale.seconds
    chunk = bytes(1 << 20)
    each_bytes = 21 << 20
    begun = 0
    held: dict[int, tuple[Client, int]] = {}
    while time.monotonic() < deadline:
        for place in range(10):
            client, sent = held.get(place, (None, 0))
            if client is None or not client.open:
                client, sent = target.connect(timeout_s=0.05), 0
                client.send_raw(struct.pack(">i", 104_857_600))
                begun += 1
            if sent < each_bytes:
                client.send_raw(chunk)
                sent += len(chunk)
            else:
                # One more byte in a while shows whether the connection is still there.
                client.send_raw(b"\0")
                threading.Event().wait(0.002)
            held[place] = client, sent
    return f"{begun} frames begun, {sum(client.open for client, _ in held.values())} held at the end"


def drips(target: Target) -> str:
    """Frames of 100 MB, one byte at a time on a hundred connections."""
    clients = [target.connect(timeout_s=0.05) for _ in range(100)]
    for client in clients:
        client.send_raw(struct.pack(">i", 100_000_000))
    deadline = time.monotonic() + target.scale.seconds * 2
    sent = 0
    while time.monotonic() < deadline:
        for place, client in enumerate(clients):
            if not client.send_raw(b"\0"):
                clients[place] = target.connect(timeout_s=0.05)
                clients[place].send_raw(struct.pack(">i", 100_000_000))
            sent += 1
    return f"{sent} bytes, each sent alone"


def idle_connections(target: Target) -> str:
    return _open_many(target, target.scale.idle, slow=False)


def slow_connections(target: Target) -> str:
    return _open_many(target, target.scale.slow, slow=True)


def _open_many(target: Target, wanted: int, *, slow: bool) -> str:
    """As many as this process may have open, each silent or with a byte of a request now and then."""
    wanted = min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
    whole = frames.frame(request(frames.API_VERSIONS, 3, compact(b"attack") + compact(b"1") + b"\0"))
    clients = _connected(target, wanted)
    for place in range(3 if slow else 0):
        for client in clients:
            client.send_raw(whole[place : place + 1])
    threading.Event().wait(target.scale.seconds)
    return f"{sum(client.open for client in clients)} of {wanted} connected"


def _connected(target: Target, count: int) -> list[Client]:
    clients = []
    for number in range(count):
        clients.append(target.connect(timeout_s=5.0))
        if number % CONNECTIONS_IN_A_ROW == 0:
            threading.Event().wait(0.005)
    return clients


FILES_MAX = 256


def no_descriptors(target: Target) -> str:
    """More connections than descriptors, while honest writes need snapshots and votes need quorum-state."""
    writer = target.connect(HONEST)
    attacker = target.connect()
    clients = [target.connect(timeout_s=0.2) for _ in range(FILES_MAX + 100)]
    attacker.ask(frames.vote(NODE_ID, 1000))
    written = 0
    deadline = time.monotonic() + max(target.scale.seconds, 3.0)
    while time.monotonic() < deadline:
        change = config_change([(b"ssl.keystore.location", SET, b"x" * 30_000)])
        written += writer.ask(change)[10:12] == b"\0\0"
        for place, client in enumerate(clients):
            if not client.open:
                clients[place] = target.connect(timeout_s=0.2)
        threading.Event().wait(0.05)
    return f"{target.controller.descriptors()} of {FILES_MAX} descriptors in use, {written} writes served"


def registrations(target: Target) -> str:
    """600 listeners of 32 kB, then 600,000 log directories."""
    cluster_id = target.controller.cluster_id
    many = [frames.listener(b"L%03d" % number, b"h" * 32_000) for number in range(600)]
    rng = random.Random(1)
    listeners = frames.registration(cluster_id, 901, rng.randbytes(16), listeners=many)
    directories = frames.registration(
        cluster_id, 902, rng.randbytes(16), log_dirs=rng.randbytes(16 * 600_000)
    )
    return "; ".join(one_frame(target, partial(_as_is, payload)) for payload in (listeners, directories))


def appended_lists(target: Target) -> str:
    """A list of 16 kB, and as much APPENDed to it."""
    items = [b"%05d" % number for number in range(5_400)]
    first, second = b",".join(items[:2_700]), b",".join(items[2_700:])
    names = (b"ssl.cipher.suites", b"ssl.enabled.protocols", b"sasl.enabled.mechanisms", b"metric.reporters")
    long = b",".join(b"%d" % (number % 10) for number in range(16_000))
    payloads = [config_change([(name, SET, first)], validate_only=False) for name in names] + [
        config_change([(name, APPEND, value)], validate_only=True)
        for name in names
        for value in (second, long)
    ]
    return repeated(target, payloads)


def parked_fetches(target: Target) -> str:
    """More fetches at the end of the log than are parked; who is answered asks again."""
    epoch, end_offset = _epoch_and_end_offset(target)
    fetch = metadata_fetch(epoch, end_offset, max_wait_ms=600_000)
    clients = _connected(target, target.scale.parked)
    for client in clients:
        client.send(fetch)
    spun = 0
    deadline = time.monotonic() + target.scale.seconds
    clients[-1].wait_at_most(target.scale.seconds)
    while time.monotonic() < deadline and clients[-1].open:
        if clients[-1].receive():
            spun += 1
            clients[-1].send(fetch)
    return f"{target.scale.parked} fetches at offset {end_offset}; the last was answered {spun} times"


def parked_dense_fetches(target: Target) -> str:
    """Fetches that wait, each with 100 kB of topics to forget."""
    epoch, end_offset = _epoch_and_end_offset(target)
    forgotten = frames.densest(b"", b"\1\1\0", b"", 100_000)
    fetch = metadata_fetch(epoch, end_offset, max_wait_ms=600_000, forgotten=forgotten)
    clients = [target.connect() for _ in range(target.scale.unread)]
    for client in clients:
        client.send(fetch)
    threading.Event().wait(target.scale.seconds)
    return f"{len(clients)} fetches of 100 kB, {sum(client.open for client in clients)} open"


def raised_epochs(target: Target) -> str:
    """Votes as the voter itself, each for a larger epoch."""
    client = target.connect()
    deadline = time.monotonic() + target.scale.seconds
    before = target.controller.log_bytes
    epoch = 1000
    while time.monotonic() < deadline:
        epoch += 1
        if not client.ask(frames.vote(NODE_ID, epoch)):
            client = target.connect()
    return f"{epoch - 1000} votes, {(target.controller.log_bytes - before) / 1000:.0f} kB of log lines"


def many_acl_checks(target: Target) -> str:
    return repeated(target, [names_to_delete(15_000)])


def dense(target: Target, payload: Callable[[int], bytes]) -> str:
    """One large request, some that may be just small enough, and many as small as those of a busy broker."""
    notes = [one_frame(target, payload)]
    notes += [one_frame(target, payload, size_bytes) for size_bytes in DENSE_SIZES_BYTES]
    notes.append(f"60 kB: {repeated(target, [payload(60_000)], seconds=1.0)}")
    return "; ".join(notes)


def dense_crowd(target: Target) -> str:
    """Twenty connections with dense requests of 3 MB each, all sent before a response is read."""
    names = ["CreatePartitions", "AlterPartition", "AlterClientQuotas", "Fetch"]
    payloads = [DENSE[name](3_000_000) for name in names]
    clients = [target.connect(timeout_s=RESPONSE_SECONDS_MAX) for _ in range(20)]
    senders = [
        threading.Thread(target=client.send, args=(payloads[place % len(payloads)],))
        for place, client in enumerate(clients)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    answered = sum(bool(client.receive()) for client in clients)
    return f"{answered} of {len(clients)} answered"


def handshakes(target: Target) -> str:
    """Over and over, on twenty threads; the connection is closed after it."""
    deadline = time.monotonic() + target.scale.seconds
    finished: list[int] = []

    def shake() -> None:
        while time.monotonic() < deadline:
            client = Client(target.controller.port, context=target.controller.context)
            finished.append(client.open)
            client.close()

    threads = [threading.Thread(target=shake) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(finished)} of {len(finished)} handshakes"


def unfinished_handshakes(target: Target) -> str:
    """Of each the beginning: a record of 16 kB that lacks a byte."""
    beginning = b"\x16\x03\x01\x40\x00\x01" + bytes(16_382)
    clients = []
    for number in range(target.scale.slow):
        clients.append(Client(target.controller.port, timeout_s=5.0))
        clients[-1].send_raw(beginning)
        if number % CONNECTIONS_IN_A_ROW == 0:
            threading.Event().wait(0.005)
    target.opened.extend(clients)
    threading.Event().wait(target.scale.seconds)
    return f"{target.controller.descriptors()} descriptors of {len(clients)} connections"


def _dense_attacks() -> list[Attack]:
    return [
        Attack(f"dense {name}", "the body that makes most objects of a byte", partial(dense, payload=payload))
        for name, payload in DENSE.items()
        if name != "AlterClientQuotas"
    ]


def _crowd(target: Target, payload: Callable[[], bytes]) -> str:
    return crowd(partial(target.connect, timeout_s=RESPONSE_SECONDS_MAX), payload())


def _crowds() -> list[Attack]:
    what = "400 connections with a request of at most 63,000 bytes each, together"
    return [Attack(f"crowd: {name}", what, partial(_crowd, payload=make)) for name, make in CROWDS.items()]


def _quotas(target: Target, size_bytes: int) -> str:
    return one_frame(target, DENSE["AlterClientQuotas"], size_bytes)


ATTACKS = [
    Attack("nothing", "only the brokers, for comparison", nothing),
    Attack("quotas of 5 MB", "AlterClientQuotas of empty entries", partial(_quotas, size_bytes=5_000_000)),
    Attack("quotas of 104 MB", "the largest frame accepted", partial(_quotas, size_bytes=104_800_000)),
    *_dense_attacks(),
    Attack("dense crowd", "twenty dense requests of 3 MB together", dense_crowd),
    *_crowds(),
    Attack("envelopes", "inside out, nested, damaged, dense", envelopes),
    Attack("ApiVersions tags", "20 MB of unknown tagged fields", api_versions_tags),
    Attack("unread responses", "connections that never read their Fetch answers", unread_answers),
    Attack("hoarders", "ten connections with unfinished frames of 104 MB", hoarders),
    Attack("drips", "a byte at a time", drips),
    Attack("idle connections", "10,000 connections that say nothing", idle_connections),
    Attack("slow connections", "5,000 connections in the middle of a request", slow_connections),
    Attack(
        "no descriptors", f"more connections than the {FILES_MAX} descriptors of the process", no_descriptors,
        settings={"metadata.log.max.record.bytes.between.snapshots": "100000"}, files_max=FILES_MAX,
        takes_the_leadership=True,
    ),
    Attack("registrations", "600 listeners of 32 kB; 600,000 log directories", registrations),
    Attack("APPEND of a list", "to lists of 16 kB", appended_lists),
    Attack("parked fetches", "more than are parked", parked_fetches),
    Attack("parked dense fetches", "that wait with large bodies", parked_dense_fetches),
    Attack("raised epochs", "a vote for each epoch", raised_epochs, takes_the_leadership=True),
    Attack("SASL tokens without end", "of 512 KiB, and longer ones", unfinished_tokens, settings=SASL),
    Attack("SASL silence", "thousands that do not authenticate", silent_clients, settings=SASL),
    Attack("SASL first messages", "in masses, and wrong passwords", first_messages, settings=SASL),
    Attack("ACL checks", "15,000 names against 5,000 ACLs", many_acl_checks, with_authorizer_only=True),
    Attack("handshakes", "of SSL, as fast as they go", handshakes, over_ssl_only=True),
    Attack("unfinished handshakes", "5,000 beginnings", unfinished_handshakes, over_ssl_only=True),
    Attack("finite fields", "ClientHellos with ffdhe8192", finite_fields, over_ssl_only=True),
    Attack("changes of keys", "360,000 of TLS 1.3", changes_of_keys, over_ssl_only=True),
    Attack("records of a byte", "360,000 of them", records_of_a_byte, over_ssl_only=True),
]  # fmt: skip
