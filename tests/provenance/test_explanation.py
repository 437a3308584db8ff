"""What an explanation says: the text, the data, the picture; and what it does when it cannot say something."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cases.temporal import ANYWHERE, OPERATORS, Case, temporal_case
from helpers.inside import sweep
from helpers.replayed import explained
from helpers.telling import asked, law
from hypothesis import given

import retewave as rw
from retewave.engine.registry import UnboundedWarning
from retewave.errors import QueryError, UsageError
from retewave.provenance.axis import axis_of
from retewave.provenance.explanation import Arrival, Explanation
from retewave.provenance.time_words import TimeWords
from retewave.windows.times import Clock

E = "http://e/"
PREFIX = "PREFIX : <http://e/>\n"
SCHEMA = [(E + "demands", "rdfs:subPropertyOf", E + "asks"), (E + "asks", "rdfs:domain", E + "Client")]
RDFS = "http://www.w3.org/2000/01/rdf-schema#"


@pytest.fixture(autouse=True)
def _unbounded() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnboundedWarning)
        yield


def engine_for(query: str, **options: object) -> rw.Engine:
    engine = rw.Engine(**options)  # type: ignore[arg-type]
    engine.register(PREFIX + query, name="q", explain=True)
    return engine


def push(engine: rw.Engine, said: str, time: object, **options: object) -> list[rw.Match]:
    """Push a triple written as `s p o`; a number as an object is one."""
    s, p, o = said.split()
    return engine.push((E + s, E + p, int(o) if o.isdigit() else E + o), time=time, **options)  # type: ignore[arg-type]


def test_groups_of_one_interval_are_told_to_be_equal() -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } EQUALS { ?x :gets ?m } WITHIN 5s }")
    push(engine, "ann asks 7", 1)
    [match] = push(engine, "ann gets 8", 1)
    [relation] = [each for each in match.explain().reckonings if each.kind == "relation"]
    assert (relation.operator, relation.said) == ("EQUALS", "(1) equals (2): 1 = 1, 1 = 1")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (
            "{ ?x :asks ?n FILTER EXISTS { LAST { ?x :gets ?m } } } WITHIN 9s",
            [
                "  (1) ?x :asks ?n  ←  :ann :asks 7  [2]  event #2",
                "  (2) ?x :gets ?m  ←  :ann :gets 8  [1]  event #1",
                "  WITHIN  (1) 2 − 2 = 0s ≤ 9s",
                "  LAST    no ?x :gets ?m after 1 and up to 2",
                "  EXISTS  (2) is there: 1 ≤ 2",
            ],
        ),
        (
            "{ { ?x :asks ?n } EQUALS { ?x :wants ?w } FILTER EXISTS { LAST { ?x :gets ?m } }"
            " FILTER EXISTS { FIRST { ?x :gets ?k } } } WITHIN 9s",
            [],
        ),
    ],
)
def test_a_choice_that_exists_says_the_solution_itself_once(pattern: str, found: list[str]) -> None:
    engine = engine_for(f"SELECT ?x {{ {pattern} }}")
    push(engine, "ann gets 8", 1)
    push(engine, "ann asks 7", 2)
    push(engine, "ann wants 9", 2)
    [match] = engine.flush()
    lines = str(match.explain()).splitlines()[1:]
    arrivals = [line for line in lines if "←" in line]
    assert len(arrivals) == len({line.partition(") ")[2] for line in arrivals})
    assert not found or lines == found


def test_a_sequence_is_told_by_its_triples_their_events_and_its_arithmetic() -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } SEQ NOT { ?x :leaves ?d } SEQ { ?x :gets ?n } WITHIN 5s }")
    push(engine, "ann asks 7", 1, stream=E + "s")
    [match] = push(engine, "ann gets 7", 4, event=12)
    assert str(match.explain()) == (
        "q: ?x = :ann  [1, 4]\n"
        "  (1) ?x :asks ?n  ←  :ann :asks 7  [1]  stream <http://e/s>  event #1\n"
        "  (2) ?x :gets ?n  ←  :ann :gets 7  [4]  event 12\n"
        "  SEQ            (1) before (2): 1 < 4\n"
        "  WITHIN         (1–2) 4 − 1 = 3s ≤ 5s\n"
        "  SEQ NOT … SEQ  no :ann :leaves ?d after 1 and before 4\n"
    )


def test_times_of_one_day_are_told_without_the_day_in_arithmetic() -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } SEQ NOT { ?x :gets ?n } WITHIN 5m }")
    push(engine, "ann asks 7", "2026-01-01T12:03:00Z")
    [match] = engine.flush()
    lines = str(match.explain()).splitlines()
    assert lines[-2].split("  ")[-1] == "no :ann :gets 7 after 12:03:00 and up to 12:08:00"
    assert lines[-1].split("  ")[-1] == "the deadline of (1): 12:03:00 + 5m = 12:08:00"


def test_the_axioms_that_made_a_triple_fit_are_named() -> None:
    schema = [[(f"<{E}demands>", f"<{RDFS}subPropertyOf>", f"<{E}asks>"), (f"<{E}asks>", f"<{RDFS}domain>", f"<{E}C>")]]
    schema = [[tuple(text.encode() for text in triple) for triple in schema[0]]]  # type: ignore[misc]
    engine = engine_for("SELECT ?x { ?x a :C . ?x :livesIn ?c }", schema=schema, static=[[(E + "a", E + "livesIn", E)]])
    [match] = push(engine, "a demands b", 3)
    first, second = match.explain().arrivals
    assert (first.triple, first.seen) == (":a :demands :b", ":a rdf:type :C")
    assert first.axioms == (":demands rdfs:subPropertyOf :asks", ":asks rdfs:domain :C")
    assert (second.start, second.event, second.axioms) == (None, None, ())
    assert first.terms == (f"<{E}a>", f"<{E}demands>", f"<{E}b>")


def test_what_exists_has_found_is_told_and_goes_on_with_the_match() -> None:
    engine = engine_for("SELECT ?x { ?x :asks ?n FILTER EXISTS { ?x :likes ?y . ?y :of ?n } }")
    for said in ("ann likes tea", "tea of 7", "ann likes ink", "ink of 8"):
        push(engine, said, 1)
    push(engine, "ann asks 8", 2)
    [match] = engine.flush()
    assert [each.triple for each in match.explain().arrivals] == [":ann :asks 8", ":ann :likes :ink", ":ink :of 8"]


def test_a_tuple_that_waits_for_exists_is_carried_to_a_network_for_intervals() -> None:
    engine = engine_for("SELECT ?x { ?x :asks ?n FILTER EXISTS { ?x :likes ?y } }")
    push(engine, "ann likes tea", 1)
    push(engine, "ann asks 8", 2)
    push(engine, "bob likes tea", (1, 2))  # the network is made anew, while the question waits
    [match] = engine.flush()
    assert [each.triple for each in match.explain().arrivals] == [":ann :asks 8", ":ann :likes :tea"]


def test_a_union_is_told_by_the_side_that_matched_and_first_by_what_it_chose() -> None:
    engine = engine_for("SELECT ?x { FIRST { { ?x :asks ?n } UNION { ?x :begs ?n } } SEQ { ?x :gets ?m } WITHIN 9s }")
    push(engine, "ann begs 1", 1)
    push(engine, "ann asks 2", 2)
    [match] = push(engine, "ann gets 3", 3)
    explanation = match.explain()
    assert [each.pattern for each in explanation.arrivals] == ["?x :begs ?n", "?x :gets ?m"]
    assert [each.said for each in explanation.reckonings if each.operator == "FIRST"] == [
        "no :ann :asks ?n from -6 on and before 1",
        "no :ann :begs ?n from -6 on and before 1",
    ]


def test_first_and_last_that_an_operator_looks_at_are_told_with_what_they_chose_and_what_was_not_there() -> None:
    engine = rw.Engine()
    query = "PREFIX e: <http://e/> SELECT * FROM STREAM e:s [RANGE 1m] { ?x e:q ?q %s { LAST { ?x e:p ?p } %s } }"
    with_it = engine.register(query % ("OPTIONAL", ""), explain=True)
    without = engine.register(query % ("MINUS", "FILTER (?p > 2)"), explain=True)
    for name, time in (("p", 1), ("q", 2), ("p", 3)):
        engine.push(("http://e/x", f"http://e/{name}", time), time=time, stream="http://e/s")
    (one,), (other,) = with_it.matches, without.matches
    assert "LAST      no ?x e:p ?p after 1 and up to 2" in str(one.explain())
    assert "MINUS  no LAST { e:x e:p ?p FILTER((?p > 2)) } from -58 on and up to 2" in str(other.explain())


def test_each_stream_has_the_arithmetic_of_its_own_range() -> None:
    ranges = f"FROM STREAM <{E}s> [RANGE 2s] FROM STREAM <{E}t> [RANGE 9s]"
    engine = engine_for(f"SELECT ?x {ranges} {{ ?x :asks ?n . ?x :gets ?n }}")
    push(engine, "ann asks 1", 1, stream=E + "t")
    [match] = push(engine, "ann gets 1", 5, stream=E + "s")
    said = [(each.operator, each.said) for each in match.explain().reckonings]
    assert said == [(f"RANGE of <{E}s>", "5 − 5 = 0s ≤ 2s"), (f"RANGE of <{E}t>", "5 − 1 = 4s ≤ 9s")]


def test_intervals_are_compared_as_the_relation_does() -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } MEETS { ?x :gets ?n } }")
    push(engine, "ann asks 1", (1, 3))
    [match] = push(engine, "ann gets 1", (3, 4))
    assert [each.said for each in match.explain().reckonings] == ["(1) meets (2): 3 = 3"]


def test_a_match_of_a_query_that_was_not_asked_to_explain_says_what_to_do() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + "SELECT ?x { ?x :asks ?n }", name="plain")
    [match] = push(engine, "ann asks 1", 1)
    with pytest.raises(UsageError, match="plain was registered without explain=True") as error:
        match.explain()
    assert "register(query, explain=True)" in (error.value.hint or "")


def test_a_query_that_comes_later_does_not_know_what_came_before_anybody_asked() -> None:
    engine = rw.Engine()
    said = PREFIX + "SELECT ?x { ?x :asks ?n . ?x :gets ?n }"
    engine.register(said)
    push(engine, "ann asks 1", 1)
    late = engine.register(said, explain=True)
    [match] = (each for each in push(engine, "ann gets 1", 2) if each.query is late)
    asks, gets = match.explain().arrivals
    assert (asks.triple, asks.event, asks.terms, asks.seen) == (None, None, None, ":ann :asks 1")
    assert (asks.start, gets.triple) == (1, ":ann :gets 1")
    assert "not known" in str(match.explain())


def test_a_query_that_comes_later_takes_over_what_another_explained_one_knows() -> None:
    engine = rw.Engine()
    said = PREFIX + "SELECT ?x { ?x :asks ?n . ?x :gets ?n } "
    engine.register(said + "# wide, and not explained")
    engine.register(PREFIX + f"SELECT ?x FROM STREAM <{E}s> [RANGE 5s] {{ ?x :asks ?n . ?x :gets ?n }}", explain=True)
    engine.register(said + "# explained", explain=True)
    for time in (1, 1, 2):
        push(engine, "ann asks 1", time, event=time)
    late = engine.register(said + "# late", explain=True)
    matches = [each for each in push(engine, "ann gets 1", 3) if each.query is late]
    assert sorted(each.explain().arrivals[0].event or "" for each in matches) == ["1", "1", "2"]


def test_an_explanation_outlasts_sweeps_and_the_query(tmp_path: Path) -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } SEQ { ?x :gets ?n } WITHIN 5s }")
    push(engine, "ann asks 1", 1)
    engine.snapshot(tmp_path / "engine.snapshot")
    for restored in (engine, rw.Engine.restore(tmp_path / "engine.snapshot")):
        [match] = push(restored, "ann gets 1", 4)
        before = str(match.explain())
        restored.remove(match.query)
        for number in range(40):
            push(restored, f"bob{number} asks {number}", 100 + number)
            sweep(restored)
        assert str(match.explain()) == before
        assert ":ann :asks 1" in before


def test_an_explanation_is_data_too() -> None:
    engine = engine_for("SELECT ?x { { ?x :asks ?n } SEQ { ?x :gets ?n } WITHIN 5s }")
    push(engine, "ann asks 1", "2026-01-01T12:03:00Z")
    [match] = push(engine, "ann gets 1", "2026-01-01T12:03:02Z")
    found = json.loads(match.explain().to_json())
    assert found["arrivals"][0]["terms"][:2] == [f"<{E}ann>", f"<{E}asks>"]
    assert found["arrivals"][0]["start"] == "2026-01-01T12:03:00Z"
    assert found["reckonings"][0]["sides"] == [[1], [2]]
    assert found.keys() == {"query", "binding", "start", "end", "arrivals", "reckonings", "micros"}


def test_a_triple_that_a_rule_has_built_has_the_explanation_of_that_beneath() -> None:
    words = TimeWords(Clock("int"), one_day=False)
    given = Arrival("?x :p ?y", "a p b", "a p b", 1, 1, None, "#1", (), None, (1, 1))
    rule = Explanation("rule", {}, 1, 1, (given,), (), (1, 1), words)
    built = Arrival("?x :q ?y", "a q b", "a q b", 1, 1, None, "#2", (), None, (1, 1), "rule", rule)
    whole = Explanation("q", {}, 1, 1, (built,), (), (1, 1), words)
    assert str(whole).splitlines()[-2:] == ["        rule:  [1]", "          (1) ?x :p ?y  ←  a p b  [1]  event #1"]
    assert whole.to_dict()["arrivals"][0]["beneath"]["query"] == "rule"


def test_a_query_with_more_patterns_than_a_row_can_tell_of_is_refused() -> None:
    many = " . ".join(f"?x :p{number} ?y" for number in range(40))
    engine = rw.Engine()
    with pytest.raises(QueryError, match="to explain them"):
        engine.register(PREFIX + f"SELECT ?x {{ {many} }}", explain=True)
    engine.register(PREFIX + f"SELECT ?x {{ {many} }}")


_TIME = r"(-?[\d.e-]+)"
_COMPARED = re.compile(rf"{_TIME} ([<=≤]) {_TIME}(?:,|$)")
_LONG = re.compile(rf"{_TIME} − {_TIME} = ([\d.]+)(us|ms|s)(?:[\d.]+us)? ([<≤]) ([\d.]+)(us|ms|s)$")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@law(200)
@given(case=temporal_case(operators=OPERATORS | {ANYWHERE}).map(asked))
def test_the_arithmetic_of_an_explanation_is_right(case: Case) -> None:
    for match in explained(case, range(len(case.stream))):
        explanation = match.explain()
        for each in explanation.reckonings:
            if each.kind == "relation":
                compared = _COMPARED.findall(each.said.partition(": ")[2])
                assert compared
                for left, sign, right in compared:
                    one, other = float(left), float(right)
                    assert one < other if sign == "<" else one == other if sign == "=" else one <= other
            elif each.kind == "window":
                said = _LONG.search(each.said)
                assert said is not None
                end, start, long, unit, _, most, most_unit = said.groups()
                assert float(end) - float(start) == pytest.approx(float(long) * _UNITS[unit])
                assert float(long) * _UNITS[unit] <= float(most) * _UNITS[most_unit]
            elif each.kind == "deadline":
                assert each.micros is not None
                assert explanation.micros is not None
                assert each.micros[1] <= explanation.micros[1]


@law(60)
@given(case=temporal_case(operators=OPERATORS | {ANYWHERE}).map(asked))
def test_every_explanation_can_be_drawn(case: Case) -> None:
    for match in explained(case, range(len(case.stream)))[:3]:
        drawn = ElementTree.fromstring(match.to_svg())
        heads = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
        assert heads.count("match") == (match.start is not None)
        for number in range(1, len(match.explain().arrivals) + 1):
            assert any((head or "").startswith(f"({number})") for head in heads)


def test_what_comes_from_data_is_escaped_in_the_picture_and_in_a_notebook() -> None:
    engine = engine_for("SELECT ?x ?n { ?x :asks ?n }")
    [match] = engine.push((E + "ann", E + "asks", '"say <script>"'), time=1)
    for shown in (match.to_svg(), match._repr_html_(), match.explain()._repr_svg_()):
        assert "<script>" not in shown
        assert "say &lt;script&gt;" in shown


def test_plans_and_why_not_speak_of_an_explained_query_as_of_another() -> None:
    said = "SELECT ?x { { ?x :asks ?n FILTER EXISTS { ?x :likes :tea } } SEQ NOT { ?x :gets ?n } WITHIN 5s }"
    shown = []
    for explain in (False, True):
        engine = rw.Engine()
        query = engine.register(PREFIX + said, name="q", explain=explain)
        push(engine, "ann likes tea", 1)
        push(engine, "ann asks 1", 2)
        push(engine, "bob asks 1", 3)
        shown.append((engine.explain(), str(engine.why_not(query, {"x": E + "bob"}))))
        assert engine.draw(format="dot").count(b"EXISTS") == 2
    assert shown[0] == shown[1]


def test_what_a_rule_has_built_is_told_with_the_rules_match_beneath() -> None:
    engine = rw.Engine()
    rule = f"REGISTER STREAM <{E}s> AS CONSTRUCT {{ ?x :uncle ?z }} {{ ?x :child ?y . ?y :brother ?z }}"
    engine.register(PREFIX + rule, name="uncles", explain=True)
    engine.register(PREFIX + "SELECT ?z { ?x :uncle ?z . ?z :rich ?m }", name="q", explain=True)
    push(engine, "ann child bob", 1)
    push(engine, "bob brother carl", 2)
    [match] = (each for each in [*push(engine, "carl rich 1", 3), *engine.flush()] if each.query.name == "q")
    assert str(match.explain()).splitlines()[1:5] == [
        f"  (1) ?x :uncle ?z  ←  :ann :uncle :carl  [1, 2]  stream <{E}s>  built by uncles",
        "        uncles: ?x = :ann, ?z = :carl  [1, 2]",
        "          (1) ?x :child ?y    ←  :ann :child :bob  [1]  event #1",
        "          (2) ?y :brother ?z  ←  :bob :brother :carl  [2]  event #2",
    ]
    assert [each.triple for each in match.explain().given] == [
        ":ann :child :bob", ":bob :brother :carl", ":carl :rich 1",
    ]  # fmt: skip


def test_a_rule_that_is_not_explained_is_said_to_have_built_a_triple() -> None:
    engine = rw.Engine()
    engine.register(PREFIX + f"REGISTER STREAM <{E}s> AS CONSTRUCT {{ ?x :aunt ?y }} {{ ?x :child ?y }}", name="aunts")
    engine.register(PREFIX + "SELECT ?x { ?x :aunt ?z }", name="q", explain=True)
    push(engine, "ann child bob", 1)
    [match] = (each for each in engine.flush() if each.query.name == "q")
    [arrival] = match.explain().arrivals
    assert (arrival.rule, arrival.beneath, arrival.event) == ("a rule", None, None)


def test_a_policy_says_that_no_other_pair_is_taken() -> None:
    engine = engine_for("SELECT ?x ?n POLICY recent KEEP WHERE { { ?x :asks ?n } SEQ { ?x :gets ?m } WITHIN 5s }")
    push(engine, "ann asks 1", 1)
    push(engine, "ann asks 2", 2)
    push(engine, "ann gets 3", 3)
    [match] = engine.flush()
    assert match["n"].toPython() == 2
    said_by = [(each.operator, each.said) for each in match.explain().reckonings if "POLICY" in each.operator]
    assert said_by == [("POLICY recent", "no other pair that ends at 3 is taken in place of (1–2)")]


# One form of times, and an axis that can be read


def matched_over(days: float) -> rw.Match:
    engine, begin = rw.Engine(max_future=None), datetime(2024, 5, 1, 22, 30, tzinfo=UTC)
    engine.register("SELECT * { { ?x <http://e/p> ?y } SEQ { ?x <http://e/q> ?z } WITHIN 999d }", explain=True)
    engine.push(("http://e/a", "http://e/p", 1), time=begin)
    (match,) = engine.push(("http://e/a", "http://e/q", 2), time=begin + timedelta(days=days))
    return match


def test_dates_are_told_as_the_outputs_write_them() -> None:
    match = matched_over(1.25)
    assert "[2024-05-01T22:30:00Z, 2024-05-03T04:30:00Z]" in str(match.explain())
    assert "[2024-05-01T22:30:00Z, 2024-05-03T04:30:00Z]" in repr(match)


@pytest.mark.parametrize("days", [0.0001, 0.03, 0.5, 1.25, 9, 40, 200, 900])
def test_ticks_of_a_picture_do_not_run_into_each_other(days: float) -> None:
    ticks = list(axis_of(matched_over(days).explain(), left=0, width=480).ticks)
    assert ticks
    for (one, said), (other, next_said) in pairwise(ticks):
        assert other - one > 5.6 * (len(said) + len(next_said)) / 2
