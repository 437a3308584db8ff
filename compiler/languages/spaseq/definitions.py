"""Read DEFINE GPM … ON …: the names of the GPMs, and the streams on which each listens.

Data's way: parse trees of the definitions -> **definitions** -> event patterns.
Laws: a name is defined once.  A GPM without ON listens on all streams of the query.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from lark import Token

from retewave.compiler.algebra import Stream
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import kind_of, tokens_of, trees_of
from retewave.errors import QueryError

__all__ = ["Definition", "defined", "no_such_gpm", "tell_dot", "tell_unused"]


@dataclass(frozen=True)
class Definition:
    """A GPM as it is defined."""

    name: Token  # by which SEQ names it
    streams: tuple[bytes, ...]  # the IRIs of the streams on which it listens; none: all
    group: ParseTree  # its group graph pattern


def defined(trees: Iterable[ParseTree], streams: dict[str, Stream], context: Context) -> dict[str, Definition]:
    """Return the GPMs by their names."""
    found: dict[str, Definition] = {}
    for tree in trees:
        _, name, *rest = tokens_of(tree)
        if name in found:
            hint = f"the first stands in line {found[name].name.line}; give this one another name"
            raise context.error(f"the GPM {name} is defined twice", name, hint)
        tell_dot(rest, context)
        heard = dict.fromkeys(_stream(each, streams, context) for each in rest if kind_of(each) == "NAME")
        found[str(name)] = Definition(name, tuple(heard), trees_of(tree)[0])
    return found


def tell_dot(tokens: Iterable[Token], context: Context) -> None:
    """Tell of a dot that stands where no triple ends."""
    for each in tokens:
        if kind_of(each) == "STRAY_DOT":
            context.notice("this dot is passed over: dots end triples", each)


def tell_unused(definitions: dict[str, Definition], used: Iterable[str], context: Context) -> None:
    """Tell of GPMs that are in no step."""
    names = set(used)
    for name, each in definitions.items():
        if name not in names:
            context.notice(f"SEQ does not name the GPM {name}: nothing looks for it", each.name)


def no_such_gpm(name: Token, known: Iterable[str], context: Context) -> QueryError:
    """Return the error for a name in SEQ that no GPM has."""
    near = _nearest(name, known)
    hint = f"did you mean {near}?" if near else f"add DEFINE GPM {name} ON … {{ … }}"
    return context.error(f"the GPM {name} is not defined", name, hint)


def _stream(name: Token, streams: dict[str, Stream], context: Context) -> bytes:
    known = streams.get(name)
    if known is not None:
        return known.iri
    near = _nearest(name, streams)
    hint = f"did you mean {near}?" if near else f"add FROM STREAM {name} <…>"
    raise context.error(f"no stream has the name {name}", name, hint)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that a wrong one was meant to be, or an empty text."""
    names = list(known)
    by_case = [each for each in names if each.lower() == name.lower()]
    return next(iter(by_case or difflib.get_close_matches(name, names, 1, 0.6)), "")
