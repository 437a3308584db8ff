"""Tell of a group that is looked for, or taken away, and has no variable in common with what it is compared with.

Data's way: groups as algebra -> **a notice, if they have nothing to do with each other** -> algebra.
SPARQL allows it, and it is hardly ever meant.  A group without variables is: `NOT { :alarm :is :off }`.
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
    """Tell of a group that shares no variable with some others, nor has a condition that compares them."""
    own, known = set(visible(group)), {each for other in others for each in visible(other)}
    asked = frozenset() if condition is None else variables(condition)
    if not own or not known or own & known or (asked & own and asked & known):
        return
    so = _TAKES_NOTHING if name == "MINUS" else _DECIDES
    what = f"{name} {{ … }} shares no variable with what it is compared with, {so}"
    context.notice(f"{what}; let both name the same thing", node)
