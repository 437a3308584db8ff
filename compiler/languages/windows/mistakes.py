"""Frequent mistakes in windows, reports and events, and for each of them a hint with the correct words.

Data's way: a text that no grammar takes -> **hint**.
Invariant: a pattern fits the end of the text up to the word that cannot stand there, that word included.
"""

from __future__ import annotations

__all__ = ["WINDOW_HINTS"]

_WINDOW = r"[RANGE 10s STEP 5s], [TRIPLES 100], [NOW] or [ALL]"
_STREAM = r"STREAM\s+(?:<\S*>|\w*:\S*)"

WINDOW_HINTS = {
    r"\[[^\]\[{}]*[$]": "a value stands in place of the placeholder: [RANGE 10s STEP 5s]",
    r"(?:RANGE|SLIDING|TUMBLING|STEP|SLIDE|EVERY|PERIODIC|AT|LND|NOW\s*-)\s*[\d.]+\s*[a-zA-Z]+": "units are us, ms, s, "
    "m, h, d and their names: 5m, 1m30s, 90 SECONDS, PT5M; a bare number counts seconds",
    r"(?:RANGE|SLIDING|TUMBLING)\s*\]": "how long? write [RANGE 10s], [RANGE 10s STEP 5s] or [RANGE TRIPLES 100]",
    r"(?:TRIPLES|ELEMENTS|EVENTS)\s*\]": "how many? write [TRIPLES 100]",
    r"(?:TRIPLES|ELEMENTS|EVENTS)\s*[\d.]+\s*\w+": "a number alone is counted: [TRIPLES 100], [TRIPLES 100 STEP 10]",
    rf"{_STREAM}\s*\[\s*\]": f"which window? write {_WINDOW}",
    rf"{_STREAM}\s*\[\s*[\d.]+\s*\w*": f"a window begins with a word: {_WINDOW}",
    rf"{_STREAM}\s*(?:RANGE|TRIPLES|ELEMENTS|NOW|ALL|LND)": f"a window stands in brackets: {_WINDOW}",
    r"\]\s*\[": "a window inside another is written [FROM 0 TO 60] OF [RANGE 10s STEP 5s]",
    r"WINDOW\s+(?:<\S*>|\w*:\S*)\s*\[[^\]]*\]\s*\S+": "on which stream? "
    "write FROM NAMED WINDOW :w ON <stream> [RANGE 10s]",
    r"\bON\s+(?:STREAM\s+)?(?:<\S*>|\w*:\S*)\s*(?:\{|WHERE|FROM)": f"which window? write {_WINDOW} behind the stream",
    r"\bWIN\s*\[[^\]]*\]\s*\S+": "a window has a name: FROM NAMED <stream> WIN [RANGE 10s] AS :w",
    r"\bMATCH\s*\{[\s{]*(?:[?$<_\"]\S*|\w*:\S*)": "MATCH holds names: "
    "EVENT ON :w { … } AS E1 before WHERE, then MATCH { E1 SEQ E2 }",
    r"\{\s*(?-i:[A-Z][A-Za-z]*)\d+": "names of events stand in MATCH: MATCH { E1 SEQ E2 }",
    r"\bREPORT\s+\w+": "write REPORT WINDOW CLOSE, REPORT CONTENT CHANGE or "
    "REPORT PERIODIC 10s, each perhaps with NON EMPTY",
    r"\bSELECT\s+(?:COUNT|SUM|AVG|MIN|MAX|SAMPLE|GROUP_CONCAT)": "a calculated column stands in parentheses: "
    "SELECT (COUNT(?x) AS ?n)",
}
