"""How explanations name things: terms by prefixed names, variables as the query wrote them, long lists cut short.

Data's way: plan -> **names** -> explanation, drawings.
A name is for reading.  Where a prefix fits, it is used and listed; else the term stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retewave.compiler.plan.producers import AlphaTest
from retewave.epsilon.prefixes import WELL_KNOWN
from retewave.windows import durations
from retewave.windows.intervals import UNBOUNDED

__all__ = ["MOST_LISTED", "Prefixes", "listed", "pattern_parts", "spell_window"]

MOST_LISTED = 8  # items that are shown of a list that may be long

_COMMON = {**WELL_KNOWN, "geo": "http://sws.geonames.org/"}
_IRI = re.compile(r'"(?:[^"\\]|\\.)*"|<([^<>"\s]*)>')
_INTEGER = re.compile(r'"(-?\d+)"\^\^xsd:integer')
_LOCAL = re.compile(r"[\w][\w.-]*(?<!\.)|")


@dataclass
class Prefixes:
    """Shortens terms, and remembers which prefixes that took."""

    labels: dict[str, str] = field(default_factory=dict)  # namespace -> label
    used: dict[str, str] = field(default_factory=dict)  # label -> namespace, of the names shortened so far

    @classmethod
    def of(cls, given: Iterable[tuple[str, str]]) -> Prefixes:
        """Take the queries' own prefixes, the first use of a label counts; then well-known ones.

        >>> prefixes = Prefixes.of([("e", "http://e/")])
        >>> prefixes.short(b"<http://e/tea>"), prefixes.short('"x"^^<http://e/size>'), prefixes.short("<urn:other>")
        ('e:tea', '"x"^^e:size', '<urn:other>')
        """
        by_label: dict[str, str] = {}
        for label, namespace in (*given, *_COMMON.items()):
            by_label.setdefault(label.removesuffix(":"), namespace)
        labels: dict[str, str] = {}
        for label, namespace in by_label.items():
            labels.setdefault(namespace, label)
        return cls({namespace: labels[namespace] for namespace in sorted(labels, key=len, reverse=True) if namespace})

    def short(self, text: bytes | str) -> str:
        """Return a text with its IRIs shortened where a prefix fits, and integers as numbers.

        Texts in quotes stay as they are.
        """
        plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return _INTEGER.sub(r"\1", _IRI.sub(self._shortened, plain))

    def _shortened(self, found: re.Match[str]) -> str:
        iri = found[1]
        if iri is None:
            return found[0]
        for namespace, label in self.labels.items():
            if iri.startswith(namespace) and _LOCAL.fullmatch(iri, len(namespace)):
                self.used[label] = namespace
                return f"{label}:{iri[len(namespace) :]}"
        return found[0]


def listed(names: Sequence[str], count: int) -> str:
    """Join names, and say how many are left out of `count`.

    >>> listed(["a", "b"], 2), listed(["a", "b"], 1002)
    ('a, b', 'a, b and 1,000 more')
    """
    left_out = count - len(names)
    return ", ".join(names) + (f" and {left_out:,} more" if left_out else "")


def spell_window(width: int) -> str:
    """Return a window's width as it would be written.

    >>> spell_window(5_000_000), spell_window(4_999_999), spell_window(UNBOUNDED)
    ('5s', 'less than 5s', 'unbounded')
    """
    if width >= UNBOUNDED:
        return "unbounded"
    return f"less than {durations.spell(width + 1)}" if width % 1000 == 999 else durations.spell(width)


def pattern_parts(test: AlphaTest, names: Mapping[int, str], prefixes: Prefixes) -> tuple[str, str, str]:
    """Return subject, predicate and object of an α test, its variables named."""
    same = {later: earlier for earlier, later in test.equal}
    parts = []
    for place, constants in enumerate((test.atom.subject, test.atom.predicate, test.atom.object)):
        if constants is not None and len(constants) == 1:
            parts.append(prefixes.short(next(iter(constants))))
        else:
            parts.append(names.get(same.get(place, place), "_"))
    return parts[0], parts[1], parts[2]
