"""The variables by which a branch may be spread that time asks something of: the keys of its decisions.

Data's way: branches -> **keys** -> schemes (`shares`).
A shard has every triple that agrees with its part of a key, and every triple that does not bind it.  So it knows all
that a solution is compared with, if each group in which the solution is looked up has the key from the solution, or has
it not at all.  A key that such a group finds for itself, beside a solution without it, would hide triples from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from retewave.compiler.algebra import Variable
from retewave.compiler.rewrite.branch import Branch
from retewave.compiler.rewrite.runs import Runs

__all__ = ["keys_of", "reason_of"]


def keys_of(branch: Branch) -> frozenset[Variable]:
    """Return the variables by which a branch may be spread.

    Each is bound in every solution, and shared by all that looks at it.
    """
    if branch.runs is not None:
        return _keys_of_runs(branch.runs) - _apart(branch)
    return branch.bound & _in_patterns(branch) - _apart(branch)


def reason_of(branch: Branch) -> str:
    """Return why there is no key."""
    if branch.runs is not None:
        if branch.runs.instants and not branch.runs.partition:
            return "the next event of a stream may be in any shard: PARTITION BY a variable would spread it"
        if branch.runs.settled and not branch.runs.partition:
            return "of all matches the first is told, and skips others: PARTITION BY a variable would spread it"
        return "the events of its sequence have no variable in common from the first one on"
    operators = dict.fromkeys(each.operator for each in branch.all_probes if each.operator)
    if not operators or not branch.bound:
        return "no pattern has a variable"
    return f"no variable is the same in all that {' and '.join(operators)} looks at"


def _in_patterns(branch: Branch) -> frozenset[Variable]:
    """Return the variables of its patterns, which triples bind; events are not among them."""
    return frozenset(term for pattern in branch.all_patterns for term in pattern.terms if isinstance(term, Variable))


def _apart(branch: Branch) -> frozenset[Variable]:
    """Return the variables that a group binds by itself, beside a solution that is looked up in it."""
    return frozenset().union(*_each_apart(branch))


def _each_apart(branch: Branch) -> Iterator[frozenset[Variable]]:
    for probe in branch.probes:
        yield _in_patterns(probe.there) - branch.bound
        yield from _each_apart(probe.there)
    for part in branch.parts:
        yield from _each_apart(part.branch)
    for each in branch.runs.branches if branch.runs else ():
        yield from _each_apart(each)


def _keys_of_runs(runs: Runs) -> frozenset[Variable]:
    """Return the variables that a run has from its first event to its last, each with one value."""
    again = frozenset().union(*(way.rebound for way in runs.ways))
    kept = frozenset.intersection(*(state.variables - state.loose - state.own for state in runs.states)) - again
    return kept & frozenset(runs.partition) if runs.instants or runs.settled else kept
