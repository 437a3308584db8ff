"""The server of the inspector: the page, the network, live counts by server-sent events, commands.

Data's way: controller -> **HTTP** -> the page.
Invariant: it answers to its own Host and Origin only (403 otherwise), so no other page can read it or command it; all
data goes out as JSON, and the page shows it as text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retewave.errors import UsageError
from retewave.inspector.controller import Controller
from retewave.inspector.layout import place

__all__ = ["application", "own_hosts"]

EVERY = 0.15  # seconds between two looks at the counts
QUIET = 10.0  # seconds after which a silent line is kept open by a comment

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def own_hosts(host: str, port: int) -> frozenset[str]:
    """Return the names that a browser may call the server by.

    >>> sorted(own_hosts("127.0.0.1", 8000))
    ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
    """
    bracketed = f"[{host}]" if ":" in host else host
    names = {bracketed, *(("127.0.0.1", "localhost", "[::1]") if host in ("127.0.0.1", "::1", "localhost") else ())}
    return frozenset(f"{name}:{port}" for name in names)


class _OwnOnly:
    """Refuses requests that name another host or come from another page; adds headers that keep data from running."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in _HEADERS.items())]
            await send(message)

        headers = Request(scope).headers
        origins = {None, *(f"http://{host}" for host in self.hosts)}
        if headers.get("host") in self.hosts and headers.get("origin") in origins:
            await self.app(scope, receive, with_headers)
        else:
            refusal = PlainTextResponse("this server answers to its own page only\n", status_code=403)
            await refusal(scope, receive, with_headers)


def application(controller: Controller, hosts: frozenset[str], ending: Callable[[], bool] = bool) -> Starlette:
    """Return the application that serves a controller to the given hosts; live counts stop once it is `ending`."""
    pages = _Pages(controller, ending)
    routes = [
        *(
            Route(path, _file(name))
            for path, name in (("/", "page.html"), ("/page.css", "page.css"), ("/page.js", "page.js"))
        ),
        Route("/network", pages.network),
        Route("/events", pages.events),
        Route("/memory/{slot:int}", pages.memory),
        Route("/probe/{number:int}", pages.probe),
        Route("/query/{name:path}", pages.query),
        *(Route(f"/{name}", pages.command(name), methods=["POST"]) for name in ("run", "pause", "step", "pace")),
    ]
    return Starlette(
        routes=routes, middleware=[Middleware(_OwnOnly, hosts=hosts)], exception_handlers={UsageError: _refused}
    )


async def _refused(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        text = files("retewave.inspector").joinpath(name).read_text("utf-8")
        return Response(text, media_type=_TYPES[name.rpartition(".")[2]])

    return serve


class _Pages:
    """The pages and streams that are served of a controller."""

    def __init__(self, controller: Controller, ending: Callable[[], bool]) -> None:
        self.controller, self.ending = controller, ending

    async def network(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(lambda: place(self.controller.engine.graph())))

    async def memory(self, request: Request) -> Response:
        slot, offset = request.path_params["slot"], _offset(request)
        return JSONResponse(await run_in_threadpool(self.controller.memory, slot, offset))

    async def probe(self, request: Request) -> Response:
        number, offset = request.path_params["number"], _offset(request)
        return JSONResponse(await run_in_threadpool(self.controller.waiting, number, offset))

    async def query(self, request: Request) -> Response:
        name, offset = request.path_params["name"], _offset(request)
        return JSONResponse(await run_in_threadpool(self.controller.matches, name, offset))

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._snapshots(), media_type="text/event-stream")

    async def _snapshots(self) -> AsyncIterator[str]:
        """Yield the counts whenever they have changed."""
        sent, silent = "", 0.0
        while not self.ending():
            text = json.dumps(await run_in_threadpool(self.controller.snapshot), ensure_ascii=False)
            if text != sent:
                yield f"data: {text}\n\n"
                sent, silent = text, 0.0
            elif silent >= QUIET:
                yield ": still here\n\n"
                silent = 0.0
            await asyncio.sleep(EVERY)
            silent += EVERY

    def command(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def obey(request: Request) -> Response:
            if name == "pace":
                await run_in_threadpool(self.controller.set_pace, _pace(await request.body()))
            else:
                await run_in_threadpool(getattr(self.controller, name))
            return JSONResponse(await run_in_threadpool(self.controller.snapshot))

        return obey


def _pace(body: bytes) -> float | None:
    """Return the pace that a request asks for: a number, or null for as fast as it goes."""
    try:
        pace: Any = json.loads(body)
    except ValueError as error:
        raise UsageError("a pace is a JSON number, or null") from error
    if pace is not None and (isinstance(pace, bool) or not isinstance(pace, int | float)):
        raise UsageError("a pace is a JSON number, or null")
    return pace


def _offset(request: Request) -> int:
    text = request.query_params.get("offset", "0")
    if not text.isdecimal() or not text.isascii():
        raise UsageError(f"an offset is a whole number, not {text!r}")
    return int(text)
