"""Read which windows a query has on which streams, when it is reported, and what of a report is told.

Data's way: parse trees of REGISTER, FROM … and REPORT -> **windows** -> frame of a view.
Laws: a window with a name is read by WINDOW, EVENT ON or, in place, by STREAM; those without are merged into the
default graph.  A stream that FROM NAMED STREAM names is merged, too, unless GRAPH asks for it.  Windows have different
names.  REPORT stands once.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Final

from lark import Token

from retewave.compiler.algebra import Extent, ReportPolicy, Sliding, Stream, Term, Told, Variable, Whole, WindowOn
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.windows.extents import ReadWindow, read_window
from retewave.compiler.languages.windows.lengths import positive
from retewave.compiler.languages.windows.reports import report
from retewave.errors import QueryError

__all__ = ["CLAUSES", "Windows"]

_TOLD: Final[dict[str, Told]] = {"RSTREAM": "RSTREAM", "ISTREAM": "ISTREAM", "DSTREAM": "DSTREAM"}
CLAUSES = ("stream", "named_stream", "window_on", "window_as")  # the rules of FROM that declare a stream or a window


@dataclass
class Windows:
    """The windows and the reports of a query, as far as they are read."""

    asked: frozenset[bytes] = frozenset()  # the names that GRAPH asks for
    found: list[WindowOn] = field(default_factory=list)  # in the order written
    nodes: dict[bytes, Node] = field(default_factory=dict)  # name of a window -> where it is declared
    hidden: list[bytes] = field(default_factory=list)  # the names of windows that stand inside WHERE
    by_graph: set[bytes] = field(default_factory=set)  # the names of the windows that GRAPH reads
    unread: set[bytes] = field(default_factory=set)  # the names that nothing has read yet
    policy: ReportPolicy | None = None  # the policy that REPORT or COMPUTED EVERY says
    told: Told | None = None  # the word of REGISTER or SELECT
    reported: Node | None = None  # where that is written
    graphs: tuple[str, ...] = ()  # FROM NAMED: the named graphs of the dataset, as written
    stated: bool = False  # one of the clauses makes a view of the query

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams of a query that detects: widths only."""
        return tuple(
            Stream(each.stream or b"", each.extent.width if isinstance(each.extent, Sliding) else None, each.place)
            for each in self.found
        )

    def declare(self, clause: ParseTree, context: Context) -> None:
        """Take a FROM clause with a stream or a window."""
        parts = {rule(part): part for part in trees_of(clause)}
        window = read_window(parts["window"], context) if "window" in parts else None
        match rule(clause):
            case "stream" | "named_stream":
                self._stream(clause, parts["iri"], window, context)
            case "window_on":
                self._on(clause, parts, window, context)
            case _:
                stream, _, name = trees_of(clause)
                self._name(trees_of(name)[0], context.prologue.term(stream), "WIN … AS", window, context)

    def inside(self, stream: bytes, node: Token, written: ParseTree, context: Context) -> bytes:
        """Take a window that stands inside WHERE, before its group; return its name.  Equal windows are one."""
        window = read_window(written, context)
        self._view("STREAM with a window", node, context)
        self._note(window, context)
        for each in self.found:
            if each.name in self.hidden and (each.stream, each.extent) == (stream, window.extent):
                return each.name
        name = f"<urn:retewave:window:{len(self.hidden) + 1}>".encode()
        self.hidden.append(name)
        self.found.append(WindowOn(name, stream, window.extent, context.source.place(node)))
        return name

    def read(self, name: Term, node: Node, context: Context) -> None:
        """Note that a part of the query reads a window; refuse one that is not there.  A variable reads all."""
        if not isinstance(name, Variable):
            if name not in self.nodes:
                raise self._unknown(name, node, context)
            self.unread.discard(name)
        elif not self.nodes:
            hint = "write FROM NAMED WINDOW :w ON <stream> [RANGE 10s STEP 5s]"
            raise context.error(f"the query declares no window over which {name} could range", node, hint)
        else:
            self.unread.clear()

    def tell(self, word: Token, clause: str, context: Context) -> None:
        """Take RSTREAM, ISTREAM or DSTREAM in a clause."""
        told = _TOLD[word.upper()]
        if self.told not in (None, told):
            raise context.error(f"a view tells {self.told} or {told}, not both", word)
        self._view(f"{clause} {told}", word, context)
        self.told = told

    def report(self, clause: ParseTree, context: Context) -> None:
        """Take a REPORT clause."""
        (written,) = trees_of(clause)
        self._view("REPORT", token(written), context)
        self._report(report(written, context), written, context)

    def every(self, clause: ParseTree, context: Context) -> None:
        """Take COMPUTED EVERY."""
        self._view("COMPUTED EVERY", token(clause), context)
        period = positive(trees_of(clause)[0], "the time between two reports", context)
        self._report(ReportPolicy("periodic", period), clause, context)

    def tell_unread(self, context: Context) -> None:
        """Tell of windows with a name that nothing reads."""
        for each in self.found:
            if each.name in self.unread:
                name = each.name.decode()
                hint = f"write WINDOW {name} {{ … }} around the patterns that it holds"
                context.notice(f"nothing reads the window {name}: {hint}", self.nodes[each.name])

    def _unknown(self, name: bytes, node: Node, context: Context) -> QueryError:
        written, known = name.decode(), [each.decode() for each in self.nodes]
        near = difflib.get_close_matches(written, known, 1, 0.6)
        declared = f"the query declares {', '.join(known)}" if known else "the query declares none"
        wanted = f"write FROM NAMED WINDOW {written} ON <stream> [RANGE 10s STEP 5s]"
        hint = f"did you mean {near[0]}?" if near else wanted
        return context.error(f"there is no window {written}; {declared}", node, hint)

    def _stream(self, clause: ParseTree, name: ParseTree, window: ReadWindow | None, context: Context) -> None:
        iri = context.prologue.term(name)
        is_named = rule(clause) == "named_stream" and iri in self.asked
        if any(each.stream == iri and (each.name is None or is_named) for each in self.found):
            raise context.error(f"the stream {iri.decode()} is named twice", name)
        if is_named:
            self._view("GRAPH on a stream", name, context)
            self.nodes[iri] = name
            self.by_graph.add(iri)
        if window is not None and window.slide is not None:
            context.notice("SLIDE is read as STEP", window.slide)
        self._add(iri if is_named else None, iri, name, window, context)

    def _on(self, clause: ParseTree, parts: dict[str, ParseTree], window: ReadWindow | None, context: Context) -> None:
        (written,) = parts["on_stream"].children
        stream = context.prologue.bare(written) if isinstance(written, Token) else context.prologue.term(written)
        names = [trees_of(part)[0] for part in trees_of(clause) if rule(part) in ("window_name", "window_alias")]
        if len(names) > 1:
            raise context.error("the window has two names", names[1], "one of them is enough: WINDOW … or AS …")
        *named, head = (each for each in tokens_of(clause) if kind_of(each) in ("NAMED", "WINDOW"))
        if named and not names:
            raise context.error("a named window has a name", head, "write FROM NAMED WINDOW :w ON <stream> [RANGE 10s]")
        if named:
            self._name(names[0], stream, "FROM NAMED WINDOW", window, context)
            return
        self._view("FROM WINDOW", head, context)
        self._add(None, stream, written, window, context)

    def _name(
        self, written: ParseTree, stream: bytes, reason: str, window: ReadWindow | None, context: Context
    ) -> None:
        self._view(reason, written, context)
        name = context.prologue.name(written)
        if name in self.nodes:
            hint = "give each window a name of its own"
            raise context.error(f"the window {name.decode()} is declared twice", written, hint)
        self.nodes[name] = written
        self.unread.add(name)
        self._add(name, stream, written, window, context)

    def _add(self, name: bytes | None, stream: bytes, node: Node, window: ReadWindow | None, context: Context) -> None:
        extent: Extent = Whole() if window is None else window.extent
        if window is not None:
            self._note(window, context)
        self.found.append(WindowOn(name, stream, extent, context.source.place(node)))

    def _note(self, window: ReadWindow, context: Context) -> None:
        if window.reason is not None:
            self._view(*window.reason, context)
        if window.report is not None:
            self._view("REPORT", window.report[1], context)
            self._report(*window.report, context)

    def _view(self, reason: str, node: Node, context: Context) -> None:
        self.stated = True
        context.view_by(reason, node)

    def _report(self, policy: ReportPolicy, node: Node, context: Context) -> None:
        if self.policy is not None and self.policy != policy:
            raise context.error(f"a view is reported by one policy: {self.policy}, or {policy}", node)
        self.policy, self.reported = policy, node
