"""Views, events of OBEP and sequences can be looked at; what cannot be told of them is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.inside import network_of
from typer.testing import CliRunner

import retewave as rw
from retewave.cli.app import app
from retewave.inspector.controller import Controller
from retewave.inspector.layout import place

ROOMS = Path(__file__).parents[2] / "examples" / "obep"
PREFIX = "PREFIX : <http://example.org/> "
VIEW = (
    "SELECT ?x (COUNT(?y) AS ?n) FROM STREAM <urn:s> [RANGE 5s STEP 2s] { ?x ?p ?y OPTIONAL { ?x :in ?z } } GROUP BY ?x"
)
ASKED = "ASK FROM STREAM <urn:s> [RANGE 5s STEP 2s] { ?x :observesPerson ?y }"
NAMED = (
    "SELECT ?x FROM NAMED WINDOW :w ON <urn:s> [RANGE 5s STEP 2s] FROM STREAM <urn:s> [RANGE 1s STEP 1s] "
    "{ WINDOW ?w { ?x :observesPerson ?y } MINUS { ?x :in ?z } }"
)
SEQUENCE = (
    "SELECT ?x WITHIN 5 SECONDS FROM STREAM S <urn:s> WHERE { SEQ (A; B+) "
    "DEFINE GPM A ON S { ?x :observesPerson ?y } DEFINE GPM B ON S { ?v :observesOpenDoor ?z } }"
)
QUERIES = {
    "view": PREFIX + VIEW,
    "ask": PREFIX + ASKED,
    "named": PREFIX + NAMED,
    "obep": (ROOMS / "rooms.obep").read_text(),
    "sequence": PREFIX + SEQUENCE,
}
FILES: dict[str, Any] = {"schema": ROOMS / "ontology.ttl", "static": ROOMS / "rooms.ttl"}


def readings() -> rw.Reader:
    return rw.read(ROOMS / "readings.nq", time_property="http://example.org/at", stream="urn:s")


@pytest.mark.parametrize("kind", QUERIES)
def test_every_step_and_memory_of_it_can_be_shown_and_its_network_drawn(kind: str) -> None:
    engine = rw.Engine(**FILES, stats=True)
    query = engine.register(QUERIES[kind], name="q")
    controller = Controller(engine, [readings()])
    compiled = network_of(engine)
    while controller.step() is not None:
        for slot in range(len(compiled.lowered.slots)):
            controller.memory(slot)
        for probe in range(len(compiled.lowered.probes)):
            controller.waiting(probe)
    shown = controller.snapshot()
    json.dumps(shown, default=str)
    assert (shown["state"], shown.get("error")) == ("ended", "")
    assert controller.matches("q")["total"] == query.matched > 0
    assert len(place(engine.graph())["nodes"]) == len(engine.graph())
    assert engine.draw().startswith(b"<?xml")
    assert engine.stats()["matches"] == {"q": query.matched}
    json.dumps(engine.stats(), allow_nan=False)
    assert "query q" in engine.explain()
    controller.close()


def test_rows_of_a_view_are_drawn_if_it_is_explained() -> None:
    engine = rw.Engine(**FILES)
    plain, explained = (engine.register(QUERIES["view"], name=name, explain=name == "q") for name in ("p", "q"))
    for _ in engine.run(readings()):
        pass
    with pytest.raises(rw.UsageError, match="p was registered without explain=True"):
        plain.matches[0].explain()
    controller = Controller(engine, [])
    found = controller.matches("q")
    assert found["why"] == [match.to_svg() for match in explained.matches[::-1]]
    assert "why" not in controller.matches("p")
    controller.close()


@pytest.mark.parametrize("kind", QUERIES)
def test_explain_draws_it_on_the_command_line(kind: str, tmp_path: Path) -> None:
    picture = tmp_path / "network.svg"
    files = ["--schema", str(FILES["schema"]), "--static", str(FILES["static"])]
    drawn = ["--draw", "network", "--format", "svg", "-o", str(picture)]
    ended = CliRunner().invoke(app, ["explain", QUERIES[kind], *files, *drawn])
    assert ended.exit_code == 0, ended.output
    assert picture.read_bytes().startswith(b"<?xml")
