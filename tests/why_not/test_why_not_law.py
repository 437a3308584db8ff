"""Law: the deepest partial match of `why_not` is as deep as nested loops over all that has come find."""

import warnings
from itertools import combinations

from cases.engine import Case, case_of, comparisons, engine_for, pushed_one_by_one
from cases.many import many
from hypothesis import HealthCheck, given, settings
from naive import Binding, Branch, Pattern, choices_of, facts_of

from retewave.engine.registry import CartesianWarning


def deepest(branch: Branch, case: Case, asked: dict[str, bytes]) -> int:
    """Return how many patterns and tables can be found together, by trying every choice of them."""
    facts = list(facts_of(None, case.stream, case.static, lambda triple: {triple}))
    parts: list[Pattern | tuple[Binding, ...]] = [*branch.patterns, *branch.tables]
    for depth in range(len(parts), 0, -1):
        for chosen in combinations(parts, depth):
            patterns = tuple(each for each in chosen if isinstance(each, Pattern))
            tables = tuple(each for each in chosen if not isinstance(each, Pattern))
            for binding, _ in choices_of(Branch(patterns, tables), facts):
                agrees = all(binding.get(name, text) == text for name, text in asked.items())
                if agrees and all(f(binding) for f in comparisons(branch) if f.variable in binding):
                    return depth
    return 0


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
