"""One controller, some hundreds of hostile requests, and what must hold after each of them.

| invariant | looked at |
|---|---|
| the controller keeps running | after every request |
| a request is answered in its own version, or its connection is closed | for every request |
| others are served, too: a heartbeat and ApiVersions over two other connections | for every request |
| a request whose handler raises is refused with UNKNOWN_SERVER_ERROR and changes nothing | for each |
| the image is the one that replaying the log gives | then, and at intervals |
| silent brokers are fenced, after all failures | at the end |
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections import Counter
from pathlib import Path

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batches
from kraftctl_protocol.requests import decode_response, is_supported
from tests.support.image_records import image_lines
from tests.support.wire.hosted_cluster import API_VERSIONS, PROPERTIES, Population
from tests.support.wire.hosted_controller import HostedController, InvariantViolatedError
from tests.support.wire.hostile_requests import CORRELATION_ID, HostileRequest, HostileRequests
from tests.support.wire.planted_faults import PLACES, RESPONSE, TEXT, PlantedFaults

TASK = re.compile(r"The task to ")
"""Periodic work may fail in the same step as a request, independently of it."""

FAILURES = {int(Errors.UNKNOWN_SERVER_ERROR), int(Errors.UNSUPPORTED_VERSION)}
"""The errors of a request that failed; the latter only for ApiVersions of an unknown version."""

PLANT_CHANCE = 0.15
TASKS_FAIL_CHANCE = 0.03
TASKS_WORK_CHANCE = 0.2

REQUESTS_PER_CHECK = 50
LEADERLESS_SECONDS_MAX = 30
FENCED_SECONDS_MAX = 600

READ_BYTES = 1 << 20

PAUSES_SECONDS = (0.0, 0.0, 0.0, 0.01, 0.6, 3.0)
"""The time between two requests; brokers' sessions are nine seconds long."""


BY_RULE = re.compile(r"which contradicts|similar lines were left out")
"""Raft reports messages that another controller should not send; that is no failure here."""


class ErrorLines(logging.Handler):
    """The log lines at level ERROR."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if not BY_RULE.search(line):
            self.lines.append(line)

    def take(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


class ImageOfLog:
    """The image replayed from the log alone, continued from the last call."""

    def __init__(self, hosted: HostedController) -> None:
        self._hosted = hosted
        self._image = MetadataImage()
        self._image.journal.enabled = False
        self._offset = 0

    def check(self) -> None:
        """Raises InvariantViolatedError when the controller's image differs."""
        end_offset = self._hosted.next_replay_offset
        if end_offset < self._offset:
            return  # leadership was lost: it is still reading what this one has read
        log = self._hosted.partition.log
        while self._offset < end_offset:
            for batch in read_batches(log.read(self._offset, READ_BYTES)):
                if not batch.header.is_control and batch.header.last_offset < end_offset:
                    for record in batch.records:
                        value = decode_metadata_record(record.value or b"").record
                        replay(self._image, value, record.offset)
                self._offset = min(end_offset, batch.header.last_offset + 1)
        expected, actual = image_lines(self._image), image_lines(self._hosted.image)
        if expected != actual:
            differing = sorted(set(expected) ^ set(actual))[:2]
            raise InvariantViolatedError(f"the image is not what the log says, for example {differing}")


class HostileRound:
    """`run` raises InvariantViolatedError. `done` is the number of requests so far: the same seed and as many
    requests repeat what happened.
    """

    def __init__(self, seed: int, requests: int, directory: Path, *, plant: bool) -> None:
        self.seed = seed
        self.done = 0
        self.outcomes: Counter[str] = Counter()
        self._rng = random.Random(seed)
        self._requests_count = requests
        self._plant = plant
        self._faults = PlantedFaults(random.Random(seed))
        self._errors = ErrorLines()
        metadata_version = features.DEFAULT_METADATA_VERSION
        if seed % 4 == 3:
            metadata_version = self._rng.choice(sorted(features.METADATA_VERSION_NAMES))
            metadata_version = min(metadata_version, features.DEFAULT_METADATA_VERSION)
        properties = dict(PROPERTIES)
        if seed % 2:
            properties["metadata.log.max.record.bytes.between.snapshots"] = "20000"
        self._hosted = HostedController(
            directory,
            self._rng,
            dynamic=seed % 3 == 0,
            metadata_version=metadata_version,
            properties=properties,
        )

    async def run(self) -> None:
        logger = logging.getLogger("kraftctl")
        logger.addHandler(self._errors)
        if self._plant:
            self._faults.plant()
        try:
            await self._run()
        except InvariantViolatedError:
            self._hosted.partition.close()
            raise
        finally:
            self._faults.remove()
            logger.removeHandler(self._errors)

    async def _run(self) -> None:
        hosted = self._hosted
        hosted.start()
        self._image_of_log = ImageOfLog(hosted)
        self._population = Population(hosted, self._rng)
        self._client = hosted.connect()
        self._probe = hosted.connect()
        requests = HostileRequests(hosted, self._rng)
        await self._population.settle_in()
        while self.done < self._requests_count:
            if not await self._await_active():
                self.outcomes["leaderless"] += 1
                break
            await self._population.keep_alive()
            request = requests.next()
            self.done += 1
            await self._exchange(request)
            if self.done % REQUESTS_PER_CHECK == 0:
                self._image_of_log.check()
            self._let_tasks_fail()
            await asyncio.sleep(self._rng.choice(PAUSES_SECONDS))
        else:
            await self._silence()
        self._hosted.check_alive()
        await hosted.stop()

    # One request.

    async def _exchange(self, request: HostileRequest) -> None:
        if self._client.closed:
            self._client = self._hosted.connect()
        self._errors.take()
        self._hosted.run_due_tasks()
        end_offset = self._hosted.end_offset
        place = self._plant_one(request)
        soft_state = self._hosted.soft_state()
        self._send(request)
        if place != RESPONSE:
            self._faults.disarm()
        refused_immediately = request.api_key not in RAFT_API_KEYS and any(
            not TASK.match(line) for line in self._errors.lines
        )
        self._hosted.check_alive()
        # A response that fails on its way out belongs to a request that may have been granted.
        if refused_immediately and place != RESPONSE and self._hosted.end_offset != end_offset:
            raise InvariantViolatedError(f"{request.kind} was refused and has appended: {self._errors.lines}")
        if refused_immediately:
            self._image_of_log.check()
            if place != RESPONSE:
                # A heartbeat whose answer alone fails has changed the state.
                self._check_soft_state(request, soft_state)
        others = asyncio.gather(self._population.heartbeat(), self._ask_for_versions())
        response = await self._answer(request)
        await others
        self._hosted.check_alive()
        self._faults.disarm()
        self._judge(request, response, self._errors.take())

    def _plant_one(self, request: HostileRequest) -> str | None:
        """The function that will fail if the request reaches it. Raft's own handlers may not fail (ADR 5)."""
        if not self._plant or self._rng.random() >= PLANT_CHANCE:
            return None
        place = RESPONSE if request.api_key in RAFT_API_KEYS else self._rng.choice(PLACES)
        self._faults.arm(place, CORRELATION_ID)
        return place

    def _check_soft_state(self, request: HostileRequest, before: list[str]) -> None:
        """New buckets and sessions are allowed; the existing ones must be unchanged."""
        missing = set(before) - set(self._hosted.soft_state())
        if missing:
            raise InvariantViolatedError(f"{request.kind} was refused and has changed {sorted(missing)}")

    def _send(self, request: HostileRequest) -> None:
        """Send it in one piece or several."""
        frame = encode_frame(request.payload)
        if self._rng.random() < 0.1:
            middle = self._rng.randrange(len(frame))
            self._client.send(frame[:middle])
            frame = frame[middle:]
        self._client.send(frame)

    async def _answer(self, request: HostileRequest) -> Message | None:
        """None when the connection was closed instead."""
        try:
            payload = await self._client.receive()
        except TimeoutError as error:
            self._hosted.check_alive()
            raise InvariantViolatedError(f"{request.kind} was not answered") from error
        return None if payload is None else decoded(request.payload, payload)

    async def _ask_for_versions(self) -> None:
        try:
            self._probe.send(API_VERSIONS)
            payload = await self._probe.receive()
        except TimeoutError as error:
            raise InvariantViolatedError("ApiVersions over another connection was not answered") from error
        if payload is None:
            self._hosted.check_alive()
            raise InvariantViolatedError("another connection was closed")
        _, response = decode_response(payload, ApiVersionsResponse.API_KEY, 3)
        assert isinstance(response, ApiVersionsResponse)
        if response.error_code != Errors.NONE:
            raise InvariantViolatedError(f"ApiVersions over another connection got {response.error_code}")

    def _judge(self, request: HostileRequest, response: Message | None, lines: list[str]) -> None:
        errors = [line for line in lines if not TASK.match(line)]
        if not errors:
            self.outcomes["closed" if response is None else "answered"] += 1
            return
        outcome = "planted" if any(TEXT in line for line in errors) else "contained"
        if response is None:
            self.outcomes[f"{outcome}_closed"] += 1
        else:
            self.outcomes[f"{outcome}_refused"] += 1
            codes = error_codes(response, request)
            if codes and not FAILURES.intersection(codes):
                raise InvariantViolatedError(f"{request.kind} failed with {errors} and was answered {codes}")

    # The controller as a whole.

    async def _await_active(self) -> bool:
        """False when a hostile request has permanently taken the quorum away, as some may (KIP-853)."""
        for _ in range(LEADERLESS_SECONDS_MAX * 10):
            self._hosted.check_alive()
            if self._hosted.active:
                return True
            await asyncio.sleep(0.1)
        return False

    def _let_tasks_fail(self) -> None:
        chance = TASKS_WORK_CHANCE if self._faults.tasks_fail else TASKS_FAIL_CHANCE
        if self._plant and self._rng.random() < chance:
            self._faults.tasks_fail = not self._faults.tasks_fail

    async def _silence(self) -> None:
        """No broker sends heartbeats any more: all of them are fenced."""
        self._faults.tasks_fail = False
        for _ in range(FENCED_SECONDS_MAX):
            await asyncio.sleep(1.0)
            self._hosted.check_alive()
            brokers = self._hosted.image.cluster.brokers.values()
            if self._hosted.active and all(broker.fenced for broker in brokers):
                break
        else:
            raise InvariantViolatedError(f"after {FENCED_SECONDS_MAX} s of silence a broker is not fenced")
        self._errors.take()
        self._image_of_log.check()


def decoded(asked: bytes, payload: bytes) -> Message:
    """The response, decoded with the API and version in the request's bytes."""
    api_key = int.from_bytes(asked[0:2], "big", signed=True)
    version = int.from_bytes(asked[2:4], "big", signed=True)
    if api_key == ApiVersionsResponse.API_KEY and not is_supported(api_key, version):
        version = 0
    try:
        correlation_id, response = decode_response(payload, api_key, version)
    except DecodeError as error:
        raise InvariantViolatedError(
            f"undecodable answer to API {api_key} version {version}: {error}"
        ) from error
    if correlation_id != int.from_bytes(asked[4:8], "big", signed=True):
        raise InvariantViolatedError(f"answer {correlation_id} to another question of API {api_key}")
    return response


def error_codes(response: Message, request: HostileRequest) -> list[int]:
    """All error codes of the response, including those within an envelope; empty without such a field."""
    if isinstance(response, EnvelopeResponse) and response.response_data is not None:
        if request.inner is None:
            return []
        api_key, version = request.inner
        return _codes(decode_response(response.response_data, api_key, version)[1], version)
    return _codes(response, int.from_bytes(request.payload[2:4], "big", signed=True))


def _codes(message: Message, version: int) -> list[int]:
    codes: list[int] = []
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if not field.in_version(version) or value is None:
            continue
        if field.name == "error_code":
            codes.append(value)
        elif field.struct is not None:
            for entry in [value] if isinstance(value, Message) else value:
                codes += _codes(entry, version)
    return codes
