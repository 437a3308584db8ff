"""Draw the pictures of docs/gallery.md:  python tests/helpers/gallery.py

They show the paper's social-media example, and the three benchmark patterns; the stream behind the counts is made up,
the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import retewave as rw
from helpers.explained import ROOT, bsbm_engine, social_engine
from retewave.viz.draw.render import svg_element

GALLERY = ROOT / "docs" / "gallery"
FB, TWD, SIOC = "http://facebook.example.org/ns#", "http://twitter.example.org/ns#", "http://rdfs.org/sioc/ns#"
GEO = "http://sws.geonames.org/"
USERS, PLACES, MINUTES = 60, 20, 600


def posts(rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield what a user does in a minute: a post or a tweet, mostly about a place."""
    user, place, number = rng.randrange(USERS), GEO + str(rng.randrange(PLACES)), rng.randrange(10**6)
    space, post, about = rng.choice(
        ((FB, "update", "mentions"), (TWD, "post", "talksAbout"), (FB, "update", "mentions"))
    )
    yield f"{space}user{user}", f"{space}{post}", f"{space}item{number}"
    if rng.random() < 0.8:
        yield f"{space}item{number}", f"{space}{about}", place


def poured() -> rw.Engine:
    accounts = "".join(
        f"<{space}user{user}> <{SIOC}account_of> <http://people.example.org/{user}> .\n"
        for user in range(USERS)
        for space in (FB, TWD)
    )
    engine = social_engine(stats=True, static=[accounts.encode()])
    rng = random.Random(1)
    for minute in range(MINUTES):
        for _ in range(12):
            for triple in posts(rng):
                engine.push(triple, time=60 * minute)
    return engine


def cheated() -> str:
    """Return the picture of the match in docs/explain.md."""
    orders = [(b"<http://e/orders>", b"<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>", b"<http://e/asks>")]
    engine = rw.Engine([orders])
    said = "{ { ?who e:asks ?what } SEQ { ?who e:pays ?price } } SEQ NOT { ?who e:gets ?what } WITHIN 5m"
    engine.register(f"PREFIX e: <http://e/> SELECT ?who ?what {{ {said} }}", name="cheated", explain=True)
    engine.push(("http://e/ann", "http://e/orders", "http://e/tea"), time="2026-03-01T12:03:00Z")
    engine.push(("http://e/ann", "http://e/pays", 7), time="2026-03-01T12:05:00Z", event=81)
    [match] = engine.advance("2026-03-01T12:10:00Z")
    return match.to_svg()


def busy() -> str:
    """Return the picture of reports in docs/views.md."""
    engine = rw.Engine()
    view = engine.register(
        """PREFIX e: <http://e/> REGISTER RSTREAM e:busy AS SELECT ?road (COUNT(*) AS ?n)
        FROM NAMED WINDOW e:short ON e:cars [RANGE 10s STEP 5s] FROM NAMED WINDOW e:long ON e:cars [RANGE 30s STEP 15s]
        WHERE { WINDOW e:short { ?road e:had ?car } WINDOW e:long { ?road e:kind ?kind } } GROUP BY ?road""",
        name="busy",
    )
    for second in range(0, 60, 3):
        road = f"http://e/r{second % 2}"
        triples = [(road, "http://e/had", second), (road, "http://e/kind", second % 5)]
        engine.push(triples, time=f"2026-03-01T12:00:{second:02}Z", stream="http://e/cars")
    return rw.draw_reports(list(engine.reports(view)))


def main() -> None:
    GALLERY.mkdir(exist_ok=True)
    (GALLERY / "match.svg").write_text(cheated(), encoding="utf-8")
    (GALLERY / "reports.svg").write_text(busy(), encoding="utf-8")
    social, benchmark, counted = social_engine(), bsbm_engine(), poured()
    for name, engine, drawing in (
        ("social-full", social, "full"),
        ("social-reduced", social, "reduced"),
        ("social-network", social, "network"),
        ("social-all", social, "all"),
        ("social-counts", counted, "all"),
        ("benchmark", benchmark, "network"),
    ):
        picture = svg_element(engine.draw(drawing))  # type: ignore[arg-type]
        (GALLERY / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
