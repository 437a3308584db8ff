"""The justification and the interval of a composite event, of the tokens of its parts.

Data's way: the expression of a MATCH + the tokens of a combination -> **given triples, interval** -> token.
"""

from __future__ import annotations

from collections.abc import Mapping

from retewave.compiler.algebra.detections import (
    AnyEvent,
    BothEvents,
    ChosenEvent,
    EventExpression,
    EventsInTime,
    EventWithin,
    NamedEvent,
)
from retewave.detection import Source, Token, TripleText
from retewave.windows import relations

__all__ = ["justified", "shown"]

Triples = Mapping[TripleText, Source]


def justified(expression: EventExpression | None, parts: Mapping[str, Token]) -> Triples | None:
    """Return the given triples of an expression; nothing if its parts are not there: OR has left them out.

    SEQ has those of its right side, DURING those of its left one; AND and the other relations have both.
    """
    match expression:
        case NamedEvent(alias=alias):
            return parts[alias].justification if alias in parts else None
        case EventWithin(pattern) | ChosenEvent(pattern):
            return justified(pattern, parts)
        case AnyEvent(left, right):
            found = justified(left, parts)
            return justified(right, parts) if found is None else found
        case BothEvents(left, right) | EventsInTime(left, _, right):
            one, other = justified(left, parts), justified(right, parts)
            if one is None or other is None:
                return None
            if isinstance(expression, EventsInTime) and expression.relation in (relations.SEQ, relations.DURING):
                return other if expression.relation == relations.SEQ else one
            return {**one, **other}
    return None


def shown(expression: EventExpression | None, parts: Mapping[str, Token]) -> tuple[int, int] | None:
    """Return the interval that is told, if it is not the joined one: DURING tells its left side's."""
    match expression:
        case EventWithin(pattern) | ChosenEvent(pattern):
            return shown(pattern, parts)
        case AnyEvent(left, right):
            return shown(left, parts) if justified(left, parts) is not None else shown(right, parts)
        case EventsInTime(left, relations.DURING):
            return _joined(left, parts)
    return None


def _joined(expression: EventExpression, parts: Mapping[str, Token]) -> tuple[int, int] | None:
    """Return the interval of an expression as operators around it see it."""
    match expression:
        case NamedEvent(alias=alias):
            return (parts[alias].start, parts[alias].end) if alias in parts else None
        case EventWithin(pattern) | ChosenEvent(pattern):
            return _joined(pattern, parts)
        case AnyEvent(left, right):
            return _joined(left, parts) or _joined(right, parts)
        case BothEvents(left, right) | EventsInTime(left, _, right):
            one, other = _joined(left, parts), _joined(right, parts)
            return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))
    return None
