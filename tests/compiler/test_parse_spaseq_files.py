"""Query files as the published SPAseq engine has them, and the listings of its paper: they are read as they stand.

The texts are ours; each has the habits of one published file: where SEQ stands, its marks, the case of words, dots,
blanks and lines, how numbers are written, which prefixes are declared.
"""

from __future__ import annotations

import pytest

from retewave.compiler.algebra import Both, Either, EventPattern, Follows, Occurs, Query, Sequence
from retewave.compiler.algebra.walk import walk
from retewave.compiler.parse import parse

NEXT, STRICT = Follows.NEXT, Follows.STRICT
ONCE, SOME, MAYBE, NEVER = Occurs.ONCE, Occurs.SOME, Occurs.MAYBE, Occurs.NEVER

HEAD = """ prefix c: <http://example/company#>

                        prefix pred: <http://example/>
SELECT ?company ?p1 ?p2
 WITHIN 10 SECONDS
FROM STREAM S1 <http://example.org/main>

"""
A = """{
       DEFINE GPM A ON S1
                 {
                  ?company pred:price ?p1.
                  ?company pred:volume ?vol1.
                  }
"""
B = """
         DEFINE GPM B ON S1
                  {
 \t\t\t\t\t?company2 pred:price ?p2.
\t\t\t\t\t?company2 pred:volume ?vol2.
\t\t\t\t\tFilter (?p2 < ?p1 ).
                   }
"""
C = """           DEFINE GPM C ON S1
                  {
                  ?company3 pred:price ?p3.
                  Filter (?p3 = '16.0'^^<http://www.w3.org/2001/XMLSchema#double>).

                  }

              }"""
D = C.replace("GPM C", "GPM D").replace("3", "4")


def read(seq: str, *gpms: str, head: str = HEAD) -> Query:
    return parse(head + "WHERE \n" + seq + "\n" + "".join(gpms))


def steps(query: Query) -> list[tuple[str, Occurs, Follows]]:
    """Return the GPMs of each step, its mark, and what stands before it."""
    (found,) = (each for each in walk(query.where) if isinstance(each, Sequence))
    return [(names(each.operand), each.occurs, each.follows) for each in found.steps]


def names(operand: object) -> str:
    match operand:
        case EventPattern():
            return operand.name
        case Both():
            return f"{names(operand.left)}&{names(operand.right)}"
        case Either():
            return f"{names(operand.left)}|{names(operand.right)}"
    raise AssertionError(operand)


@pytest.mark.parametrize(
    ("seq", "gpms", "expected"),
    [
        ("SEQ (A, B, C)", (A, B, C), [("A", ONCE), ("B", ONCE, STRICT), ("C", ONCE, STRICT)]),
        (" SEQ(A;B;C)", (A, B, C), [("A", ONCE), ("B", ONCE, NEXT), ("C", ONCE, NEXT)]),
        ("SEQ (A; B+; C)", (A, B, C), [("A", ONCE), ("B", SOME, NEXT), ("C", ONCE, NEXT)]),
        ("SEQ (A,B+,C)", (A, B, C), [("A", ONCE), ("B", SOME, STRICT), ("C", ONCE, STRICT)]),
        ("SEQ (A, B!, C)", (A, B, C), [("A", ONCE), ("B", NEVER, STRICT), ("C", ONCE, STRICT)]),
        ("SEQ (A, B?, C)", (A, B, C), [("A", ONCE), ("B", MAYBE, STRICT), ("C", ONCE, STRICT)]),
        ("SEQ (A, (B&C))", (A, B, C), [("A", ONCE), ("B&C", ONCE, STRICT)]),
        ("SEQ (A, (B|C))", (A, B, C), [("A", ONCE), ("B|C", ONCE, STRICT)]),
        ("SEQ (A, B, C,)", (A, B, C), [("A", ONCE), ("B", ONCE, STRICT), ("C", ONCE, STRICT)]),
    ],
)  # fmt: skip
def test_sequences_are_read_as_the_published_files_write_them(
    seq: str, gpms: tuple[str, ...], expected: list[tuple[str, Occurs, Follows]]
) -> None:
    found = steps(read(seq, *gpms))
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    assert [each[2] for each in found[1:]] == [each[2] for each in expected[1:]]


def test_the_published_disjunction_and_partition_are_read() -> None:
    head = HEAD.replace("SECONDS", "SECONDS \n                      Partition by (?company)  ")
    same = [each.replace("company2", "company").replace("company3", "company").replace("company4", "company")
            for each in (A, B, C.rstrip("}\n "), "}\n", D)]  # fmt: skip
    query = read("SEQ (A, (B|C), D)", *same, head=head)
    assert steps(query) == [("A", ONCE, NEXT), ("B|C", ONCE, STRICT), ("D", ONCE, STRICT)]
    (found,) = (each for each in walk(query.where) if isinstance(each, Sequence))
    assert [each.name for each in found.partition] == ["company"] and found.width == 10_000_000


def test_several_streams_and_a_prefix_without_a_blank_are_read() -> None:
    query = parse("""
                        prefix power: <http://www.smart.example/power#>
                        prefix sao:<http://www.smart.example/sao#>
      SELECT ?house1 ?p1 ?v
      WITHIN 1000 SECONDS
                 FROM STREAM S1 <http://www.smart.example/power>
                 FROM STREAM S2 <http://www.smart.example/weather>
                        WHERE
                         SEQ (A;B)
                           {
              DEFINE GPM A ON S1
                 {
                        ?house1 power:haspower ?pw1.
                          ?pw1 sao:price ?p1.
                         }
                                DEFINE GPM B ON S2
                           {
                            ?wthr sao:windspeed ?v.
                           Filter (?v >= '1'^^<http://www.w3.org/2001/XMLSchema#integer> && ?v <= 9)

                             }
              }""")
    (found,) = (each for each in walk(query.where) if isinstance(each, Sequence))
    assert [each.decode() for each in found.streams] == [
        "<http://www.smart.example/power>", "<http://www.smart.example/weather>"
    ]  # fmt: skip
    assert found.width == 1_000_000_000


def test_background_is_read_where_graph_names_it() -> None:
    known = C.replace("Filter", "GRAPH <http://www.example.com/kb> { ?company3 pred:name ?name. } Filter")
    assert read("SEQ (A; B; C)", A, B, known).graphs


def test_a_variable_that_nothing_binds_is_told_with_its_place() -> None:
    """One published file compares ?id2 with ?id1, which its first GPM calls ?id."""
    asked = B.replace("?p2 < ?p1", "?p2 < ?p1 && ?vol2 = ?id1")
    (notice,) = read("SEQ (A; B)", A.replace("?vol1", "?id"), asked, "}").notices
    assert "?id1 has no value here" in notice and "did you mean ?id?" in notice


# ---- the paper's listings: SEQ inside the brace, its slips accepted with a notice ----
LISTING = """SELECT ?house ?fr1 ?fr2
WITHIN 30 MINUTES
FROM STREAM S1 <http://smartgrid.org/mainSource>
FROM STREAM S2 <http://smartgrid.org/weather>
FROM STREAM S3 <http://smartgrid.org/storageSource>
WHERE {
SEQ (A; B+, C)
DEFINE GPM A ON S1 {
?house :loc ?l.
?house :pow :Pw.
:Pw :source "fuel".
:Pw :fare ?fr1.
FILTER (?fr1 > 20).
}
DEFINE GPM B ON S2 {
?wther :loc ?l.
?wther :value :Vl.
:Vl :windsp ?sp.
FILTER (?sp > 3 ).
}
DEFINE GPM C ON S3 {
?storage :loc ?l.
:Pw :fare ?fr2.
FILTER (?fr2 < ?fr1).
}
}
"""


def test_the_papers_first_query_is_read_and_its_default_prefix_is_told() -> None:
    query = parse(LISTING)
    assert steps(query) == [("A", ONCE, NEXT), ("B", SOME, NEXT), ("C", ONCE, STRICT)]
    assert any("PREFIX :" in each for each in query.notices)


def test_a_comma_too_many_and_a_dot_before_a_brace_are_notices() -> None:
    query = parse(LISTING.replace("B+, C)", "B+, C,)"))
    assert steps(query) == steps(parse(LISTING))
    assert len(query.notices) > len(parse(LISTING).notices)
