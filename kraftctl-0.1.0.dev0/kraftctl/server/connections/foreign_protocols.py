"""Which other protocol a client speaks, by its first bytes: as the size of a frame they make no sense."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

HEAD_BYTES: Final = 64
"""The first bytes of a connection: enough for each of PROTOCOLS."""

SSL: Final = "SSL"
KAFKA: Final = "Kafka's protocol without SSL"

CHECK: Final = "check which address the client is configured with"
OPERATE: Final = "kraftctl.operate.listeners"

PROBE: Final = "let the check open a TCP connection, or ask `kraftctl quorum describe`"


class ForeignProtocol(NamedTuple):
    """Its name, and what to do about a client that speaks it."""

    name: str
    next_step: str


def _starts(pattern: bytes) -> Callable[[bytes], bool]:
    compiled = re.compile(pattern, re.DOTALL)
    return lambda head: compiled.match(head) is not None


PROTOCOLS: Final[list[tuple[Callable[[bytes], bool], ForeignProtocol]]] = [
    (_starts(rb"[\x14-\x17]\x03[\x00-\x04]"), ForeignProtocol(SSL, "")),
    (_starts(rb"[\x80-\xff].\x01\x03"), ForeignProtocol(SSL, "")),
    (
        _starts(rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) "),
        ForeignProtocol("HTTP", f"probes and metrics are at the address of {OPERATE}"),
    ),
    (_starts(rb"PRI \* HT"), ForeignProtocol("HTTP/2 (gRPC)", PROBE)),
    (
        _starts(rb"PROXY |\r\n\r\n\x00\r\nQUIT\n|\r\n\r\n"),
        ForeignProtocol("the PROXY protocol", "switch it off at the load balancer: Kafka has none"),
    ),
    (_starts(rb"SSH-"), ForeignProtocol("SSH", CHECK)),
    (_starts(rb"(\*\d+\r\n|PING\r\n|AUTH |INFO)"), ForeignProtocol("the protocol of Redis", CHECK)),
    (
        _starts(rb"(ruok|stat|srvr|mntr|conf|envi|isro|cons|dump|wchs|srst)(\r?\n)?$"),
        ForeignProtocol("four-letter words of ZooKeeper", PROBE),
    ),
    (_starts(rb"\x10..?\x04MQ|\x10..?.?\x04MQTT"), ForeignProtocol("MQTT", CHECK)),
    (_starts(rb"AMQP"), ForeignProtocol("AMQP", CHECK)),
    (_starts(rb"JRMI"), ForeignProtocol("Java RMI (JMX)", "check the port of JMX in the client")),
    (_starts(rb"\x03\x00\x00.[^\x00]"), ForeignProtocol("RDP", CHECK)),
    (_starts(rb"\x30[\x0c-\x84].{0,4}\x02\x01"), ForeignProtocol("LDAP", CHECK)),
    (_starts(rb"(EHLO|HELO|USER|QUIT|HELP)[ \r\n]"), ForeignProtocol("SMTP or FTP", CHECK)),
    (_starts(rb"[\x20-\x7e\r\n\t]{4}"), ForeignProtocol("a protocol of text", CHECK)),
]
"""By the first four bytes and more, which cannot be the size of a request of Kafka."""

FRAMED: Final[list[tuple[Callable[[bytes], bool], ForeignProtocol]]] = [
    (
        _starts(rb"\x04\xd2\x16[\x2e-\x30]|\x00\x03\x00\x00(user|database)\x00"),
        ForeignProtocol("the protocol of PostgreSQL", CHECK),
    ),
    (_starts(rb"[\xfe\xff]SMB"), ForeignProtocol("SMB", CHECK)),
    (
        _starts(rb"\x00{4}.{8}.{4}.{8}\x00\x00\x00\x10.{16}.?$"),
        ForeignProtocol(
            "the protocol of ZooKeeper", "correct zookeeper.connect of that client: this is a controller"
        ),
    ),
]
"""Protocols whose messages begin with their length, as Kafka's do: by what follows."""


def foreign_protocol(head: bytes) -> ForeignProtocol | None:
    """Returns the protocol of a connection that begins so; None if the bytes say nothing."""
    return next((protocol for matches, protocol in PROTOCOLS if matches(head)), None)


def framed_protocol(frame: bytes) -> ForeignProtocol | None:
    """The same for the first frame, if it is no request that is served."""
    return next((protocol for matches, protocol in FRAMED if matches(frame)), None)
