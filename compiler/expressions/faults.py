"""The failures of expressions: SPARQL's error, whichever exception was raised below.

Data's way: operators and functions -> **fault** -> evaluator, which makes of it an error, a dropped match or an
unbound variable. Invariant: data never raise anything but `ExpressionError` out of an expression. An error that
is meant is raised as that already. Any other exception is logged once, with the function's name, because it is a defect
of ours or of a function that the user has registered. An exception that is no failure, an interrupt say, passes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

__all__ = ["ExpressionError", "contained"]

_LOG = logging.getLogger("retewave.functions")
_told: set[tuple[str, type[Exception]]] = set()


class ExpressionError(Exception):
    """SPARQL's type error: the expression has no value for these bindings."""


def contained(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises `ExpressionError`, an exception that is no failure, and nothing else.

    >>> contained("LANG", lambda term: term)("x")
    'x'
    """

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ExpressionError:
            raise
        except Exception as error:
            _tell(name, error)
            raise ExpressionError(f"{name}: {error}") from error

    return call


def _tell(name: str, error: Exception) -> None:
    kind = name, type(error)
    if kind not in _told:
        _told.add(kind)
        _LOG.warning(
            "%s raised %s: %s; to SPARQL that is an error of the expression (told once)",
            name,
            type(error).__name__,
            error,
            exc_info=error,
        )
