"""Views of an engine: its plan, its network as a graph and as a picture, and why a match did not come.

Where it stands: beside data's way; nothing here changes the matches.
Invariant: the engine's state is locked while it is looked at.
Left out: counts (`retewave.engine.stats`), and what makes the reports.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from retewave.engine.datasets import Datasets
from retewave.engine.matcher import Matcher
from retewave.errors import UsageError
from retewave.query import Query

if TYPE_CHECKING:
    import networkx

    from retewave.engine.engine import Engine
    from retewave.viz.draw.dot import Drawing
    from retewave.viz.draw.render import PictureFormat
    from retewave.viz.explain.shards import ShardPlan
    from retewave.why_not.answer import WhyNot

__all__ = ["Shown"]


class Shown:
    """The part of an engine that shows it."""

    datasets: Datasets
    matcher: Matcher
    lock: threading.RLock

    @property
    def queries(self) -> list[Query]:
        """The registered queries, oldest first."""
        with self.lock:
            return list(self.matcher.registry.queries.values())

    def explain(self, format: Literal["text", "json"] = "text", *, shards: int | None = None) -> str:
        """Return the plan of all queries, with counts if the engine keeps `stats`; and how `shards` would spread it."""
        from retewave.engine.shown_events import lines_of_events
        from retewave.viz.explain.shards import explain_shares
        from retewave.viz.explain.text import explain, explain_data

        if format not in ("text", "json"):
            raise UsageError(f"unknown format {format!r} of a plan", hint="known: text, json")
        with self.lock:
            compiled = self.matcher.current()
            plan = None if shards is None else self._shard_plan(shards)
            if format == "text":
                events = "".join(f"\n{line}" for query in self.queries for line in lines_of_events(query))
                return explain(compiled) + events + ("" if plan is None else "\n" + explain_shares(plan))
            data = explain_data(compiled) | ({} if plan is None else {"shards": asdict(plan)})
            data |= {"events": {query.name: list(lines_of_events(query)) for query in self.queries if query.plan}}
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    def _shard_plan(self, shards: int) -> ShardPlan:
        from retewave.spark.driver.spread import spread

        return spread(cast("Engine", self), shards)[1]

    def graph(self) -> networkx.MultiDiGraph:
        """Return the network as a graph: nodes and links with what is known of them (`retewave.viz.draw.graph`)."""
        from retewave.viz.draw.graph import graph

        with self.lock:
            return graph(self.matcher.current())

    def draw(self, drawing: Drawing = "all", format: PictureFormat = "svg") -> bytes:
        """Return a drawing of the network, in the bytes of a file: DOT text, SVG or PNG."""
        from retewave.viz.draw.dot import draw
        from retewave.viz.draw.render import render

        with self.lock:
            drawn = draw(self.matcher.current(), drawing, network=self.datasets.schema.network)
        return render(drawn, format)

    def why_not(self, query: Query, binding: Mapping[str, Any] | None = None) -> WhyNot:
        """Say why a query has not matched a binding that was expected; print the answer, or take its fields."""
        from retewave.why_not.ask import why_not

        with self.lock:
            return why_not(cast("Engine", self), query, binding)

    def _repr_html_(self) -> str:
        from retewave.notebook import of_engine

        with self.lock:
            return of_engine(cast("Engine", self))

    def _repr_svg_(self) -> str | None:
        from retewave.notebook import drawn

        with self.lock:
            return drawn(cast("Engine", self))
