"""The loop of the load generator: many connections with a request in flight each, on raw sockets.

It takes some 5 us per request, most of it in the kernel: less than a controller.
"""

from __future__ import annotations

import heapq
import select
import socket
import struct
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.compare.frames import SIZE_BYTES, UnexpectedResponseError
from tests.bench.compare.scripts import Frame, Notes, Script
from tests.bench.measure import percentile

RECEIVE_BYTES: Final = 65_536
CORRELATION_ID: Final = struct.Struct(">i")
CORRELATION_ID_MAX: Final = 2**31 - 1
RESPONSE_SECONDS_MAX: Final = 60.0


@dataclass
class Window:
    """What happened between two moments; times are those of the monotonic clock of the machine."""

    operations: int
    began_s: float
    ended_s: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    processor_s: float
    """Of the load generator itself."""
    received_bytes: int
    notes: list[Notes]
    """Of each script."""

    @property
    def seconds(self) -> float:
        return self.ended_s - self.began_s


class Connection:
    """One script and its socket. At most one request is in flight, so bytes are those of one answer."""

    def __init__(self, port: int, script: Script) -> None:
        self.script = script
        self.sent_s = 0.0
        self._correlation_id = 0
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=RESPONSE_SECONDS_MAX)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._large = bytearray()
        self._missing: memoryview | None = None

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self) -> bool:
        """The next request of the script; False when there is none."""
        frame = self.script.frame()
        if frame is None:
            return False
        self._correlation_id = (self._correlation_id + 1) & CORRELATION_ID_MAX
        CORRELATION_ID.pack_into(frame, self.script.correlation_at, self._correlation_id)
        self.sent_s = time.monotonic()
        self._socket.sendall(frame)
        return True

    def receive(self) -> Frame | None:
        """The response, with its size, once all of it has come."""
        if self._missing is not None:
            return self._receive_more()
        frame = self._socket.recv(RECEIVE_BYTES)
        while len(frame) < SIZE_BYTES:
            part = self._socket.recv(RECEIVE_BYTES)
            if not part:
                raise ConnectionError("the controller has closed the connection")
            frame += part
        size = int.from_bytes(frame[:SIZE_BYTES], "big") + SIZE_BYTES
        if len(frame) == size:
            return self._checked(frame)
        self._resize(size)
        self._large[: len(frame)] = frame
        self._missing = memoryview(self._large)[len(frame) :]
        return None

    def _resize(self, size: int) -> None:
        """Of the response before. A new MiB takes as long as to receive it: all of its pages are new."""
        more = size - len(self._large)
        if more > 0:
            self._large.extend(bytes(more))
        else:
            del self._large[size:]

    def _receive_more(self) -> Frame | None:
        assert self._missing is not None
        count = self._socket.recv_into(self._missing)
        if count == 0:
            raise ConnectionError("the controller has closed the connection")
        self._missing = self._missing[count:]
        if len(self._missing):
            return None
        self._missing = None
        return self._checked(self._large)

    def _checked(self, frame: Frame) -> Frame:
        (correlation_id,) = CORRELATION_ID.unpack_from(frame, SIZE_BYTES)
        if correlation_id != self._correlation_id:
            raise UnexpectedResponseError(f"correlation id {correlation_id}, expected {self._correlation_id}")
        return frame


class Loop:
    """Runs scripts until a moment, until `stop_fd` is readable, or until no script has another request."""

    def __init__(self, port: int, scripts: Sequence[Script], stop_fd: int) -> None:
        self._connections = {
            connection.fileno(): connection for connection in (Connection(port, script) for script in scripts)
        }
        self._stop_fd = stop_fd
        self._poll = select.epoll()
        for descriptor in self._connections:
            self._poll.register(descriptor, select.EPOLLIN)
        self._poll.register(stop_fd, select.EPOLLIN)
        self._in_flight = 0
        self._received_bytes = 0
        self._later: list[tuple[float, int]] = []
        """When to send again, and on which descriptor: scripts with an interval."""

    def run(self, seconds: float) -> Window:
        """Ends when all requests that were sent are answered."""
        latencies = array("d")
        began_s, used_s = time.monotonic(), time.process_time()
        until_s = began_s + seconds
        self._later = []
        self._received_bytes = 0
        for connection in self._connections.values():
            self._in_flight += connection.send()
        while self._in_flight or (self._later and time.monotonic() < until_s):
            events = self._poll.poll(self._wait_s())
            if not events and not self._later:
                raise TimeoutError(
                    f"{self._in_flight} requests were not answered in {RESPONSE_SECONDS_MAX} s"
                )
            for descriptor, _ in events:
                if descriptor == self._stop_fd:
                    until_s = 0.0
                    self._later = []
                    self._poll.modify(descriptor, 0)
                elif (now_s := self._answered(descriptor, latencies)) and now_s < until_s:
                    self._send_next(descriptor)
            if self._later:
                self._send_due(until_s)
        ended_s, used_s = time.monotonic(), time.process_time() - used_s
        self._poll.modify(self._stop_fd, select.EPOLLIN)
        notes = [connection.script.finish() for connection in self._connections.values()]
        p50_ms, p99_ms, p999_ms = _percentiles_ms(latencies)
        return Window(
            operations=len(latencies),
            began_s=began_s,
            ended_s=ended_s,
            p50_ms=p50_ms,
            p99_ms=p99_ms,
            p999_ms=p999_ms,
            processor_s=used_s,
            received_bytes=self._received_bytes,
            notes=notes,
        )

    def close(self) -> None:
        self._poll.close()
        for connection in self._connections.values():
            connection.close()

    def _answered(self, descriptor: int, latencies: array[float]) -> float:
        """When the response was complete; 0.0 when it is not yet."""
        connection = self._connections[descriptor]
        answer = connection.receive()
        if answer is None:
            return 0.0
        now_s = time.monotonic()
        latencies.append(now_s - connection.sent_s)
        self._received_bytes += len(answer)
        connection.script.check(answer)
        self._in_flight -= 1
        return now_s

    def _send_next(self, descriptor: int) -> None:
        connection = self._connections[descriptor]
        if connection.script.interval_s:
            heapq.heappush(self._later, (connection.sent_s + connection.script.interval_s, descriptor))
        else:
            self._in_flight += connection.send()

    def _wait_s(self) -> float:
        return max(0.0, self._later[0][0] - time.monotonic()) if self._later else RESPONSE_SECONDS_MAX

    def _send_due(self, until_s: float) -> None:
        now_s = time.monotonic()
        if now_s >= until_s:
            self._later = []
        while self._later and self._later[0][0] <= now_s:
            _, descriptor = heapq.heappop(self._later)
            self._in_flight += self._connections[descriptor].send()


def _percentiles_ms(latencies: array[float]) -> list[float]:
    ordered = sorted(1e3 * latency_s for latency_s in latencies) or [0.0]
    return [percentile(ordered, part) for part in (0.5, 0.99, 0.999)]
