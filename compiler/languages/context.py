"""The state of building one query from its parse tree: its prologue, fresh names, and notices.

Data's way: parse tree -> (**context** + the builders) -> algebra.
Invariant: a fresh variable's name cannot be written by a user, and a blank node's label names one variable
in one basic graph pattern only, as SPARQL demands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lark import Token

from retewave.compiler.algebra import AggregateCall, Algebra, Query, Stream
from retewave.compiler.expressions.tree import Variable
from retewave.compiler.languages.language import Language, ParseTree
from retewave.compiler.languages.reading import Node, Source, kind_of
from retewave.compiler.languages.sparql.prologue import Prologue
from retewave.errors import QueryError
from retewave.windows import durations

if TYPE_CHECKING:
    from retewave.compiler.languages.windows.clauses import Windows
    from retewave.compiler.languages.windows.events import Events

__all__ = ["Context", "EmbeddedExists"]


@dataclass(frozen=True)
class EmbeddedExists:
    """EXISTS inside an expression."""

    node: ParseTree  # where it is written
    name: str  # EXISTS or NOT EXISTS
    around: Callable[[Algebra], Algebra]  # gives the solutions of a pattern a variable that says whether it holds


@dataclass
class Context:
    """The state of building one query."""

    source: Source  # for the places of errors
    prologue: Prologue  # prefixes and base
    language: Language  # the query's language, which may have patterns and expressions of its own
    notices: list[str] = field(default_factory=list)  # parts that are allowed and hardly do what was meant
    window: int | None = None  # a window that the pattern itself states, in microseconds
    streams: tuple[Stream, ...] = ()  # the streams that the query listens to; empty: all
    stream: bytes | None = None  # the stream of the triples that are being read; None: any
    basic_pattern: int = 0  # the number of the basic graph pattern that is being read
    labels: dict[str, int] = field(default_factory=dict)  # blank node label -> its basic graph pattern
    fresh_count: int = 0  # number of fresh variables
    reasons: list[tuple[str, Node]] = field(default_factory=list)  # they make a view of the query; in the order read
    aggregates: dict[AggregateCall, Variable] | None = None  # of the SELECT that is read; None: none may stand here
    graph_groups: list[Node] = field(default_factory=list)  # the GRAPHs that were read: views only have them
    timestamps: list[Node] = field(default_factory=list)  # C-SPARQL's f:timestamp, where it is read: views only have it
    looked: list[EmbeddedExists] = field(default_factory=list)  # EXISTS in the expression that is read
    in_expressions: list[EmbeddedExists] = field(default_factory=list)  # all of them: views only have them
    graph_names: dict[str, None] = field(default_factory=dict)  # the graphs that GRAPH and FROM NAMED name, as written
    windows: Windows | None = None  # its windows and reports; None: a language without views
    events: Events | None = None  # the event patterns that MATCH may name; None likewise

    def fresh(self) -> Variable:
        """Return a hidden variable that occurs nowhere else: no label starts with a dot."""
        self.fresh_count += 1
        return Variable(f"_:.{self.fresh_count}")

    def labelled(self, label: str, tree: ParseTree) -> Variable:
        """Return the variable of a blank node's label."""
        if self.labels.setdefault(label, self.basic_pattern) != self.basic_pattern:
            raise self.error(
                f"the blank node {label} is used in two basic graph patterns",
                tree,
                hint="use a variable: a blank node's label holds inside one group only",
            )
        return Variable(label)

    def query(self, **parts: Any) -> Query:
        """Return the query with these parts, its source, prologue and notices."""
        return Query(
            **parts,
            base=self.prologue.base,
            prefixes=tuple(self.prologue.prefixes.items()),
            language=self.language.name,
            text=self.source.text,
            source=self.source.name,
            notices=tuple(self.notices),
        )

    def duration(self, written: Token) -> int:
        """Return a duration in microseconds; a bare number counts seconds."""
        try:
            return durations.parse(int(written) if kind_of(written) == "INTEGER" else str(written))
        except ValueError as e:
            raise self.error(str(e), written) from e

    def unseen(self, missing: Variable, hint: str, node: Node) -> None:
        """Tell of a variable that has no value where an expression stands: SPARQL allows that, and nobody means it."""
        self.notice(f"{missing} has no value here: nothing binds it that this expression can see; {hint}", node)

    def around(self, pattern: Algebra) -> Algebra:
        """Return a pattern whose solutions have the values of EXISTS for the expression that was read."""
        found, self.looked = self.looked, []
        self.in_expressions += found
        for each in found:
            pattern = each.around(pattern)
        return pattern

    def refuse_looked(self, where: str, before: int = 0) -> None:
        """Refuse EXISTS in the expression that was read."""
        for each in self.looked[before:]:
            hint = f"BIND({each.name} {{ … }} AS ?there), in front, gives it a name that may stand everywhere"
            raise self.unsupported(f"{each.name} inside {where}", each.node, hint)

    def error(self, what: str, node: Node, hint: str = "") -> QueryError:
        """Return an error that points at a node."""
        return QueryError(what, place=self.source.place(node), hint=hint)

    def view_by(self, what: str, node: Node) -> None:
        """Note a part of the text that only views have; refuse it in a language without views."""
        if not self.language.views:
            raise self.unsupported(what, node)
        self.reasons.append((what, node))

    def unsupported(self, what: str, node: Node, hint: str = "") -> QueryError:
        """Return the error for a clause that parses and does not run yet."""
        return self.error(f"{what} is not supported yet", node, hint)

    def notice(self, what: str, node: Node) -> None:
        """Tell the user of a part that is allowed and hardly does what was meant."""
        self.notices.append(f"{self.source.place(node)}: {what}")
