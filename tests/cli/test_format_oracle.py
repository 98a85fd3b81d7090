"""`kraftctl format` ends as kafka-storage does: each kind of wrong argument, and what is right."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.initial_controllers import parse_initial_controllers
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.uuids import uuid_to_string
from tests.cli.storage_oracle import OK, storage_verdicts
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
    for text, theirs in zip(cases, storage_verdicts("voters", [[each] for each in cases]), strict=True):
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

C, T = "-c CONFIG", f"-t {CLUSTER_ID}"

QUORUMS = f"""
{C} {T}\n{C} {T} -s\n{C} {T} -N\n{C} {T} -I {VOTER}\n{T} -s\n{C} -s\n-s
{C} {T} -s -N\n{C} {T} -s -I {VOTER}\n{C} {T} -N -I {VOTER}\n{C} {T} -s -s
{C} {T} -I ""\n{C} {T} -I ,\n{C} {T} -I {VOTER},{VOTER}\n{C} {T} -I 1-localhost:9093:{ONE}\n{C} {T} -I
{C} {T} -I {VOTER} -I {VOTER}\n{C} {T} --initial-controllers={VOTER}\n{C} {T} -I{VOTER}
"""

FLAGS = f"""
{C} -s -t\n-s {T} -c\n-c MISSING {T} -s\n-c DIRECTORY {T} -s\n{C} {C} {T} -s\n{C} {T} {T} -s
{C} {T} -s --nope\n{C} {T} -s -x\n{C} {T} -s extra\n{C} {T} -s --\n{C} {T} -s -h\n{C} {T} -s --help
{C} {T} -s -g\n{C} {T} -s --standalone\n{C} {T} --stand\n{C} {T} --standalone\n{C} {T} --s\n{C} {T} --no
{C} {T} --no-initial-controllers\n{C} {T} -sg\n{C} {T} -gs\n--config CONFIG --cluster-id {CLUSTER_ID} -s
{C} --cluster-id={CLUSTER_ID} -s\n{C} -t "" -s\n{C} -t " " -s\n{C} -t x -s\n{C} -t -x -s\n{C} -t --x -s
{C} -t "a b" -s\n{C} -t é -s\n{C} -t {"A" * 100} -s\n{C} {T} -s -- extra\n{C} {T} -s extra --
"""

RELEASES = """
4.3\n4.3.1\n4.3-IV0\n3.3\n3.3-IV3\n3.3-IV2\n3.2\n9.9\n""\n" 4.3"\n"4.3 "\n4\n4.\n4.3.\n4.3..\n4.3.x
4.3.1.2\n4.3-IV1
4.4\n4.4-IV0\n4.4-IV2\n4.4.0\n4.5\n4.5-IV0\n4.3-iv0\nv4.3\n30\nlatest\n.
4.3 -r 4.2\n4.3 -f metadata.version=30
3.9 -f group.version=1\n3.9 -f eligible.leader.replicas.version=1\n3.8 -f kraft.version=1
3.3 -f kraft.version=1\n-f
"""
"""Behind -r."""

FEATURES = """
metadata.version=0\nmetadata.version=6\nmetadata.version=7\nmetadata.version=21\nmetadata.version=30
metadata.version=31\nmetadata.version=33\nmetadata.version=34\nmetadata.version=99\nmetadata.version=-1\nmetadata.version=4.3\ngroup.version=
group.version=x\ngroup.version=+1\n"group.version= 1 "\ngroup.version=1_0\ngroup.version=65537
group.version=99999\ngroup.version=1.0\ngroup.version=01\ngroup.version=١\nnope=1\nnope=0\n=1\ngroup.version
""\n=\nGroup.version=1\n" group.version =1"\ngroup.version==1\ngroup.version=1,share.version=1
eligible.leader.replicas.version=1\ngroup.version:1\ngroup.version=1 -f group.version=0
group.version=x -f group.version=0\ngroup.version=1 share.version=1
"""
"""Behind -f."""

LEVELS = [
    f"{name}.version={level}"
    for name in ("kraft", "group", "transaction", "share", "streams")
    for level in ("0", "1", "2", "3", "-1")
]

CREDENTIALS = f"""
{SCRAM}\n""\nx\nSCRAM-SHA-256=[name=a,password=]\nSCRAM-SHA-256=[name=,password=b]\n{SCRAM} -S {SCRAM}
{SCRAM} -S x\n{SCRAM} -r 3.4\n{SCRAM} -r 3.5\nx -r 3.4
"""
"""Behind -S."""

OF_STATIC_VOTERS = f"""
-g\n-s\n-N\n-I {VOTER}\n-I ""\n-s -N\n-N -g\n-f kraft.version=0\n-f kraft.version=1\n-N -f kraft.version=1
"""


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def format_cases() -> list[tuple[str, list[str]]]:
    """A line of the properties file, and the words of a command."""
    found = ["", *lines(QUORUMS), *lines(FLAGS), *(f"{C} {T} -s {flag}" for flag in ("-r", "-f", "-S"))]
    found += [f"{C} {T} -s -r {each}" for each in lines(RELEASES)]
    found += [f"{C} {T} -s -f {each}" for each in (*lines(FEATURES), *LEVELS)]
    found += [f"{C} {T} -s -S {each}" for each in lines(CREDENTIALS)]
    static = [f"{C} {T} {each}" for each in lines(OF_STATIC_VOTERS)]
    return [(DYNAMIC, shlex.split(each)) for each in found] + [(STATIC, shlex.split(each)) for each in static]


REFUSED: dict[str, Callable[[list[str]], bool]] = {
    "--cluster-id must not be empty": lambda words: words[words.index("-t") + 1] in ("", " "),
}
"""Our sentence where Kafka formats, and of which arguments."""


@pytest.mark.java
def test_format_ends_as_kafka_storage_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = format_cases()
    theirs = storage_verdicts(
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


@pytest.mark.parametrize(
    "words",
    [
        ["--nope"],
        [],
        ["-t", "x"],
        ["-c", "x"],
        ["-c"],
        ["-c", "x", "-t", "x", "-s", "-N"],
        ["extra"],
        ["-s", "-I"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_of_format_end_with_kafkas_status(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["format", *words])
    assert end.value.code == 1


def test_an_empty_name_is_formatted_as_by_kafka_and_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = _words(tmp_path / "node", DYNAMIC, shlex.split(f"{C} {T} -s -S SCRAM-SHA-256=[name=,password=b]"))
    assert main(words) == 0
    assert "'name' value is empty" in capsys.readouterr().err
