"""Windows in random words are the windows that were meant; and no text makes a reader raise anything but QueryError."""

from __future__ import annotations

from cases.many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retewave.compiler.algebra import Ago, Current, Extent, Fixed, Inside, Landmark, Newest, Sliding, Whole
from retewave.compiler.parse import parse
from retewave.errors import QueryError

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
WORDS = {
    "us": ("us",),
    "ms": ("ms", "MS", "millis", "milliseconds"),
    "s": ("s", "S", "sec", "SECONDS"),
    "m": ("m", "min", "MINUTE", "minutes"),
    "h": ("h", "HR", "HOUR", "hours"),
    "d": ("d", "DAY", "days"),
}
SPACE = st.sampled_from(["", " ", "\n"])


@st.composite
def lengths(draw: st.DrawFn) -> tuple[str, int]:
    """Return a length of time in one of its notations, and in microseconds."""
    count = draw(st.integers(1, 999))
    kind = draw(st.sampled_from(["plain", "iso", "units"]))
    if kind == "plain":
        return str(count), count * UNITS["s"]
    if kind == "iso":
        seconds = draw(st.integers(1, 59))
        return draw(st.sampled_from([f"PT{count}M{seconds}S", f"pt{count}m{seconds}s"])), count * UNITS[
            "m"
        ] + seconds * UNITS["s"]
    chosen = draw(st.lists(st.sampled_from(list(UNITS)), min_size=1, max_size=3, unique=True))
    counts = {unit: draw(st.integers(1, 99)) for unit in chosen}
    parts = [f"{many}{draw(SPACE)}{draw(st.sampled_from(WORDS[unit]))}" for unit, many in counts.items()]
    return draw(st.sampled_from([" ", "  "])).join(parts), sum(many * UNITS[unit] for unit, many in counts.items())


@st.composite
def brackets(draw: st.DrawFn) -> tuple[str, Extent]:
    """Return a window as it stands in brackets, and what it means."""
    (one, first), (other, second), (third, step) = draw(lengths()), draw(lengths()), draw(lengths())
    slide = draw(st.sampled_from([" STEP ", " slide ", ", SLIDE ", ",STEP "]))
    since = f" STARTING AT {other}"
    many = draw(st.integers(1, 100))
    forms: list[tuple[str, Extent]] = [
        (f"RANGE {one}", Sliding(first)),
        (f"range {one}{slide}{third}", Sliding(first, step)),
        (f"RANGE {one}{slide}{third}{since}", Sliding(first, step, second)),
        (f"RANGE {one} TUMBLING", Sliding(first, first)),
        (f"NOW-{one}{slide}{third}", Sliding(first, step)),
        (f"FROM NOW - {one} TO NOW", Sliding(first)),
        (f"LND {one}", Landmark(first)),
        (f"TRIPLES {many}", Newest(many)),
        (f"RANGE TRIPLES {many} STEP 3", Newest(many, step=3)),
        (f"elements {many}", Newest(many, "events")),
        ("NOW", Current()),
        ("all", Whole()),
    ]
    if first <= second:
        forms.append((f"FROM {one} TO {other}", Fixed(first, second)))
    if first > second:
        forms.append((f"FROM NOW-{one} TO NOW - {other}{slide}{third}", Ago(first, second, step)))
    written, extent = draw(st.sampled_from(forms))
    return f"[{draw(SPACE)}{written}{draw(SPACE)}]", extent


CLAUSES = [
    "SELECT * FROM NAMED WINDOW :w ON :s {} {{ WINDOW :w {{ ?x :p ?y }} }}",
    "SELECT * FROM NAMED WINDOW :w {} ON STREAM :s {{ WINDOW ?w {{ ?x :p ?y }} }}",
    "REGISTER QUERY q AS SELECT ISTREAM * FROM STREAM :s {} {{ ?x :p ?y }}",
    "SELECT * FROM NAMED :s WIN {} AS :w EVENT ON :w {{ ?x :p ?y }} AS E1 {{ MATCH {{ E1 }} }}",
    "SELECT * {{ STREAM :s {} {{ ?x :p ?y }} }}",
]


@settings(max_examples=many(300), deadline=None)
@given(st.lists(brackets(), min_size=1, max_size=2), st.sampled_from(CLAUSES))
def test_a_window_is_what_its_words_mean(written: list[tuple[str, Extent]], clause: str) -> None:
    texts, extents = zip(*written, strict=True)
    query = parse("PREFIX : <urn:> " + clause.format(" OF ".join(texts)))
    assert query.view is not None
    (window,) = query.view.windows
    assert window.extent == (extents[0] if len(extents) == 1 else Inside(extents[0], extents[1]))
    assert window.stream == b"<urn:s>"


TEXTS = [
    "PREFIX : <urn:> REGISTER ISTREAM :o AS SELECT ?x ( AVG ( ?y ) AS ?a ) FROM NAMED WINDOW :w ON STREAM :s "
    "[ RANGE PT10S STEP 5 s STARTING AT 3 ] REPORT WINDOW CLOSE NON EMPTY WHERE { WINDOW :w { ?x :p ?y } } GROUP BY ?x",
    "PREFIX : <urn:> SELECT * FROM NAMED :S WIN [ LND 9 ] AS :w EVENT ON :w { ?x :p ?y . } AS E1 "
    "POLICY recent WHERE { MATCH { LAST E1 SEQ E2 } }",
    "PREFIX : <urn:> SELECT * FROM NAMED <urn:g> WHERE { GRAPH <urn:g> { ?x :p ?y } STREAM :s [ NOW - 1 HR ] "
    "{ ?x :q ?z } STREAM :s [ TRIPLES 5 ] { ?y :q ?z } }",
    "PREFIX : <urn:> REGISTER STREAM :o COMPUTED EVERY 5s AS CONSTRUCT ISTREAM { ?x :q ?y } FROM STREAM :s "
    "[ FROM 1 TO 9 ] OF [ FROM NOW-PT5M TO NOW-PT1M STEP PT1M ] WHERE { ?x :p ?y }",
    "PREFIX : <urn:> REGISTER <urn:X> ASK FROM WINDOW [ RANGE 10 SLIDE 2 REPORT PERIODIC 5 TICK TIME_DRIVEN ] ON s { }",
]
TOKENS = [text.split() for text in TEXTS]
POOL = sorted(
    {word for text in TOKENS for word in text} | {"0", "5.5", "P1M", '"x"', "1e9", "99999999999999999999d", "$", "AS"}
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    tokens = list(draw(st.sampled_from(TOKENS)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["delete", "insert", "replace", "cut"])):
            case "delete":
                tokens[place : place + 1] = []
            case "insert":
                tokens.insert(place, draw(st.sampled_from(POOL)))
            case "replace":
                tokens[place] = draw(st.sampled_from(POOL))
            case "cut":
                tokens[place] = tokens[place][: draw(st.integers(0, len(tokens[place])))]
        tokens = tokens or ["SELECT"]
    return " ".join(tokens)


@settings(max_examples=many(1_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_no_text_makes_a_reader_raise_anything_but_a_query_error(text: str) -> None:
    try:
        parse(text)
    except QueryError as error:
        assert str(error)
