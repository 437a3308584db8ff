"""Every error that retewave raises on purpose: typed, below one root, with what, where and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "LimitError",
    "MalformedInput",
    "MalformedStatic",
    "Place",
    "QueryError",
    "RetewaveError",
    "SchemaError",
    "SnapshotError",
    "StoppedError",
    "UsageError",
]


@dataclass(frozen=True)
class Place:
    """Where in a text something is: 1-based line and column."""

    source: str  # a file's path, a stream's name, or "<query>"
    line: int  # 1 for the first
    column: int  # 1 for the first; counts characters (bytes in N-Triples)
    excerpt: str = ""  # the line's text, for the caret

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"

    def caret(self) -> str:
        """Return the excerpt with a caret below the column, or nothing when there is no excerpt."""
        if not self.excerpt:
            return ""
        pad = "".join("\t" if c == "\t" else " " for c in self.excerpt[: self.column - 1])
        return f"{self.excerpt}\n{pad}^"


class RetewaveError(Exception):
    """The root of retewave's errors.

    >>> str(RetewaveError("no such thing", hint="say which"))
    'no such thing\\n  hint: say which'
    """

    def __init__(self, what: str, *, place: Place | None = None, hint: str = "") -> None:
        super().__init__(what)
        self.what = what  # what is wrong, in one sentence
        self.place = place  # where, when it is in a text
        self.hint = hint  # how to mend it, when we can tell

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.what}" if self.place else self.what]
        if self.place and self.place.excerpt:
            lines += ["  " + row for row in self.place.caret().splitlines()]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class QueryError(RetewaveError):
    """A query that cannot be read, or that asks for what is not supported."""


class SchemaError(RetewaveError):
    """A schema that cannot be read, or that is changed when it may not be."""


class MalformedInput(RetewaveError):
    """A line or file of data that is not what its format says."""


class MalformedStatic(MalformedInput):
    """Static data that is not what its format says: nothing has run yet."""


class LimitError(RetewaveError):
    """A bound that the user set is met: the engine stops before it, and nothing is lost."""


class SnapshotError(RetewaveError):
    """A snapshot that is truncated, foreign, or of another format."""


class StoppedError(RetewaveError):
    """A run that was ended by what it runs on."""


class UsageError(RetewaveError):
    """A call that asks for what cannot be done: a wrong argument, a missing file, a wrong order of calls."""
