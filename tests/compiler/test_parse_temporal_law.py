"""What is written means what was meant: random patterns are written as text, which is read as the same pattern."""

from __future__ import annotations

from cases.algebra import patterns, written
from cases.many import many
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from retewave.compiler.algebra import Algebra
from retewave.compiler.parse import parse


@settings(max_examples=many(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(patterns, st.booleans())
def test_a_pattern_that_is_written_is_read_as_itself(pattern: Algebra, bare: bool) -> None:
    text = f"SELECT * {{ {written(pattern, bare)} }}"
    note(text)
    assert parse(text).where == pattern
    assert parse(text, language="epsparql").where == pattern
