"""How far a reader has come: the data that another pass over the same source needs to go on there.

Data's way: source -> reader -> **chunk, with where it ends** -> engine; a snapshot takes the positions along.
Invariant: a reader that goes on from a position brings the rows that the first one would have brought behind it.
The ids in a position are those of one dictionary: it goes with an engine, or with the snapshot that was taken of it.
Left out: the formats that are not lines (their parsers cannot go on in the middle of a document).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retewave.errors import MalformedInput, Place
from retewave.rete.words.rows import END, OBJECT, PREDICATE, ROW_WIDTH, SUBJECT
from retewave.windows.intervals import BEFORE_ALL

if TYPE_CHECKING:
    from retewave.rete.terms.dictionary import Terms

__all__ = ["BEGINNING", "NAMED", "Position", "Scanned", "TimesState", "ids_of", "no_rows"]

TimesState = Mapping[str, np.ndarray]  # the state of a reader's times, by name: rows [n, 7], ids, numbers
NAMED = "named"  # the name of the array of ids
_NO_IDS = np.zeros(0, dtype=np.int64)


class Scanned(NamedTuple):
    """Where a scan of lines stands, behind all rows that it has handed on."""

    bytes: int = 0  # of the lines before (of a .gz: unpacked)
    line: int = 1  # the number of the next line
    triples: int = 0  # well-formed statements so far
    malformed: int = 0  # malformed lines so far
    skip_lf: int = 0  # 1: a LF that comes next belongs to the line's end before it
    graph: int = 0  # the last statement's graph: its id, 0 for the default graph, -1 if it has no id
    event: int = 0  # the number of the last event; 0: none yet
    event_start: int = 0  # the ordinal of the statement that began it
    dropping: int = 0  # 1: it is inside a line that is too long


def no_rows() -> np.ndarray:
    """Return no input rows."""
    return np.empty((0, ROW_WIDTH), dtype=np.int64)


BEGINNING = Scanned()


@dataclass(frozen=True)
class Position:
    """How far an engine has come with a reader; `reader.at(position)` goes on there."""

    name: str  # the reader's name
    scanned: Scanned  # where its source is read on
    scope: int  # the number of the document, for its blank nodes
    terms: Terms = field(repr=False, compare=False)  # the dictionary of the ids in it
    times: TimesState = field(default_factory=dict, repr=False, compare=False)  # the rows that wait for their time
    rows: np.ndarray = field(
        default_factory=no_rows, repr=False, compare=False
    )  # read before; other readers lag behind
    newest: int = BEFORE_ALL  # the greatest end that it has shown
    faults: tuple[MalformedInput, ...] = field(default=(), repr=False, compare=False)  # the first malformed lines
    untimed: tuple[str, ...] = field(default=(), repr=False, compare=False)  # the first names without a time

    @property
    def bytes(self) -> int:
        """How many bytes of the source's lines are behind it."""
        return self.scanned.bytes

    @property
    def line(self) -> int:
        """The number of the next line."""
        return self.scanned.line

    @property
    def triples(self) -> int:
        """How many triples were read."""
        return self.scanned.triples

    def header(self) -> dict[str, Any]:
        """Return the parts that are no arrays, as JSON."""
        faults = [[fault.what, *_placed(fault)] for fault in self.faults]
        return {
            "name": self.name, "scanned": list(self.scanned), "scope": self.scope, "newest": self.newest,
            "faults": faults, "untimed": list(self.untimed),
        }  # fmt: skip

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of it."""
        return {"rows": self.rows} | {f"times.{name}": array for name, array in self.times.items()}

    @classmethod
    def of(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], terms: Terms) -> Position:
        """Return the position that a header and arrays were made of."""
        times = {name.removeprefix("times."): array for name, array in arrays.items() if name.startswith("times.")}
        return cls(
            header["name"],
            Scanned(*header["scanned"]),
            header["scope"],
            terms,
            times,
            arrays["rows"],
            header["newest"],
            tuple(MalformedInput(what, place=Place(*place)) for what, *place in header["faults"]),
            tuple(header["untimed"]),
        )


def ids_of(scanned: Scanned, times: TimesState) -> np.ndarray:
    """Return the ids in a position in the place of rows' subjects, for the dictionary to spare."""
    waiting = [array[:, [SUBJECT, PREDICATE, OBJECT, END]].ravel() for array in times.values() if array.ndim == 2]
    ids = np.concatenate([*waiting, times.get(NAMED, _NO_IDS), [scanned.graph]])  # a waiting row's END is its graph
    rows = np.zeros((len(ids), ROW_WIDTH), dtype=np.int64)
    rows[:, SUBJECT] = np.maximum(ids, 0)
    return rows


def _placed(fault: MalformedInput) -> tuple[str, int, int, str]:
    place = fault.place
    return ("", 0, 0, "") if place is None else (place.source, place.line, place.column, place.excerpt)
