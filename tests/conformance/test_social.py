"""The examples that come with the package: the paper's Figure 4, the thermometers, and the original's pattern file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import cast

import pytest

import retewave as rw
from retewave.io.reading.reader import GENERATED_AT

EXAMPLES = Path(__file__).parents[2] / "examples"
SOCIAL, SENSORS = EXAMPLES / "social", EXAMPLES / "sensors"
FB, TWD = "http://facebook.example.org/ns#", "http://twitter.example.org/ns#"
GEO, FOAF, S = "http://sws.geonames.org/", "http://xmlns.com/foaf/0.1/", "http://example.org/sensors#"
FACEBOOK, TWITTER = "http://facebook.example.org/update/stream", "http://twitter.example.org/update/stream"
FRIENDS = {"http://foaf.example.org/friends.rdf": SOCIAL / "friends.ttl"}


def social(file: str = "distinct.rq", *, schema: bool = True) -> rw.Engine:
    engine = rw.Engine(schema=SOCIAL / "ontology.ttl" if schema else (), datasets=FRIENDS)
    engine.register(SOCIAL / file)
    return engine


def post(engine: rw.Engine, time: float) -> list[rw.Match]:
    triples = [(FB + "JohnDoe", FB + "update", FB + "post123"), (FB + "post123", FB + "mentions", GEO + "2775220")]
    return engine.push(triples, time=time, stream=FACEBOOK)


def tweet(engine: rw.Engine, time: float, stream: str = TWITTER) -> list[rw.Match]:
    triples = [(TWD + "johnd", TWD + "post", TWD + "tweet456"), (TWD + "tweet456", TWD + "talksAbout", GEO + "2775220")]
    return engine.push(triples, time=time, stream=stream)


def test_figure_4_matches_through_inferred_and_static_triples() -> None:
    engine = social()
    assert post(engine, 0) == []
    (match,) = tweet(engine, 150)
    found = {name: str(match[name]) for name in match}
    assert found == {"tweet": TWD + "tweet456", "fbpost": FB + "post123", "user": FOAF + "JohnDoe"}
    assert (match.start, match.end) == (0, 150)


def test_without_distinct_each_way_to_infer_a_type_counts() -> None:
    engine = social("query.rq")
    post(engine, 0)
    assert len(tweet(engine, 150)) == 4, "two arrivals say that it is a tweet, two that it is a status update"


def test_without_the_schema_nothing_matches() -> None:
    engine = social(schema=False)
    assert post(engine, 0) + tweet(engine, 150) == []


@pytest.mark.parametrize(("time", "matches"), [(300, 1), (300.000001, 0)])
def test_window_of_five_minutes_is_closed(time: float, matches: int) -> None:
    engine = social()
    post(engine, 0)
    assert len(tweet(engine, time)) == matches


def test_triples_of_a_stream_that_the_query_does_not_name_are_not_seen() -> None:
    engine = social()
    post(engine, 0)
    assert tweet(engine, 1, stream="http://e/other") == []


def test_example_files_give_the_papers_match_alone() -> None:
    engine = social()
    readers = [
        rw.read(SOCIAL / f"{name}.trig", time_property=GENERATED_AT, stream=f"http://{name}.example.org/update/stream")
        for name in ("facebook", "twitter")
    ]
    (match,) = engine.run(*readers)
    assert str(match["user"]) == FOAF + "JohnDoe"
    start, end = cast(datetime, match.start), cast(datetime, match.end)
    assert (end - start).total_seconds() == 150


def test_thermometers_of_one_room_match_within_two_seconds() -> None:
    engine = rw.Engine(schema=SENSORS / "ontology.ttl", static=SENSORS / "rooms.ttl")
    engine.register(SENSORS / "overheating.rq")
    (match,) = engine.run(rw.read(SENSORS / "readings.nt", rate=1))
    assert [str(match[name]).removeprefix(S) for name in match] == ["serverRoom", "t1", "t2", "31.5", "32"]
    assert (match.start, match.end) == (2, 4)


def test_original_pattern_file_finds_its_own_files_and_builds_triples() -> None:
    engine = rw.Engine()
    query = engine.register(SENSORS / "overheating.tpg")
    built = [triple for match in engine.run(rw.read(SENSORS / "readings.nt", rate=1)) for triple in match.triples]
    assert query.is_construct
    assert [(str(s).removeprefix(S), str(o).removeprefix(S)) for s, _, o in built] == [
        ("serverRoom", "t1"),
        ("kitchen", "t3"),
        ("serverRoom", "t2"),
    ]
