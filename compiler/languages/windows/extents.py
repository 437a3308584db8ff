"""Read a window: which items of a stream are in it, when it is reported, and which of its words make a view of a query.

Data's way: parse tree of a window in brackets -> **window** -> frame of a view.
Laws: one window has one meaning, whatever its words: STEP and SLIDE, TUMBLING and a step as long as the window, NOW-b
and NOW-b TO NOW and RANGE b are equal.  A step without a length says only that the window moves: it is reported by
content change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lark import Token

from retewave.compiler.algebra import (
    Ago,
    Current,
    Extent,
    Fixed,
    Inside,
    Landmark,
    Newest,
    ReportPolicy,
    Sliding,
    Whole,
)
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, kind_of, rule, token, tokens_of, trees_of
from retewave.compiler.languages.windows.lengths import count, length, moment, positive
from retewave.compiler.languages.windows.reports import report, tell_tick

__all__ = ["ReadWindow", "read_window"]

_WORDS = {"current": "NOW", "whole": "ALL", "landmark": "LND", "fixed": "FROM … TO …", "ago": "NOW-…"}


@dataclass(frozen=True)
class ReadWindow:
    """A window as it is written in brackets."""

    extent: Extent  # which items are in it
    reason: tuple[str, Node] | None = None  # the first of its words that makes a view of a query, and where it is
    report: tuple[ReportPolicy, Node] | None = None  # a report that stands inside the brackets
    slide: Token | None = None  # the word SLIDE, if it stands for STEP


def read_window(tree: ParseTree, context: Context) -> ReadWindow:
    """Read a window in brackets; those behind OF are inside the one before."""
    outer, *inner = (_bracket(part, context) for part in trees_of(tree))
    for each in inner:
        nested = Inside(outer.extent, each.extent)
        reason = outer.reason or each.reason or ("OF", tree)
        outer = ReadWindow(nested, reason, outer.report or each.report, outer.slide or each.slide)
    return outer


def _bracket(tree: ParseTree, context: Context) -> ReadWindow:
    extent, *told = trees_of(tree)
    said: tuple[ReportPolicy, Node] | None = None
    for part in told:
        if rule(part) == "tick":
            tell_tick(part, context)
        elif said is not None:
            raise context.error("REPORT stands once in a window", part)
        else:
            said = report(part, context), part
    steps = _steps(extent)
    slide = next((each for each in steps if isinstance(each, Token) and each.upper() == "SLIDE"), None)
    return ReadWindow(_READ[rule(extent)](extent, context), _reason(extent, steps), said, slide)


def _reason(extent: ParseTree, steps: list[Token]) -> tuple[str, Node] | None:
    """Return the word that makes a view of a query; a width alone makes none."""
    kind = rule(extent)
    if steps:
        return steps[0].upper(), steps[0]
    if kind == "newest":
        counted = next(each for each in tokens_of(extent) if kind_of(each) == "COUNTED")
        return counted.upper(), counted
    return (_WORDS[kind], extent) if kind in _WORDS else None


def _steps(extent: ParseTree) -> list[Token]:
    """Return the words that say that a window moves by steps."""
    below = (part for part in trees_of(extent) if rule(part) == "step")
    written = [*tokens_of(extent), *(token(part) for part in below)]
    return [each for each in written if kind_of(each) in ("STEP", "TUMBLING")]


def _sliding(tree: ParseTree, context: Context) -> Extent:
    width = length(_lengths(tree)[0], context)  # 0 has a meaning for detectors: one instant
    return Sliding(width, _step(tree, width, context), _phase(tree, context))


def _tumbling(tree: ParseTree, context: Context) -> Extent:
    width = positive(_lengths(tree)[0], "the width of a window", context)
    return Sliding(width, width, _phase(tree, context))


def _newest(tree: ParseTree, context: Context) -> Extent:
    counted = next(each for each in tokens_of(tree) if kind_of(each) == "COUNTED")
    size, *steps = (part for part in trees_of(tree) if rule(part) == "count")
    most = count(size, "what a window counts", context)
    step = count(steps[0], "the step of a window", context) if steps else None
    if any(kind_of(each) == "TUMBLING" for each in tokens_of(tree)):
        step = most
    return Newest(most, "triples" if counted.upper() == "TRIPLES" else "events", step)


def _landmark(tree: ParseTree, context: Context) -> Extent:
    return Landmark(moment(trees_of(tree)[0], context))


def _fixed(tree: ParseTree, context: Context) -> Extent:
    begin, end = (moment(part, context) for part in trees_of(tree))
    if end < begin:
        raise context.error("the window ends before it begins", tree, "the earlier time stands first")
    return Fixed(begin, end)


def _ago(tree: ParseTree, context: Context) -> Extent:
    written = _lengths(tree)
    oldest, newest = length(written[0], context), length(written[1], context) if len(written) > 1 else 0
    if oldest <= newest:
        what = "the window ends before it begins" if newest else "the width of a window is more than 0"
        raise context.error(what, tree, "the older bound stands first: [FROM NOW-10s TO NOW-5s]" if newest else "")
    step, phase = _step(tree, oldest - newest, context), _phase(tree, context)
    return Ago(oldest, newest, step, phase) if newest else Sliding(oldest, step, phase)


def _lengths(tree: ParseTree) -> list[ParseTree]:
    return [part for part in trees_of(tree) if rule(part) == "length"]


def _step(tree: ParseTree, width: int, context: Context) -> int | None:
    """Return the step of a window; TUMBLING is a step as long as the window."""
    for part in trees_of(tree):
        if rule(part) == "step":
            lengths = trees_of(part)
            return positive(lengths[0], "the step of a window", context) if lengths else width
    for word in tokens_of(tree):
        if kind_of(word) == "STEP":
            what = f"{word.upper()} has no length: the window moves with each item, and is reported when it changes"
            context.notice(f"{what}; a report every minute is {word.upper()} 1m", word)
    return None


def _phase(tree: ParseTree, context: Context) -> int:
    origin = next((part for part in trees_of(tree) if rule(part) == "origin"), None)
    return 0 if origin is None else moment(trees_of(origin)[0], context)


_READ: Mapping[str, Callable[[ParseTree, Context], Extent]] = {
    "sliding": _sliding,
    "tumbling": _tumbling,
    "newest": _newest,
    "landmark": _landmark,
    "fixed": _fixed,
    "ago": _ago,
    "current": lambda _tree, _context: Current(),
    "whole": lambda _tree, _context: Whole(),
}
