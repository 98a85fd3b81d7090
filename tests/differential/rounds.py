"""A round: fresh controllers, and calls on both until there are enough, or their logs have parted."""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution
from tests.differential.call import CLOSED, SILENCE, SILENT, Call, Response
from tests.differential.calls.avoided import Before, before, why_avoided, why_avoided_now
from tests.differential.calls.brokers import plain_heartbeat
from tests.differential.calls.chooser import Chooser
from tests.differential.calls.features import kraft_version_raised, may_raise_kraft_version
from tests.differential.calls.mix import next_calls
from tests.differential.compare import (
    OF_DAMAGED,
    RESPONSE,
    THROWS,
    Difference,
    compared_fencing,
    compared_records,
    compared_responses,
    errors_of,
)
from tests.differential.consequences import Consequences
from tests.differential.known import KnownDifferences
from tests.differential.metadata_log import LoggedRecord
from tests.differential.names import Normaliser
from tests.differential.pause import pause
from tests.differential.picture import Picture, without_repeated_fencing
from tests.differential.placement import deletion, names_placed_by_chance
from tests.differential.schemas import Schemas
from tests.differential.sides import Logged, Pair, Setting, Side

NOT_CONTROLLER = 41
SILENCE_SECONDS = 14.0

READ_LATER = (
    "DescribeAcls", "DescribeConfigs", "DescribeCluster", "ApiVersions", "DeleteAcls",
    "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken",
)  # fmt: skip
"""Kafka answers these, and checks rights, with what was published: a moment after the commit."""

PUBLISHED_SECONDS = 0.2
PUBLISHED_SECONDS_MAX = (1.5, 5.0)
"""On a slow machine: a call that differs and has changed nothing is made again, twice if it still differs."""

A_FAULT = "Encountered quorum controller fault"
"""Kafka's controller logs it when it resigns."""

ATTEMPTS_AT_THE_START_MAX = 10
"""On a slow machine, the first response of Kafka's controller takes longer than any later one."""

SECONDS_BETWEEN_HEARTBEATS = 4.0
"""On a slow machine no session may end before it is meant to: it lasts 12 s."""

QUORUM = Call(
    "DescribeQuorum",
    0,
    {"Topics": [{"TopicName": "__cluster_metadata", "Partitions": [{"PartitionIndex": 0}]}]},
)


@dataclass
class Judge:
    """What every round needs: Kafka, its schemas, its texts, and the differences that are known."""

    kafka: KafkaDistribution | None
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
        self.failed = ""
        self._epochs = [0, 0]
        self._changed_at = 0.0
        self._consequences = Consequences(self.picture)

    def start(self) -> list[Difference]:
        """Returns how they differ before the first call."""
        self.pair.start()
        self.pair.quiet()
        java, ours = self.pair.sides
        found = self._compared_logs("start", (java.seen, ours.seen))
        for record in java.seen:
            self.picture.replay(record)
        asked = Call("ApiVersions", 4, {"ClientSoftwareName": "differential", "ClientSoftwareVersion": "1"})
        responses = self._ask(asked)
        for _ in range(ATTEMPTS_AT_THE_START_MAX):
            if all(each.body is not None for each in responses):
                break
            responses = self._ask(asked)
        found += compared_responses(asked, responses, self._both_normalisers)
        assert responses[0].body is not None
        for each in responses[0].body["ApiKeys"]:
            if each["ApiKey"] in self._judge.schemas.requests:
                name = self._judge.schemas.api_name(each["ApiKey"])
                self.versions[name] = (each["MinVersion"], each["MaxVersion"])
        self._epochs = [side.names.leader_epoch for side in self.pair.sides]
        return found

    def make(self, call: Call) -> list[Difference]:
        """Makes one call on both, and returns how they differ; what is known of such a call is noted."""
        if call.api == SILENCE:
            return self._be_silent(call)
        sent, now = self._sent(call), self._before()
        found = self._made(call)
        if not found:
            return []
        known = why_avoided(sent, self.pair.setting.kafka) | why_avoided_now(sent, now)
        return self._consequences.noted(sent, found, known)

    def _sent(self, call: Call) -> Call:
        """Returns the call as Kafka's controller would get it now."""
        body = self.pair.java.sent_body(call)
        return call if body is None else replace(call, body=body)

    def _before(self) -> Before:
        new_tokens = self.pair.java.names.new_hmacs(PUBLISHED_SECONDS_MAX[-1])
        return replace(before(self.picture), new_tokens=new_tokens)

    def _made(self, call: Call) -> list[Difference]:
        reads_later = call.api in READ_LATER or call.forwarded is not None
        if reads_later:
            pause(self._changed_at + PUBLISHED_SECONDS - time.monotonic())
        responses = self._ask(call)
        by_chance = bool(names_placed_by_chance(call)) and len(self.picture.brokers) > 1
        logged = self._records(call.api)
        for seconds in PUBLISHED_SECONDS_MAX:
            if reads_later and not any(logged) and self._may_be_behind(call, responses):
                pause(seconds)
                responses = self._ask(call)
                logged = self._records(call.api)
        if logged[0]:
            self._changed_at = time.monotonic()
        self._note_failure(call, responses)
        records, again = self._replayed(call.api, logged)
        if self.failed and self.pair.kraftctl.controller.running:
            return [Difference(call.api, "Kafka fails", self.failed, "")]
        found = compared_responses(call, responses, self._both_normalisers)
        thrown = [each for each in found if each.place == THROWS]
        if thrown:
            if call.api == "Fetch":
                self._consequences.fetch_has_failed(call.body)
            why = self.pair.java.why_ended()
            if A_FAULT in why or _kinds(records[0]) != _kinds(records[1]) or self._kafka_has_resigned():
                self.failed = f"Kafka throws at {call.api}, and kraftctl does not: {why}"
            return [Difference(call.api, THROWS, why, thrown[0].kraftctl)]
        found += again
        return found + compared_records(call.api, records, self._both_normalisers, by_chance=by_chance)

    def _may_be_behind(self, call: Call, responses: tuple[Response, Response]) -> bool:
        """Returns whether they differ in what a slow machine may publish later than that."""
        found = compared_responses(call, responses, self._both_normalisers)
        if any(each.place in (THROWS, RESPONSE, OF_DAMAGED) for each in found):
            return False
        return bool(self._judge.known.unknown(found))

    def _be_silent(self, call: Call) -> list[Difference]:
        """Returns how they differ once both have fenced all brokers, or had the time for it twice."""
        records: Logged = ([], [])
        for _ in range(2):
            pause(SILENCE_SECONDS)
            for kept, more in zip(records, self.pair.quiet(), strict=True):
                kept += more
            if sorted(_kinds(records[0])) == sorted(_kinds(records[1])):
                break
        records, found = self._replayed(SILENCE, records)
        return self._consequences.noted(call, found + self._compared_logs(SILENCE, records), frozenset())

    def _replayed(self, api: str, logged: Logged) -> tuple[Logged, list[Difference]]:
        """Returns the records without those that fence a fenced broker again, and how these differ."""
        brokers = self.picture.brokers.items()
        fenced = {broker_id for broker_id, broker in brokers if broker.fenced}
        (kept, again), (ours_kept, ours_again) = (
            without_repeated_fencing(records, fenced) for records in logged
        )
        for record in kept:
            self.picture.replay(record)
        return (kept, ours_kept), compared_fencing(api, again, ours_again)

    def _ask(self, call: Call) -> tuple[Response, Response]:
        java, ours = self.pair.sides
        java.send(call)
        ours.send(call)
        responses = java.receive(call), ours.receive(call)
        if any(each.body is not None and each.body.get("ThrottleTimeMs") for each in responses):
            # Nothing more is read from a client that is to wait: the next call is that of another one.
            java.disconnect()
            ours.disconnect()
        return responses

    def _note_failure(self, call: Call, responses: tuple[Response, Response]) -> None:
        java, ours = responses
        if java.status == SILENT:
            self.failed = f"Kafka does not answer {call.api}"
        elif NOT_CONTROLLER in errors_of(java.body) and NOT_CONTROLLER not in errors_of(ours.body):
            self.failed = f"Kafka's controller has resigned at {call.api}: {self.pair.java.why_ended()}"
        for side, epoch in zip(self.pair.sides, self._epochs, strict=True):
            if side.names.leader_epoch != epoch:
                self.failed = f"{side.controller.name} has resigned at {call.api}: {side.why_ended()}"
        for side, response in zip(self.pair.sides, responses, strict=True):
            if response.status == CLOSED and not _await_end(side):
                self.failed = f"{side.controller.name} has ended at {call.api}: {side.why_ended()}"

    def _kafka_has_resigned(self) -> bool:
        java = self.pair.java
        java.send(QUORUM)
        body = java.receive(QUORUM).body
        return body is None or any(errors_of(body))

    @property
    def _both_normalisers(self) -> tuple[Normaliser, Normaliser]:
        java, ours = self._normalisers
        return java, ours

    def _records(self, api: str) -> Logged:
        java, ours = self.pair.sides
        records = (java.controller_records(), ours.controller_records())
        if api == "UpdateFeatures" or _kinds(records[0]) != _kinds(records[1]):
            later = self.pair.quiet()
            records = (records[0] + later[0], records[1] + later[1])
        return records

    def _compared_logs(self, api: str, records: Logged) -> list[Difference]:
        return compared_records(api, records, self._both_normalisers)


def _await_end(side: Side) -> bool:
    """Returns whether the process of a side that has closed a connection still runs a moment later."""
    deadline = time.monotonic() + 0.5
    while side.controller.running and time.monotonic() < deadline:
        pause(0.05)
    return side.controller.running


def _kinds(records: list[LoggedRecord]) -> list[str]:
    return [each.name for each in records]


def run_round(
    judge: Judge,
    setting: Setting,
    chance: random.Random,
    most: int,
    until: float | None = None,
    without: frozenset[str] = frozenset(),
) -> Outcome:
    """Makes up to `most` random calls, until a time of time.monotonic()."""
    outcome = Outcome(setting)
    with tempfile.TemporaryDirectory(prefix="differential-") as directory:
        this = Round(judge, setting, Path(directory))
        try:
            _note(outcome, judge, [], this.start())
            pick = Chooser(chance, this.picture, this.versions)
            sessions_s = time.monotonic() + SECONDS_BETWEEN_HEARTBEATS
            while len(outcome.calls) < most and not outcome.ended_by:
                if until is not None and time.monotonic() >= until:
                    break
                calls = next_calls(pick, judge.schemas, setting.kafka, without)
                if time.monotonic() >= sessions_s:
                    calls = [*(plain_heartbeat(broker) for broker in pick.live_brokers()), *calls]
                    sessions_s = time.monotonic() + SECONDS_BETWEEN_HEARTBEATS
                _make_some(this, outcome, judge, with_what_follows(calls))
        finally:
            this.pair.stop()
    return outcome


def _make_some(this: Round, outcome: Outcome, judge: Judge, calls: list[Call]) -> None:
    for call in calls:
        outcome.calls.append(call)
        found = _note(outcome, judge, outcome.calls, this.make(call))
        parted = [each for each in found if each.in_the_log]
        if this.failed or parted:
            outcome.ended_by = this.failed or f"their logs have parted: {parted[0].signature[:200]}"
            return
    by_chance = {name for call in calls for name in names_placed_by_chance(call)}
    if stays := sorted(by_chance & this.picture.topics.keys()):
        outcome.ended_by = f"topics whose replicas are placed by chance cannot be deleted: {stays}"


def with_what_follows(calls: list[Call]) -> list[Call]:
    """Returns the calls, and behind each that may let the controllers part one that makes them equal."""
    found = []
    for call in calls:
        found.append(call)
        if names := names_placed_by_chance(call):
            found.append(deletion(names))
        if may_raise_kraft_version(call):
            found.append(kraft_version_raised())
    return found


def _note(outcome: Outcome, judge: Judge, calls: list[Call], found: list[Difference]) -> list[Difference]:
    """Keeps what is not known as a find; returns all: also what is known parts the logs."""
    new = judge.known.unknown(found)
    if new:
        outcome.finds.append(Find(outcome.setting, list(calls), new))
    return found
