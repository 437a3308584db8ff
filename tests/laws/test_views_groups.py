"""Groups that a view keeps from report to report tell what their windows' solutions tell, worked out anew each time."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from cases.many import many
from cases.views import Written, engine_of, iri, pushed, told
from naive.view_windows import Item, NaiveWindow
from naive.views import NaiveView

import retewave as rw
from retewave.compiler.algebra import Ago, Extent, ReportPolicy, Sliding, Told, Whole

CASES = 60
XSD = "http://www.w3.org/2001/XMLSchema#"
STREAM = "http://e/s0"
NUMBERS = (
    *(f'"{each}"^^<{XSD}integer>' for each in (-3, 0, 2, 7)),
    *(f'"{each}"^^<{XSD}decimal>' for each in ("0.25", "-1.125", "4.000001", "123456.5")),
    *(f'"{each}"^^<{XSD}double>' for each in ("1.5E0", "-2.5E-1", "8.5E3")),
)
DATES = tuple(f'"2024-01-0{day}T00:00:00Z"^^<{XSD}dateTime>' for day in (1, 2, 3))
CALLS = ("AVG(?v)", "SUM(?v)", "MIN(?v)", "MAX(?v)", "COUNT(?v)", "COUNT(*)")
EXPRESSIONS = ("AVG(?v + 1)", "SUM(?v * 2)", "MAX(?v - 3)", "MIN(1 / ?v)", "SUM(IF(?v > 2, 1, 0))")
DIFFERENT = ("COUNT(DISTINCT ?v)", "SUM(DISTINCT ?v)", "AVG(DISTINCT ?v)", "MAX(DISTINCT ?v)", "SUM(DISTINCT ?v + 1)")

pytestmark = pytest.mark.filterwarnings("ignore")


def view_of(r: random.Random) -> Written:
    """Return a view of one GROUP BY over one pattern."""
    step = r.choice([1, 2, 3, 5])
    width, newest = r.randint(1, 9), r.randint(1, 3)
    extents: list[tuple[Extent, str]] = [
        (Sliding(width, step), f"RANGE {width}s STEP {step}s"),
        (Sliding(width, step, 1), f"RANGE {width}s STEP {step}s STARTING AT 1s"),
        (Sliding(width), f"RANGE {width}s"),
        (Ago(newest + width, newest, step), f"FROM NOW-{newest + width}s TO NOW-{newest}s STEP {step}s"),
        (Whole(), "ALL"),
    ]
    extent, window = r.choice(extents)
    policies: list[tuple[ReportPolicy, str]] = [
        (ReportPolicy("change"), "CONTENT CHANGE"),
        (ReportPolicy("periodic", 2), "PERIODIC 2s"),
    ]
    if "STEP" in window:
        policies += [(ReportPolicy("close"), "WINDOW CLOSE")] * 3
    policy, report = r.choice(policies)
    told_as: Told = r.choice(["RSTREAM", "ISTREAM", "DSTREAM"])
    calls = r.sample(r.choice([CALLS, CALLS + EXPRESSIONS, CALLS + DIFFERENT, DIFFERENT]), r.randint(1, 4))
    named = " ".join(f"({call} AS ?m{number})" for number, call in enumerate(calls))
    where, (shown, by) = r.choice(
        [
            (f"?s {iri('p')} ?v", r.choice([("?s", "GROUP BY ?s"), ("", ""), ("?v", "GROUP BY ?v")])),
            (f"?s {iri('p')} ?v . ?s {iri('q')} ?w", r.choice([("?w", "GROUP BY ?w"), ("?s ?w", "GROUP BY ?s ?w")])),
            (f"?s {iri('p')} ?v FILTER(?v != 2)", ("?s", "GROUP BY ?s")),
            (f"?s {iri('p')} ?v", ("?k", "GROUP BY (?v > 2 AS ?k)")),
            (f"?s {iri('p')} ?v BIND(?v > 2 AS ?k)", ("?s ?k", "GROUP BY ?s ?k")),
        ]
    )
    having = "HAVING (COUNT(*) > 1)" if r.random() < 0.3 else ""
    query = f"SELECT {shown} {named} @@ {{ {where} }} {by} {having}"
    text = query.replace("@@", f"FROM STREAM <{STREAM}> [{window}] REPORT {report}")
    patterns = [("?s", iri("p"), "?v"), ("?s", iri("q"), "?w")][: 1 + (iri("q") in where)]
    naive = NaiveView(query.replace("@@", ""), (NaiveWindow(None, STREAM, extent, tuple(patterns)),), policy, told_as)
    return Written(f"REGISTER {told_as} <http://e/out> AS {text}", naive)


def items_of(r: random.Random) -> list[Item]:
    """Return a stream in which triples come again, groups end, and some groups are of numbers of one kind."""
    kinds = [NUMBERS[:4], NUMBERS[:8], NUMBERS[4:8], NUMBERS[8:], NUMBERS, (*NUMBERS[:4], iri("a"))]
    if r.random() < 0.15:
        kinds = [DATES]  # by themselves: the judge has another order among literals that `<` does not compare
    values = {name: r.choice(kinds) for name in "abc"}
    found, time = [], 0
    for _ in range(r.randint(1, 25)):
        time += r.choice([0, 0, 0, 1, 1, 2, 9])
        name = r.choice("abc")
        triple = (iri(name), iri("q"), iri(r.choice("ab"))) if r.random() < 0.25 else None
        found.append(Item(time, STREAM, triple or (iri(name), iri("p"), r.choice(values[name]))))
    return found


@pytest.mark.parametrize("seed", range(many(5 * CASES)))
def test_groups_are_those_of_the_meaning(seed: int) -> None:
    r = random.Random(seed)
    view, items = view_of(r), items_of(r)
    engine, query = engine_of(view)
    wanted = [(time, rows) for time, rows in view.naive.reports(items, items[-1].time) if rows]
    assert told(query, pushed(engine, items)) == wanted, f"{view.text}\n{items}"


@pytest.mark.parametrize("seed", range(many(CASES)))
def test_groups_go_on_where_a_snapshot_was_taken(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed + 10_000)
    view, items = view_of(r), items_of(r)
    cut = r.randint(0, len(items))
    engine, query = engine_of(view)
    found = [m for each in items[:cut] for m in engine.push(each.triple, time=each.time, stream=each.stream)]
    before = told(query, found)
    engine.snapshot(tmp_path / "kept")
    again = rw.Engine.restore(tmp_path / "kept")
    (query,) = again.queries
    after = told(query, pushed(again, items[cut:]))
    assert before + after == told(*_alone(view, items)), f"{view.text}\n{items}"


def _alone(view: Written, items: list[Item]) -> tuple[rw.Query, list[rw.Match]]:
    engine, query = engine_of(view)
    return query, pushed(engine, items)


def test_a_value_is_counted_as_long_as_some_solution_has_it_and_an_error_is_no_value() -> None:
    engine = rw.Engine()
    query = engine.register(
        f"""SELECT (COUNT(DISTINCT ?v) AS ?values) (COUNT(1 / ?v) AS ?parts) (SUM(DISTINCT ?v * ?v) AS ?squares)
        FROM STREAM <{STREAM}> [RANGE 10s STEP 5s] {{ ?s <http://e/p> ?v }}"""
    )
    for time, name, value in [(1, "a", 2), (2, "b", 0), (7, "c", -2), (12, "d", 3), (30, "e", 1)]:
        engine.push((f"http://e/{name}", "http://e/p", value), time=time, stream=STREAM)
    told_ = [
        (str(report.time), [row[name].toPython() for name in ("values", "parts", "squares")])
        for report in engine.reports(query)
        for row in report
    ]
    assert told_ == [
        ("5", [2, 1, 4]),
        ("10", [3, 2, 4]),  # both squares are 4
        ("15", [2, 2, 13]),
        ("20", [1, 1, 9]),
        ("25", [0, 0, 0]),
    ]
    kept = [line for line in engine.explain().splitlines() if "kept from" in line]
    assert kept == ["  kept from report to report: its solutions, and groups with COUNT DISTINCT, COUNT, SUM DISTINCT"]


@pytest.mark.parametrize("kind", ["integer", "decimal", "double"])
def test_sums_are_exact_however_long_a_window_slides(kind: str) -> None:
    r = random.Random(kind)
    engine = rw.Engine()
    text = f"""SELECT ?s (SUM(?v) AS ?sum) (MIN(?v) AS ?least) (MAX(?v) AS ?most) (COUNT(*) AS ?n)
        FROM STREAM <{STREAM}> [RANGE 10s STEP 1s] {{ ?s <http://e/p> ?v }} GROUP BY ?s"""
    query = engine.register(text)
    came: dict[tuple[str, str], int] = {}
    wanted: dict[int, dict[str, list[Fraction]]] = {}
    for time in range(1, 400):
        for _ in range(3):
            name = f"http://e/{r.choice('abcd')}"
            value = {"integer": f"{r.randint(-9, 9)}", "decimal": f"{r.randint(-9999, 9999) / 1000:.3f}"}.get(
                kind, f"{r.uniform(-1, 1) * 10 ** r.randint(-9, 9):.17E}"
            )
            engine.push((name, "http://e/p", f'"{value}"^^<{XSD}{kind}>'), time=time, stream=STREAM)
            came[name, value] = time
        wanted[time] = {}
        for (name, value), last in came.items():
            if last > time - 10:
                wanted[time].setdefault(name, []).append(
                    Fraction(float(value)) if kind == "double" else Fraction(value)
                )
    for report in engine.reports(query):
        at = int(str(report.time))
        for row in report:
            values = wanted[at].pop(str(row["s"]))
            assert int(row["n"]) == len(values)
            found = [Fraction(str(row[name])) for name in ("sum", "least", "most")]
            if kind == "double":
                assert float(found[0]) == float(sum(values))
                assert [float(each) for each in found[1:]] == [float(min(values)), float(max(values))]
            else:
                assert found == [sum(values), min(values), max(values)]
        assert not wanted[at]
