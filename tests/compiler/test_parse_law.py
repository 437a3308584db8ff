"""The grammar is SPARQL's: what it takes and what it refuses agree with an independent parser.

Valid queries are mutated token by token.  What Oxigraph takes, our grammar reads; what we build, Oxigraph
takes.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pyoxigraph
from cases.many import many
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from retewave.compiler.languages.language import SHARED_GRAMMARS
from retewave.compiler.languages.reading import read
from retewave.compiler.languages.sparql.query import SPARQL
from retewave.compiler.parse import parse
from retewave.errors import QueryError

PLAIN = replace(SPARQL, grammar=SHARED_GRAMMARS / "sparql.lark")  # without C-SPARQL's frame
CASES = many(1_000)

QUERIES = [
    "SELECT ?x ( ?y + 1 AS ?z ) WHERE { ?x <urn:p> ?y ; a <urn:C> , [ <urn:q> 1 ] . FILTER ( ?y > 2.5 && ! ?x ) }",
    "SELECT DISTINCT * { ?x <urn:p> / ^ <urn:q> | ! ( <urn:r> | ^ a ) ?y . { ?x ?p 1 } UNION { ?y ?p 'a' @en } }",
    "CONSTRUCT { ?x <urn:p> _:b . _:b a ?y } WHERE { ?x <urn:p> ( 1 ?y ) VALUES ( ?x ?y ) { ( 1 UNDEF ) } }",
    "SELECT * { ?x <urn:p> ?y FILTER ( ?y IN ( 1 , 2 ) || ?x NOT IN ( ) ) FILTER regex ( ?y , 'a' ) }",
    "SELECT * { ?x <urn:p> ?y BIND ( 1 AS ?w ) OPTIONAL { ?x a ?z } }",
    "SELECT ( COUNT ( DISTINCT ?x ) AS ?n ) ?y { ?x a ?y } GROUP BY ?y HAVING ( COUNT ( * ) > 1 )",
    "SELECT ?x { ?x a ?y } ORDER BY DESC ( ?y ) LIMIT 5 OFFSET 6",
    "ASK { GRAPH ?g { ?x <urn:p> + ?y . ?x a * ?y } FILTER NOT EXISTS { ?x ?y ?z } MINUS { } }",
    "SELECT * { SERVICE SILENT <urn:s> { ?x ?y ?z } }",
    "SELECT * { { SELECT ?x { ?x ?y ?z } OFFSET 5 } ?x <urn:q> ?w . } VALUES ?x { 1 true }",
    "PREFIX p: <urn:> BASE <urn:b> SELECT * FROM <urn:g> FROM NAMED <urn:h> { ?x p:q ?y . ?x p: ?z }",
    "SELECT * { FILTER ( <urn:f> ( ?x , 1 ) = IF ( true , 1 , -2 ) * - ?y - 3 ) }",
    'SELECT * { FILTER ( COALESCE( ?x , 1 ) = """y""" ) }',
    "DESCRIBE ?x <urn:y> WHERE { ?x ?y ?z }",
]
TOKENS = [query.split() for query in QUERIES]
POOL = sorted({token for query in TOKENS for token in query})
SIGNS = re.compile(r"[-+!] *[-+!]")  # `- - 1` is SPARQL 1.2, which Oxigraph reads
SIGNED = re.compile(r"([-+]) +(?=[0-9])")  # Oxigraph lets a blank stand between a sign and its number


@st.composite
def mutated(draw: st.DrawFn) -> str:
    tokens = list(draw(st.sampled_from(TOKENS)))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(tokens) - 1))
        other = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["delete", "insert", "replace", "swap"])):
            case "delete" if len(tokens) > 1:
                del tokens[place]
            case "insert":
                tokens.insert(place, draw(st.sampled_from(POOL)))
            case "replace":
                tokens[place] = draw(st.sampled_from(POOL))
            case _:
                tokens[place], tokens[other] = tokens[other], tokens[place]
    return " ".join(tokens)


def oxigraph_takes(text: str) -> bool:
    try:
        pyoxigraph.Store().query(text)
    except SyntaxError:
        return False
    except (OSError, RuntimeError, ValueError):  # it could be read, and asks a service or an unknown function
        return True
    return True


def we_read(text: str) -> bool:
    try:
        read(text, "<query>", PLAIN)
    except QueryError:
        return False
    return True


def we_build(text: str) -> bool:
    try:
        parse(text, language=PLAIN)
    except QueryError:
        return False
    return True


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated())
def test_the_grammar_takes_what_is_sparql_and_no_more(text: str) -> None:
    note(text)
    theirs = oxigraph_takes(text)
    if theirs and not SIGNS.search(text):
        assert we_read(text) or we_read(SIGNED.sub(r"\1", text))
    if we_build(text):
        assert theirs


def test_every_query_that_is_mutated_is_valid_itself() -> None:
    assert [query for query in QUERIES if not (oxigraph_takes(query) and we_read(query))] == []
