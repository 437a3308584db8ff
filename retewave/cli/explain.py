"""`retewave explain`: the plan of queries as text, data or a picture, with counts if streams are read first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from retewave.cli.notes import Notes
from retewave.cli.output import naming, open_output
from retewave.cli.queries import Queries
from retewave.engine.engine import Engine
from retewave.errors import UsageError
from retewave.io.reading.reader import Reader

if TYPE_CHECKING:
    from retewave.viz.draw.dot import Drawing
    from retewave.viz.draw.render import PictureFormat

__all__ = ["explain", "write"]


def explain(
    queries: Queries,
    readers: Sequence[Reader],
    format: str,
    drawing: str,
    shards: int | None,
    options: dict[str, Any],
) -> bytes:
    """Return the plan of queries over a schema and static data, after the streams, if any, have gone through."""
    if shards is not None and format not in ("text", "json"):
        raise UsageError("a drawing shows one network, not its shards", hint="give --shards with text or json")
    with Notes(sys.stderr).warnings():
        engine = Engine(**options)
        queries.register(engine)
        if readers:
            for _ in engine.run_batches(*readers):
                pass  # the network's counts are shown
        if format in ("text", "json"):
            return engine.explain(cast(Literal["text", "json"], format), shards=shards).encode()
        return engine.draw(cast("Drawing", drawing), cast("PictureFormat", format))


def write(shown: bytes, out: Path | None) -> None:
    """Write to a file, or to standard output; refuse to write a picture to a terminal."""
    with open_output(out) as file:
        if shown.startswith(b"\x89PNG") and file.isatty():
            raise UsageError("a PNG is no text for a terminal", hint="name a file: --out plan.png")
        with naming(out):
            file.write(shown)
            file.flush()
