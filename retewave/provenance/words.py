"""How an explanation writes patterns: as the query has them, or with the match's bindings filled in.

Data's way: patterns, bindings -> **words** -> explanation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from retewave.compiler.algebra import Term, TriplePattern, Variable
from retewave.compiler.expressions.tree import rename, to_sparql
from retewave.compiler.rewrite.branch import FilterStep, Probe
from retewave.provenance.axioms import Texts
from retewave.viz.explain.names import Prefixes

__all__ = ["Words", "readable"]


@dataclass(frozen=True)
class Words:
    """Writes the patterns of one match."""

    prefixes: Prefixes  # the query's
    bound: Mapping[Variable, bytes]  # what the match binds

    def pattern(self, pattern: TriplePattern) -> str:
        """Return a pattern as the query has it."""
        said = " ".join(self._plain(term) for term in pattern.terms)
        return said if pattern.source is None else f"STREAM {self.prefixes.short(pattern.source)} {{ {said} }}"

    def triple(self, texts: Texts) -> str:
        """Return a triple, shortened."""
        return " ".join(map(self.prefixes.short, texts))

    def absent(self, probe: Probe) -> str:
        """Return the pattern that a probe looks for, with the bindings filled in."""
        there = probe.written or probe.there
        patterns = " . ".join(" ".join(map(self._filled, each.terms)) for each in there.made_of)
        filters = (*(each for each in there.steps if isinstance(each, FilterStep)), *probe.conditions)
        said = "".join(f" FILTER({self._filter(each)})" for each in filters)
        if there.closing:
            return f"{there.closing[0].operator} {{ {patterns}{said} }}"
        return f"{{ {patterns}{said} }}" if said or " . " in patterns else patterns

    def _filter(self, step: FilterStep) -> str:
        names = {each: Variable(readable(each.name)) for each in step.scope}
        return self.prefixes.short(to_sparql(rename(step.expression, names)))

    def _filled(self, term: Term) -> str:
        return self.prefixes.short(self.bound[term]) if term in self.bound else self._plain(term)  # type: ignore[index]

    def _plain(self, term: Term) -> str:
        if isinstance(term, bytes):
            return self.prefixes.short(term)
        name = readable(term.name)
        return name if name.startswith("_:") else f"?{name}"


def readable(name: str) -> str:
    """Return a variable's name as the query has it: the compiler may have made another of it.

    >>> readable("_:.x.2"), readable("x"), readable("_:b")
    ('x', 'x', '_:b')
    """
    return name.removeprefix("_:.").rsplit(".", 1)[0] if name.startswith("_:.") else name
