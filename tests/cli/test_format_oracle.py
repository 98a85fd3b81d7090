"""`kraftctl format` ends as kafka-storage does: each kind of wrong argument, and what is right."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.initial_controllers import parse_initial_controllers
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.uuids import uuid_to_string
from tests.cli.storage_oracle import OK, kafkas_verdicts
from tests.support.effort import FIRST_SEED, scaled

CLUSTER_ID = "V50AZlDfQ6SyNYSsdWVE0A"
ONE, TWO = "bGzDaR4ySNmJaPXzonU2CA", "TzUHEs1aSdqvjJVJ7jWF2w"
VOTER = f"1@localhost:9093:{ONE}"
SCRAM = "SCRAM-SHA-256=[name=a,password=b]"


def of_number(number: int) -> str:
    return uuid_to_string(number.to_bytes(16, "big"))


RESERVED = tuple(of_number(number) for number in (0, 1, 2, 3, 50, 98, 99))
NOT_RESERVED = tuple(of_number(number) for number in (100, 101, 256, 1 << 64, (1 << 128) - 1))

ACCEPTED_BY_KAFKA = {
    **{f"1@localhost:9093:{each}": "reserved: no directory may have it" for each in RESERVED},
    f"1@:9093:{ONE}": "without a host, others connect to themselves",
    f"1@[]:9093:{ONE}": "the same",
}
"""Voters that are refused here, and why."""

IDS = (
    "0",
    "1",
    "2147483647",
    "2147483648",
    "-1",
    "+1",
    "01",
    "",
    " ",
    "x",
    "1.0",
    "1_0",
    " 1",
    "1 ",
    "١",
    "²",
)
PORTS = ("0", "1", "65535", "65536", "-1", "+9093", "09093", "", " ", "x", " 9093", "9093 ", "9_093", "٩٠٩٣")
HOSTS = ("127.0.0.1", "[::1]", "::1", "[::1", "::1]", "[]", "", "[127.0.0.1]", "[::1]x", "127.0.0.1@")
DIRECTORY_IDS = (
    *(*RESERVED, *NOT_RESERVED, "", ONE[:-1], f"{ONE}A", f"{ONE}=", f"{ONE}==", f"{ONE}===", f"={ONE}"),
    *(f" {ONE}", f"{ONE} ", "x", "A" * 22, "_" * 22, "-" * 22, "+" * 22, "/" * 22, "A" * 21 + "B", "é" * 22),
    *("6c6cc369-1e32-48d9-8968-f5f3a2753608", "!" * 22, f"{ONE}:", f":{ONE}", "AAAAAAAAAAAAAAAAAAAAA=="),
)
LISTS = (
    *("", " ", ",", ",,", " , ", f",{VOTER}", f"{VOTER},", f"{VOTER}, ", f" {VOTER} ", f"{VOTER},,{VOTER}"),
    *(
        f"{VOTER},2@localhost:9094:{TWO}",
        f"{VOTER} , 2@localhost:9094:{TWO}",
        f"{VOTER},2@localhost:9093:{TWO}",
    ),
    *(
        f"{VOTER},1@localhost:9094:{TWO}",
        f"{VOTER},2@localhost:9094:{ONE}",
        f"{VOTER};2@localhost:9094:{TWO}",
    ),
    *(f"2@localhost:9094:{TWO},{VOTER}", f"{VOTER},2", f"\t{VOTER}\n", f"\u00a0{VOTER}", f"{VOTER},\u2003"),
    *(
        "1",
        "1@",
        "@",
        "1@localhost",
        "1@localhost:",
        "1@localhost:9093",
        "1@localhost:9093:",
        f"1@localhost:{ONE}",
    ),
    *(f"localhost:9093:{ONE}", f"@localhost:9093:{ONE}", f"1@@localhost:9093:{ONE}", f"1@localhost::{ONE}"),
    *(
        f"1@localhost:9093@{ONE}",
        f"1-localhost:9093:{ONE}",
        "1@localhost:9093",
        f"CONTROLLER://1@localhost:9093:{ONE}",
    ),
)


def voters_cases() -> list[str]:
    found = [*LISTS, *ACCEPTED_BY_KAFKA]
    found += [f"{each}@localhost:9093:{ONE}" for each in IDS]
    found += [f"1@{each}:9093:{ONE}" for each in HOSTS]
    found += [f"1@localhost:{each}:{ONE}" for each in PORTS]
    found += [f"1@localhost:9093:{each}" for each in DIRECTORY_IDS]
    rng = random.Random(FIRST_SEED)
    for _ in range(scaled(300)):
        parts = [
            rng.choice(("", " ")),
            rng.choice(IDS[:3] * 4 + IDS),
            "@",
            rng.choice(HOSTS[:2] * 4 + HOSTS),
            ":",
        ]
        parts += [rng.choice(PORTS[:3] * 4 + PORTS), ":", rng.choice((ONE, TWO) * 9 + DIRECTORY_IDS)]
        if rng.random() < 0.2:
            parts[rng.randrange(len(parts))] = ""
        found.append("".join(parts) + rng.choice(("", "", f",2@localhost:9094:{TWO}")))
    return found


def our_voters(text: str) -> str:
    try:
        voters = parse_initial_controllers(text, "CONTROLLER")
    except StorageError as error:
        return f"refused: {error}"
    found = []
    for node in voters.nodes.values():
        host, port = node.endpoints["CONTROLLER"]
        host = f"[{host}]" if ":" in host else host
        found.append(f"{node.key.id}@{host}:{port}:{uuid_to_string(node.key.directory_id)}")
    return f"{OK} {','.join(found)}"


@pytest.mark.java
def test_every_verdict_of_initial_controllers_is_kafkas() -> None:
    cases = voters_cases()
    accepted = stricter = 0
    for text, theirs in zip(cases, kafkas_verdicts("voters", [[each] for each in cases]), strict=True):
        ours = our_voters(text)
        if theirs.startswith(OK) and ours.startswith("refused"):
            stricter += 1
            assert text in ACCEPTED_BY_KAFKA or any(reason in ours for reason in STRICTER), (
                text,
                ours,
                theirs,
            )
        elif theirs.startswith(OK):
            accepted += 1
            assert ours == theirs, text
        else:
            assert ours.startswith("refused"), (text, theirs)
    assert accepted > 50
    assert stricter > len(ACCEPTED_BY_KAFKA)


STRICTER = ("is reserved", "no host")


@pytest.mark.parametrize("directory_id", RESERVED)
def test_a_reserved_directory_id_is_refused(directory_id: str) -> None:
    with pytest.raises(
        StorageError, match=f"{directory_id} is reserved, .* Next step: .* `kraftctl random-uuid`"
    ):
        parse_initial_controllers(f"{VOTER},2@localhost:9094:{directory_id}", "CONTROLLER")


@pytest.mark.parametrize("directory_id", NOT_RESERVED)
def test_the_next_directory_ids_are_not(directory_id: str) -> None:
    assert parse_initial_controllers(f"1@localhost:9093:{directory_id}", "CONTROLLER").voter_ids() == [1]


DYNAMIC = "controller.quorum.bootstrap.servers=localhost:9093"
STATIC = "controller.quorum.voters=1@localhost:9093"

S, C, T = ["-s"], ["-c", "CONFIG"], ["-t", CLUSTER_ID]


def _dynamic() -> list[list[str]]:
    """For a controller without controller.quorum.voters."""
    found = [
        [*C, *T],
        [*C, *T, "-s"],
        [*C, *T, "-N"],
        [*C, *T, "-I", VOTER],
        [*T, "-s"],
        [*C, "-s"],
        ["-s"],
        [],
    ]
    found += [
        [*C, *T, *more] for more in (["-s", "-N"], ["-s", "-I", VOTER], ["-N", "-I", VOTER], ["-s", "-s"])
    ]
    found += [[*C, *T, "-I", each] for each in ("", ",", VOTER.replace("@", "-"), f"{VOTER},{VOTER}")]
    found += [[*C, *T, "-I"], [*C, *T, "-I", VOTER, "-I", VOTER], [*C, "-s", "-t"], ["-s", *T, "-c"]]
    found += [
        ["-c", "MISSING", *T, "-s"],
        ["-c", "DIRECTORY", *T, "-s"],
        [*C, *C, *T, "-s"],
        [*C, *T, *T, "-s"],
    ]
    found += [
        [*C, *T, "-s", more] for more in ("--nope", "-x", "extra", "--", "-h", "--help", "-g", "--standalone")
    ]
    found += [
        [*C, *T, flag] for flag in ("--stand", "--standalone", "--no-initial-controllers", "--s", "--no")
    ]
    found += [
        [*C, *T, f"--initial-controllers={VOTER}"],
        [*C, *T, f"-I{VOTER}"],
        [*C, *T, "-sg"],
        [*C, *T, "-gs"],
    ]
    found += [
        ["--config", "CONFIG", "--cluster-id", CLUSTER_ID, "-s"],
        [*C, f"--cluster-id={CLUSTER_ID}", "-s"],
    ]
    found += [[*C, "-t", each, "-s"] for each in ("", " ", "x", "-x", "--x", "a b", "é", "A" * 100)]
    releases = (
        "4.3",
        "4.3.1",
        "4.3-IV0",
        "3.3",
        "3.3-IV3",
        "3.3-IV2",
        "3.2",
        "9.9",
        "",
        " 4.3",
        "4.3 ",
        "4",
        "4.",
    )
    later = (
        "4.3.",
        "4.3..",
        "4.3.x",
        "4.3.1.2",
        "4.3-IV1",
        "4.4",
        "4.4-IV0",
        "4.3-iv0",
        "v4.3",
        "30",
        "latest",
        ".",
    )
    found += [[*C, *T, "-s", "-r", each] for each in (*releases, *later)]
    found += [[*C, *T, "-s", "-r"], [*C, *T, "-s", "-r", "4.3", "-r", "4.2"], [*C, *T, "-s", "-r", "-f"]]
    found += [[*C, *T, "-s", "-f", each] for each in _features()]
    found += [[*C, *T, "-s", "-f"], [*C, *T, "-s", "-f", "group.version=1", "-f", "group.version=0"]]
    found += [[*C, *T, "-s", "-f", "group.version=x", "-f", "group.version=0"]]
    found += [[*C, *T, "-s", "-f", "group.version=1", "share.version=1"]]
    found += [
        [*C, *T, "-s", "-r", "4.3", "-f", "metadata.version=30"],
        [*C, *T, "-s", "-r", "3.9", "-f", "group.version=1"],
    ]
    found += [[*C, *T, "-s", "-r", "3.9", "-f", "eligible.leader.replicas.version=1"]]
    found += [
        [*C, *T, "-s", "-r", "3.8", "-f", "kraft.version=1"],
        [*C, *T, "-s", "-r", "3.3", "-f", "kraft.version=1"],
    ]
    found += [
        [*C, *T, "-s", "-S", each]
        for each in (SCRAM, "", "x", SCRAM.replace("=b", "="), SCRAM.replace("=a", "="))
    ]
    found += [
        [*C, *T, "-s", "-S"],
        [*C, *T, "-s", "-S", SCRAM, "-S", SCRAM],
        [*C, *T, "-s", "-S", SCRAM, "-S", "x"],
    ]
    found += [
        [*C, *T, "-s", "-r", "3.4", "-S", SCRAM],
        [*C, *T, "-s", "-r", "3.5", "-S", SCRAM],
        [*C, *T, "-s", "-r", "3.4", "-S", "x"],
    ]
    return found


def _features() -> list[str]:
    names = ("kraft.version", "group.version", "transaction.version", "share.version", "streams.version")
    found = [f"{name}={level}" for name in names for level in ("0", "1", "2", "3", "-1")]
    found += [
        f"metadata.version={level}" for level in ("0", "1", "6", "7", "21", "30", "31", "99", "-1", "4.3")
    ]
    found += [
        f"group.version={level}"
        for level in ("", "x", "+1", " 1 ", "1_0", "65537", "99999", "1.0", "01", "١")
    ]
    found += [
        "nope=1",
        "nope=0",
        "=1",
        "group.version",
        "",
        "=",
        "Group.version=1",
        " group.version =1",
        "group.version==1",
    ]
    return [
        *found,
        "group.version=1,share.version=1",
        "eligible.leader.replicas.version=1",
        "group.version:1",
    ]


def _static() -> list[list[str]]:
    """For one with controller.quorum.voters."""
    flags: tuple[list[str], ...] = (
        [],
        ["-s"],
        ["-N"],
        ["-I", VOTER],
        ["-I", ""],
        ["-s", "-N"],
        ["-N", "-g"],
        ["-f", "kraft.version=0"],
    )
    return [[*C, *T, *more] for more in (*flags, ["-f", "kraft.version=1"], ["-N", "-f", "kraft.version=1"])]


REFUSED: dict[str, Callable[[list[str]], bool]] = {
    "--cluster-id must not be empty": lambda words: words[words.index("-t") + 1] in ("", " "),
}
"""Our sentence where Kafka formats, and of which arguments."""


@pytest.mark.java
def test_format_ends_as_kafka_storage_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [(DYNAMIC, words) for words in _dynamic()] + [(STATIC, words) for words in _static()]
    theirs = kafkas_verdicts(
        "format", [_words(tmp_path / f"kafka{n}", *case) for n, case in enumerate(cases)]
    )
    formatted, different = 0, []
    for number, (case, verdict) in enumerate(zip(cases, theirs, strict=True)):
        words = _words(tmp_path / f"kraftctl{number}", *case)
        try:
            status: object = main(words)
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr().err
        assert status in (0, 1), case
        formatted += status == 0
        if any(text in printed and of(words) for text, of in REFUSED.items()):
            assert verdict == OK, case
        elif (status == 0) != (verdict == OK):
            different.append((case, status, printed[-200:], verdict))
        assert printed or status == 0, case
    assert not different, "\n".join(map(str, different))
    assert len(cases) - 50 > formatted > 40


def _words(root: Path, quorum: str, words: list[str]) -> list[str]:
    root.mkdir()
    config = root / "controller.properties"
    config.write_text(
        "process.roles=controller\nnode.id=1\nlisteners=CONTROLLER://localhost:9093\n"
        f"controller.listener.names=CONTROLLER\nlog.dirs={root / 'a'},{root / 'b'}\n{quorum}\n"
    )
    places = {"CONFIG": str(config), "MISSING": str(root / "missing"), "DIRECTORY": str(root)}
    return ["format", *(places.get(word, word) for word in words)]
