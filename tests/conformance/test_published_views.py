"""Published queries of SRBench in C-SPARQL run as they are: each report is what SPARQL says of the window's triples."""

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


@pytest.mark.parametrize("name", TEXTS)
def test_srbench_in_csparql_runs_as_it_is(name: str) -> None:
    text, width, step = TEXTS[name]
    engine = rw.Engine(static=["".join(f"{' '.join(each)} .\n" for each in background()).encode()])
    query = engine.register(SENSORS + text, keep=0)
    reports: dict[int, Counter[tuple[str, ...]]] = {}
    query.on_report = lambda report: reports.update({int(str(report.time)): Counter(map(told, report))})
    items = observations()
    for time, triples in items:
        engine.push(triples, time=time, stream=STREAM)
    plain = SENSORS + re.sub(r"FROM NAMED STREAM .*", "", text)
    times = sorted(reports)
    if step is None:  # at each change of the content
        assert {time for time, _ in items[:-1]} <= set(times)
    else:
        times = list(range(-(-items[0][0] // step) * step, items[-1][0], step))
    for at in times:
        inside = [triple for time, triples in items if at - width < time <= at for triple in triples]
        assert reports.pop(at, Counter()) == asked(plain, background() + inside), f"{name} at {at}"
    assert not reports
    assert len(times) > 3
