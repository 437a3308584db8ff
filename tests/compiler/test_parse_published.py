"""Queries in the forms of published ones: CityBench, SRBench, LSBench, RSEP-QL's paper, the drafts of RSP-QL.

The texts are ours, in the published shape: the same clauses, habits and slips.  What is wrong in a published text is
refused with the words that a user needs.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.srbench import FROM, RAIN, RESULT, SENSORS

from retewave import bench
from retewave.compiler.algebra import (
    Current,
    Extent,
    First,
    Grouped,
    InGraph,
    InWindow,
    Landmark,
    Last,
    Matched,
    Query,
    Relate,
    ReportPolicy,
    SingleEvent,
    Sliding,
    walk,
)
from retewave.compiler.parse import parse
from retewave.errors import QueryError
from retewave.windows.relations import SEQ

S = 1_000_000
M, H, D = 60 * S, 3_600 * S, 86_400 * S
CITY = Path(bench.__file__).parent / "city" / "queries"
OBSERVED = "http://purl.oclc.org/NET/ssnx/ssn#"


def kinds(query: Query) -> list[str]:
    return [type(each).__name__ for each in walk(query.where)]


CITY_WINDOWS = {  # of the C-SPARQL texts: (range, step) in seconds
    1: [(3, 1)] * 2,
    2: [(3, 1)] * 2,
    3: [(3, 1)] * 2,
    4: [(3, 1)],
    5: [(3, 1)],
    6: [(20, 1), (3, 1)],
    7: [(20, 1)] * 2,
    8: [(3, 1)] * 2,
    9: [(3, 1)] * 2,
    10: [(2, 1)] * 2,
    11: [(6, 1)],
    12: [(3, 1)],
}


@pytest.mark.parametrize("number", sorted(CITY_WINDOWS))
def test_citybench_in_csparql_is_a_view_of_its_streams_merged(number: int) -> None:
    path = CITY / f"q{number}.csparql"
    query = parse(path.read_text(), source=str(path))
    assert query.view is not None
    assert [(window.name, window.extent) for window in query.view.windows] == [
        (None, Sliding(width * S, step * S)) for width, step in CITY_WINDOWS[number]
    ]
    assert (query.view.told, query.view.reporting) == ("RSTREAM", ReportPolicy("close"))
    assert query.form == ("ASK" if number == 11 else "SELECT")
    assert ("Grouped" in kinds(query)) == (number == 12)
    assert len(query.dataset) == path.read_text().count("\nfrom <")


@pytest.mark.parametrize("number", sorted(CITY_WINDOWS))
def test_citybench_in_cqels_reads_each_window_in_place_and_tells_new_rows(number: int) -> None:
    path = CITY / f"q{number}.cqels"
    query = parse(path.read_text(), source=str(path))
    assert query.view is not None
    extents: list[Extent] = [Sliding(width * S, step * S) for width, step in CITY_WINDOWS[number]]
    if number == 3:
        extents = [Current(), Current()]
    elif number == 6:
        extents[1] = Sliding(3 * S)
    assert [window.extent for window in query.view.windows] == extents
    assert query.view.told == "ISTREAM"
    asked = [each.window for each in walk(query.where) if isinstance(each, InWindow)]
    assert asked == [window.name for window in query.view.windows]
    graphs = [each.graph for each in walk(query.where) if isinstance(each, InGraph)]
    assert graphs == list(query.view.graphs) == [f"<{name}>".encode() for name in query.graphs]
    assert bool(graphs) == (number in (4, 5, 8, 9))


BEAUFORT = (1, 4, 8, 13, 18, 25, 31, 39, 47, 55, 64, 73)
FORCE = "".join(f"IF(AVG(?speed) < {most}, {force},\n " for force, most in enumerate(BEAUFORT)) + "12" + ")" * 12


@pytest.mark.parametrize(
    ("text", "extent", "operators"),
    [
        (
            f"SELECT DISTINCT ?sensor ?v\n{FROM} [RANGE 1h STEP]\nWHERE {{ {RAIN} ?r om-owl:floatValue ?v }}",
            Sliding(H),
            ["Distinct"],
        ),
        (
            f"SELECT DISTINCT ?sensor ?v ?u\n{FROM} [RANGE 1h STEP]\nWHERE {{ {RAIN} ?r om-owl:floatValue ?v . "
            "OPTIONAL { ?r om-owl:uom ?u . } }",
            Sliding(H),
            ["Distinct", "LeftJoin"],
        ),
        (
            f"SELECT ?sensor\n{FROM} [RANGE 1h STEP 10m]\nWHERE {{ ?o om-owl:procedure ?sensor ; {RESULT % 'v'} . }}\n"
            'GROUP BY ?sensor HAVING ( AVG(?v) >= "74"^^xsd:float )',
            Sliding(H, 10 * M),
            ["Filter", "Grouped"],
        ),
        (
            f"SELECT ?sensor (AVG(?w) AS ?wind) (AVG(?t) AS ?warmth)\n{FROM} [RANGE 1h STEP]\nWHERE {{\n"
            "?a om-owl:procedure ?sensor ; om-owl:result ?r .\n?r om-owl:floatValue ?t .\n"
            f'FILTER(?t > "32"^^xsd:float)\n?b om-owl:procedure ?sensor ; {RESULT % "w"} .\n}}\nGROUP BY ?sensor',
            Sliding(H),
            ["Filter", "Grouped"],
        ),
        (
            f"SELECT ?sensor\n{FROM} [RANGE 1h TUMBLING]\nWHERE {{\n"
            f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v < "10"^^xsd:float) # centimeters\n}}\n'
            "UNION\n"
            f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v > "30"^^xsd:float) }}\n'
            "UNION { ?o om-owl:procedure ?sensor ; a weather:SnowfallObservation . } }",
            Sliding(H, H),
            ["Union", "Union", "Filter", "Filter"],
        ),
        (
            f"SELECT ?sensor\n{FROM} [RANGE 1h TUMBLING]\nWHERE {{ ?sensor om-owl:generatedObservation ?o. }}",
            Sliding(H, H),
            [],
        ),
        (
            f"SELECT (MIN(?t) AS ?least) (MAX(?t) AS ?most)\n{FROM} [RANGE 1d STEP 10m]\nWHERE {{ ?sensor "
            'om-owl:processLocation ?l . ?l wgs84_pos:alt "6300"^^xsd:float . '
            f"?o om-owl:procedure ?sensor ; {RESULT % 't'} }}\nGROUP BY ?sensor",
            Sliding(D, 10 * M),
            ["Grouped"],
        ),
        (
            f"SELECT ( {FORCE} AS ?force ) ( AVG(?direction) AS ?mean )\n{FROM} [RANGE 1h STEP 10m]\n"
            f"WHERE {{ ?a {RESULT % 'speed'} . ?b {RESULT % 'direction'} }}\nGROUP BY ?sensor",
            None,
            [],
        ),
        (
            f"SELECT DISTINCT ?lat\n{FROM} [RANGE 1d STEP]\nWHERE {{ ?s om-owl:generatedObservation "
            "[a weather:SnowfallObservation ] . ?s om-owl:processLocation ?l . ?l wgs84_pos:lat ?lat . }",
            Sliding(D),
            ["Distinct"],
        ),
    ],
    ids=["q1", "q2", "q3", "q4", "q6", "q7", "q8", "q9", "q10"],
)
def test_srbench_is_a_view_of_its_one_stream(text: str, extent: Sliding | None, operators: list[str]) -> None:
    if extent is None:  # q9 here: a key of GROUP BY that no pattern binds
        with pytest.raises(QueryError, match=r"\?sensor"):
            parse(SENSORS + text)
        text, extent = text.replace("{ ?a", "{ ?sensor ?p ?a . ?a"), Sliding(H, 10 * M)
    query = parse(SENSORS + text)
    assert query.view is not None
    assert [(window.name, window.extent) for window in query.view.windows] == [(None, extent)]
    assert query.view.reporting.policy == ("change" if extent.step is None else "close")
    names = ("Distinct", "LeftJoin", "Filter", "Grouped", "Union")
    found = [name for name in kinds(query) if name in names]
    assert sorted(found) == sorted(operators) or "AVG(?speed)" in text
    if "AVG(?speed)" in text:
        (grouped,) = (each for each in walk(query.where) if isinstance(each, Grouped))
        assert [call.function for _, call in grouped.aggregates] == ["AVG", "AVG"]


def test_srbench_q5_shows_a_variable_that_a_group_has_many_values_of() -> None:
    with pytest.raises(QueryError) as caught:
        parse(
            SENSORS + f"SELECT ?sensor\n{FROM} [RANGE 1h STEP]\nWHERE {{ ?sensor om-owl:generatedObservation ?o . "
            f'?o {RESULT % "t"} }}\nHAVING ( AVG(?t) < "32"^^xsd:float && MIN(?t) > "4.0"^^xsd:float )'
        )
    assert caught.value.what == "?sensor is neither a key of GROUP BY nor in an aggregate"


def test_srbench_q5_of_the_drafts_has_its_groups_in_a_subquery() -> None:
    query = parse(
        SENSORS + "CONSTRUCT ISTREAM{ ?sensor om-owl:generatedObservation [a weather:Blizzard] }\n"
        "FROM NAMED WINDOW ON STREAM <http://www.cwi.nl/SRBench/observations> [RANGE PT3H SLIDE PT10M] AS :win\n"
        "WHERE { WINDOW :win { SELECT ?sensor WHERE { "
        f"?sensor om-owl:generatedObservation ?o . ?o {RESULT % 't'} . }}\n"
        'GROUP BY ?sensor HAVING ( AVG(?t) < "32"^^xsd:float && # fahrenheit\n MIN(?t) > "40.0"^^xsd:float ) } }'
    )
    assert query.view is not None and query.view.told == "ISTREAM" and query.form == "CONSTRUCT"
    assert kinds(query)[:4] == ["InWindow", "Projected", "Filter", "Grouped"]
    assert query.view.windows[0].extent == Sliding(3 * H, 10 * M)


POSTS = "STREAM <http://deri.org/poststream>"
SIB = """PREFIX sib:  <http://www.ins.cwi.nl/sib/vocabulary/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX sioc: <http://rdfs.org/sioc/ns#>
"""


@pytest.mark.parametrize(
    ("text", "extents"),
    [
        ("select ?p ?o where{ " + POSTS + " [RANGE 1s] {<http://www.ins.cwi.nl/sib/user/u9> ?p ?o.}  }", [Sliding(S)]),
        (
            "select ?post where{ " + POSTS + " [RANGE 1s] {?u sioc:creator_of ?post.} ?u sioc:account_of <urn:p9>. }",
            [Sliding(S)],
        ),
        (
            "select ?f ?post where{ " + POSTS + " [RANGE 5s]{ ?f sioc:creator_of ?post. } ?u foaf:knows ?f. "
            "?u sioc:account_of <urn:p9>. }",
            [Sliding(5 * S)],
        ),
        (
            "select ?a ?b ?tag where{ "
            + POSTS
            + " [RANGE 15s] {?a sib:hashtag ?tag. ?u sioc:creator_of ?a.} "
            + POSTS
            + " [RANGE 15s] {?b sib:hashtag ?tag. ?v sioc:creator_of ?b.} FILTER(?a !=?b)  }",
            [Sliding(15 * S)],
        ),
        (
            "select ?f ?g ?photo where{ STREAM <http://deri.org/likedphotostream> [RANGE 100ms] {?g sib:like ?photo. } "
            "STREAM <http://deri.org/photostream> [RANGE 1m ] {?photo sib:usertag ?f.} ?f foaf:knows ?g. }",
            [Sliding(S // 10), Sliding(M)],
        ),
        (
            "select ?user ?f ?post where{ " + POSTS + " [RANGE 1m] { ?c sioc:container_of ?post. } STREAM "
            "<http://deri.org/likedpoststream> [RANGE 100ms] {?f sib:like ?post.} ?user foaf:knows ?f. "
            "?user sioc:subscriber_of ?c. }",
            [Sliding(M), Sliding(S // 10)],
        ),
    ],
    ids=["q1", "q2", "q3", "q4", "q5", "q6"],
)
def test_lsbench_reads_windows_in_place(text: str, extents: list[Sliding]) -> None:
    query = parse(SIB + text)
    assert query.view is not None
    assert [window.extent for window in query.view.windows] == extents
    assert (query.view.told, query.view.reporting) == ("ISTREAM", ReportPolicy("change"))
    assert query.notices == ()


def test_the_listing_of_rsep_ql_is_a_match_of_two_events() -> None:
    query = parse(
        "PREFIX : <http://e/>\nSELECT * \nFROM NAMED :S WIN [LND 9] AS :w1\nFROM NAMED :S WIN [RANGE 5] AS :w2\n"
        "EVENT ON :w1 { ?x :p ?y. } AS E1\nEVENT ON :w2 { ?y :q ?z. } AS E2\nPOLICY chronological\n"
        "WHERE { MATCH { E1 SEQ E2 } WINDOW :w2 { ?x :r ?v } GRAPH <urn:g> { ?v a ?c } ?x :s ?u }"
    )
    assert query.view is not None and query.policy.name == "chronological"
    assert [(window.name, window.extent) for window in query.view.windows] == [
        (b"<http://e/w1>", Landmark(9 * S)),
        (b"<http://e/w2>", Sliding(5 * S)),
    ]
    (matched,) = (each for each in walk(query.where) if isinstance(each, Matched))
    assert isinstance(matched.pattern, Relate) and matched.pattern.relation == SEQ
    events = matched.pattern.left, matched.pattern.right
    assert [(each.name, each.window) for each in events if isinstance(each, SingleEvent)] == [
        ("E1", b"<http://e/w1>"),
        ("E2", b"<http://e/w2>"),
    ]
    assert query.projection == ("x", "y", "z", "v", "c", "u")
    assert query.notices == ()


def test_first_and_last_bind_tighter_than_seq_which_associates_to_the_left() -> None:
    head = "PREFIX : <urn:> SELECT * FROM NAMED :S WIN [ALL] AS :w " + " ".join(
        f"EVENT ON :w {{ ?{name} :p 1 }} AS {name}" for name in "ABC"
    )
    (matched,) = (
        each for each in walk(parse(head + "{ MATCH { LAST A SEQ B SEQ C } }").where) if isinstance(each, Matched)
    )
    match matched.pattern:
        case Relate(
            left=Relate(left=Last(SingleEvent(name="A")), right=SingleEvent(name="B")), right=SingleEvent(name="C")
        ):
            pass
        case other:
            pytest.fail(f"{other}")
    (matched,) = (
        each
        for each in walk(parse(head + "{ MATCH { FIRST { A SEQ (B SEQ C) } } }").where)
        if isinstance(each, Matched)
    )
    match matched.pattern:
        case First(Relate(left=SingleEvent(name="A"), right=Relate(left=SingleEvent(name="B")))):
            pass
        case other:
            pytest.fail(f"{other}")


def test_a_stream_of_events_is_registered_by_its_iri_alone() -> None:
    query = parse(
        "REGISTER <urn:StockChange> CONSTRUCT { ?company :price1 ?p1 ; :price2 ?p2. }\n"
        "FROM NAMED :S WIN [LND 1H] AS :w1\nEVENT ON :w1 { ?company :price ?p1 . } AS Price1\n"
        "EVENT ON :w1 { ?company :price ?p2 . } AS Price2\n"
        "WHERE { MATCH { Price1 SEQ Price2 } }"
    )
    assert query.view is not None and query.feeds == b"<urn:StockChange>" and query.is_rule
    assert query.view.windows[0].extent == Landmark(H)


def test_the_drafts_slips_are_refused_by_name() -> None:
    prefix = "PREFIX debs: <http://debs2015.org/onto#>\nprefix s: <http://debs2015.org/streams/>\n"
    window = "FROM NAMED WINDOW :wind ON s:rides [RANGE PT1H STEP PT1H]"
    with pytest.raises(QueryError) as caught:
        parse(f"{prefix}SELECT COUNT(?ride) as ?n {window} WHERE {{ WINDOW :win {{ ?ride debs:distance ?d }} }}")
    assert caught.value.hint == "a calculated column stands in parentheses: SELECT (COUNT(?x) AS ?n)"
    with pytest.raises(QueryError) as caught:
        parse(f"{prefix}SELECT (COUNT(?ride) as ?n) {window} WHERE {{ WINDOW :win {{ ?ride debs:distance ?d }} }}")
    assert caught.value.hint == "did you mean <http://example.org/wind>?"
    query = parse(
        f"{prefix}REGISTER STREAM :query AS SELECT ?l FROM NAMED WINDOW :w ON s [RANGE PT1h step PT30M] "
        "WHERE { WINDOW :w { ?taxi debs:dropoff ?l } }"
    )
    assert query.view is not None and query.view.windows[0].stream == b"<http://example.org/s>"


def test_a_projection_of_what_nothing_binds_is_refused_as_in_the_translations_of_citybench() -> None:
    with pytest.raises(QueryError) as caught:
        parse(
            "PREFIX : <urn:> REGISTER RSTREAM <urn:out> AS SELECT ?obId1 ?obId3 FROM NAMED WINDOW :w ON :s "
            "[RANGE PT3S STEP PT1S] { WINDOW ?w { ?obId1 a ?x } }"
        )
    assert caught.value.what.startswith("?obId3")


def test_the_timestamp_of_csparql_is_read() -> None:
    query = parse(
        "REGISTER QUERY q AS PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT * FROM STREAM <urn:s> "
        "[RANGE 10s STEP 1s] { ?x <urn:p> ?y . FILTER(f:timestamp(?x, <urn:p>, ?y) > 5) }"
    )
    assert kinds(query)[-2:] == ["Filter", "Triples"]
