"""Frequent mistakes in SPAseq, and for each of them a hint with the correct words.

Data's way: a text that no grammar takes -> **hint**.
Invariant: a pattern must fit the end of the text up to the word that cannot stand there, that word included.
"""

from __future__ import annotations

import re

__all__ = ["MISTAKES"]

_HINTS = {
    r"\bWITHIN\s*\(\s*[0-9]*": "write WITHIN 30 MINUTES, without parentheses",
    r"\bWITHIN\s+[0-9.]+\s*[a-z]+": "units are ms, SECONDS, MINUTES, HOURS and DAYS: WITHIN 30 MINUTES",
    r"\bSTREAM\s+(?:<\S*|\w*:\S*)": "a stream has a name, by which GPMs know it: FROM STREAM S1 <…>",
    r"\bFROM\s+STREAM\s+\w+\s+<[^>]*>\s*\[": "the window is that of the sequence: WITHIN 30 MINUTES, before FROM",
    r"\bSKIP\s+TO": "without the clause nothing is skipped; known: AFTER MATCH SKIP PAST LAST",
    r"\bPOLICY": "strategies stand between the steps: ',' strict, ';' skip till next, ':' skip till any",
    r"\bSEQ\s*\([^)]*\)\s*(?:WITHIN|PARTITION|AFTER)": "WITHIN, PARTITION BY and AFTER MATCH stand before WHERE",
    r"\bSEQ\s*\([^)]*\w\s+\w+": "steps are separated: ',' strict, ';' skip till next, ':' skip till any",
    r"\bSEQ\s*\([^)]*[*]": "+ is once or more, ? is once or never",
    r"\}\s*SEQ": "SEQ stands once, before the brace or first inside it",
    r"\}\s*(?:WITHIN|PARTITION|AFTER)": "WITHIN, PARTITION BY and AFTER MATCH stand before WHERE",
    r"\b(?:DEFINE|GPM)\s+\w+\s+(?:FROM|IN|AS)": "write DEFINE GPM A ON S1 { … }",
    r"\bWHERE\s*\{\s*[^DSds}]\S*": "the brace holds DEFINE GPM A ON S1 { … }, which SEQ (A; B) puts in order",
}
MISTAKES = tuple((re.compile(rf"{written}\Z", re.IGNORECASE), hint) for written, hint in _HINTS.items())
