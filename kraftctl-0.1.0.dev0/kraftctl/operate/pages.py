"""The paths that are served, and who may read them."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Final

from kraftctl.operate.listener import JSON, TEXT, HttpRequest, HttpResponse
from kraftctl.operate.loop_calls import LOOP_SECONDS_MAX, LoopCalls
from kraftctl.operate.metric_table import METRICS
from kraftctl.operate.process_figures import process_samples
from kraftctl.operate.quorum_view import ASK_ANOTHER, voters_progress
from kraftctl.operate.readiness import joined
from kraftctl.operate.readings import read, samples_of_build
from kraftctl.operate.restart import NOT_KNOWN, YES, Verdict, may_stop
from kraftctl.operate.shared_result import SharedResult
from kraftctl.operate.status import status_of
from kraftctl.operate.watch import STOPPING, Watch
from kraftctl_security.exposition import CONTENT_TYPE, Samples, parts

BEARER: Final = "bearer "

COMMIT_LOOKS_MAX: Final = 6
COMMIT_SECONDS: Final = 0.01
"""Metrics wait a little until the records of now are committed; else they have what was committed before."""

NO_RESPONSE: Final = f"The leader has not described the quorum in time. {ASK_ANOTHER}"

PAUSE_SECONDS: Final = 0.0001
"""Without this pause between parts, the loop of the controller would wait for the interpreter."""

Page = Callable[[], Awaitable[HttpResponse]]


class Pages:
    """Responds to requests, on the thread of the listener.

    With a token, others than its bearers get the status of a probe without reasons, and nothing else: the
    probes of an orchestrator cannot keep a secret, and reasons have names and addresses.
    """

    def __init__(self, watch: Watch, token: bytes) -> None:
        self._watch = watch
        self._token = token
        self._calls = LoopCalls()
        self._probes = {"/livez": self._live, "/readyz": self._ready, "/startupz": self._started}
        self._pages: dict[str, Page] = {
            "/restartz": SharedResult(self._restart).get,
            "/status.json": SharedResult(self._status).get,
            "/metrics": SharedResult(self._metrics).get,
        }

    async def respond(self, request: HttpRequest) -> HttpResponse:
        """Returns the response to a GET."""
        is_bearer = self._is_bearer(request.authorization)
        probe = self._probes.get(request.path)
        if probe is not None:
            name, reasons = probe()
            return _probe_response(name, reasons, shows_reasons=is_bearer)
        page = self._pages.get(request.path)
        if page is None:
            paths = ", ".join([*self._probes, *self._pages])
            return HttpResponse(404, TEXT, f"there are {paths}\n".encode())
        if not is_bearer:
            return HttpResponse(401, TEXT, b"a bearer token is needed\n", "WWW-Authenticate: Bearer")
        return await page()

    def _is_bearer(self, authorization: str) -> bool:
        if not self._token:
            return True
        if not authorization.lower().startswith(BEARER):
            return False
        given = authorization[len(BEARER) :].strip().encode("latin-1")
        return hmac.compare_digest(given, self._token)

    async def _restart(self) -> HttpResponse:
        """Says whether this controller may stop now."""
        watch = self._watch
        if not watch.has_started:
            return _verdict_response(self._unknown(ASK_ANOTHER))
        asked = self._verdict()
        try:
            asking = asyncio.run_coroutine_threadsafe(asked, watch.loop)
        except RuntimeError:  # the loop has ended
            asked.close()
            return _verdict_response(Verdict(NOT_KNOWN, STOPPING))
        try:
            async with asyncio.timeout(LOOP_SECONDS_MAX):
                verdict = await asyncio.wrap_future(asking)
        except TimeoutError:
            verdict = self._unknown(NO_RESPONSE)
        return _verdict_response(verdict)

    async def _verdict(self) -> Verdict:
        """Runs on the loop of the controller."""
        watch = self._watch
        voters = await voters_progress(watch.driver, watch.clock.now_ms())
        if isinstance(voters, str):
            return self._unknown(voters)
        return may_stop(watch.driver.node.raft.node_id, voters)

    def _unknown(self, text: str) -> Verdict:
        """Returns that it is not known, with the reasons why this controller is not ready."""
        return Verdict(NOT_KNOWN, joined([*self._watch.why_not_ready(), text]))

    async def _status(self) -> HttpResponse:
        watch = self._watch
        if not watch.has_started:
            return json_response(503, {"ready": False, "reasons": watch.why_not_ready()})
        try:
            return json_response(200, await self._calls.make("status", watch.loop, lambda: status_of(watch)))
        except TimeoutError:
            return json_response(503, {"ready": False, "reasons": watch.why_not_ready()})

    async def _metrics(self) -> HttpResponse:
        """Returns the text; it is written in parts, and the controller's loop may run between them."""
        samples = await self._samples() if self._watch.has_started else _samples_of_none()
        samples.update(process_samples())
        written: list[str] = []
        for part in parts(samples, METRICS):
            written.append(part)
            await asyncio.sleep(PAUSE_SECONDS)
        return HttpResponse(200, CONTENT_TYPE, "".join(written).encode())

    async def _samples(self) -> Samples:
        watch = self._watch
        try:
            for _ in range(COMMIT_LOOKS_MAX):
                if await self._calls.make("counts", watch.loop, watch.look_at_counts):
                    break
                await asyncio.sleep(COMMIT_SECONDS)
            return await self._calls.make("metrics", watch.loop, lambda: read(watch))
        except TimeoutError:
            return _samples_of_none()  # the loop is stuck, or has ended

    def _live(self) -> tuple[str, tuple[str, ...]]:
        reason = self._watch.why_not_live()
        return "live", () if reason is None else (reason,)

    def _ready(self) -> tuple[str, tuple[str, ...]]:
        return "ready", self._watch.why_not_ready()

    def _started(self) -> tuple[str, tuple[str, ...]]:
        return "started", () if self._watch.has_started else self._watch.why_not_ready()


def _samples_of_none() -> Samples:
    """Returns what is known of a controller that cannot be asked."""
    samples = samples_of_build()
    samples["ready"] = [((), 0)]
    return samples


def json_response(status: int, content: object) -> HttpResponse:
    """Returns a response of one line."""
    return HttpResponse(status, JSON, (json.dumps(content) + "\n").encode())


def _verdict_response(verdict: Verdict) -> HttpResponse:
    is_yes = verdict.kind == YES
    content = {"may_stop": is_yes, "verdict": verdict.kind, "reasons": [] if is_yes else [verdict.text]}
    return json_response(200 if is_yes else 503, content)


def _probe_response(name: str, reasons: tuple[str, ...], *, shows_reasons: bool) -> HttpResponse:
    content: dict[str, object] = {name: not reasons}
    if shows_reasons:
        content["reasons"] = reasons
    return json_response(503 if reasons else 200, content)
