"""kraftctl starts the metadata log with the records that kafka-storage of 4.3.1 and 4.4.0 formatted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from tests.support.partitions import open_partition
from tests.support.processes.kafka import (
    JavaController,
    KraftctlController,
    await_result,
    dump_log,
    kafka,
    random_id,
)
from tests.support.wire.controller_client import ControllerClient

pytestmark = [pytest.mark.interop, pytest.mark.slow]

NODE_ID = 3000
SCRAM = "SCRAM-SHA-512=[name=alice,password=alice-secret]"
RECORD = re.compile(r"^\| offset: \d+ .* payload: (\{.*\})$", re.MULTILINE)
ASKED_FOR = ("FEATURE_LEVEL_RECORD", "USER_SCRAM_CREDENTIAL_RECORD")
ZERO_CHECKPOINT = "00000000000000000000-0000000000.checkpoint"
KAFKA_4_4 = "4.4.0"
QUORUMS = ("standalone", "initial-controllers", "static")
CASES = [(release, quorum) for release in ("4.3.1", KAFKA_4_4) for quorum in QUORUMS]


class FormattedByKafka(JavaController):
    """Kafka's controller, whose directory is formatted with a SCRAM user."""

    def format_flags(self) -> list[str]:
        return [*super().format_flags(), "--add-scram", SCRAM]


def formatted(
    directory: Path, release: str, quorum: str, release_version: str | None = "3.9"
) -> FormattedByKafka:
    """A directory that kafka-storage of `release` has formatted for a quorum of one."""
    java = FormattedByKafka(
        kafka(release),
        NODE_ID,
        directory,
        random_id(),
        dynamic=quorum != "static",
        release_version=release_version,
    )
    if quorum == "initial-controllers":
        java.initial_controllers = f"{NODE_ID}@localhost:{java.port}:{random_id()}"
    java.format()
    return java


def kraftctl_in(java: JavaController) -> KraftctlController:
    """kraftctl in the directory of a Java controller, on its port."""
    return KraftctlController(NODE_ID, java.directory, java.cluster_id, dynamic=java.dynamic, port=java.port)


def records_asked_for(files: list[Path]) -> list[list[dict]]:
    """Features and users in each of the files, as kafka-dump-log prints them."""
    _, *dumped = dump_log(*files).split("Dumping ")
    assert len(dumped) == len(files)
    records = [[json.loads(payload) for payload in RECORD.findall(text)] for text in dumped]
    return [[record for record in of_file if record["type"] in ASKED_FOR] for of_file in records]


def bootstrap_file(java: JavaController) -> Path:
    """Where kafka-storage has put the bootstrap records, under a name that kafka-dump-log takes."""
    if java.kafka.version == KAFKA_4_4:
        assert not (java.log_directory / "bootstrap.checkpoint").exists()
        return java.metadata_directory / ZERO_CHECKPOINT
    renamed = java.directory / "00000000000000000000-0000000001.checkpoint"
    renamed.write_bytes((java.log_directory / "bootstrap.checkpoint").read_bytes())
    return renamed


def finalized_metadata_version(port: int) -> int | None:
    """What ApiVersions of the controller answers; None before it is committed."""
    with ControllerClient(port) as client:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        response = client.call(request, 4, ApiVersionsResponse)
    levels = {feature.name: feature.max_version_level for feature in response.finalized_features}
    return levels.get("metadata.version")


@dataclass
class Outcome:
    """What kafka-storage has put where, and what became of it."""

    asked_for: list[dict]
    written: list[dict]
    finalized: int


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Outcome]:
    """kraftctl has run in each of the directories; one run of kafka-dump-log reads them all."""
    files: list[Path] = []
    finalized: dict[tuple[str, str], int] = {}
    for release, quorum in CASES:
        java = formatted(tmp_path_factory.mktemp(quorum), release, quorum)
        ours = kraftctl_in(java)
        ours.start()
        level = await_result(partial(finalized_metadata_version, ours.port), "features are finalized")
        ours.stop()
        finalized[release, quorum] = level
        files += [bootstrap_file(java), *java.metadata_directory.glob("*.log")]
    records = records_asked_for(files)
    return {
        case: Outcome(asked_for, written, finalized[case])
        for case, asked_for, written in zip(CASES, records[::2], records[1::2], strict=True)
    }


@pytest.mark.prevents("newer-bootstrap-layout")
@pytest.mark.parametrize(("release", "quorum"), CASES)
def test_begins_with_what_was_asked_for(
    outcomes: dict[tuple[str, str], Outcome], release: str, quorum: str
) -> None:
    outcome = outcomes[release, quorum]
    assert [record["type"] for record in outcome.asked_for] == list(ASKED_FOR)
    assert outcome.written == outcome.asked_for
    assert outcome.finalized == outcome.asked_for[0]["data"]["featureLevel"]


def test_starts_with_the_default_of_4_4(tmp_path: Path) -> None:
    """metadata.version 4.4-IV2."""
    ours = kraftctl_in(formatted(tmp_path, KAFKA_4_4, "standalone", None))
    ours.start()
    assert await_result(partial(finalized_metadata_version, ours.port), "features are finalized") == 33
    ours.stop()


def test_takes_over_from_a_controller_of_4_4_and_gives_back(tmp_path: Path) -> None:
    """Formatted by kraftctl; every turn is an epoch of its own, and nothing needs repair."""
    cluster_id = random_id()
    ours = KraftctlController(NODE_ID, tmp_path, cluster_id, dynamic=False)
    java = JavaController(kafka(KAFKA_4_4), NODE_ID, tmp_path, cluster_id, dynamic=False, port=ours.port)
    ours.format()
    for epoch, node in enumerate([java, ours, java], start=1):
        node.start()
        if node is ours:
            await_result(partial(finalized_metadata_version, ours.port), "features are finalized")
        node.stop()
        partition = open_partition(node.log_directory)
        assert [one for one, _ in partition.log.epochs] == list(range(1, epoch + 1))
        assert partition.warnings + partition.notices == []
        partition.close()
