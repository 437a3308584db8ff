"""Schema and static data: where they come from, and when they may still come.

Queries name them too (`FROM <…>`): a local file is read, an IRI is looked up in the user's `datasets`; nothing is ever
fetched.  Axioms in a file about classes and properties become schema, all other triples static data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2s
from pathlib import Path
from typing import Any, Literal

import numpy as np

from retewave.compiler.algebra import Query
from retewave.epsilon.schema import Budget, Progress, Schema, SchemaWarning
from retewave.epsilon.vocabulary import is_blank
from retewave.errors import MalformedInput, MalformedStatic, SchemaError, UsageError
from retewave.rete.terms.dictionary import Terms
from retewave.rete.words.rows import END, OBJECT, PREDICATE, ROW_WIDTH, START, STREAM, SUBJECT
from retewave.windows.intervals import STATIC_END, STATIC_START

__all__ = ["NAMED_GRAPH", "Closure", "DatasetWarning", "Datasets"]

NAMED_GRAPH = 1 << 40  # and more: in place of a static row's stream, the term of the named graph that has it


class DatasetWarning(UserWarning):
    """A query names a dataset that is not read."""


@dataclass(frozen=True)
class Closure:
    """How the schema is closed: by which reasoner, and within which bounds."""

    by: Literal["retewave", "owlrl"] = "retewave"  # our own closure, or owlrl's OWL 2 RL closure before it
    budget: Budget | None = None  # bounds of owlrl's closure; None: the usual ones
    progress: Progress | None = None  # called with the triples and seconds of owlrl's closure so far


class Datasets:
    """The sources of schema and static data of one engine; read when they are first needed."""

    def __init__(
        self,
        terms: Terms,
        schema: Any,
        static: Any,
        local: Mapping[str, str | Path],
        imports: Mapping[str, str | Path],
        closure: Closure,
    ) -> None:
        self.terms = terms
        self._schema_sources = _listed(schema)
        self._static_sources = _listed(static)
        self._local = dict(local)  # IRI -> file, for FROM
        self._imports = dict(imports)  # IRI -> file, for owl:imports
        self.closure = closure  # how the schema is closed
        self._schema: Schema | None = None
        self._static: np.ndarray | None = None
        self._restored: tuple[Schema, np.ndarray] | None = None  # from a snapshot; further sources add to it
        self.named: set[str] = set()  # files that queries have named
        self._mixed: list[Path] = []  # files of `named` that hold schema and static data
        self._graphs: dict[str, Path] = {}  # by the name of a graph that queries look at: the file that has it

    @property
    def schema(self) -> Schema:
        """The schema, read when it is first asked for."""
        if self._schema is None:
            loaded = Schema.load(
                self._schema_sources,
                imports=self._imports,
                closure=self.closure.by,
                budget=self.closure.budget,
                progress=self.closure.progress,
            )
            before = self._restored[0] if self._restored else Schema(())
            axioms = tuple(dict.fromkeys(before.axioms + loaded.axioms))
            self._schema = replace(loaded, axioms=axioms, ontology=before.ontology + loaded.ontology)
        return self._schema

    @property
    def static(self) -> np.ndarray:
        """The static triples as input rows of all times, read when they are first asked for."""
        if self._static is None:
            rows = [np.empty((0, ROW_WIDTH), dtype=np.int64), *(self._rows(source) for source in self._static_sources)]
            rows += [self._rows(_data_of(path)) for path in self._mixed]
            found = np.concatenate(rows)
            found[:, STREAM:] = 0
            found = np.concatenate([found, *(self._graph_rows(*each) for each in self._graphs.items())])
            found = np.concatenate([found, *([self._restored[1]] if self._restored else [])])
            found[:, START], found[:, END] = STATIC_START, STATIC_END
            self.terms.pin(found[:, SUBJECT : OBJECT + 1].ravel())
            self.terms.grow_ahead()  # now, and not in the middle of the stream
            self._static = found
        return self._static

    def put(self, schema: Schema, static: np.ndarray, named: Iterable[str]) -> None:
        """Take over the schema and static data of a snapshot."""
        self._schema, self._static = self._restored = schema, static
        self.named = set(named)

    def add(self, *, schema: Any = (), static: Any = (), started: bool) -> None:
        """Take further sources, before the stream starts."""
        more_schema, more_static = _listed(schema), _listed(static)
        if started and (more_schema or more_static):
            raise SchemaError(
                "schema and static data cannot change while the stream runs",
                hint="take a snapshot of what matters, build a new Engine with all sources, and go on from there",
            )
        if more_schema:
            self._schema_sources += more_schema
            self._schema = None
        if more_static:
            self._static_sources += more_static
            self._static = None

    def add_of(self, query: Query, *, started: bool) -> None:
        """Take the files that a query names."""
        for name in query.dataset:
            for path in self._new_paths(name, query):
                self.add(schema=[path], started=started)
                self._mixed.append(path)
                self._static = None
        for name in query.graphs if query.language == "spaseq" or query.view is not None else ():
            self._add_graph(name, query, started=started)
        for name in query.schema:
            self.add(schema=self._new_paths(name, query), started=started)
        for name in query.static:
            self.add(static=self._new_paths(name, query), started=started)

    def _add_graph(self, name: str, query: Query, *, started: bool) -> None:
        """Take the file of a graph that a query looks at by its name."""
        path = None if self._has_graph(name) else self._path(name, query, "GRAPH")
        if path is None:
            return
        self.add(schema=[path], started=started)
        self._graphs[name] = path
        self._static = None

    @property
    def files(self) -> list[str]:
        """The files that queries have named."""
        return [*self.named, *map(str, self._graphs.values())]

    def _has_graph(self, name: str) -> bool:
        """Tell whether a named graph has been read, here or before a snapshot."""
        known = self._restored[1][:, STREAM] if self._restored else np.zeros(0, dtype=np.int64)
        return name in self._graphs or NAMED_GRAPH + self.terms.find(f"<{name}>".encode()) in known

    def _graph_rows(self, name: str, path: Path) -> np.ndarray:
        """Return the triples of a named graph, each with its name in place of a stream."""
        rows = self._rows(_data_of(path))
        graph = self.terms.intern_many([f"<{name}>".encode()])
        self.terms.pin(np.array(graph))
        rows[:, STREAM] = NAMED_GRAPH + graph[0]
        return rows

    def _new_paths(self, name: str, query: Query) -> list[Path]:
        """Return the local file behind a name, if there is one that no query has named before."""
        path = self._path(name, query)
        if path is None or str(path) in self.named:
            return []
        self.named.add(str(path))
        return [path]

    def _path(self, name: str, query: Query, clause: str = "FROM") -> Path | None:
        """Return the local file behind a name, or warn that there is none."""
        if name in self._local:
            return Path(self._local[name])
        plain = name.removeprefix("file://")
        beside = Path(query.source).parent / plain
        for path in (beside, Path(plain)):
            if "://" not in plain and path.is_file():
                return path
        if "://" not in plain:
            raise UsageError(
                f"{query.source}: {clause} <{name}>: there is no file {beside}",
                hint="write a path that exists, or map the name: datasets={name: path}",
            )
        warnings.warn(
            f"{query.source}: {clause} <{name}> is not read: nothing is fetched (map it: "
            f"datasets={{{name!r}: path}}, or "
            "give its content as schema or static data)",
            DatasetWarning,
            stacklevel=4,
        )
        return None

    def _rows(self, source: Any) -> np.ndarray:
        from retewave.io.rdf import to_text
        from retewave.io.reading.reader import read_static

        if isinstance(source, str | Path | bytes):
            try:
                return read_static(source, self.terms, format=_format(source))
            except MalformedInput as e:
                raise MalformedStatic(e.what, place=e.place, hint=e.hint) from e
        if not isinstance(source, Iterable):
            raise UsageError(f"cannot read static data from {source!r}", hint="give paths, bytes, a Graph or triples")
        triples = [tuple(term if isinstance(term, bytes) else to_text(term) for term in triple) for triple in source]
        if wrong := next((triple for triple in triples if len(triple) != 3), None):
            raise UsageError(f"a triple of static data has three terms, not {len(wrong)}: {wrong!r}")
        rows = np.zeros((len(triples), ROW_WIDTH), dtype=np.int64)
        for place, column in ((0, SUBJECT), (1, PREDICATE), (2, OBJECT)):
            if triples:
                rows[:, column] = self.terms.intern_many([triple[place] for triple in triples])
        return rows


def _data_of(path: Path) -> tuple[tuple[bytes, ...], ...]:
    """Return the triples of a file that are not schema."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)  # the engine's schema, which includes the file, warns of it
        data = Schema.load([path]).data
    # Labels of two documents never meet; a file's are the same in every process, as shards compare them.
    own = b"_:f%s." % blake2s(str(path).encode(), digest_size=6).hexdigest().encode()
    return tuple(tuple(own + term[2:] if is_blank(term) else term for term in triple) for triple in data)


def _format(source: Any) -> str | None:
    """Say how bytes are to be read: N-Triples if they look like it, else Turtle, which includes it."""
    return "ttl" if isinstance(source, bytes) else None


def _listed(sources: Any) -> list[Any]:
    """Return a single source as a list; an rdflib Graph is a source, a list of triples too."""
    if isinstance(sources, str | Path | bytes) or hasattr(sources, "triples"):
        return [sources]
    found = list(sources) if isinstance(sources, Iterable) else [sources]
    return [found] if found and all(isinstance(each, tuple) for each in found) else found
