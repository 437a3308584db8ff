"""OWL 2 RL's schema-level consequences, by owlrl, within a budget of triples and time.

Data's way: triples -> (**owlrl in another process**) -> more axioms.  Only what one triple can be reasoned
with is taken over; the rest of the closure (reflexive axioms, owl:Nothing, datatypes) says nothing new.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, TypeAlias

from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.collect import STATEMENTS, collect
from retewave.epsilon.sources import read_source
from retewave.epsilon.vocabulary import OWL, RDF, RDFS, TOP_CLASSES, TYPE, Triple, is_blank, owl
from retewave.errors import SchemaError

__all__ = ["Budget", "Progress", "owlrl_axioms"]

Progress: TypeAlias = Callable[[int, float], None]  # called with the triples and the seconds so far

_OVER_BUDGET = 3  # the exit status of a worker whose closure grew too large
_BLANK = b"urn:retewave:blank:"
_VOCABULARIES = (b"<" + RDF, b"<" + RDFS, b"<" + OWL)
_HINT = "raise the budget (Budget(triples=..., seconds=...)), or use closure='retewave', which is fast"


@dataclass(frozen=True)
class Budget:
    """How far an owlrl closure, or a description logic reasoner, may go."""

    triples: int = 2_000_000  # how many triples the closure may have
    seconds: float = 600.0  # how long it may take; 0 asks no description logic reasoner
    megabytes: int = 2_000  # how much memory the reasoner may have


def owlrl_axioms(triples: Iterable[Triple], budget: Budget, progress: Progress | None = None) -> tuple[Axiom, ...]:
    """Return the supported axioms of the OWL 2 RL closure of some triples.

    The work is done in another process, so that it can be stopped at its deadline.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as closed:
        given.writelines(b" ".join(map(_named, triple)) + b" .\n" for triple in triples)
        given.seek(0)
        _run(given, closed, budget, progress)
        closed.seek(0)
        found = read_source(closed.read(), 0, "nt")[0]
    renamed = ((_unnamed(subject), predicate, _unnamed(object_)) for subject, predicate, object_ in found)
    axioms = collect(triple for triple in renamed if _says_something(triple)).axioms
    return tuple(axiom for axiom in axioms if axiom.subject != axiom.object or axiom.kind is Kind.INVERSE)


def _run(given: IO[bytes], closed: IO[bytes], budget: Budget, progress: Progress | None) -> None:
    """Let another process close the given triples, and wait for it until the deadline."""
    command = [sys.executable, "-m", "retewave.epsilon.owlrl_worker", str(budget.triples)]
    worker = subprocess.Popen(command, stdin=given, stdout=closed, stderr=subprocess.PIPE, text=True)
    last: list[str] = []
    reports = threading.Thread(target=_report, args=(worker.stderr, progress, last), daemon=True)
    reports.start()
    try:
        status = worker.wait(budget.seconds)
    except subprocess.TimeoutExpired as e:
        raise SchemaError(f"owlrl's closure took more than {budget.seconds:g} s", hint=_HINT) from e
    finally:
        worker.kill()
        worker.wait()
        reports.join()
        assert worker.stderr is not None
        worker.stderr.close()
    if status == _OVER_BUDGET:
        raise SchemaError(f"owlrl's closure has more than {budget.triples:,} triples", hint=_HINT)
    if status != 0:
        raise SchemaError(f"owlrl's closure failed: {' '.join(last)}", hint="use closure='retewave'")


def _report(lines: Iterable[str], progress: Progress | None, last: list[str]) -> None:
    """Pass on how many triples there are; keep the last line that says something else."""
    start = time.monotonic()
    for line in lines:
        if not line.strip().isdigit():
            last[:] = [line.strip()]
        elif progress is not None:
            progress(int(line), time.monotonic() - start)


def _named(term: bytes) -> bytes:
    """Give a blank node a name, so that it is known when it comes back."""
    return b"<" + _BLANK + term[2:] + b">" if is_blank(term) else term


def _unnamed(term: bytes) -> bytes:
    return b"_:" + term[1 + len(_BLANK) : -1] if term.startswith(b"<" + _BLANK) else term


def _says_something(triple: Triple) -> bool:
    """Tell whether a triple of the closure may be an axiom about the schema's own terms."""
    subject, predicate, object_ = triple
    if predicate == TYPE:
        return object_ == owl("SymmetricProperty")
    return predicate in STATEMENTS and not subject.startswith(_VOCABULARIES) and object_ not in TOP_CLASSES
