"""Files of controllers with random changes, by seed: keys come, go and repeat; good, bad and odd values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from kraftctl.config.group_checks import SHARE_GROUP_COMPARISONS
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_rules import broker_config_rules
from kraftctl.metadata.config_definitions.validators import ListOf, OneOf, OneOfInAnyCase, Range, RangeOr
from tests.config.controller_files import CONTROLLER_FILES, escaped, lines_of

Line = tuple[str, str]

RULES: Final = broker_config_rules()
LEFT_OUT: Final = ("config.providers",)
"""It changes what the values of all keys mean."""

MALFORMED: Final = b"a=\\u12"
MALFORMED_SHARE: Final = 0.01

NUMBERS: Final = (
    *(
        "0",
        "1",
        "-1",
        "+5",
        "-0",
        "00012",
        "x",
        "",
        "1e3",
        "0x10",
        "1_000",
        "1L",
        "10 000",
        "1.0",
        "true",
        "null",
    ),
    *(
        '"1"',
        "'1'",
        "1,000",
        "5 min",
        "10m",
        "\t7\t",
        "\u0663",
        "\uff11\uff12",
        "1\u00a0",
        "\U0001d7ce",
        "- 1",
    ),
    *("32767", "32768", "2147483647", "2147483648", "-2147483648", "-2147483649", "1" * 40, "0" * 40 + "1"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808"),
)
FRACTIONS: Final = (
    *(
        "0.5",
        "1e-3",
        "NaN",
        "-Infinity",
        "Infinity",
        "0x1p3",
        "0x.8P-1f",
        "1d",
        "1,5",
        "-0.1",
        "1.1",
        ".5",
        "5.",
    ),
    *("", "1e", "0x1", "1_0.0", "+.2e1", "1L", "0.5000001", "inf", "nan", "1e999"),
)
BOOLEANS: Final = (
    *(
        "true",
        "TRUE",
        "\ttrue ",
        "yes",
        "1",
        "",
        "false",
        "on",
        "t",
        '"true"',
        "fal\u017fe",
        "falsch",
        "true,",
    ),
    "true\u00a0",
)
TEXTS: Final = (
    "",
    "x",
    " x ",
    "a b",
    "\u00e4",
    "none",
    "NONE",
    "PLAINTEXT",
    "plaintext",
    '"none"',
    "a,b",
    "null",
)
LISTS: Final = (
    "",
    ",",
    "a",
    "a,,b",
    "a,b,",
    ",a",
    "a,a",
    " a , b ",
    "a\t,\tb",
    "a;b",
    "[a,b]",
    '"a"',
    "a b",
    "*",
)
CLASSES: Final = (
    *("", "Missing", "com.example.Missing", "java.lang.String", "not a class", "com.example.", "1.2", "a..b"),
    *("org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", "null", "none"),
)

ADDRESSES: Final = (
    *(
        "localhost:9093",
        ":9093",
        "0.0.0.0:9093",
        "h:0",
        "h:-1",
        "h:65535",
        "h:65536",
        "h:99999999999",
        "h:",
        "h",
    ),
    *(
        "[::1]:9093",
        "::1:9093",
        "[::]:9093",
        "fe80::1%eth0:9093",
        "[fe80::1%25eth0]:9093",
        "h_1:9093",
        "h.:9093",
    ),
    *(
        "a b:9093",
        "h:9093/",
        "http://h:9093",
        "h:+9093",
        "h:9 093",
        "user@h:9093",
        "127.0.0.1:9092",
        "010.0.0.1:9",
    ),
    *("[::1:9093", "::1]:9093", "[h]:9093", "h:09093", "h\u00e4:9093", "h:\u0669", "999.1.1.1:9092"),
)
NAMES: Final = (
    *(
        "CONTROLLER",
        "controller",
        "Controller",
        "C",
        "c",
        "FOUR",
        "SIX",
        "PLAINTEXT",
        "SSL",
        "SASL_SSL",
        "ssl",
    ),
    *("BROKER", "INTERNAL", "CONTROLPLANE-9090", "", " ", "C-1", "C_1", "C.1", "\u00c4", "C C"),
)
PROTOCOLS: Final = (
    "PLAINTEXT",
    "SSL",
    "SASL_PLAINTEXT",
    "SASL_SSL",
    "plaintext",
    "Sasl_Ssl",
    "TLS",
    "",
    " SSL",
    "NONE",
)

KINDS: Final = ("consumer", "share", "streams")
TIMES: Final = ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")
RELATED: Final = [
    *[f"group.{kind}.{bound}{time}" for kind in KINDS for bound in ("", "min.", "max.") for time in TIMES],
    *[key for left, _, right in SHARE_GROUP_COMPARISONS for key in (left, right)],
    *(
        "group.streams.num.standby.replicas",
        "group.streams.max.standby.replicas",
        "group.streams.task.offset.interval.ms",
        "group.streams.min.task.offset.interval.ms",
        "group.streams.num.warmup.replicas",
        "group.streams.max.warmup.replicas",
        "log.roll.ms",
        "log.roll.hours",
    ),
    *("log.roll.jitter.ms", "log.roll.jitter.hours", "log.retention.ms", "log.retention.minutes"),
    *(
        "log.retention.hours",
        "log.cleaner.threads",
        "log.cleaner.dedupe.buffer.size",
        "replica.fetch.wait.max.ms",
    ),
    *(
        "replica.lag.time.max.ms",
        "replica.socket.timeout.ms",
        "queued.max.request.bytes",
        "socket.request.max.bytes",
    ),
    *("connections.max.idle.ms", "connection.failed.authentication.delay.ms", "max.connections.per.ip"),
    *("broker.session.timeout.ms", "broker.heartbeat.interval.ms", "offsets.topic.compression.codec"),
    *("share.coordinator.state.topic.compression.codec", "node.id", "broker.id"),
]
"""Keys that limit each other."""

SIZES: Final = (
    "0",
    "1",
    "-1",
    "2",
    "4",
    "5",
    "9",
    "10",
    "100",
    "1000",
    "5000",
    "15000",
    "45000",
    "60000",
    "1048576",
)


def changed_file(seed: int) -> bytes:
    """One of the files, with one to four changes."""
    rng = random.Random(seed)
    lines = lines_of(rng.choice(list(CONTROLLER_FILES.values())))
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 4))):
        rng.choice(CHANGES)(rng, lines)
    written = b"".join(_written(rng, key, value) for key, value in lines)
    return written + (MALFORMED if rng.random() < MALFORMED_SHARE else b"")


def odd_values(key: str) -> list[str]:
    """Values at the borders of the rule of the key, and beside its type."""
    rule = RULES[key]
    near: list[str] = []
    if isinstance(rule, (Range, RangeOr)):
        for bound in (rule.minimum, rule.maximum):
            if bound is not None:
                near += [str(bound), str(bound - 1), str(bound + 1)]
    if isinstance(rule, (OneOf, OneOfInAnyCase, ListOf)):
        for word in rule.words:
            near += [word, word.upper(), word.lower(), f"{word},{word}", f"{word}s", f" {word} "]
    default = BROKER_CONFIG_KEYS[key].default
    return [*near, *([] if default is None else [default]), *BY_TYPE[BROKER_CONFIG_KEYS[key].type]]


BY_TYPE: Final = {
    "BOOLEAN": BOOLEANS, "STRING": TEXTS, "INT": NUMBERS, "SHORT": NUMBERS, "LONG": NUMBERS,
    "DOUBLE": FRACTIONS, "LIST": LISTS, "CLASS": CLASSES, "PASSWORD": TEXTS,
}  # fmt: skip


def _drop(rng: random.Random, lines: list[Line]) -> None:
    if lines:
        lines.pop(rng.randrange(len(lines)))


def _add(rng: random.Random, lines: list[Line]) -> None:
    key = rng.choice([name for name in RULES if name not in LEFT_OUT])
    lines.append((key, rng.choice(odd_values(key))))


def _add_good(rng: random.Random, lines: list[Line]) -> None:
    key = rng.choice([name for name in RULES if name not in LEFT_OUT])
    default = BROKER_CONFIG_KEYS[key].default
    if default is not None and key not in dict(lines):
        lines.append((key, default))


def _change(rng: random.Random, lines: list[Line]) -> None:
    at = rng.randrange(len(lines))
    key, value = lines[at]
    odd = odd_values(key) if key in RULES and rng.random() < 0.5 else None
    lines[at] = (key, rng.choice(odd or [*_distorted(value)]))


def _distorted(value: str) -> list[str]:
    return [
        *(
            f" {value}",
            f"{value} ",
            f"{value}\t",
            value.lower(),
            value.upper(),
            f'"{value}"',
            "",
            " ",
            f"{value},",
        ),
        *(f",{value}", f"{value},{value}", f"{value}x", value[:-1], value[1:], f"{value}\u00a0", f"{value};"),
        *(value.replace(",", " , "), value.replace(":", " : "), value.replace(",", ";"), value.swapcase()),
    ]


def _repeat(rng: random.Random, lines: list[Line]) -> None:
    key, value = rng.choice(lines)
    lines.append((key, rng.choice([value, *(odd_values(key) if key in RULES else _distorted(value))])))


def _relate(rng: random.Random, lines: list[Line]) -> None:
    chosen = rng.sample(RELATED, rng.choice((1, 1, 2, 3)))
    lines.extend((key, rng.choice(SIZES)) for key in chosen)


def _listen(rng: random.Random, lines: list[Line]) -> None:
    key = rng.choice(("listeners", "listeners", "advertised.listeners"))
    entries = [f"{_name(rng, lines)}://{rng.choice(ADDRESSES)}" for _ in range(rng.choice((1, 1, 2, 3)))]
    _put(lines, key, ",".join(entries))


def _name_listeners(rng: random.Random, lines: list[Line]) -> None:
    key = rng.choice(("controller.listener.names", "early.start.listeners", "inter.broker.listener.name"))
    names = [_name(rng, lines) for _ in range(rng.choice((1, 1, 2)))]
    _put(lines, key, ",".join(names))


def _map(rng: random.Random, lines: list[Line]) -> None:
    entries = [f"{_name(rng, lines)}:{rng.choice(PROTOCOLS)}" for _ in range(rng.choice((0, 1, 2, 3)))]
    current = dict(lines).get("listener.security.protocol.map", "")
    text = ",".join([current, *entries] if rng.random() < 0.7 else entries)
    _put(
        lines, "listener.security.protocol.map", rng.choice((text, text, text + ",", text + "x", "," + text))
    )


def _vote(rng: random.Random, lines: list[Line]) -> None:
    node_id = dict(lines).get("node.id", "1")
    ids = (node_id, node_id, node_id, "2", "-1", "+3", "x", "", "2147483648", "\u0661", "1@")
    entries = [f"{rng.choice(ids)}@{rng.choice(ADDRESSES)}" for _ in range(rng.choice((1, 1, 2)))]
    _put(
        lines,
        "controller.quorum.voters",
        rng.choice((",".join(entries), ",".join(entries) + "@", "h:1", "1", ",")),
    )


def _bootstrap(rng: random.Random, lines: list[Line]) -> None:
    entries = [rng.choice(ADDRESSES) for _ in range(rng.choice((0, 1, 2)))]
    _put(lines, "controller.quorum.bootstrap.servers", ",".join(entries))


def _limit(rng: random.Random, lines: list[Line]) -> None:
    values = (
        "",
        ",",
        "h:1",
        "h:x",
        "h",
        ":5",
        "[::1]:5",
        "::1:5",
        "h:-1",
        "h: 7 ",
        "h:1,",
        ",h:1",
        "h:\u0665",
        "a b:1",
    )
    _put(lines, "max.connections.per.ip.overrides", rng.choice(values))
    if rng.random() < 0.4:
        _put(lines, "max.connections.per.ip", rng.choice(("0", "1")))


def _secure_brokers(rng: random.Random, lines: list[Line]) -> None:
    choices: dict[str, tuple[str, ...]] = {
        "security.inter.broker.protocol": PROTOCOLS,
        "sasl.mechanism.inter.broker.protocol": ("PLAIN", "GSSAPI", "", "SCRAM-SHA-256"),
        "sasl.enabled.mechanisms": ("PLAIN", "", "GSSAPI,PLAIN", "PLAIN,PLAIN"),
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": ("PLAIN", "", ","),
        "listener.name.internal.ssl.client.auth": ("required", "always"),
        "listener.name.broker.plain.sasl.login.refresh.buffer.seconds": ("1", "x"),
        "inter.broker.listener.name": NAMES,
        "super.users": ("User:a", "a", "User:a;b", ""),
        "authorizer.class.name": ("org.apache.kafka.metadata.authorizer.StandardAuthorizer", ""),
        "ssl.client.auth": ("required", "require", "NONE", "none", ""),
    }
    for key in rng.sample(list(choices), rng.choice((1, 2, 3))):
        _put(lines, key, rng.choice(choices[key]))


def _name(rng: random.Random, lines: list[Line]) -> str:
    own = dict(lines).get("controller.listener.names", "C")
    return own if rng.random() < 0.6 else rng.choice(NAMES)


def _put(lines: list[Line], key: str, value: str) -> None:
    """Instead of the last line with the key, or at the end."""
    for at in reversed(range(len(lines))):
        if lines[at][0] == key:
            lines[at] = (key, value)
            return
    lines.append((key, value))


CHANGES: Final[list[Callable[[random.Random, list[Line]], None]]] = [
    *(
        _drop,
        _add,
        _add,
        _add,
        _add,
        _add_good,
        _add_good,
        _add_good,
        _change,
        _change,
        _repeat,
        _relate,
        _relate,
        _listen,
    ),
    *(_name_listeners, _map, _vote, _bootstrap, _limit, _secure_brokers),
]


def _written(rng: random.Random, key: str, value: str) -> bytes:
    """One line, with what the syntax allows here and there."""
    shown = escaped(value)
    if shown[:1] == " ":
        shown = rng.choice(("\\", "")) + shown
    line = f"{key}{rng.choice(('=', '=', '=', ' = ', ': ', ' '))}{shown}"
    return f"{rng.choice((*PLAIN_STYLE, *STYLES)).format(line=line, first=line[:5], rest=line[5:])}\n".encode(
        "ascii"
    )


PLAIN_STYLE: Final = ("{line}",) * 20
STYLES: Final = (
    "  {line}",
    "\t{line}",
    "{first}\\\n   {rest}",
    "# {line}\n{line}",
    "!x\n\n{line}",
    "{line}\r",
    "\f{line}",
)
"""Blanks, continued lines, comments, ends of lines."""
