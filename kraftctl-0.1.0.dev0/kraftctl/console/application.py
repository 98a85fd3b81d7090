"""The paths of the console. Each response is computed elsewhere: the event loop only sends bytes."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kraftctl.console.page_drawing import PageDrawing
from kraftctl.console.painter import Answer, BusyError, NotReadError, Painter
from kraftctl.console.search import search
from kraftctl.console.stories import KINDS, story_of
from kraftctl.console.update_stream import UpdateStream
from kraftctl.explain.explanation import UnknownSubjectError

JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"

QUESTION_SECONDS_MAX: Final = 10.0
TITLES: Final = {404: "Not found", 503: "Not now"}
TOO_LATE: Final = "it takes too long now: ask again in a moment"


class ConsoleApplication:
    """Serves what `painter` paints, and its responses to questions."""

    def __init__(self, painter: Painter, drawing: PageDrawing) -> None:
        self._painter = painter
        self._drawing = drawing
        self._updates = UpdateStream()
        names = "/{kind}/{name}"
        self.application = Starlette(
            routes=[
                Route("/", self._page),
                Route("/parts", self._parts),
                Route("/picture.json", self._picture),
                Route("/updates", self._updates.respond),
                Route("/console.css", self._style),
                Route("/console.js", self._script),
                Route("/search", self._search),
                Route("/search.json", self._search_json),
                Route("/quorum", self._quorum),
                Route(names, self._story),
                Route(f"{names}/json", self._story_json),
            ],
        )

    def begin(self) -> None:
        """Begins to announce pictures; to be called on the event loop, before the painter starts."""
        loop = asyncio.get_running_loop()

        def announce_later() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._announce)

        self._painter.on_change = announce_later

    def end(self) -> None:
        """Ends what lasts until the client leaves; to be called on the event loop."""
        self._updates.end()

    def _announce(self) -> None:
        self._updates.announce(self._painter.painting.number)

    async def _page(self, _: Request) -> Response:
        # The parts are drawn already; they are put between the two halves of the page.
        whole = self._drawing.page("page.html").partition(b"<!-- parts -->")
        return Response(whole[0] + self._painter.painting.parts + whole[2], media_type=HTML)

    async def _parts(self, _: Request) -> Response:
        return Response(self._painter.painting.parts, media_type=HTML)

    async def _picture(self, _: Request) -> Response:
        return Response(self._painter.painting.json, media_type=JSON)

    async def _style(self, _: Request) -> Response:
        return Response(self._drawing.style, media_type="text/css; charset=utf-8")

    async def _script(self, _: Request) -> Response:
        return Response(self._drawing.script, media_type="text/javascript; charset=utf-8")

    async def _search(self, request: Request) -> Response:
        return await self._html("search.html", _search_for(request))

    async def _search_json(self, request: Request) -> Response:
        return await self._json(_search_for(request))

    async def _quorum(self, _: Request) -> Response:
        return await self._html("story.html", partial(story_of, kind="quorum", name=""))

    async def _story(self, request: Request) -> Response:
        answer = _story_for(request)
        return (
            self._missing("there is no such page", 404)
            if answer is None
            else await self._html("story.html", answer)
        )

    async def _story_json(self, request: Request) -> Response:
        answer = _story_for(request)
        if answer is None:
            return _json_response({"error": "there is no such page"}, 404)
        return await self._json(answer)

    async def _html(self, template: str, answer: Answer) -> Response:
        found, status = await self._ask(answer)
        if status != 200:
            return self._missing(str(found), status)
        return Response(self._drawing.page(template, found=found), media_type=HTML)

    async def _json(self, answer: Answer) -> Response:
        found, status = await self._ask(answer)
        return _json_response(found if status == 200 else {"error": found}, status)

    async def _ask(self, answer: Answer) -> tuple[Any, int]:
        """Returns the result and 200, or a reason and another status."""
        try:
            async with asyncio.timeout(QUESTION_SECONDS_MAX):
                return await asyncio.wrap_future(self._painter.question(answer)), 200
        except UnknownSubjectError as error:
            return str(error), 404
        except (BusyError, NotReadError) as error:
            return str(error), 503
        except TimeoutError:
            return TOO_LATE, 503

    def _missing(self, text: str, status: int) -> Response:
        return Response(
            self._drawing.page("missing.html", title=TITLES[status], text=text), status, media_type=HTML
        )


def _search_for(request: Request) -> Answer:
    text = request.query_params.get("q", "")
    return lambda evidence, *_: search(evidence, text)


def _story_for(request: Request) -> Answer | None:
    kind, name = request.path_params["kind"], request.path_params["name"]
    return partial(story_of, kind=kind, name=name) if kind in KINDS else None


def _json_response(content: object, status: int) -> Response:
    return Response(json.dumps(content), status, media_type=JSON)
