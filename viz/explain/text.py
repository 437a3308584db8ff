"""`explain`: the plan of all queries as text, for people, for golden files, and as data for programs.

Data's way: network that runs -> description (`describe`) -> **text or plain data**.
The text is deterministic: equal queries over an equal schema, registered in the same order, print the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from retewave.viz.explain.automaton import lines as automaton_lines
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.counts import Counts, JoinCounts, MemoryCounts, count, counts
from retewave.viz.explain.describe import describe
from retewave.viz.explain.description import Description, PatternPlan, Section, StepPlan
from retewave.viz.explain.names import listed

__all__ = ["explain", "explain_data"]


def explain(compiled: Compiled, *, stats: bool | None = None) -> str:
    """Return the plan as text; with counts when the network counts, or as `stats` says."""
    counted = count(compiled)
    shown = counted if (counted.counting if stats is None else stats) else None
    return "\n".join(_lines(describe(compiled), shown)) + "\n"


def explain_data(compiled: Compiled, *, stats: bool | None = None) -> dict[str, Any]:
    """Return the plan as plain data, fit for JSON; with counts when the network counts, or as `stats` says."""
    counted = counts(compiled)
    data = asdict(describe(compiled))
    if counted["counting"] if stats is None else stats:
        data["counts"] = counted
    return data


def _lines(plan: Description, counted: Counts | None) -> Iterator[str]:
    yield (
        f"{_many(plan.queries, 'query', 'queries')}: {_many(plan.alphas, 'α test')}, "
        f"{_many(plan.joins, 'join')}, {_many(plan.memories, 'memory', 'memories')}"
        + (f", {_many(plan.probes, 'probe')}" if plan.probes else "")
    )
    if plan.prefixes:
        yield ""
        width = max(len(label) for label in plan.prefixes)
        for label, namespace in plan.prefixes.items():
            yield f"prefix {label + ':':<{width + 1}} <{namespace}>"
    for section in plan.sections:
        yield ""
        yield from _section(section, plan.levels, counted)


def _section(section: Section, levels: int, counted: Counts | None) -> Iterator[str]:
    names = listed(section.queries, section.count)
    whole = f"{section.count:,} queries of one shape: {names}" if section.count > 1 else f"query {names}"
    yield f"{whole}: {section.answers}, told {section.told}"
    yield from _shown(section)
    yield from _kept(section)
    yield from _policy(section)
    yield from _builds(section)
    if not section.alike:
        yield f"  this is what {section.queries[0]} shows and filters; others differ"
    yield from _streams(section)
    for each in section.open:
        yield f"  {each.name} is open: {_many(each.terms, 'term')} ({listed(each.examples, section.count)})"
    if section.automaton is not None:
        yield "  sequence"
        yield from (f"    {line}" for line in automaton_lines(section.automaton))
    yield "  patterns"
    for pattern in section.patterns:
        yield from _pattern(pattern)
    if any(each.kind in ("probe", "state", "step") for each in _steps(section.joins)):
        yield "  steps"
    elif section.joins.inputs:
        yield "  joins"
    else:
        yield "  no join"
    yield from _tree(section.joins, "    ", "    ", levels, counted)
    for filter_ in section.filters:
        early = ", before the join" if filter_.early else ""
        yield f"  {filter_.expression}: {filter_.by}{early}"
    if counted is not None and section.count == 1 and section.queries[0] in counted.matches:
        yield f"  matches: {counted.matches[section.queries[0]]:,}"


def _shown(section: Section) -> Iterator[str]:
    if section.form:
        yield f"  {' '.join((section.form.lower(), *section.shows))}"
    if section.on:
        yield f"  reports {section.on}"


def _builds(section: Section) -> Iterator[str]:
    rule = section.builds
    if rule is not None:
        where = f"stream {rule.stream}" if rule.stream else "every stream"
        if not section.form:
            yield f"  gives {'; '.join(rule.triples) or 'nothing'}, built by {rule.by}, stratum {rule.stratum}"
            return
        yield f"  feeds {where} with {{ {' . '.join(rule.triples)} }}, built by {rule.by}, stratum {rule.stratum}"
        yield f"    read by {listed(rule.read_by, rule.readers)}" if rule.readers else "    which no query reads"


def _kept(section: Section) -> Iterator[str]:
    if section.kept:
        yield f"  kept from report to report: {section.kept}"
        yield f"  evaluated at each report: {section.evaluated}"


def _policy(section: Section) -> Iterator[str]:
    if section.policy:
        yield f"  policy {section.policy}"
    if section.uses_up:
        yield "  uses up the events of each match when its instant is over"


def _streams(section: Section) -> Iterator[str]:
    if not section.streams:
        yield f"  every stream, window {section.window}"
    for each in section.streams:
        yield f"  stream {each.stream}, window {each.range}"


def _pattern(pattern: PatternPlan) -> Iterator[str]:
    yield f"    α{pattern.alpha}  {pattern.pattern}{_shared(pattern.shared_with, pattern.shared)}"
    for form in pattern.entailed_by:
        gives = f" gives {', '.join(form.binds)}" if form.binds else ""
        unless = " unless the object is a literal" if form.no_literal else ""
        yield f"        ε  {form.input}{gives}{unless}"
        for axiom in form.axioms:
            yield f"             by {axiom}"
    if pattern.built_by:
        yield f"        built by {', '.join(pattern.built_by)}"
    left_out = pattern.forms - len(pattern.entailed_by)
    if left_out:
        yield f"        ε  and {_many(left_out, 'more form')} of input"
    if pattern.facts:
        yield f"        ε  {_many(pattern.facts, 'triple')} that the schema states"


def _steps(step: StepPlan) -> Iterator[StepPlan]:
    yield step
    for each in step.inputs:
        yield from _steps(each)


def _tree(step: StepPlan, first: str, rest: str, levels: int, counted: Counts | None, said: str = "") -> Iterator[str]:
    yield first + said + _step(step, levels, counted)
    if step.kind in ("probe", "state", "step"):
        yield from (f"{rest}│    where {each}" for each in step.relations)
        yield from (f"{rest}│    where {each} is true" for each in step.conditions)
    for place, each in enumerate(step.inputs):
        last = place == len(step.inputs) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        looked = "looks for " if step.kind == "probe" and last else ""
        yield from _tree(each, rest + branch, rest + below, levels, counted, looked)


def _step(step: StepPlan, levels: int, counted: Counts | None) -> str:
    if step.kind == "probe":
        said = _probe(step, levels)
    elif step.kind in ("state", "step"):
        said = _run(step)
    elif step.inputs:
        said = _join(step)
    elif step.kind == "table":
        said = step.label
    else:
        said = f"α{step.number}  {step.label}"
    said += " [static]" if step.static else ""
    said += " [keeps no rows: it can only come last]" if step.passing else ""
    said += " [nothing static]" if step.streamed else ""
    said += f" [window {step.within}]" if step.within else ""
    said += "".join(f" FILTER {each}" for each in step.filters)
    if counted is not None:
        said += _counted(step, counted)
    return said


def _join(step: StepPlan) -> str:
    by = {
        "join": f"on {' '.join(step.key)}",
        "star": f"on {' '.join(step.key)}, star of {len(step.inputs)}",
        "product": "cartesian product",
    }
    relations = "".join(f", {each}" for each in step.relations)
    return f"join {step.number} {by[step.kind]}, keeps {step.window}{relations}{_shared(step.shared_with, step.shared)}"


def _run(step: StepPlan) -> str:
    key = f" on {' '.join(step.key)}" if step.key else ""
    if step.kind == "state" and step.label == "as above":
        return f"runs {step.number}, as above"
    if step.kind == "state" and step.label == "once":
        return "solutions of an event, each once"
    if step.kind == "state":
        return f"runs {step.number}{key}{f', keeps {step.window}' if step.window else ''}"
    return f"step {step.number}{key}: {step.label}{_shared(step.shared_with, step.shared)}"


def _probe(step: StepPlan, levels: int) -> str:
    key = f"on {' '.join(step.key)}" if step.key else "without a key"
    level = [f"level {step.level} of {levels}"] if levels > 1 and step.level else []
    passes = "passes if it exists" if step.wants == "exists" else "passes if absent"
    said = ", ".join([passes, f"decided {step.decided}", *level, f"keeps {step.window}"])
    return f"probe {step.number} {key}, {step.label}: {said}{_shared(step.shared_with, step.shared)}"


def _shared(names: tuple[str, ...], how_many: int) -> str:
    return f"  (shared with {listed(names, how_many)})" if how_many else ""


def _counted(step: StepPlan, counted: Counts) -> str:
    said = []
    if step.kind == "probe":
        of_probe = counted.probes[step.number]
        said += [f"{of_probe.decided:,} decided", f"{of_probe.passed:,} passed", f"{of_probe.waiting:,} waiting"]
        said += [f"{of_probe.unknown:,} not known"] if of_probe.unknown else []
    elif step.kind not in ("state", "step") and step.inputs:
        of_join = counted.join(step.number)
        said += [f"{of_join.hits:,} made", *_refused(of_join)]
    if step.memory is not None:
        memory: MemoryCounts = counted.memories[step.memory]
        said += [f"{memory.rows_in:,} in"] + ([] if step.passing else [f"{memory.live:,} live"])
        said += [*_many_refused(memory.refused_by_filter, "filter")]
    return f"  · {', '.join(said)}" if said else ""


def _refused(join: JoinCounts) -> Iterator[str]:
    yield from _many_refused(join.refused_by_key, "key")
    yield from _many_refused(join.refused_by_window, "window")
    yield from _many_refused(join.refused_by_relation, "relation")
    if join.refused_as_used_up:
        yield f"{join.refused_as_used_up:,} used up"


def _many_refused(number: int, why: str) -> Iterator[str]:
    if number:
        yield f"{number:,} refused by {why}"


def _many(number: int, one: str, more: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"
