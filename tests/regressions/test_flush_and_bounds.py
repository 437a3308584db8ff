"""What a flush, a bound, a snapshot and a question to Python once did wrong in time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.inside import network_of

import retewave as rw
from retewave.compiler.expressions.evaluate import Evaluator
from retewave.compiler.expressions.tree import Expression
from retewave.compiler.lower import AskedFilter
from retewave.engine.asking import Asking

XSD = "http://www.w3.org/2001/XMLSchema#"
ABSENT = "{ ?x <urn:p> ?y } SEQ NOT { ?x <urn:q> ?z } WITHIN 5s"


def push(engine: rw.Engine, name: str, time: float, value: object = 1, stream: str | None = None) -> list[rw.Match]:
    return engine.push(("urn:a", f"urn:{name}", value), time=time, stream=stream)


def ends(found: list[rw.Match]) -> list[float]:
    return [float(match.end) for match in found]  # type: ignore[arg-type]


def test_what_a_flush_has_told_is_told_once_and_what_it_has_not_is_decided_at_its_time() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT * {{ {ABSENT} }}")
    push(engine, "p", 1)
    assert (ends(engine.flush()), ends(engine.flush())) == ([6], [])
    push(engine, "p", 2)
    push(engine, "q", 3)
    assert ends(push(engine, "r", 20)) == []
    push(engine, "p", 21)
    assert ends(push(engine, "r", 40)) == [26]


def test_a_flush_keeps_no_later_match_of_distinct_on_from_being_told() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT DISTINCT ON (?x) FOR 1m ?x ?y {{ {ABSENT} }}")
    push(engine, "p", 1)
    assert ends(engine.flush()) == [6]
    push(engine, "q", 2)
    push(engine, "p", 3)
    assert ends(push(engine, "r", 9)) == [8]


def test_a_flush_takes_no_row_of_a_memory_with_it() -> None:
    engine = rw.Engine()
    engine.register(f"SELECT * {{ {{ {ABSENT} }} SEQ {{ ?x <urn:r> ?w }} WITHIN 30s }}")
    push(engine, "p", 1)
    before = engine.stats()
    engine.flush()
    after = engine.stats()
    assert {name: after[name] for name in ("live_rows", "waiting", "next_due")} == {
        name: before[name] for name in ("live_rows", "waiting", "next_due")
    }
    assert ends(push(engine, "r", 8)) == [8]


def test_a_snapshot_between_a_clock_and_what_it_decides_loses_no_decision(tmp_path: Path) -> None:
    engine = rw.Engine(lateness="1s")
    engine.register(f"SELECT * {{ {ABSENT} }}")
    engine.accept([b"<urn:a>", b"<urn:p>", b'"1"'], 1, None, None)
    engine.accept([b"<urn:a>", b"<urn:else>", b'"1"'], 20, None, None)
    engine.snapshot(tmp_path / "between")
    restored = rw.Engine.restore(tmp_path / "between")
    assert ends(restored.advance(0)) == ends(engine.advance(0)) == [6]


def test_of_streams_with_and_without_a_range_within_bounds_what_is_kept() -> None:
    engine = rw.Engine()
    engine.register(
        "SELECT * FROM STREAM <urn:s> [RANGE 5s] FROM STREAM <urn:t> "
        "WHERE { { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?z } WITHIN 10s }"
    )
    for time in range(2_000):
        push(engine, "p", time, stream="urn:s" if time % 7 == 0 else "urn:t")
    network_of(engine).runtime.collect()
    assert engine.stats()["live_rows"] == 11  # it is at 1999: what is of 1989 is within
    assert len(push(engine, "q", 1999, stream="urn:t")) == 10  # that of 1999 is not before it


@pytest.mark.filterwarnings("error")
def test_of_streams_with_and_without_a_range_nothing_is_kept_for_ever_under_within() -> None:
    rw.Engine().register(
        "SELECT * FROM STREAM <urn:s> [RANGE 5s] FROM STREAM <urn:t> "
        "WHERE { { ?x <urn:p> ?y OPTIONAL { ?x <urn:r> ?w } } SEQ { ?x <urn:q> ?z } WITHIN 10s }"
    )


def test_sums_of_times_are_decided_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: Asking, asked: AskedFilter, words: np.ndarray) -> bool:
        raise AssertionError(f"asked {asked.expressions}")

    monkeypatch.setattr(Asking, "is_true", never)
    engine = rw.Engine()
    engine.register(
        f"PREFIX xsd: <{XSD}> SELECT * {{ {{ ?x <urn:p> ?due }} SEQ NOT {{ ?x <urn:q> ?z "
        "FILTER(getSTARTTIME() + 'PT1S'^^xsd:duration <= ?due && ?due - getENDTIME() >= 'PT1S'^^xsd:duration) } "
        "WITHIN 5s }"
    )
    for subject, asked in (("urn:a", "00:00:09"), ("urn:b", "00:00:03")):
        engine.push((subject, "urn:p", f'"1970-01-01T{asked}Z"^^<{XSD}dateTime>'), time=1)
    for subject in ("urn:a", "urn:b"):
        engine.push((subject, "urn:q", 1), time=3)
    assert [str(match["x"]) for match in engine.advance(20)] == ["urn:b"]


def test_what_python_says_of_terms_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[Expression] = []
    plain = Asking._evaluator

    def counting(self: Asking, expression: Expression) -> Evaluator:
        evaluated.append(expression)
        return plain(self, expression)

    monkeypatch.setattr(Asking, "_evaluator", counting)
    engine = rw.Engine()
    condition = "REGEX(?z, '^.b*$') && MD5(?z) < MD5(?y)"
    engine.register(f"SELECT * {{ {{ ?x <urn:p> ?y }} SEQ NOT {{ ?x <urn:q> ?z FILTER({condition}) }} WITHIN 5s }}")
    for round_ in range(5):
        push(engine, "p", 10 * round_, '"some"')
        push(engine, "q", 10 * round_ + 1, '"abb"')
        engine.advance(10 * round_ + 6)
        assert len(evaluated) <= 3


def test_what_a_rule_builds_for_a_flush_is_built_again_at_its_time() -> None:
    engine = rw.Engine()
    unanswered = "{ ?x <urn:asks> ?n FILTER NOT EXISTS { ?x <urn:gets> ?n } }"
    engine.register(f"CONSTRUCT {{ ?x <urn:is> [] . ?x <urn:waits> ?x }} WHERE {unanswered}", language="epsparql")
    reader = engine.register("SELECT ?x WHERE { { ?x <urn:waits> ?y } SEQ { ?x <urn:calls> ?z } }", language="epsparql")
    push(engine, "asks", 9)
    engine.flush()
    push(engine, "calls", 10)
    engine.flush()
    assert reader.matched == 1
