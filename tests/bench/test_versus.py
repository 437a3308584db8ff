"""The use cases beside ETALIS: its answers are read right, its streams say what ours say, and both count the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from retewave.bench.peers.events import etalis
from retewave.bench.usecases import versus as contest
from retewave.bench.usecases.events import BASE
from retewave.bench.usecases.questions import QUESTIONS, UseQuestion
from retewave.bench.usecases.terms import happenings, terms

ANSWER = '{"matches": 2, "sum": 9, "seconds": 0.5, "busy": 0.25}'
BY_NAME = {f"{each.name}-{each.policy}": each for each in QUESTIONS}


def test_the_answer_is_the_line_of_json_among_what_etalis_says_itself() -> None:
    found = etalis.told(0, f"*Event: fall(1) @ [...]\n{ANSWER}\n% halt\n", "")
    assert (found.matches, found.sum, found.seconds, found.busy) == (2, 9, 0.5, 0.25)


@pytest.mark.parametrize(
    ("code", "out", "errors", "why"),
    [
        (1, ANSWER, "Warning: a\nERROR: unknown procedure", "etalis: ERROR: unknown procedure"),
        (0, "*Event: fall(1)\n", "", "etalis: it told nothing"),
    ],
)
def test_without_an_answer_its_last_words_are_raised(code: int, out: str, errors: str, why: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        etalis.told(code, out, errors)
    assert str(raised.value) == why


def test_a_stream_of_terms_has_the_window_what_is_known_and_events_in_the_order_of_time() -> None:
    question = BY_NAME["smartgrid-recent"]
    lines = list(terms(question, happenings(question, 6)))
    assert lines[:2] == ["width(1800000).\n", "home(house0, city0, house1, 'owner 0').\n"]
    events = [line for line in lines if line.startswith("at(")]
    assert [line.split(",")[0] for line in events] == [f"at({time}" for time in (0, 5000, 10000, 15000, 20000, 25000)]
    assert [line.split("(")[2].split(",")[0] for line in events] == ["power", "weather", "storage"] * 2


def test_an_event_may_be_told_triple_by_triple() -> None:
    question = BY_NAME["fraud-recent"]
    events = [line for line in terms(question, happenings(question, 2), triples=True) if line.startswith("at(0,")]
    of, amount = events[1].split("'")[1], events[1].split(", ")[4]
    assert amount.isdecimal() and [line.split(", ")[3] for line in events] == ["id", "amount", "loc"]
    assert events[0] == f"at(0, said(cards, '{of}', id, '{int(of[4:]):08d}', 0)).\n"


def test_an_event_that_has_to_be_next_has_its_number_and_the_one_before() -> None:
    question = BY_NAME["trajectory-unrestricted"]
    events = [line for line in terms(question, happenings(question, 13)) if "(vessel0, " in line and line[0] == "a"]
    assert [line.split(", ")[2:4] for line in events] == [["1", "0"], ["2", "1"], ["3", "2"]]
    known = [line for line in terms(question, {}) if line.startswith("named(")]
    assert known[1] == "named(vessel1, 'vessel 1', line1).\n"


def test_a_question_asks_the_example_with_its_own_sequence_and_window() -> None:
    asked = BY_NAME["vshape-recent"].query()
    assert "SEQ (A, B, C)\n" in asked and "PREV" not in asked and "SELECT *\n" in asked
    assert BY_NAME["fraud-recent"].query() == BY_NAME["fraud-recent"].case.query.read_text().replace(
        f"GRAPH <{BASE}holders>", f"GRAPH <{BASE}facts>"
    )
    assert "WITHIN 3 SECONDS" in BY_NAME["shoulders-unrestricted"].query()
    assert all(each.rules.is_file() for each in QUESTIONS)


def _ran(matches: int, rate: float) -> contest.Runner:
    return lambda question, count, folder: (matches, count / rate)


def _versus(ours: contest.Runner, theirs: contest.Runner, tmp_path: Path) -> contest.Versus:
    return contest.versus(QUESTIONS[0], (100, 1000), 3, tmp_path, (ours, theirs))


def test_a_ratio_is_of_medians_and_only_of_equal_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etalis, "missing", lambda: "")
    found = _versus(_ran(5, 3000.0), _ran(5, 10.0), tmp_path)
    assert found.ratio(found.ours) == pytest.approx(300) and found.ratio(found.long) == pytest.approx(300)
    wrong = _versus(_ran(5, 3000.0), _ran(4, 10.0), tmp_path)
    assert wrong.failure == "WRONG: 4 matches instead of 5" and wrong.ratio(wrong.ours) is None


def test_without_etalis_ours_is_measured_alone_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(etalis.VARIABLE, raising=False)
    found = _versus(_ran(5, 3000.0), _ran(5, 10.0), tmp_path)
    assert found.failure == "skipped: there is no etalis.P: RETEWAVE_ETALIS names its folder"
    assert not found.theirs and found.to_dict()["ours"] == pytest.approx([3000.0] * 3)


@pytest.mark.skipif(bool(etalis.missing()), reason=etalis.missing() or "it is there")
@pytest.mark.parametrize("question", QUESTIONS, ids=BY_NAME)
def test_etalis_counts_what_the_query_finds(question: UseQuestion, tmp_path: Path) -> None:
    count = {"shoulders-recent": 2000, "shoulders-unrestricted": 1000}.get(question.rules.stem, 400)
    right, _ = contest.by_retewave(question, count, tmp_path)
    assert contest.by_etalis(question, count, tmp_path)[0] == right > 0


@pytest.mark.skipif(bool(etalis.missing()), reason=etalis.missing() or "it is there")
@pytest.mark.parametrize("name", ["fraud-recent", "vshape-recent", "smartgrid-recent", "traffic-unrestricted"])
def test_events_that_rules_make_of_triples_count_the_same(name: str, tmp_path: Path) -> None:
    right, _ = contest.by_retewave(BY_NAME[name], 400, tmp_path)
    assert contest.by_etalis_from_triples(BY_NAME[name], 400, tmp_path)[0] == right > 0
