"""What a description logic reasoner says of an ontology: HermiT, which an extra brings along, on Java.

Data's way: ontology + expressions that are asked about -> `functional` -> **HermiT in another process** -> the classes
and bridges below each expression.
It is asked when a query is registered, once for the same ontology and expressions; never while a stream runs.
Left out: individuals and their types, which the network finds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from retewave.epsilon.classes.expression import ClassExpression, NamedClass
from retewave.epsilon.classes.functional import document
from retewave.epsilon.classes.inclusions import Below, Bridge
from retewave.epsilon.classes.ontology import Ontology
from retewave.epsilon.owlrl_closure import Budget, Progress
from retewave.errors import SchemaError

__all__ = ["Classified", "classified", "command", "forget", "missing"]

_HINT = "raise the budget (Budget(seconds=..., megabytes=...)), or register without the extra dl"
_NOTHING, _THING = "<http://www.w3.org/2002/07/owl#Nothing>", "<http://www.w3.org/2002/07/owl#Thing>"
_EACH = 1.0  # seconds between two calls that tell of progress
_LINE = re.compile(r"(SubClassOf|EquivalentClasses)\((.*)\)")
_NAME = re.compile(r"<[^>]*>")

Hierarchy: TypeAlias = tuple[tuple[frozenset[str], frozenset[str]], ...]  # equal names, and names above them


@dataclass(frozen=True)
class Classified:
    """What a reasoner has said."""

    below: Mapping[ClassExpression, frozenset[Below]]  # the classes and bridges in which all is in an expression
    universal: frozenset[ClassExpression]  # expressions that hold of everything
    left_out: tuple[str, ...]  # axioms that it was not told


def missing() -> str:
    """Return what is to be installed so that a reasoner can be asked; nothing if it can."""
    lacking = [] if _jar() else ["pip install 'retewave[dl]'"]
    return " and ".join(lacking if _java() else [*lacking, "install Java"])


def classified(
    ontology: Ontology,
    asked: Iterable[ClassExpression],
    bridges: Iterable[Bridge],
    budget: Budget,
    progress: Progress | None = None,
) -> Classified:
    """Ask what is below expressions."""
    asked, bridges = tuple(dict.fromkeys(asked)), tuple(bridges)
    written = document(ontology, (*asked, *(each.expression for each in bridges)))
    by_name: dict[str, list[Below]] = {each.decode(): [NamedClass(each)] for each in ontology.classes}
    sides: dict[ClassExpression, list[Below]] = {}
    for each in bridges:
        sides.setdefault(each.expression, []).append(each)
    for name, expression in written.names.items():
        by_name.setdefault(name, []).extend(sides.get(expression, ()))
    told = _Told(_hierarchy(written.text, budget, progress))
    below = {
        expression: frozenset(one for each in told.below(name) for one in by_name.get(each, ()))
        for name, expression in written.names.items()
    }
    universal = frozenset(each for name, each in written.names.items() if told.is_above(name, _THING))
    return Classified(below, universal, tuple(written.left_out))


class _Told:
    """Names, and which lie below which."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._below: dict[str, set[str]] = {}  # by name: those that are said to lie below it
        for equal, above in hierarchy:
            for each in (*equal, *above):
                self._below.setdefault(each, set()).update(equal)

    def below(self, name: str) -> frozenset[str]:
        """Return the names below a name, itself too; not those of which there is nothing."""
        return frozenset(self._reached(name) - self._reached(_NOTHING))

    def is_above(self, name: str, other: str) -> bool:
        """Tell whether a name is above another one, or equal to it."""
        return other in self._reached(name)

    def _reached(self, name: str) -> set[str]:
        found, waiting = {name}, [name]
        while waiting:
            for each in self._below.get(waiting.pop(), ()):
                if each not in found:
                    found.add(each)
                    waiting.append(each)
        return found


def command(megabytes: int) -> list[str]:
    """Return the command that runs HermiT, but for what it shall do."""
    started = [str(_java()), f"-Xmx{megabytes}m", "-cp", _classes(), "org.semanticweb.HermiT.cli.CommandLine"]
    return [*started, "--ignoreUnsupportedDatatypes"]


def forget() -> None:
    """Forget what was said before."""
    _KNOWN.clear()


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    found = home and shutil.which(str(Path(home) / "bin" / "java"))
    return found or shutil.which("java")


def _classes() -> str:
    jar = _jar()
    assert jar is not None
    return f"{jar.parent}{os.pathsep}{jar}"  # owlready2 mends some classes of the archive beside it


def _jar() -> Path | None:
    """Return HermiT's archive, as owlready2 brings it along."""
    spec = find_spec("owlready2")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "hermit" / "HermiT.jar"
    return found if found.is_file() else None


_KNOWN: dict[str, Hierarchy] = {}  # by document: a network that is made again asks the same again
_MOST_KNOWN = 64


def _hierarchy(text: str, budget: Budget, progress: Progress | None) -> Hierarchy:
    if text not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        with tempfile.TemporaryDirectory() as folder:
            given, said = Path(folder) / "ontology.ofn", Path(folder) / "classes.txt"
            given.write_text(text)
            _run(given, said, budget, lambda seconds: progress(text.count("\n"), seconds) if progress else None)
            _KNOWN[text] = tuple(_read(said.read_text()))
    return _KNOWN[text]


def _run(given: Path, said: Path, budget: Budget, tick: Callable[[float], None]) -> None:
    """Let HermiT classify, and wait for it until the deadline."""
    begun = time.monotonic()
    with (given.parent / "log.txt").open("wb") as log:
        worker = subprocess.Popen(
            [*command(budget.megabytes), "-c", "-o", str(said), given.as_uri()], stdout=log, stderr=log
        )
        try:
            while worker.poll() is None:
                passed = time.monotonic() - begun
                if passed > budget.seconds:
                    raise SchemaError(f"HermiT took more than {budget.seconds:g} s to classify", hint=_HINT)
                _wait(worker, min(_EACH, budget.seconds - passed))
                if worker.poll() is None:
                    tick(time.monotonic() - begun)
        finally:
            worker.kill()
            worker.wait()
    output = (given.parent / "log.txt").read_text(errors="replace")
    if "OutOfMemoryError" in output:
        raise SchemaError(f"HermiT took more than {budget.megabytes} MB to classify", hint=_HINT)
    if worker.returncode != 0 or not said.is_file():
        raise SchemaError(f"HermiT cannot classify the ontology: {_first_line(output)}", hint="mend that axiom")


def _wait(worker: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        worker.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _first_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("at ")), "it says nothing")


def _read(said: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Read a hierarchy: lines of names that are equal, or of which one is below the other."""
    for kind, names in _LINE.findall(said):
        found = _NAME.findall(names)
        if kind == "EquivalentClasses":
            yield frozenset(found), frozenset()
        else:
            yield frozenset(found[:1]), frozenset(found[1:])
