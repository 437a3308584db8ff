"""Law: the deepest partial match of `why_not` is as deep as nested loops over all that has come find."""

import warnings
from collections.abc import Iterable
from itertools import combinations

from cases.conjunctions import Binding, Branch, Pattern, Query, text_of
from cases.engine import Case, case_of, engine_for, pushed_one_by_one
from cases.many import many
from hypothesis import HealthCheck, given, settings
from naive.reports import matches

from retewave.compiler.parse import parse
from retewave.engine.registry import CartesianWarning


def deepest(branch: Branch, case: Case, asked: Binding) -> int:
    """Return how many patterns and tables can be found together, by trying every choice of them."""
    parts: list[Pattern | tuple[Binding, ...]] = [*branch.patterns, *branch.tables]
    for depth in range(len(parts), 0, -1):
        if any(can_be_found(branch, chosen, case, asked) for chosen in combinations(parts, depth)):
            return depth
    return 0


def can_be_found(branch: Branch, chosen: Iterable[Pattern | tuple[Binding, ...]], case: Case, asked: Binding) -> bool:
    """Tell whether some parts are found together, with what is asked and the filters whose variable they have."""
    patterns = tuple(each for each in chosen if isinstance(each, Pattern))
    tables = tuple(each for each in chosen if not isinstance(each, Pattern))
    names = {term for each in patterns for term in each.terms} | {name for each in tables for name in each[0]}
    filters = tuple(each for each in branch.filters if each.variable in names)
    found = matches(parse(text_of(Query((Branch(patterns, tables, filters),)))), case.stream, case.static)
    return any(all(text == asked.get(name, text) for name, text in match.bindings) for match in found)


@settings(max_examples=many(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(case_of())
def test_partial_match_is_as_deep_as_nested_loops_find(case: Case) -> None:
    if case.query.window is not None:  # memories forget; nested loops over all that has come do not
        return
    engine, query = engine_for(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CartesianWarning)
        pushed_one_by_one(engine, case)
    some = case.stream[0].triple[0]
    variable = next((t for p in case.query.branches[0].patterns for t in p.terms if isinstance(t, str)), None)
    for asked in ({}, {variable: some} if variable else {}):
        answer = engine.why_not(query, {name: text.decode() for name, text in asked.items()})
        for branch, alternative in zip(case.query.branches, answer.alternatives, strict=True):
            if len(branch.patterns) + len(branch.tables) < 2 or not alternative.whole:
                continue  # a pattern that is alone has no memory
            found = [len(partial.found) for partial in alternative.partials] or [len(alternative.matches)]
            assert set(found) == {deepest(branch, case, asked)}
