"""The normal form keeps a query's meaning: evaluated by nested loops it equals an independent SPARQL engine.

Random queries with nested groups, UNION, FILTER, BIND, VALUES with UNDEF and paths over random small
graphs; the solutions are compared as bags.  The other engine is Oxigraph, which knows nothing of our parser
or algebra.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from unittest.mock import patch

import pyoxigraph
from cases.many import many
from helpers.oxigraph import compare_as_oxigraph
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st

from retewave.compiler.algebra import Query, Term, TriplePattern, Values, Variable
from retewave.compiler.expressions import evaluate
from retewave.compiler.expressions.evaluate import Evaluator, term_of, text_of
from retewave.compiler.parse import parse
from retewave.compiler.rewrite.normal import Branch, FilterStep, Step, branches
from retewave.errors import QueryError

CASES = many(600)

Triple = tuple[bytes, bytes, bytes]
Bag = Counter[tuple[bytes | None, ...]]
Solution = dict[Variable, bytes]

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
NODES = ["<urn:x>", "<urn:y>"]
NUMBERS = [f'"{number}"{INTEGER}' for number in (1, 2)]
PREDICATES = ["<urn:p>", "<urn:q>"]
NAMES = ["?a", "?b", "?c", "?d"]

terms = st.sampled_from(NODES + NUMBERS)
names = st.sampled_from(NAMES)


# The other engine


def solutions_of_oxigraph(text: str, graph: list[tuple[str, str, str]]) -> Bag:
    """Return the bag of solutions, in the order of the query's projection."""
    store = pyoxigraph.Store()
    store.load("".join(f"{' '.join(triple)} .\n" for triple in graph).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    found = store.query(text)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    shown = [variable.value for variable in found.variables]
    order = sorted(range(len(shown)), key=shown.__getitem__)
    return Counter(tuple(text_or_none(row[place]) for place in order) for row in found)


def text_or_none(term: object) -> bytes | None:
    return None if term is None else str(term).encode()


# Ours, by nested loops


def solutions_of_branches(query: Query, graph: list[Triple]) -> Bag:
    shown = [Variable(name) for name in sorted(query.projection)]
    return Counter(
        tuple(solution.get(variable) for variable in shown)
        for branch in branches(query)
        for solution in run(branch, graph)
    )


def run(branch: Branch, graph: list[Triple]) -> Iterator[Solution]:
    for joined in join_all(branch, graph):
        assert branch.bound == joined.keys()
        solution: Solution | None = joined
        for step in branch.steps:
            solution = None if solution is None else take(step, solution)
        if solution is not None:
            yield solution


def join_all(branch: Branch, graph: list[Triple]) -> Iterator[Solution]:
    solutions: list[Solution] = [{}]
    for pattern in branch.patterns:
        solutions = [merged for one in solutions for triple in graph for merged in match(pattern, triple, one)]
    for table in branch.values:
        solutions = [merged for one in solutions for merged in join_table(table, one)]
    yield from solutions


def match(pattern: TriplePattern, triple: Triple, before: Solution) -> Iterator[Solution]:
    found = dict(before)
    for wanted, term in zip(pattern.terms, triple, strict=True):
        if resolved(wanted, found) not in (None, term):
            return
        if isinstance(wanted, Variable):
            found[wanted] = term
    yield found


def resolved(wanted: Term, solution: Mapping[Variable, bytes]) -> bytes | None:
    return solution.get(wanted) if isinstance(wanted, Variable) else wanted


def join_table(table: Values, before: Solution) -> Iterator[Solution]:
    for row in table.rows:
        cells = dict(zip(table.variables, row, strict=True))
        if all(before.get(variable, cell) == cell for variable, cell in cells.items()):
            yield before | {variable: cell for variable, cell in cells.items() if cell is not None}


def take(step: Step, solution: Solution) -> Solution | None:
    evaluator = Evaluator(step.expression, scope=step.scope)
    bindings = {variable.name: term_of(text) for variable, text in solution.items()}
    if isinstance(step, FilterStep):
        return solution if evaluator.truth(bindings) else None
    assert step.variable not in solution
    value = evaluator.value(bindings)
    return solution if value is None else solution | {step.variable: text_of(value)}


# Random queries


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    kinds = ["bound", "compare", "equal", "same", "in", "iri"]
    kind = draw(st.sampled_from([*kinds, "not", "or", "and", "coalesce", "if"] if depth else kinds))
    name, operand = draw(names), draw(names | terms)
    match kind:
        case "bound":
            return f"BOUND({name})"
        case "compare":
            return f"{name} {draw(st.sampled_from(['<', '>=', '!=']))} {operand}"
        case "equal":
            return f"{name} + 1 = {operand}"
        case "same":
            return f"sameTerm({name}, {operand})"
        case "in":
            return f"{name} {draw(st.sampled_from(['IN', 'NOT IN']))} ({operand}, {draw(names | terms)})"
        case "iri":
            return f"isIRI({name})"
        case "not":
            return f"!({draw(expressions(depth - 1))})"
        case "coalesce":
            return f"COALESCE({name}, {operand}) = {draw(terms)}"
        case "if":
            return f"IF({draw(expressions(depth - 1))}, {name}, {operand}) = {draw(terms)}"
    sign = "||" if kind == "or" else "&&"
    return f"({draw(expressions(depth - 1))}) {sign} ({draw(expressions(depth - 1))})"


@st.composite
def computed(draw: st.DrawFn) -> str:
    name, operand = draw(names), draw(names | terms)
    return draw(
        st.sampled_from(
            [operand, f"{name} + 1", f"COALESCE({name}, {operand})", f"IF(BOUND({name}), 1, 2)", f"{name} > 1"]
        )
    )


@st.composite
def paths(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["iri", "sequence", "alternative", "inverse", "negated"] if depth else ["iri"]))
    match kind:
        case "sequence":
            return f"({draw(paths(depth - 1))}/{draw(paths(depth - 1))})"
        case "alternative":
            return f"({draw(paths(depth - 1))}|{draw(paths(depth - 1))})"
        case "inverse":
            return f"^({draw(paths(depth - 1))})"
        case "negated":
            return draw(st.sampled_from(["!<urn:p>", "!(<urn:p>|<urn:q>)", "!^<urn:p>", "!(<urn:p>|^<urn:q>)"]))
    return draw(st.sampled_from(PREDICATES))


def as_paths(group: str) -> str:
    return group.replace("⟨", "").replace("⟩", "")


def spelled_out(group: str) -> str:
    """Write every path as the joins and unions that it stands for (SPARQL 1.1, section 18.2.2.4).

    Oxigraph drops duplicates of some alternatives, which the specification keeps; of UNION it drops none.
    """
    fresh = (f"?z{number}" for number in count())
    path = re.compile(r"(\S+) ⟨([^⟩]*)⟩ (\S+) \.")
    return path.sub(lambda found: "{ " + spelled(found[1], found[2], found[3], fresh) + " }", group)


def spelled(start: str, path: str, end: str, fresh: Iterator[str]) -> str:
    if path.startswith("!"):
        return " UNION ".join(f"{{ {part} }}" for part in spelled_negation(start, path, end, fresh))
    if path.startswith("^"):
        return spelled(end, path[2:-1], start, fresh)
    if not path.startswith("("):
        return f"{start} {path} {end} ."
    split = next(i for i, char in enumerate(path) if char in "/|" and path[:i].count("(") - path[:i].count(")") == 1)
    left, right = path[1:split], path[split + 1 : -1]
    if path[split] == "/":
        middle = next(fresh)
        return f"{{ {spelled(start, left, middle, fresh)} }} {{ {spelled(middle, right, end, fresh)} }}"
    return f"{{ {spelled(start, left, end, fresh)} }} UNION {{ {spelled(start, right, end, fresh)} }}"


def spelled_negation(start: str, path: str, end: str, fresh: Iterator[str]) -> Iterator[str]:
    members = path.strip("!()").split("|")
    for ends, excluded in (
        ((start, end), [member for member in members if member[0] != "^"]),
        ((end, start), [member[1:] for member in members if member[0] == "^"]),
    ):
        if excluded:
            link = next(fresh)
            yield f"{ends[0]} {link} {ends[1]} . FILTER({link} NOT IN ({', '.join(excluded)}))"


@st.composite
def tables(draw: st.DrawFn) -> str:
    columns = draw(st.lists(names, max_size=2, unique=True))
    cells = terms | st.just("UNDEF")
    rows = draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=3))
    lines = " ".join(f"({' '.join(row)})" for row in rows)
    return f"VALUES ({' '.join(columns)}) {{ {lines} }}"


@st.composite
def elements(draw: st.DrawFn, depth: int, free: list[str]) -> str:
    kinds = ["triple", "triple", "path", "filter", "values"]
    kind = draw(st.sampled_from(kinds + (["group", "union"] if depth else []) + (["bind"] if free else [])))
    match kind:
        case "triple":
            subject, object_ = draw(names | st.sampled_from(NODES) | st.just("_:n")), draw(names | terms)
            return f"{subject} {draw(names | st.sampled_from(PREDICATES))} {object_} ."
        case "path":
            return f"{draw(names)} ⟨{draw(paths())}⟩ {draw(names | terms)} ."
        case "filter":
            return f"FILTER({draw(expressions())})"
        case "bind":
            return f"BIND({draw(computed())} AS {draw(st.sampled_from(free))})"
        case "group":
            return draw(groups(depth - 1))
        case "union":
            return f"{draw(groups(depth - 1))} UNION {draw(groups(depth - 1))}"
    return draw(tables())


@st.composite
def groups(draw: st.DrawFn, depth: int = 2) -> str:
    """A group; BIND takes only a variable that nothing before it in the group mentions."""
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        free = [name for name in NAMES if name not in " ".join(parts)]
        parts.append(draw(elements(depth, free)))
    return "{ " + " ".join(parts) + " }"


def whole(group: str) -> str:
    """Join a group with a table that makes every variable visible and binds none."""
    numbers = count()
    labelled = re.sub("_:n", lambda _: f"_:n{next(numbers)}", group)  # a label stands in one basic graph pattern
    return f"{{ {labelled} VALUES ({' '.join(NAMES)}) {{ (UNDEF UNDEF UNDEF UNDEF) }} }}"


MANY = "{ ?a ⟨(!(<urn:p>|^<urn:p>)|!(<urn:p>|^<urn:p>))⟩ ?a . }"  # four alternatives

graphs = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES), terms), max_size=6, unique=True)


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@example("{ ?a ?b ?a . FILTER(?a >= ?a) }", [("<urn:x>", "<urn:p>", "<urn:x>")])
@example(f"{{ {MANY * 5} }}", [])
@given(groups(), graphs)
def test_normal_form_has_the_solutions_of_the_query(group: str, graph: list[tuple[str, str, str]]) -> None:
    query = parse(f"SELECT ?a ?b ?c ?d WHERE {as_paths(whole(group))}")
    theirs = f"SELECT ?a ?b ?c ?d WHERE {spelled_out(whole(group))}"
    note(theirs)
    triples = [(s.encode(), p.encode(), o.encode()) for s, p, o in graph]
    try:
        with patch.object(evaluate, "compare", compare_as_oxigraph):
            ours = solutions_of_branches(query, triples)
    except QueryError as refused:
        assert "alternatives" in str(refused)  # the law is about queries that have a normal form
        return
    assert ours == solutions_of_oxigraph(theirs, graph)
