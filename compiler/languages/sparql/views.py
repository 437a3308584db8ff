"""Build what makes a view of a query: its windows, when it is reported, and what of a report is told.

Data's way: parse tree of the dataset clauses -> **windows and report policy** -> `ViewFrame` -> plan of a view.
A query is a view if it says so: REGISTER RSTREAM, a window with STEP, one that counts or is named, REPORT; or if it
has a part that has no meaning for single matches (`Context.view_by`).  All else detects.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lark import Token

from retewave.compiler.algebra import (
    Ago,
    Algebra,
    Current,
    Exists,
    Extend,
    Extent,
    Filter,
    Fixed,
    Inside,
    InWindow,
    Join,
    Landmark,
    LeftJoin,
    Minus,
    Newest,
    ReportPolicy,
    Sliding,
    Stream,
    Told,
    Triples,
    Union,
    Values,
    ViewFrame,
    Whole,
    WindowOn,
    step_of,
    walk,
)
from retewave.compiler.algebra.relational import RELATIONAL
from retewave.compiler.algebra.written import name_of
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.terms import unquote
from retewave.windows import durations
from retewave.windows.times import parse_datetime

__all__ = ["Windows", "extent", "frame"]

_PLAIN = (Triples, Join, LeftJoin, Minus, Exists, Union, Filter, Extend, Values, *RELATIONAL)


@dataclass
class Windows:
    """The windows and the reports of a query, as far as they are read."""

    found: list[WindowOn] = field(default_factory=list)  # in the order written
    policy: ReportPolicy | None = None  # what REPORT or COMPUTED EVERY says
    told: Told | None = None  # what REGISTER says
    since: int | None = None  # the phase of all steps, where the clauses say none

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams of a query that detects: widths only."""
        return tuple(
            Stream(each.stream or b"", each.extent.width if isinstance(each.extent, Sliding) else None, each.place)
            for each in self.found
        )

    def report(self, clause: ParseTree, context: Context) -> None:
        """Take a REPORT clause."""
        if self.policy is not None:
            raise context.error("REPORT stands once, behind the FROM clauses", clause)
        context.view_by("REPORT", clause)
        when = trees_of(clause)[0]
        non_empty = any(kind_of(each) == "NON_EMPTY" for each in tokens_of(clause))
        match rule(when):
            case "on_close":
                self.policy = ReportPolicy("close", non_empty=non_empty)
            case "on_change":
                self.policy = ReportPolicy("change", non_empty=non_empty)
            case _:
                self.policy = ReportPolicy("periodic", _positive(token(when), "the period", context), non_empty)

    def every(self, length: Token, context: Context) -> None:
        """Take COMPUTED EVERY."""
        context.view_by("COMPUTED EVERY", length)
        self.policy = ReportPolicy("periodic", _positive(length, "the period", context))

    def add(self, name: bytes | None, stream: ParseTree, parts: list[ParseTree], context: Context) -> None:
        """Take a window on a stream; a window without a name may be of any kind."""
        iri = context.prologue.term(stream)
        kind = extent(parts, context) if parts else Whole()
        if name is not None:
            context.view_by("a named window", stream)
            if any(name == each.name for each in self.found):
                raise context.error(f"the window {name.decode()} is declared twice", stream)
        elif any(each.name is None and each.stream == iri for each in self.found):
            raise context.error(f"the stream {iri.decode()} is named twice", stream)
        if step_of(kind) is not None:
            context.view_by("STEP", parts[0])
        elif parts and not isinstance(kind, Sliding):
            context.view_by(f"[{kind}]", parts[0])
        self.found.append(WindowOn(name, iri, kind, context.source.place(stream)))


def extent(parts: list[ParseTree], context: Context) -> Extent:
    """Return a window as it is written in brackets; those behind OF are inside the one before."""
    first, *rest = (_extent(part, context) for part in parts)
    for each in rest:
        first = Inside(first, each)
    return first


def _extent(tree: ParseTree, context: Context) -> Extent:
    lengths = [each for each in tokens_of(tree) if kind_of(each) in _LENGTHS]
    match rule(tree):
        case "sliding":
            return _sliding(tree, lengths, context)
        case "newest":
            return _newest(tree, lengths, context)
        case "landmark":
            return Landmark(_moment(tree.children[0], context))
        case "fixed":
            return _fixed(tree, context)
        case "ago":
            return _ago(tree, lengths, context)
    return Current() if rule(tree) == "current" else Whole()


_LENGTHS = ("DURATION", "ISO_DURATION", "INTEGER", "DECIMAL")


def _sliding(tree: ParseTree, lengths: list[Token], context: Context) -> Sliding:
    width = _positive(lengths[0], "the width of a window", context)
    kinds = {kind_of(each) for each in tokens_of(tree)}
    step = width if "TUMBLING" in kinds else None
    if "STEP" in kinds:
        step = _positive(lengths[1], "the step of a window", context)
    return Sliding(width, step, _phase(tree, context))


def _newest(tree: ParseTree, lengths: list[Token], context: Context) -> Newest:
    counts = [int(each) for each in lengths]
    if 0 in counts:
        raise context.error("a window that counts has at least one", lengths[counts.index(0)])
    of = next(each for each in tokens_of(tree) if kind_of(each) == "COUNTED").upper()
    return Newest(counts[0], "triples" if of == "TRIPLES" else "events", counts[1] if len(counts) > 1 else None)


def _fixed(tree: ParseTree, context: Context) -> Fixed:
    begin, end = (_moment(each, context) for each in tree.children)
    if end < begin:
        raise context.error("the window ends before it begins", tree)
    return Fixed(begin, end)


def _ago(tree: ParseTree, lengths: list[Token], context: Context) -> Ago:
    stepped = any(kind_of(each) == "STEP" for each in tokens_of(tree))
    micros = [_micros(each, context) for each in lengths]
    step = _positive(lengths[-1], "the step of a window", context) if stepped else None
    oldest, *newest = micros[:-1] if stepped else micros
    if oldest <= (newest or [0])[0]:
        raise context.error(
            "the window ends before it begins", tree, "the older bound is first: FROM NOW-10s TO NOW-5s"
        )
    return Ago(oldest, (newest or [0])[0], step, _phase(tree, context))


def _phase(tree: ParseTree, context: Context) -> int:
    starting = next((part for part in trees_of(tree) if rule(part) == "starting"), None)
    return 0 if starting is None else _moment(starting.children[0], context)


def _moment(node: Node, context: Context) -> int:
    """Return a time: a duration counted from 0, or an xsd:dateTime."""
    if isinstance(node, Token):
        return _micros(node, context)
    try:
        return parse_datetime(unquote(str(node.children[0])))
    except ValueError as e:
        raise context.error(str(e), node) from e


def _micros(written: Token, context: Context) -> int:
    try:
        return durations.parse(
            float(written)
            if kind_of(written) in ("INTEGER", "DECIMAL")
            else str(written).upper()
            if kind_of(written) == "ISO_DURATION"
            else str(written)
        )
    except ValueError as e:
        raise context.error(str(e), written) from e


def _positive(written: Token, what: str, context: Context) -> int:
    micros = _micros(written, context)
    if micros == 0:
        raise context.error(f"{what} is more than 0", written)
    return micros


def frame(windows: Windows, where: Algebra, context: Context) -> ViewFrame | None:
    """Return what makes a view of the query; nothing if it detects."""
    if context.graph_groups:
        raise context.unsupported("GRAPH", context.graph_groups[0])
    if not context.reasons:
        return None
    _check_operators(where, context)
    found = tuple(windows.found) or (WindowOn(None, None, Whole()),)
    stepped = any(step_of(each.extent) is not None for each in found)
    policy = windows.policy or ReportPolicy("close" if stepped else "change")
    if policy.policy == "close" and not stepped:
        what = "REPORT WINDOW CLOSE needs a window with STEP"
        raise context.error(what, context.reasons[0][1], "add STEP to a window, or report by CONTENT CHANGE")
    _tell(context, windows, policy)
    return ViewFrame(found, policy, windows.told or "RSTREAM", context.reasons[0][0])


def _tell(context: Context, windows: Windows, policy: ReportPolicy) -> None:
    """Tell of a query that reads like one that detects, and is a view."""
    if windows.policy is None and windows.told is None and policy.policy == "change" and windows.found:
        what, node = context.reasons[0]
        if all(isinstance(each.extent, Sliding) and each.name is None for each in windows.found):
            changes = "reported whenever the content of its windows changes, and RANGE is open at its older end"
            context.notice(f"{what} makes a view of the query: it is {changes}", node)


def _check_operators(where: Algebra, context: Context) -> None:
    """Refuse the operators of time, which have no meaning in a relation."""
    for each in walk(where):
        if not isinstance(each, _PLAIN):
            reason, node = context.reasons[0]
            what = f"{name_of(each) or type(each).__name__} cannot stand in a view, and {reason} makes one of the query"
            raise context.error(what, node, "make two queries: one that detects, and a view of what it builds")
        if isinstance(each, InWindow) and isinstance(each.window, bytes) and each.window not in context.windows:
            known = ", ".join(sorted(name.decode() for name in context.windows)) or "none"
            raise context.error(
                f"there is no window {each.window.decode()}; the query declares {known}", context.reasons[0][1]
            )
