"""Views over shards: what they are spread by, and how their reports are asked for."""

from __future__ import annotations

import pytest
from helpers.shards_by_hand import OFFERS, PREFIX, planned

from retewave.errors import UsageError
from retewave.spark.driver.job import Job

SPREAD_VIEWS = {
    "an average by group": "SELECT ?x (AVG(?y) AS ?mean) %s { ?x e:p ?y } GROUP BY ?x",
    "a group by more": "SELECT ?x ?z (COUNT(*) AS ?n) %s { ?x e:p ?y . ?x e:q ?z } GROUP BY ?x ?z",
    "a pattern without the key": "SELECT ?x (MAX(?z) AS ?most) %s { ?x e:p ?y . ?y e:q ?z } GROUP BY ?x",
    "what is missing": "SELECT ?x %s { ?x e:p ?y MINUS { ?x e:q ?z } OPTIONAL { ?x e:r ?v } }",
    "a subquery": "SELECT * %s { ?x e:p ?y { SELECT ?x (COUNT(*) AS ?n) { ?x e:q ?z } GROUP BY ?x } }",
    "rows without their key": "SELECT (COUNT(*) AS ?n) %s { ?x e:p ?y } GROUP BY ?x",
}


@pytest.mark.parametrize("what", SPREAD_VIEWS)
def test_views_are_spread_by_what_all_that_they_put_together_has(what: str) -> None:
    job = planned(PREFIX + SPREAD_VIEWS[what] % "FROM STREAM <http://e/s> [RANGE 5s STEP 1s]")
    with_the_key = [each for each in job.plan.queries if "?x" in each.patterns[0].pattern]
    assert with_the_key
    assert all(each.shares == {"?x": 2} and each.reason is None for each in with_the_key)


def test_new_rows_of_a_view_are_known_by_their_key_or_by_a_last_task() -> None:
    shown, hidden = (
        f"{PREFIX}REGISTER ISTREAM e:o AS SELECT {what} FROM STREAM <http://e/s> [RANGE 5s STEP 1s] {{ ?x e:p e:a }}"
        for what in ("?x", "(STRLEN(STR(?x)) AS ?length)")
    )
    jobs = [planned(text) for text in (shown, hidden)]
    assert [job.last for job in jobs] == [False, True]
    assert {job.spread[0].cells for job in jobs} == {2}


def test_what_static_data_alone_match_is_not_spread() -> None:
    text = PREFIX + "SELECT ?x (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y } GROUP BY ?x"
    static = [b"<http://e/a> <http://e/p> <http://e/b> ."]
    assert [planned(text, static=data).spread[0].cells for data in ((), static)] == [2, 1]


def test_a_report_policy_is_for_views() -> None:
    text = PREFIX + "SELECT ?x (COUNT(*) AS ?n) FROM STREAM <http://e/s> [RANGE 5s STEP 1s] { ?x e:p ?y } GROUP BY ?x"
    job = Job.of({"asked": text}, shards=2, report="PERIODIC 3s")
    assert job.digest != Job.of({"asked": text}, shards=2).digest
    assert job.engine(0).queries[0].parsed.view == job.queries[0].parsed.view
    with pytest.raises(UsageError, match="for views, and all queries detect"):
        Job.of([OFFERS], shards=2, report="PERIODIC 3s")
