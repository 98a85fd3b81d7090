"""The two controllers, alone in their quorums, with the same properties; and what is asked of either."""

from __future__ import annotations

import random
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution
from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.ports import give_back
from kraftctl_protocol.metadata_versions import METADATA_VERSIONS
from tests.differential.call import ANSWERED, CLOSED, SILENT, Call, Response
from tests.differential.codec import Body, Reader, Undecodable, decode, encode
from tests.differential.metadata_log import LoggedRecord, LogTail
from tests.differential.names import Names
from tests.differential.pause import pause
from tests.differential.schemas import Schema, Schemas

NODE_ID = 3000
CLUSTER_ID = "differential-cluster-1"
ANSWER_SECONDS_MAX = 8.0
QUIET_SECONDS = 0.3
QUIET_SECONDS_MAX = 10.0
"""A controller that logs for longer does so for ever: what differs then is printed."""

Logged = tuple[list[LoggedRecord], list[LoggedRecord]]
"""What Kafka's controller and kraftctl have logged."""

PROPERTIES = {
    "controller.quorum.append.linger.ms": "0",
    "metadata.max.idle.interval.ms": "0",
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": "12000",
    "broker.heartbeat.interval.ms": "10000",
    "delegation.token.expiry.check.interval.ms": "36000000",
    "unclean.leader.election.interval.ms": "36000000",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "connections.max.idle.ms": "3600000",
}
"""Nothing happens by itself, or late: what is compared follows from the calls alone.

On a slow machine, a heartbeat that Kafka's controller has not come to in half of the interval times out.
"""

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@dataclass(frozen=True)
class Setting:
    """What the controllers of a round are like."""

    kafka: str
    release: str
    dynamic: bool
    properties: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def random(kafka: str, chance: random.Random, release: str | None = None) -> Setting:
        names = [name for name in LEVELS if not (kafka < "4.4" and name.startswith("4.4"))]
        chosen = release or (names[-1] if chance.random() < 0.4 else chance.choice(names))
        extra: dict[str, str] = {}
        if chance.random() < 0.7:
            extra |= AUTHORIZER
            if chance.random() < 0.3:
                extra["allow.everyone.if.no.acl.found"] = "true"
        if chance.random() < 0.7:
            extra["delegation.token.secret.key"] = "secret"
        if chance.random() < 0.3:
            extra["min.insync.replicas"] = "2"
        if chance.random() < 0.2:
            extra["unclean.leader.election.enable"] = "true"
        if chance.random() < 0.2:
            extra["num.partitions"] = "3"
        can_be_dynamic = LEVELS.index(chosen) >= LEVELS.index("3.9-IV0")
        return Setting(kafka, chosen, can_be_dynamic and chance.random() < 0.6, extra)

    def __str__(self) -> str:
        kind = "dynamic" if self.dynamic else "static"
        extra = " ".join(f"{name}={value}" for name, value in self.properties.items())
        return f"Kafka {self.kafka}, {self.release}, {kind}{', ' if extra else ''}{extra}"


LEVELS = tuple(each.name for each in METADATA_VERSIONS if each.in_production)
"""The names of metadata.version from 7 on."""


class Side:
    """One controller, a connection to it, and how far its log is read."""

    def __init__(self, controller: Controller, schemas: Schemas) -> None:
        self.controller = controller
        self._schemas = schemas
        self.names = Names(controller.port, str(controller.directory))
        self._tail = LogTail(controller.metadata_directory, schemas)
        self._socket: socket.socket | None = None
        self._correlation = 0
        self._api_keys = {
            schema.name.removesuffix("Request"): key for key, schema in schemas.requests.items()
        }
        self.by_itself: list[LoggedRecord] = []
        self.seen: list[LoggedRecord] = []

    def await_log(self) -> None:
        """Returns once the controller serves, and its log has begun."""
        self.controller.await_ready()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not self.seen:
            self.controller_records()
            pause(0.05)
        for line in (self.controller.log_directory / "meta.properties").read_text().splitlines():
            if line.startswith("directory.id="):
                self.names.labels[line.removeprefix("directory.id=")] = "own directory"

    def stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self.controller.kill()
        give_back(self.controller.port)

    def controller_records(self) -> list[LoggedRecord]:
        """Returns the records since the last call, but for the registrations of the controller itself."""
        found = []
        for record in (each for batch in self._tail.more() for each in batch):
            if record.name == "RegisterControllerRecord" and record.body["ControllerId"] == NODE_ID:
                self.by_itself.append(record)
            elif record.name != "NoOpRecord":
                found.append(record)
                self.names.learn(record)
        self.seen += found
        self.names.end_offset = self._tail.end_offset
        self.names.leader_epoch = self._tail.leader_epoch
        return found

    def send(self, call: Call) -> None:
        """Sends it; if the process has ended there is no connection, and `receive` says that."""
        data = self._frame(call)
        try:
            if self._socket is None:
                self._socket = socket.create_connection(("localhost", self.controller.port), 10.0)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.sendall(struct.pack(">i", len(data)) + data)
        except ConnectionError:
            self.disconnect()

    def why_ended(self) -> str:
        """Returns why it renounced, or else the last error in the output of its process."""
        lines = self.controller.log_file.read_text(errors="replace").splitlines()
        renounced = [
            f"{' '.join(lines[at + 1 : at + 3])} ({line})"
            for at, line in enumerate(lines)
            if "treated as UnknownServerException" in line
        ]
        errors = renounced or [line for line in lines if " ERROR " in line or "Exception: " in line]
        return errors[-1][:900] if errors else "no error in its output"

    def disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def receive(self, call: Call) -> Response:
        if self._socket is None:
            return Response(CLOSED)
        try:
            self._socket.settimeout(ANSWER_SECONDS_MAX)
            data = self._exactly(struct.unpack(">i", self._exactly(4))[0])
        except TimeoutError:
            self.disconnect()
            return Response(SILENT)
        except (ConnectionError, EOFError):
            self.disconnect()
            return Response(CLOSED)
        try:
            return Response(ANSWERED, self._decoded(call, data))
        except (Undecodable, UnicodeDecodeError) as error:
            return Response(f"undecodable: {error}")

    def _decoded(self, call: Call, data: bytes) -> Body:
        if call.forwarded is None:
            return self._decoded_plain(call, data)
        reader = Reader(data)
        decode(self._schemas.named["ResponseHeader"], 1, reader)
        envelope = decode(self._schemas.responses[58], 0, reader)
        inner = envelope.pop("ResponseData")
        if envelope["ErrorCode"] == 0 and inner is not None:
            envelope["response"] = self._decoded_plain(call, inner)
        return envelope

    def _decoded_plain(self, call: Call, data: bytes) -> Body:
        key, version = self._api_keys[call.api], call.version
        schema = self._schemas.responses[key]
        reader = Reader(data)
        flexible = version in schema.flexible and key != 18
        decode(self._schemas.named["ResponseHeader"], int(flexible), reader)
        if key == 18 and version not in schema.valid:
            version = 0
        body = decode(schema, version, reader)
        if reader.left:
            raise Undecodable(f"{reader.left} bytes behind the response")
        if call.api == "CreateDelegationToken" and body["ErrorCode"] == 0:
            self.names.learn_hmac(body["Hmac"])
        return body

    def _frame(self, call: Call) -> bytes:
        plain = self._plain_frame(call)
        if call.forwarded is None:
            return plain
        principal = {
            "Type": call.forwarded.type,
            "Name": call.forwarded.name,
            "TokenAuthenticated": call.forwarded.token,
        }
        named = self._schemas.named["DefaultPrincipalData"]
        body = {
            "RequestData": plain,
            "RequestPrincipal": b"\0\0" + encode(named, 0, principal),
            "ClientHostAddress": call.forwarded.host,
        }
        envelope = self._schemas.requests[58]
        return self._header(envelope, 0, {}) + encode(envelope, 0, body)

    def sent_body(self, call: Call) -> Body | None:
        """Returns the body as a controller reads it, damaged and with wrapped numbers; None if it cannot."""
        schema = self._schemas.requests[self._api_keys[call.api]]
        try:
            return decode(schema, call.version, Reader(self._body(schema, call)))
        except (Undecodable, UnicodeDecodeError):
            return None

    def _body(self, schema: Schema, call: Call) -> bytes:
        data = encode(schema, call.version, self.names.resolve(call.body))
        return data if call.damage is None else call.damage.apply(data)

    def _plain_frame(self, call: Call) -> bytes:
        schema = self._schemas.requests[self._api_keys[call.api]]
        return self._header(schema, call.version, call.header) + self._body(schema, call)

    def _header(self, schema: Schema, version: int, changed: Body) -> bytes:
        self._correlation += 1
        header = {
            "RequestApiKey": schema.api_key,
            "RequestApiVersion": version,
            "CorrelationId": self._correlation,
            "ClientId": "differential",
            **changed,
        }
        flexible = version in schema.flexible
        return encode(self._schemas.named["RequestHeader"], 2 if flexible else 1, header)

    def _exactly(self, size: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < size:
            chunk = self._socket.recv(size - len(data))
            if not chunk:
                raise EOFError
            data += chunk
        return data


class Pair:
    """Kafka's controller and kraftctl, started together."""

    def __init__(
        self, setting: Setting, kafka: KafkaDistribution | None, schemas: Schemas, directory: Path
    ) -> None:
        """Without `kafka`, both are kraftctl: nothing may differ then."""
        self.setting = setting
        own = {**PROPERTIES, **setting.properties}
        java = partial(JavaController, kafka) if kafka is not None else KraftctlController
        made = [
            kind(
                NODE_ID,
                directory / name,
                CLUSTER_ID,
                dynamic=setting.dynamic,
                release_version=setting.release,
                properties=own,
            )
            for name, kind in (("java", java), ("kraftctl", KraftctlController))
        ]
        self.java, self.kraftctl = (Side(controller, schemas) for controller in made)
        self.sides = (self.java, self.kraftctl)

    def start(self) -> None:
        """Formats both side by side. A process ends with the thread that started it, so this one does."""
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda side: side.controller.format(), self.sides))
        for side in self.sides:
            side.controller.start(wait=False)
        for side in self.sides:
            side.await_log()

    def stop(self) -> None:
        for side in self.sides:
            side.stop()

    def quiet(self) -> Logged:
        """Returns what each has logged, once neither logs more; after some seconds in any case."""
        found: Logged = ([], [])
        began = last = time.monotonic()
        while time.monotonic() - last < QUIET_SECONDS and time.monotonic() - began < QUIET_SECONDS_MAX:
            for side, records in zip(self.sides, found, strict=True):
                before = side.names.end_offset
                records += side.controller_records()
                if side.names.end_offset != before:
                    last = time.monotonic()
            pause(0.02)
        return found
