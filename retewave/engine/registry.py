"""The registered queries: reading, checks, names, and the form in which the planner needs each."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from retewave.compiler.algebra import Query as Parsed
from retewave.compiler.algebra import ViewFrame
from retewave.compiler.languages.known import LANGUAGES
from retewave.compiler.languages.language import Language
from retewave.compiler.parse import parse
from retewave.compiler.plan.identity import digest
from retewave.compiler.plan.producers import EVENT, EXPLAINED
from retewave.compiler.plan.shape import Listener, Rule, Streams
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.detected import BACKGROUND, Detecting
from retewave.compiler.rewrite.leaves import STREAMED, ViewLeaves, leaves_of
from retewave.compiler.rewrite.normal import branches
from retewave.engine.accepting import (
    CartesianWarning,
    UnboundedWarning,
    check_parts,
    check_runs,
    check_shedding,
    check_view,
    check_width,
    warn_of_what_is_kept,
    warn_of_what_views_keep,
)
from retewave.epsilon.encodings import decoded
from retewave.epsilon.prefixes import absolute
from retewave.errors import QueryError, UsageError
from retewave.log import log
from retewave.match import Match
from retewave.query import Query, parted
from retewave.views.bounds import reach
from retewave.views.cells import cells_of
from retewave.viz.explain.compiled import Compiled
from retewave.windows.intervals import UNBOUNDED, widest

__all__ = ["CartesianWarning", "Registry", "UnboundedWarning", "read_query"]


def read_query(query: str | Path, language: str | Language | None = None) -> Parsed:
    """Read a query: a text, or the path of a file that holds one.

    >>> read_query("SELECT * WHERE { ?s ?p ?o }").projection
    ('s', 'p', 'o')
    """
    if not isinstance(query, Path | str):
        raise UsageError(f"a query is a text or a path, not {query!r}"[:200])
    if isinstance(query, Path) or _names_a_file(query):
        path = Path(query)
        if not _is_file(path):
            raise UsageError(
                f"there is no file {path}", hint="give a query's text or the path of a file that holds one"
            )
        try:
            text = decoded(path.read_bytes(), str(path), QueryError)
        except OSError as e:
            raise UsageError(f"cannot read the query {path}: {e.strerror}") from e
        return parse(text, source=str(path), language=language)
    return parse(query.removeprefix("\ufeff"), language=language)


def _names_a_file(query: str) -> bool:
    """Tell whether a text is the path of a query: the file is there, or the text looks like a path only."""
    if "\n" in query or "{" in query:
        return False
    suffixes = tuple(suffix for language in LANGUAGES for suffix in language.suffixes)
    return not re.search(r"\s", query) or query.endswith(suffixes) or _is_file(Path(query))


def _stem(source: str) -> str | None:
    """Return the name of a query's file without its suffix; of a text, nothing.

    >>> _stem("queries/late.rq"), _stem("<query>")
    ('late', None)
    """
    return None if source.startswith("<") else Path(source).stem


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a text without a space or a brace may be too long for a path
        return False


@dataclass
class Registry:
    """All registered queries of one engine."""

    queries: dict[int, Query] = field(default_factory=dict)  # by number
    streams: dict[str, int] = field(default_factory=dict)  # IRI -> the engine's number of the stream
    generation: int = 0  # changes with every change of the queries
    sheds: bool = False  # the oldest rows are dropped where a bound is met
    network: Callable[[], Compiled] | None = None  # makes the network of the queries, for their pictures
    plan: Callable[[Parsed], Detecting] | None = None  # finds the patterns that prove the events that a query defines
    _listeners: dict[int, Listener] = field(default_factory=dict)
    _numbers: int = 0
    _names: set[str] = field(default_factory=set)  # of the registered queries

    def add(
        self,
        parsed: Parsed,
        *,
        name: str | None,
        on_match: Callable[[Match], object] | None,
        keep: int | None,
        allow_cartesian: bool,
        explained: bool = False,
        number: int | None = None,
        quiet: bool = False,
    ) -> Query:
        """Register a query; a query of a snapshot has its number already, and its warnings were given before."""
        leaves = None if parsed.view is None else leaves_of(parsed)
        plan = None if parsed.events is None else self.detecting(parsed)
        normal = leaves.branches if leaves is not None else branches(parsed) if plan is None else tuple(plan.branches)
        check_width(parsed, normal, explained)
        check_runs(parsed, normal)
        if parsed.view is not None:
            check_view(parsed, self.sheds)
        elif self.sheds:
            check_shedding(parsed, normal)
        if not quiet:
            if leaves is None and plan is None:
                check_parts(parsed, normal, allow_cartesian)
            if leaves is None:
                warn_of_what_is_kept(parsed, self._listener(number or 0, parsed, normal, plan))
            else:
                warn_of_what_views_keep(parsed)
            for notice in (*parsed.notices, *(() if plan is None else plan.notices)):
                warnings.warn(notice, stacklevel=3)
        self._numbers = self._numbers if number is None else number
        number = self._numbers
        named = self._free_name(name or parsed.name or _stem(parsed.source) or f"query{number + 1}")
        query = Query(number, parsed, named, on_match, keep, explained, plan, leaves)
        query.network = self.network
        self._numbers += 1
        self.queries[number] = query
        self._listen(query, normal)
        self.generation += 1
        log.info("query %s is registered", query.name)
        return query

    def _listen(self, query: Query, normal: tuple[Branch, ...]) -> None:
        """Let the planner know what a query needs."""
        parsed = query.parsed
        self._listeners[query.number] = replace(
            self._listener(query.number, parsed, normal, query.plan),
            projection=query.columns if query.is_view else query.variables,
            compared=(*query.compared, *query.solved, *parted(query.parsed)),
            told=_told(parsed, query.explained),
            cells=() if query.leaves is None or parsed.view is None else _cells(query.leaves, parsed.view),
            spender=digest((query.name, parsed.text, str(parsed.policy))) if _uses_up(parsed) else "",
        )

    def plan_again(self) -> None:
        """Find events anew: the schema or static data has changed."""
        for query in self.queries.values():
            if query.plan is not None:
                query.take_plan(self.detecting(query.parsed))
                self._listen(query, tuple(query.plan.branches))

    def detecting(self, parsed: Parsed) -> Detecting:
        """Return how the events of a query are found."""
        assert self.plan is not None
        return self.plan(parsed)

    def remove(self, query: Query) -> None:
        """Forget a query."""
        self.check(query)
        del self.queries[query.number], self._listeners[query.number]
        self._names.discard(query.name)
        query.network = None
        self.generation += 1
        log.info("query %s is removed", query.name)

    def check(self, query: object) -> None:
        """Refuse anything but a query of this engine."""
        if not isinstance(query, Query):
            raise UsageError(f"{query!r} is no query", hint="give what register returned; engine.queries has them all")
        if query not in self:
            raise UsageError(f"{query.name} is not registered with this engine")

    def __contains__(self, query: Query) -> bool:
        return self.queries.get(query.number) is query

    @property
    def rules(self) -> list[Listener]:
        """The queries whose triples come in again, oldest first."""
        return [each for each in self._listeners.values() if each.all_rules]

    def listeners(self, numbers: Iterable[int] | None = None) -> list[Listener]:
        """Return queries as the planner needs them, oldest first: all, or those with some numbers."""
        return list(self._listeners.values()) if numbers is None else [self._listeners[number] for number in numbers]

    def stream_number(self, iri: str | None) -> int:
        """Return the number of a stream; 0 for a stream without a name, to which every query listens."""
        if iri is None:
            return 0
        known = self.streams.get(iri)
        return self._number_of(absolute(iri, "a stream's name")) if known is None else known

    def _number_of(self, iri: str) -> int:
        return self.streams.setdefault(str(iri), len(self.streams) + 1)

    def _free_name(self, name: str) -> str:
        free, number = name, 2
        while free in self._names:
            free, number = f"{name}#{number}", number + 1
        self._names.add(free)
        return free

    def _listener(self, number: int, parsed: Parsed, normal: tuple[Branch, ...], plan: Detecting | None) -> Listener:
        """Return what the planner needs of a query, but what it shows."""
        patterns = (pattern for branch in normal for pattern in branch.all_patterns)
        named = (iri for each in patterns for iri in (*each.streams, each.source) if iri not in (None, BACKGROUND))
        sources = {source: self._number_of(source[1:-1].decode()) for source in named}
        if parsed.view is not None:
            return self._of_view(number, parsed.view, normal, sources)
        rule, rules = self._rule(parsed), () if plan is None else tuple(self._rules(plan))
        if not parsed.streams:
            width = UNBOUNDED if parsed.window is None else parsed.window
            return Listener(number, normal, (), width, sources=sources, rule=rule, rules=rules)
        widths = {s.iri[1:-1].decode(): UNBOUNDED if s.width is None else s.width for s in parsed.streams}
        if parsed.window is not None:
            widths = dict.fromkeys(widths, parsed.window)
        width = widest(widths.values())
        if plan is not None:
            widths[plan.base] = width
        streams: Streams = frozenset((self._number_of(iri), width - own) for iri, own in widths.items())
        return Listener(number, normal, (), width, streams, sources=sources, rule=rule, rules=rules)

    def _rules(self, plan: Detecting) -> Iterator[Rule | None]:
        """Yield what the branches of a query about events feed back: Python builds all of it."""
        is_graph = plan.definitions.form == "RDF"
        for found, template in zip(plan.found, plan.templates, strict=True):
            if found.kind == "told" and not is_graph:
                yield None  # it is told, and nothing comes in again
                continue
            told = found.kind == "told"
            stream = plan.definitions.events[found.event].name[1:-1].decode() if told else plan.base
            yield Rule(template, self._number_of(stream), in_python=True)

    def _of_view(self, number: int, view: ViewFrame, normal: tuple[Branch, ...], sources: dict[bytes, int]) -> Listener:
        """Return what the planner needs of a view: solutions that lie close enough together for its windows."""
        width = reach(each.extent for each in view.windows)
        iris = [each.stream for each in view.windows]
        heard = None if None in iris else frozenset((self._number_of(iri[1:-1].decode()), 0) for iri in iris if iri)
        streamed = self._number_of(STREAMED)
        width = UNBOUNDED if width is None else width
        return Listener(number, normal, (), width, heard, sources=sources, streamed=streamed, by_ends=True)

    def _rule(self, parsed: Parsed) -> Rule | None:
        """Return the template that a query feeds back, and the stream: its own, else the one that it reads."""
        if not parsed.is_rule:
            return None
        stream = parsed.feeds
        if stream is None and len(parsed.streams) == 1:
            stream = parsed.streams[0].iri
        return Rule(parsed.template, 0 if stream is None else self._number_of(stream[1:-1].decode()))


def _told(parsed: Parsed, explained: bool) -> tuple[int, ...]:
    """Return what the rows of a query tell of each triple: of events, all that a justification has."""
    if parsed.events is not None or explained:
        return EXPLAINED
    return (EVENT,) if _uses_up(parsed) else ()


def _cells(split: ViewLeaves, frame: ViewFrame) -> tuple[tuple[int, int] | None, ...]:
    """Return, by branch, in which stretches of time a view needs to know once that a triple has come."""
    windows = [each.window if each.presence else None for each in split.leaves]
    return tuple(None if window is None else cells_of(frame, window) for window in windows)


def _uses_up(parsed: Parsed) -> bool:
    """Tell whether the network uses events up for a query; a view does that at its reports."""
    return parsed.policy.consumes and parsed.view is None
