"""Tell of a group under NOT, MINUS or EXISTS that shares no variable with the pattern it is compared with.

Data's way: groups as algebra -> **a notice, if they share no variable** -> algebra.
SPARQL allows such a group, and hardly anybody means it.  A group without variables, as `NOT { :alarm :is :off }`, is
meant: there is no notice.
"""

from __future__ import annotations

from retewave.compiler.algebra import Algebra, visible
from retewave.compiler.expressions.tree import Expression, variables
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.reading import Node

__all__ = ["tell_unrelated"]

_DECIDES = "so any such triple decides for all"
_TAKES_NOTHING = "so it takes nothing away"


def tell_unrelated(
    name: str, node: Node, group: Algebra, others: tuple[Algebra, ...], condition: Expression | None, context: Context
) -> None:
    """Tell of a group that shares no variable with some others and has no condition that compares them."""
    own, known = set(visible(group)), {each for other in others for each in visible(other)}
    asked = frozenset() if condition is None else variables(condition)
    if not own or not known or own & known or (asked & own and asked & known):
        return
    so = _TAKES_NOTHING if name == "MINUS" else _DECIDES
    what = f"{name} {{ … }} shares no variable with what it is compared with, {so}"
    context.notice(f"{what}; let both name the same thing", node)
