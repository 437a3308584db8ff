"""Frequent mistakes in queries, and for each of them a hint with the correct words.

Data's way: a text that no grammar takes -> **hint**.
Invariant: a pattern must fit the end of the text up to the word that cannot stand there, that word included.  The hint
of the first pattern that fits is told.
"""

from __future__ import annotations

import re

from retewave.compiler.languages.windows.mistakes import WINDOW_HINTS

__all__ = ["MISTAKES"]

_RELATIONS = (
    "SEQ|EQUALS|OPTIONALSEQ|EQUALSOPTIONAL|BEFORE|AFTER|MEETS|MET_BY|OVERLAPS|OVERLAPPED_BY|STARTS|STARTED_BY|DURING"
    "|CONTAINS|FINISHES|FINISHED_BY"
)

_HINTS = {
    r"\b(MET|OVERLAPPED|STARTED|FINISHED)": "in one word: MET_BY, OVERLAPPED_BY, STARTED_BY, FINISHED_BY",
    r"\bOPTIONAL\s+SEQ": "did you mean OPTIONALSEQ?",
    r"\}\s*OPTIONAL": "in time, did you mean OPTIONALSEQ? OPTIONAL as in SPARQL stands in the braces of WHERE",
    r"\bEQUALS\s+OPTIONAL": "did you mean EQUALSOPTIONAL?",
    r"\bOPTIONAL\s*EQUALS": "the optional group comes second: { … } EQUALSOPTIONAL { … }",
    r"\bSEQ\s*OPTIONAL": "only what is earlier may be missing: { … } OPTIONALSEQ { … }",
    r"\bNOT\s+EXISTS": "did you mean FILTER NOT EXISTS { … }?",
    r"[.}]\s*EXISTS": "did you mean FILTER EXISTS { … }?",
    r"\bSELECT\s[^{(]*(?:\bAS|[-+/])": "an expression stands in parentheses: SELECT (?a + ?b AS ?c)",
    r"\}\s*AND": "groups side by side are joined without a word; in time, SEQ joins them",
    rf"\)\s*({_RELATIONS})": r"a FILTER stands in the braces of its group, or behind all groups that \1 joins",
    rf"\b({_RELATIONS})\s+(?:[?$<]\S*|\w*:\S*)": r"what stands behind \1 wants braces: { … } \1 { … }",
    r"\bNOT\s+SEQ": "did you mean SEQ NOT { … }?",
    r"\b(?:SEQUENCE|SEQNOT|THEN|FOLLOWED|FOLLOWED_BY|UNLESS)": "what comes later stands behind SEQ, what must not come "
    "behind SEQ NOT",
    rf"\b({_RELATIONS})": r"\1 stands between groups: { … } \1 { … }",
    r"\bWITHIN\s+[\d.]+\s*[a-zA-Z]*": "a width has a unit, ms, s, m, h or d: WITHIN 5m",
    r"\bWITHIN": "WITHIN bounds a group or a chain of groups: { … } WITHIN 5m",
    r"\bPOLICY": "POLICY stands behind the FROM clauses, before WHERE",
    r"\b(FIRST|LAST)": r"\1 chooses from a group: \1 { … }",
}
MISTAKES = tuple(
    (re.compile(rf"{written}\Z", re.IGNORECASE), hint) for written, hint in {**WINDOW_HINTS, **_HINTS}.items()
)
