"""A round: fresh controllers, and calls on both until there are enough, or their logs have parted."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution
from tests.differential.call import ANSWERED, CLOSED, SILENT, Call, Response
from tests.differential.calls.chooser import Chooser
from tests.differential.calls.mix import next_calls
from tests.differential.compare import Difference, compared_records, compared_responses
from tests.differential.known import KnownDifferences
from tests.differential.names import Normaliser
from tests.differential.picture import Picture
from tests.differential.schemas import Schemas
from tests.differential.sides import Pair, Setting

NOT_CONTROLLER = 41
UNKNOWN_SERVER_ERROR = -1
LATER_SECONDS = 0.4


@dataclass
class Judge:
    """What every round needs: Kafka, its schemas, its texts, and the differences that are known."""

    kafka: KafkaDistribution
    schemas: Schemas
    standard_texts: dict[int, str]
    known: KnownDifferences


@dataclass
class Find:
    """Differences of the last of these calls."""

    setting: Setting
    calls: list[Call]
    differences: list[Difference]


@dataclass
class Outcome:
    """What a round had."""

    setting: Setting
    calls: list[Call] = field(default_factory=list)
    finds: list[Find] = field(default_factory=list)
    ended_by: str = ""


class Round:
    """A pair of controllers, and the calls that were made."""

    def __init__(self, judge: Judge, setting: Setting, directory: Path) -> None:
        self._judge = judge
        self.pair = Pair(setting, judge.kafka, judge.schemas, directory)
        self._normalisers = tuple(Normaliser(side.names, judge.standard_texts) for side in self.pair.sides)
        self.picture = Picture()
        self.versions: dict[str, tuple[int, int]] = {}
        self.java_failed = ""

    def start(self) -> list[Difference]:
        """Returns how they differ before the first call."""
        self.pair.start()
        found = self._compared_logs("start", self.pair.quiet())
        found += self._differences(Call("ApiVersions", 0))
        response = self._ask(Call("ApiVersions", 0))[0]
        assert response.body is not None
        for each in response.body["ApiKeys"]:
            if each["ApiKey"] in self._judge.schemas.requests:
                name = self._judge.schemas.api_name(each["ApiKey"])
                self.versions[name] = (each["MinVersion"], each["MaxVersion"])
        epochs = Call("DescribeQuorum", 0, {"Topics": [QUORUM]})
        for side, response in zip(self.pair.sides, self._ask(epochs), strict=True):
            assert response.body is not None
            side.names.leader_epoch = response.body["Topics"][0]["Partitions"][0]["LeaderEpoch"]
        return found

    def make(self, call: Call) -> list[Difference]:
        """Makes one call on both, and returns how they differ."""
        found = self._differences(call)
        records = self._records(call)
        for record in records[0]:
            self.picture.replay(record)
        return found + self._compared_logs(call.api, records)

    def _differences(self, call: Call) -> list[Difference]:
        responses = self._ask(call)
        self._note_failure(call, responses[0])
        return compared_responses(call, responses, self._both_normalisers)

    def _ask(self, call: Call) -> tuple[Response, Response]:
        java, ours = self.pair.sides
        java.send(call)
        ours.send(call)
        return java.receive(call), ours.receive(call)

    def _note_failure(self, call: Call, java: Response) -> None:
        if java.status == SILENT:
            self.java_failed = f"Kafka does not answer {call.api}"
        elif java.status == ANSWERED and java.body is not None and java.body.get("ErrorCode") == NOT_CONTROLLER:
            self.java_failed = f"Kafka's controller has resigned, {call.api}"

    @property
    def _both_normalisers(self) -> tuple[Normaliser, Normaliser]:
        java, ours = self._normalisers
        return java, ours

    def _records(self, call: Call):  # type: ignore[no-untyped-def]
        java, ours = self.pair.sides
        records = (java.controller_records(), ours.controller_records())
        if call.api == "UpdateFeatures" or _shape(records[0]) != _shape(records[1]):
            later = self.pair.quiet()
            records = (records[0] + later[0], records[1] + later[1])
        return records

    def _compared_logs(self, api, records) -> list[Difference]:  # type: ignore[no-untyped-def]
        return compared_records(api, records, self._both_normalisers)


def _shape(records) -> list[str]:  # type: ignore[no-untyped-def]
    return [each.name for each in records]


QUORUM = {"TopicName": "__cluster_metadata", "Partitions": [{"PartitionIndex": 0}]}


def run_round(judge: Judge, setting: Setting, chance: random.Random, most: int) -> Outcome:
    """Makes up to `most` random calls."""
    outcome = Outcome(setting)
    with tempfile.TemporaryDirectory(prefix="differential-") as directory:
        this = Round(judge, setting, Path(directory))
        try:
            found = this.start()
            for record in this.pair.java.seen:
                this.picture.replay(record)
            _note(outcome, judge, [], found)
            pick = Chooser(chance, this.picture, this.versions)
            while len(outcome.calls) < most and not outcome.ended_by:
                for call in next_calls(pick, judge.schemas):
                    outcome.calls.append(call)
                    found = _note(outcome, judge, outcome.calls, this.make(call))
                    if this.java_failed:
                        outcome.ended_by = this.java_failed
                    elif any(each.in_the_log for each in found):
                        outcome.ended_by = "their logs have parted"
                    if outcome.ended_by:
                        break
        finally:
            this.pair.stop()
    return outcome


def _note(outcome: Outcome, judge: Judge, calls: list[Call], found: list[Difference]) -> list[Difference]:
    """Keeps what is not known as a find; returns it."""
    new = [each for each in found if not judge.known.covers(each)]
    if new:
        outcome.finds.append(Find(outcome.setting, list(calls), new))
    return found
