"""Random views: windows, reports and queries, as retewave reads them and as pyoxigraph does; and random streams."""

from __future__ import annotations

import atexit
import random
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Literal

from naive.matching import Chosen, Named, Order, Then
from naive.view_graphs import Pattern, Row, Triple, term_text
from naive.view_match import NaiveEvent, NaiveMatch
from naive.view_windows import Item, NaiveWindow
from naive.views import MATCH, TIMESTAMP, NaiveView

import retewave as rw
from retewave.compiler.algebra import (
    Ago,
    Current,
    Extent,
    Fixed,
    Inside,
    Landmark,
    Newest,
    Policy,
    ReportPolicy,
    Sliding,
    Told,
    Whole,
)
from retewave.compiler.parse import parse
from retewave.errors import QueryError

E = "http://e/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
PROPERTIES, THINGS, VARIABLES = "pq", "ab", "xyz"


def iri(name: str) -> str:
    return f"<{E}{name}>"


def number(value: int) -> str:
    return f'"{value}"^^<{INTEGER}>'


@dataclass
class Written:
    """A view in two languages."""

    text: str  # for retewave
    naive: NaiveView  # for the meaning
    static: list[Triple] = field(default_factory=list)  # the background
    graphs: dict[str, list[Triple]] = field(default_factory=dict)  # named ones, by their IRIs


class Views:
    """Makes views; equal seeds, equal views."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.patterns: dict[str | None, list[Pattern]] = {}  # those of each window
        self.counted = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # ---- windows ----
    def extent(self, stepped: bool, depth: int = 0) -> tuple[Extent, str]:
        pick, r = self.random.random(), self.random
        step = r.choice([1, 2, 3, 5]) if stepped else None
        if self.chance(0.25):
            return self.moved(step)
        if pick < 0.55 or (stepped and depth):
            width, phase = r.randint(1, 8), r.choice([0, 0, 1, 2]) if stepped else 0
            written = f"RANGE {width}s" + (f" STEP {step}s" if stepped else "")
            return Sliding(width, step, phase), written + (f" STARTING AT {phase}s" if phase else "")
        if pick < 0.7:
            newest = r.randint(0, 3)
            oldest = newest + r.randint(1, 6)
            written = f"FROM NOW-{oldest}s TO NOW-{newest}s" + (f" STEP {step}s" if stepped else "")
            return Ago(oldest, newest, step), written
        if pick < 0.8 and not depth:
            outer, its = Fixed(r.randint(0, 4), r.randint(5, 12)), self.extent(stepped, 1)
            return Inside(outer, its[0]), f"FROM {outer.begin} TO {outer.end}] OF [{its[1]}"
        if stepped:
            return self.extent(stepped, 1)
        if pick < 0.9:
            since = r.randint(0, 6)
            return Landmark(since), f"LND {since}"
        if pick < 0.95:
            begin = r.randint(0, 6)
            return Fixed(begin, begin + 4), f"FROM {begin} TO {begin + 4}"
        return Whole(), "ALL"

    def moved(self, step: int | None) -> tuple[Extent, str]:
        """Return a window that what comes moves."""
        r = self.random
        if step is None and self.chance(0.3):
            return Current(), "NOW"
        of: Literal["triples", "events"] = r.choice(["triples", "events"])
        counted = Newest(r.randint(1, 5), of, step)
        return counted, f"{'TRIPLES' if of == 'triples' else 'ELEMENTS'} {counted.count}" + (
            f" STEP {step}" if step else ""
        )

    # ---- patterns ----
    def triple(self, window: str | None) -> str:
        r = self.random
        subject = f"?{r.choice(VARIABLES)}" if self.chance(0.9) else iri(r.choice(THINGS))
        predicate = iri(r.choice(PROPERTIES))
        constant = r.choice([iri(r.choice(THINGS)), str(r.randint(1, 3))])
        object_ = f"?{r.choice(VARIABLES.replace(subject[-1], ''))}" if self.chance(0.9) else constant
        self.note(window, subject, predicate, object_)
        return f"{subject} {predicate} {object_} ."

    def note(self, window: str | None, *terms: str) -> None:
        fixed = [number(int(term)) if term.isdigit() else term for term in terms]
        self.patterns.setdefault(window, []).append((fixed[0], fixed[1], fixed[2]))

    def path(self, window: str | None) -> str:
        r = self.random
        mark, one, two = r.choice("*+?"), *r.sample(PROPERTIES, 2)
        written = r.choice([iri(one), f"^{iri(one)}", f"({iri(one)}/{iri(two)})", f"({iri(one)}|{iri(two)})"])
        for each in (one, two) if two in written.split("/") or iri(two) in written else (one,):
            self.note(window, "?a", iri(each), "?b")
        if mark != "+":
            self.note(window, "?a", "?b", "?c")
        start, end = f"?{r.choice(VARIABLES)}", f"?{r.choice(VARIABLES)}"
        return f"{start} {written}{mark} {end} ."

    def triples(self, window: str | None, most: int = 2) -> str:
        return " ".join(self.triple(window) for _ in range(self.random.randint(1, most)))

    def condition(self) -> str:
        r = self.random
        one, other = f"?{r.choice(VARIABLES)}", r.choice([f"?{r.choice(VARIABLES)}", str(r.randint(1, 3)), iri("a")])
        if self.chance(0.2):
            return f"BOUND({one}) || {one} = {other}"
        # pyoxigraph has terms without an order that are no less than themselves
        return f"{one} {r.choice(['=', '!=', '<', '>='] if other.isdigit() else ['=', '!='])} {other}"

    def group(self, window: str | None, depth: int = 2) -> str:
        parts = [self.triples(window, self.random.choice([1, 1, 1, 2]))]
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            parts.append(self.part(window, depth))
        return " ".join(parts)

    def part(self, window: str | None, depth: int) -> str:
        kinds = [self.filter, self.bind, self.values, self.path, self.triples]
        if depth:
            kinds += [self.optional, self.minus, self.union, self.exists, self.nested] * 2
            if window != "any":  # inside GRAPH ?w a subquery of pyoxigraph's reads any graph, not the one of ?w
                kinds += [self.subquery] * 2
        return self.random.choice(kinds)(window)

    def filter(self, window: str | None) -> str:
        if window is None and self.chance(0.2):
            return f"FILTER({self.timestamp()} {self.random.choice('<>=')} {self.timestamp()})"
        also = f" || {self.existence(window)}" if self.chance(0.15) else ""
        return f"FILTER({self.condition()}{also})"

    def existence(self, window: str | None) -> str:
        return f"{self.random.choice(['', 'NOT '])}EXISTS {{ {self.triples(window)} }}"

    def timestamp(self) -> str:
        """Return C-SPARQL's function of a triple."""
        r = self.random
        subject, object_ = (r.choice([*(f"?{each}" for each in VARIABLES), iri("a")]) for _ in range(2))
        return f"<{TIMESTAMP.value}>({subject}, {iri(r.choice(PROPERTIES))}, {object_})"

    def bind(self, window: str | None) -> str:
        self.counted += 1
        if window is None and self.chance(0.2):
            return f"BIND({self.timestamp()} AS ?n{self.counted})"
        value = self.existence(window) if self.chance(0.15) else f"?{self.random.choice(VARIABLES)} + 1"
        return f"BIND({value} AS ?n{self.counted})"

    def values(self, _: str | None) -> str:
        return f"VALUES (?{self.random.choice(VARIABLES)}) {{ ({iri('a')}) ({self.random.choice(['UNDEF', '1'])}) }}"

    def optional(self, window: str | None) -> str:
        return f"OPTIONAL {{ {self.group(window, 0)} }}"

    def minus(self, window: str | None) -> str:
        return f"MINUS {{ {self.group(window, 0)} }}"

    def union(self, window: str | None) -> str:
        return f"{{ {self.group(window, 0)} }} UNION {{ {self.group(window, 0)} }}"

    def exists(self, window: str | None) -> str:
        return f"FILTER {self.existence(window)}"

    def nested(self, window: str | None) -> str:
        return f"{{ {self.group(window, 0)} }}"

    def subquery(self, window: str | None) -> str:
        return f"{{ {self.select(self.group(window, 0))} }}"

    # ---- queries ----
    def select(self, where: str, dataset: str = "", names: str = "") -> str:
        """Return a SELECT whose result does not hang on the order of ties."""
        r = self.random
        there = [f"?{each}" for each in VARIABLES if f"?{each}" in where + names]
        pick = r.random()
        if pick < 0.45 and there:
            key, of = r.choice(there), r.choice(there)
            self.counted += 1
            name = f"?m{self.counted}"
            distinct = r.choice(["", "", "DISTINCT "])
            call = r.choice(
                ["COUNT(*)", *(f"{name}({distinct}{of})" for name in ("COUNT", "SUM", "AVG", "MIN", "MAX"))]
            )
            having = f" HAVING (COUNT(*) > {r.randint(0, 2)})" if self.chance(0.3) else ""
            if self.chance(0.3):
                return f"SELECT ({call} AS {name}) {dataset} {{ {where} }}{having}"
            return f"SELECT {key} ({call} AS {name}) {dataset} {{ {where} }} GROUP BY {key}{having}"
        shown = r.sample(there, r.randint(1, len(there))) if there else ["*"]
        distinct = r.choice(["", "", "DISTINCT "])
        text = f"SELECT {distinct}{' '.join(shown)} {dataset} {{ {where} }}"
        if there and self.chance(0.3):
            text += f" ORDER BY {' '.join(r.choice(['{}', 'DESC({})']).format(each) for each in shown)}"
            text += r.choice(["", f" LIMIT {r.randint(1, 3)}", f" OFFSET {r.randint(0, 2)}"])
        return text

    def view(self) -> Written:
        r = self.random
        static = [self.arrival() for _ in range(r.randint(0, 3))]
        policies: list[Literal["close", "change", "periodic"]] = ["close", "close", "change", "periodic"]
        policy = r.choice(policies)
        stepped = policy == "close" or self.chance(0.3)
        named = self.chance(0.5)
        windows: list[tuple[str | None, str, Extent, str]] = []
        for place in range(r.randint(1, 2)):
            extent, written = self.extent(stepped)
            name = f"{E}w{place}" if named else None
            stream = f"{E}s{place if not named else r.randint(0, 1)}"
            windows.append((name, stream, extent, written))
        match, defined, ordered = self.match(windows) if named and self.chance(0.35) else (None, "", "")
        where = self.where(windows) if named else self.group(None)
        if self.chance(0.15):
            where += f" {self.graph()}"
        if match is not None:
            where = MATCH if self.chance(0.4) else f"{MATCH} {where}"
            self.patterns = {} if where == MATCH else self.patterns
        told: Told = r.choice(["RSTREAM", "RSTREAM", "ISTREAM", "DSTREAM"])
        period = r.randint(1, 4)
        reported = ReportPolicy(policy, period if policy == "periodic" else None, self.chance(0.2))
        clauses = " ".join(
            f"FROM NAMED WINDOW <{name}> ON <{stream}> [{written}]" if name else f"FROM STREAM <{stream}> [{written}]"
            for name, stream, _, written in windows
        )
        spelled = {"close": "WINDOW CLOSE", "change": "CONTENT CHANGE", "periodic": f"PERIODIC {period}s"}[policy]
        clauses += f" REPORT {spelled}{' NON EMPTY' if reported.non_empty else ''} {defined}"
        names = "" if match is None else " ".join(match.variables)  # what may be shown
        text = self.select(where, "@@", names) if self.chance(0.9) else f"ASK @@ {{ {where} }}"
        every: dict[str, list[str | None]] = {"?w": [name for name, *_ in windows], "?g": [f"{E}g0", f"{E}g1"]}
        asked = text.replace("WINDOW ", "GRAPH ").replace("@@", "")
        for variable, which in every.items():  # WINDOW ?w ranges over windows alone, GRAPH ?g over graphs alone
            values = f"VALUES {variable} {{ {' '.join(f'<{each}>' for each in which)} }} GRAPH {variable} "
            asked = asked.replace(f"GRAPH {variable} ", values)
        found = tuple(NaiveWindow(n, s, x, self.of_window(n)) for n, s, x, _ in windows)
        graphs = {f"{E}g{number}": [self.arrival() for _ in range(r.randint(0, 3))] for number in range(2)}
        named_graphs = {name: frozenset(triples) for name, triples in graphs.items()} if "GRAPH" in where else {}
        naive = NaiveView(asked, found, reported, told, frozenset(static), match=match, graphs=named_graphs)
        if "GRAPH ?g" in where:
            clauses = f"FROM NAMED <{E}g0> FROM NAMED <{E}g1> {clauses}"
        text = text.replace("@@", clauses).replace(MATCH, f"MATCH {{ {ordered} }}")
        return Written(f"REGISTER {told} <{E}out> AS {text}", naive, static, graphs if named_graphs else {})

    # ---- MATCH ----
    def match(self, windows: list[tuple[str | None, str, Extent, str]]) -> tuple[NaiveMatch, str, str]:
        """Return a MATCH, the definitions of its events, and how it is written."""
        r = self.random
        events, texts = dict[str, NaiveEvent](), []
        for number in range(r.choice([1, 2, 2, 2, 3])):
            window = r.randrange(len(windows))
            before, self.patterns = self.patterns, {}
            written = self.triples("e", r.choice([1, 1, 2]))
            own, self.patterns = self.patterns["e"], before
            events[f"E{number}"] = NaiveEvent(window, tuple(own))
            texts.append(f"EVENT ON <{windows[window][0]}> {{ {written} }} AS E{number}")
        policy = Policy(r.choice(["unrestricted", "naive", "chronological", "recent"]), self.chance(0.3))
        texts.append(f"POLICY {policy}" if policy.chooses else "")
        order, written = self.order(list(events))
        terms = (term for each in events.values() for pattern in each.patterns for term in pattern)
        variables = tuple(sorted({term for term in terms if term[0] == "?"}))
        return NaiveMatch(events, order, policy, variables), " ".join(texts), written

    def order(self, names: list[str]) -> tuple[Order, str]:
        r = self.random
        if len(names) > 1:
            cut = r.randint(1, len(names) - 1)
            (left, one), (right, other) = self.order(names[:cut]), self.order(names[cut:])
            made: Order = Then(left, right)
            written = f"{one} SEQ {{ {other} }}" if cut < len(names) - 1 else f"{one} SEQ {other}"
        else:
            made, written = Named(names[0]), names[0]
        if self.chance(0.25):
            last = self.chance(0.5)
            return Chosen(last, made), f"{'LAST' if last else 'FIRST'} {{ {written} }}"
        return made, written

    def of_window(self, name: str | None) -> tuple[Pattern, ...]:
        each = self.patterns.get(name, [])
        return tuple(each if name is None else [*each, *self.patterns.get("any", [])])

    def where(self, windows: list[tuple[str | None, str, Extent, str]]) -> str:
        parts = [f"WINDOW <{name}> {{ {self.group(name)} }}" for name, *_ in windows if self.chance(0.7)]
        if self.chance(0.4) or not parts:
            parts.append(f"WINDOW ?w {{ {self.group('any', 1)} }}")
        if self.chance(0.3):
            before, self.patterns = self.patterns, {}
            parts.append(self.group(None, 1))  # reads the background: no window
            self.patterns = before
        return " ".join(parts)

    def graph(self) -> str:
        """Return a group that reads named graphs."""
        before, self.patterns = self.patterns, {}  # it reads no window
        name = self.random.choice([f"<{E}g0>", f"<{E}g1>", "?g"])
        written = f"GRAPH {name} {{ {self.group('any', 1)} }}"
        self.patterns = before
        return written

    # ---- streams ----
    def arrival(self) -> Triple:
        r = self.random
        object_ = iri(r.choice(THINGS)) if self.chance(0.5) else number(r.randint(1, 3))
        return iri(r.choice(THINGS)), iri(r.choice(PROPERTIES)), object_

    def items(self, most: int = 16) -> list[Item]:
        r = self.random
        times = sorted(r.randint(0, 12) + r.choice([0, 0, 0, 9]) for _ in range(r.randint(1, most)))
        found = [Item(time, f"{E}s{r.randint(0, 1)}", self.arrival()) for time in times]
        numbers = {(each.time, each.stream): number for number, each in enumerate(found)}
        return [replace(each, event=numbers[each.time, each.stream]) if self.chance(0.4) else each for each in found]


def written(seed: int) -> tuple[Written, list[Item]]:
    """Return a view and a stream; a view that shows a variable which its pattern only looks at is no view."""
    for again in count():
        views = Views(seed + again * 1_000_003)
        view = views.view()
        with suppress(QueryError):
            parse(view.text)
            return view, views.items()
    raise AssertionError


@cache
def file_of(triples: tuple[Triple, ...]) -> Path:
    """Return a file of triples."""
    with tempfile.NamedTemporaryFile("w", suffix=".nt", delete=False) as file:
        file.writelines(f"{' '.join(triple)} .\n" for triple in triples)
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return Path(file.name)


def engine_of(view: Written, *, explain: bool = False, **options: Any) -> tuple[rw.Engine, rw.Query]:
    """Return an engine with a view and its background."""
    datasets = {name: file_of(tuple(triples)) for name, triples in view.graphs.items()}
    engine = rw.Engine(static=[*view.static] or (), datasets=datasets, **options)
    return engine, engine.register(view.text, explain=explain)


def told(query: rw.Query, matches: list[rw.Match]) -> list[tuple[int, Counter[Row]]]:
    """Return matches as reports: those of one end are one report; reports without rows are not told."""
    found: dict[int, Counter[Row]] = {}
    for match in matches:
        pairs = ((name, text) for name in query.variables if (text := match.text(name)) is not None)
        row = tuple(sorted((name, term_text(text.decode())) for name, text in pairs))
        found.setdefault(int(match.end), Counter())[row] += 1  # type: ignore[arg-type]
    return list(found.items())


def pushed(engine: rw.Engine, items: list[Item]) -> list[rw.Match]:
    """Push items one by one, and flush."""
    return [match for each in items for match in push(engine, each)] + engine.flush()


def push(engine: rw.Engine, item: Item) -> list[rw.Match]:
    """Push one item."""
    event = None if item.event < 0 else item.event
    return engine.push(item.triple, time=item.time, stream=item.stream, event=event)
