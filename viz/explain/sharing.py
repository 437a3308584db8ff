"""Which queries use a producer, and which other queries share it.

Data's way: plan -> **names of queries** -> sections and steps of the description.
"""

from __future__ import annotations

from retewave.compiler.plan.walk import users_of
from retewave.viz.explain.compiled import Compiled
from retewave.viz.explain.names import MOST_LISTED

__all__ = ["Sharing"]


class Sharing:
    """The queries that use each producer."""

    def __init__(self, compiled: Compiled) -> None:
        plan, queries = compiled.lowered.plan, compiled.outcome.queries
        self._users = users_of(plan)
        self._end_queries = [
            tuple(dict.fromkeys(queries[m.listener.number].name for m in end.shape.members)) for end in plan.ends
        ]
        self.readers = {  # by producer: the names of all queries that use it
            number: [name for place in sorted(ends) for name in self._end_queries[place]]
            for number, ends in enumerate(self._users)
        }

    def others(self, number: int, place: int) -> tuple[tuple[str, ...], int]:
        """Return the first queries that use a producer beside those of one end, and how many there are."""
        ends = sorted(self._users[number] - {place})
        own = set(self._end_queries[place])
        names = dict.fromkeys(name for end in ends for name in self._end_queries[end] if name not in own)
        return tuple(names)[:MOST_LISTED], len(names)
