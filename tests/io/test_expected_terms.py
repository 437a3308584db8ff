"""A datatype, a predicate or a graph's name is first compared with the one expected: each line is read as if alone."""

from __future__ import annotations

from cases.many import many
from hypothesis import example, given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import OBJECT, PREDICATE, SUBJECT

XSD = "http://www.w3.org/2001/XMLSchema#"
DATATYPES = [
    *(f"<{XSD}{name}>" for name in ("integer", "int", "decimal", "string", "dateTime")),
    f"<{XSD}integer",
    f"<{XSD}inte\\u0067er>",
    "<e:t>",
    f"<http://example.org/{'long' * 20}>",
    "<relative>",
]
NAMES = ["<e:a>", "<e:ab>", "<e:a", "_:a", "<e:\\u0061>"]

literals = st.builds(
    lambda text, datatype: f'"{text}"^^{datatype}', st.sampled_from(["1", "-7", "x", ""]), st.sampled_from(DATATYPES)
)
lines = st.builds(
    lambda *terms: " ".join(filter(None, terms)) + " .",
    st.sampled_from(NAMES),
    st.sampled_from(["<e:p>", "<e:pp>", "<e:q>", "<e:p", "<e:\\u0070>"]),
    st.one_of(literals, literals, st.sampled_from(NAMES)),
    st.sampled_from(["", "<e:g>", *NAMES]),
)


def read(document: list[str]) -> list[tuple[bytes, ...]]:
    """Return the texts of a document's rows."""
    terms, rows = Terms(seed=1), []
    reader = rw.read("\n".join(document).encode(), format="nq", rate=1)
    for chunk in reader.chunks(terms, scope=1):
        rows += [tuple(terms.texts(row[[SUBJECT, PREDICATE, OBJECT]].tolist())) for row in chunk.rows]
    return rows


@example(document=[f'<e:a> <e:p> "1"^^<{XSD}integer> <e:a> .', f'<e:a> <e:q> "1"^^<{XSD}int> <e:ab> .'] * 3)
@example(document=[f'<e:a> <e:p> "1"^^<{XSD}integer> .', f'<e:a> <e:p> "1"^^<{XSD}integer'])
@settings(max_examples=many(300), deadline=None)
@given(st.lists(lines, max_size=80))
def test_a_line_is_read_as_if_it_were_alone(document: list[str]) -> None:
    assert read(document) == [row for line in document for row in read([line])]
