"""No text of kraftctl is a sentence of Kafka's: five words in a row that stand in its jars are too many.

A few do stay, as programs compare them; each is named below with what compares it.
"""

from __future__ import annotations

import ast
import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.processes.kafka import kafka

ROOT: Final = Path(__file__).parent.parent

PRODUCT: Final = ("kraftctl", "protocol", "spark")

JARS: Final = (
    "kafka-clients", "kafka-metadata", "kafka-server", "kafka-server-common", "kafka-raft", "kafka_2.13",
    "kafka-storage", "kafka-tools", "kafka-group-coordinator",
)  # fmt: skip

WORDS_IN_A_ROW: Final = 5

ADMIN = "PlaintextAdminIntegrationTest"
CONFIGS = "ConfigCommandIntegrationTest"
FEATURES = "FeatureCommandTest"
POLICY = "CreateTopicsRequestWithPolicyTest"

COMPARED: Final[dict[str, str]] = {
    "Can't {} to key {} because its type is not LIST.": ADMIN,
    "String must be one of: {}": ADMIN,
    "Value must be no more than {}": ADMIN,
    "{} must be greater than or equal to {}": CONFIGS,
    "{} must be less than or equal to {}": CONFIGS,
    "Null value not supported for topic configs: {}": ADMIN,
    "The update failed for all features since the following feature had an error: ": FEATURES,
    "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe"
    " downgrade.": FEATURES,
    "Can't downgrade to a newer version.": FEATURES,
    "{} does not support this feature.": "BootstrapControllersIntegrationTest",
    "Unsafe metadata downgrade is not supported in this version.": FEATURES,
    "Refusing to perform the requested downgrade because it might delete metadata information.": FEATURES,
    "The topic {} currently has {} partition(s); {} would not be an increase.": ADMIN,
    "Attempted to add {} additional partition(s), but only {} assignment(s) were specified.": ADMIN,
    "Excessively large number of partitions per request.": "KRaftClusterTest",
    "Replication factor must be larger than 0, or -1 to use the default value.": POLICY,
    "Number of partitions was set to an invalid non-positive value.": POLICY,
    "Unable to replicate the partition {} time(s): {}": POLICY,
    "The target replication factor of {} cannot be reached because only {} broker(s) are registered or some"
    " brokers have all their log directories cordoned.": POLICY,
    "partitions should be a consecutive 0-based integer sequence": "AddPartitionsTest",
    "The replication factor is changed from {} to {}": "ReassignPartitionsCommandTest",
    "The manual partition assignment includes broker {}, but no such broker is registered.": ADMIN,
    "The manual partition assignment includes the broker {} more than once.": ADMIN,
    "The manual partition assignment includes a partition with {} replica(s), but this is not consistent"
    " with previous partitions, which have {} replica(s).": ADMIN,
    "The current metadata.version does not support SCRAM": "AlterUserScramCredentialsRequestTest",
    "Username must not be empty": "AlterUserScramCredentialsRequestTest",
}
"""Texts of Kafka's that stay, with the one of Kafka's integration tests that expects them of a controller."""

HOLE = "{}"

WORD: Final = re.compile(r"[^\W_]+(?:['._-][^\W_]+)*")

KAFKAS_HOLES: Final = re.compile(r"[\x01\x02]|%[-\d.,]*[a-zA-Z]|\{[^{}]*\}")
"""Of string concatenation, String.format, and log4j."""

OUR_HOLES: Final = re.compile(r"\{\}|%[-\d.]*[a-zA-Z]")

SIZES: Final = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 15: 4, 16: 3, 19: 3, 20: 3}
"""Bytes of an entry of a constant pool by its tag (JVM specification 4.4); all others have five."""

UTF8, LONG, DOUBLE = 1, 5, 6

Run = tuple[str, ...]


def runs(text: str, holes: re.Pattern[str]) -> Iterator[Run]:
    """Each five words in a row; a value between two words ends a row."""
    for part in holes.split(text):
        words = [word.lower() for word in WORD.findall(part)]
        for start in range(len(words) - WORDS_IN_A_ROW + 1):
            yield tuple(words[start : start + WORDS_IN_A_ROW])


def constants(pool: bytes) -> Iterator[bytes]:
    """The texts in a class file that have enough words."""
    (count,) = struct.unpack_from(">H", pool, 8)
    at, index = 10, 1
    while index < count:
        tag = pool[at]
        if tag == UTF8:
            end = at + 3 + (pool[at + 1] << 8) + pool[at + 2]
            if pool.count(b" ", at, end) >= WORDS_IN_A_ROW - 1:
                yield pool[at + 3 : end]
            at = end
        else:
            at += SIZES.get(tag, 5)
            index += tag in (LONG, DOUBLE)
        index += 1


def kafkas_runs() -> set[Run]:
    found: set[Run] = set()
    for jar in kafka().classpath.split(":"):
        if re.sub(r"-[\d.]+\.jar$", "", Path(jar).name) not in JARS:
            continue
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    for text in constants(archive.read(name)):
                        found.update(runs(text.decode(errors="replace"), KAFKAS_HOLES))
    return found


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a module by line; values in them are {}. Docstrings are none."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            parts = [part.value if isinstance(part, ast.Constant) else HOLE for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def our_texts() -> Iterator[tuple[str, str]]:
    """Place and text."""
    for folder in PRODUCT:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "generated" not in file.parts:
                for line, text in texts_of(file.read_text()):
                    yield f"{file.relative_to(ROOT)}:{line}", text


@pytest.fixture(scope="module")
def repeated() -> dict[str, str]:
    """Our texts of which five words in a row stand in Kafka's jars: place by text."""
    kafkas = kafkas_runs()
    return {
        text: place
        for place, text in our_texts()
        if text.count(" ") >= WORDS_IN_A_ROW - 1 and not kafkas.isdisjoint(runs(text, OUR_HOLES))
    }


def test_no_text_repeats_kafkas(repeated: dict[str, str]) -> None:
    unnamed = {place: text for text, place in repeated.items() if text not in COMPARED}
    assert unnamed == {}, "say it in our own words: what happened, to what, next step (docs/style.md)"


def test_each_text_that_stays_is_still_used(repeated: dict[str, str]) -> None:
    assert [text for text in COMPARED if text not in repeated] == []


def test_a_repeated_sentence_is_found() -> None:
    kafkas = set(runs("The topic \x01 currently has \x01 partitions in all of the cluster %s", KAFKAS_HOLES))
    source = 'f"{x} partitions in all of {y}"\nz = f"of {x} partitions in all " "of the cluster"\n'
    found = [text for _, text in texts_of(source) if not kafkas.isdisjoint(runs(text, OUR_HOLES))]
    assert found == ["of {} partitions in all of the cluster"]
