"""SRBench's queries in C-SPARQL and in CQELS run as they are: a report is what SPARQL says of the window's triples."""

from __future__ import annotations

import random
import re
from collections import Counter

import pyoxigraph as ox
import pytest
from cases.srbench import FROM, RAIN, RESULT, SENSORS

import retewave as rw

XSD, OWL, WEATHER, POS = (
    "http://www.w3.org/2001/XMLSchema#",
    "http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#",
    "http://knoesis.wright.edu/ssw/ont/weather.owl#",
    "http://www.w3.org/2003/01/geo/wgs84_pos#",
)
STREAM = "http://www.cwi.nl/SRBench/observations"
KINDS = ("RainfallObservation", "SnowfallObservation", "TemperatureObservation")
MINUTE = 60
HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE

TEXTS: dict[str, tuple[str, int, int | None]] = {  # the text; its window's width and step in seconds
    "q1": (
        f"SELECT DISTINCT ?sensor ?v\n{FROM} [RANGE 1h STEP]\nWHERE {{ {RAIN} ?r om-owl:floatValue ?v }}",
        HOUR,
        None,
    ),
    "q2": (
        f"SELECT DISTINCT ?sensor ?v ?u\n{FROM} [RANGE 1h STEP]\nWHERE {{ {RAIN} ?r om-owl:floatValue ?v . "
        "OPTIONAL { ?r om-owl:uom ?u . } }",
        HOUR,
        None,
    ),
    "q3": (
        f"SELECT ?sensor\n{FROM} [RANGE 1h STEP 10m]\nWHERE {{ ?o om-owl:procedure ?sensor ; {RESULT % 'v'} . }}\n"
        'GROUP BY ?sensor HAVING ( AVG(?v) >= "30"^^xsd:float )',
        HOUR,
        10 * MINUTE,
    ),
    "q4": (
        f"SELECT ?sensor (AVG(?w) AS ?wind) (AVG(?t) AS ?warmth)\n{FROM} [RANGE 1h STEP]\nWHERE {{\n"
        "?a om-owl:procedure ?sensor ; om-owl:result ?r .\n?r om-owl:floatValue ?t .\n"
        f'FILTER(?t > "20"^^xsd:float)\n?b om-owl:procedure ?sensor ; {RESULT % "w"} .\n}}\nGROUP BY ?sensor',
        HOUR,
        None,
    ),
    "q6": (
        f"SELECT ?sensor\n{FROM} [RANGE 1h TUMBLING]\nWHERE {{\n"
        f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v < "10"^^xsd:float) # centimeters\n}}\n'
        "UNION\n"
        f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v > "30"^^xsd:float) }}\n'
        "UNION { ?o om-owl:procedure ?sensor ; a weather:SnowfallObservation . } }",
        HOUR,
        HOUR,
    ),
    "q7": (
        f"SELECT ?sensor\n{FROM} [RANGE 1h TUMBLING]\nWHERE {{ ?sensor om-owl:generatedObservation ?o. }}",
        HOUR,
        HOUR,
    ),
    "q8": (
        f"SELECT (MIN(?t) AS ?least) (MAX(?t) AS ?most)\n{FROM} [RANGE 1d STEP 30m]\nWHERE {{ ?sensor "
        'om-owl:processLocation ?l . ?l wgs84_pos:alt "6300"^^xsd:float . '
        f"?o om-owl:procedure ?sensor ; {RESULT % 't'} }}\nGROUP BY ?sensor",
        DAY,
        30 * MINUTE,
    ),
    "q10": (
        f"SELECT DISTINCT ?lat\n{FROM} [RANGE 1d STEP]\nWHERE {{ ?s om-owl:generatedObservation "
        "[a weather:SnowfallObservation ] . ?s om-owl:processLocation ?l . ?l wgs84_pos:lat ?lat . }",
        DAY,
        None,
    ),
}

ON = f"STREAM <{STREAM}>"
CQELS: dict[str, str] = {  # the same in CQELS: what is static stands beside the stream's group
    "q1": f"SELECT DISTINCT ?sensor ?v WHERE {{ {ON} [RANGE 1h] {{ {RAIN} ?r om-owl:floatValue ?v }} }}",
    "q2": f"SELECT DISTINCT ?sensor ?v ?u WHERE {{ {ON} [RANGE 1h] {{ {RAIN} ?r om-owl:floatValue ?v . "
    "OPTIONAL { ?r om-owl:uom ?u . } } }",
    "q3": f"SELECT ?sensor WHERE {{ {ON} [RANGE 1h SLIDE 10m] {{ ?o om-owl:procedure ?sensor ; {RESULT % 'v'} . }} }}"
    'GROUP BY ?sensor HAVING ( AVG(?v) >= "30"^^xsd:float )',
    "q4": "SELECT ?sensor (AVG(?w) AS ?wind) (AVG(?t) AS ?warmth) WHERE {\n"
    f"{ON} [RANGE 1h] {{ ?a om-owl:procedure ?sensor ; om-owl:result ?r .\n?r om-owl:floatValue ?t . }}\n"
    'FILTER(?t > "20"^^xsd:float)\n'
    f"{ON} [RANGE 1h] {{ ?b om-owl:procedure ?sensor ; {RESULT % 'w'} . }} }} GROUP BY ?sensor",
    "q6": f"SELECT ?sensor WHERE {{ {ON} [RANGE 1h TUMBLING] {{\n"
    f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v < "10"^^xsd:float) }} UNION\n'
    f'{{ ?o om-owl:procedure ?sensor ; {RESULT % "v"}. FILTER ( ?v > "30"^^xsd:float) }}\n'
    "UNION { ?o om-owl:procedure ?sensor ; a weather:SnowfallObservation . } } }",
    "q7": f"SELECT ?sensor WHERE {{ {ON} [RANGE 1h TUMBLING] {{ ?sensor om-owl:generatedObservation ?o. }} }}",
    "q8": "SELECT (MIN(?t) AS ?least) (MAX(?t) AS ?most) WHERE { ?sensor om-owl:processLocation ?l . "
    f'?l wgs84_pos:alt "6300"^^xsd:float . {ON} [RANGE 1d SLIDE 30m] {{ ?o om-owl:procedure ?sensor ; '
    f"{RESULT % 't'} }} }} GROUP BY ?sensor",
    "q10": f"SELECT DISTINCT ?lat WHERE {{ {ON} [RANGE 1d] {{ ?s om-owl:generatedObservation "
    "[a weather:SnowfallObservation ] } ?s om-owl:processLocation ?l . ?l wgs84_pos:lat ?lat . }",
}

Triple = tuple[str, str, str]


def background() -> list[Triple]:
    """Return where the sensors stand, as N-Triples texts."""
    found = []
    for sensor in range(5):
        place = f"<http://e/place{sensor}>"
        found.append((f"<http://e/s{sensor}>", f"<{OWL}processLocation>", place))
        found.append((place, f"<{POS}alt>", f'"{6300 if sensor % 2 else 100}"^^<{XSD}float>'))
        found.append((place, f"<{POS}lat>", f'"{sensor}.5"^^<{XSD}float>'))
    return found


def observations(count: int = 60) -> list[tuple[int, list[Triple]]]:
    """Return observations of some hours, each with its time in seconds."""
    draw, found, time = random.Random(1), [], 100
    for number in range(count):
        time += draw.choice([MINUTE, 5 * MINUTE, 11 * MINUTE])
        sensor, it, result = f"<http://e/s{draw.randrange(5)}>", f"<http://e/o{number}>", f"<http://e/r{number}>"
        triples = [
            (sensor, f"<{OWL}generatedObservation>", it),
            (it, "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", f"<{WEATHER}{draw.choice(KINDS)}>"),
            (it, f"<{OWL}procedure>", sensor),
            (it, f"<{OWL}result>", result),
            (result, f"<{OWL}floatValue>", f'"{draw.randrange(0, 50)}.0"^^<{XSD}float>'),
        ]
        if draw.random() < 0.5:
            triples.append((result, f"<{OWL}uom>", f"<{WEATHER}centimeters>"))
        found.append((time, triples))
    return found


def asked(text: str, triples: list[Triple]) -> Counter[tuple[str, ...]]:
    """Return what a store of RDF says of triples."""
    store = ox.Store()
    store.load("".join(f"{' '.join(each)} .\n" for each in triples).encode(), format=ox.RdfFormat.N_TRIPLES)
    found = store.query(text)
    assert isinstance(found, ox.QuerySolutions)
    names = [each.value for each in found.variables]
    return Counter(tuple(_written(row[name]) for name in names) for row in found)


def _written(term: object) -> str:
    """Return a term as text; floats by their values, as they have several texts."""
    if isinstance(term, ox.Literal) and term.datatype.value == f"{XSD}float":
        return f"{float(term.value):.4g}"
    return "" if term is None else str(term)


def told(match: rw.Match) -> tuple[str, ...]:
    terms = [match.text(name) for name in match.query.variables]
    return tuple("" if each is None else _written(_parsed(each.decode())) for each in terms)


def _parsed(text: str) -> object:
    found = re.fullmatch(r'"(.*)"\^\^<(.*)>', text)
    return text if found is None else ox.Literal(found[1], datatype=ox.NamedNode(found[2]))


def reports_of(text: str, items: list[tuple[int, list[Triple]]]) -> dict[int, Counter[tuple[str, ...]]]:
    """Return what a view tells of some observations, by the times of its reports."""
    engine = rw.Engine(static=["".join(f"{' '.join(each)} .\n" for each in background()).encode()])
    query = engine.register(SENSORS + text, keep=0)
    reports: dict[int, Counter[tuple[str, ...]]] = {}
    query.on_report = lambda report: reports.update({int(str(report.time)): Counter(map(told, report))})
    for time, triples in items:
        engine.push(triples, time=time, stream=STREAM)
    return reports


def wanted_at(name: str, at: int, items: list[tuple[int, list[Triple]]]) -> Counter[tuple[str, ...]]:
    """Return what a store of RDF says of a window."""
    text, width, _ = TEXTS[name]
    inside = [triple for time, triples in items if at - width < time <= at for triple in triples]
    return asked(SENSORS + re.sub(r"FROM NAMED STREAM .*", "", text), background() + inside)


def times_of(
    name: str, items: list[tuple[int, list[Triple]]], reports: dict[int, Counter[tuple[str, ...]]]
) -> list[int]:
    """Return when a view is reported, if it is not reported when nothing changes."""
    step = TEXTS[name][2]
    if step is not None:
        return list(range(-(-items[0][0] // step) * step, items[-1][0], step))
    assert {time for time, _ in items[:-1]} <= set(reports)  # at each change of the content
    return sorted(reports)


@pytest.mark.parametrize("name", TEXTS)
def test_srbench_in_csparql_runs_as_it_is(name: str) -> None:
    items = observations()
    reports = reports_of(TEXTS[name][0], items)
    times = times_of(name, items, reports)
    for at in times:
        assert reports.pop(at, Counter()) == wanted_at(name, at, items), f"{name} at {at}"
    assert not reports
    assert len(times) > 3


@pytest.mark.parametrize("name", CQELS)
def test_srbench_in_cqels_tells_what_is_new_at_each_report(name: str) -> None:
    items = observations()
    reports = reports_of(CQELS[name], items)
    before: Counter[tuple[str, ...]] = Counter()
    times = times_of(name, items, reports)
    for at in times:
        now = wanted_at(name, at, items)
        assert reports.get(at, Counter()) == now - before, f"{name} at {at}"
        before = now
    assert len(times) > 3


def test_srbench_q3_in_cqels_as_a_question_says_whether_a_sensor_has_such_a_mean() -> None:
    items = observations()
    text = f"REGISTER RSTREAM <urn:q3> AS ASK {{ {{ {CQELS['q3']} }} }}"
    reports = reports_of(text, items)
    times = times_of("q3", items, reports)
    answers = [bool(reports[at]) for at in times if at in reports]
    assert answers == [bool(wanted_at("q3", at, items)) for at in times if at in reports]
    assert {True, False} == set(answers)
