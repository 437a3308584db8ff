"""What is looked at when class expressions are classified grows with their number, not with its square."""

from __future__ import annotations

from typing import Any

import pytest

import retewave as rw
from retewave.epsilon.classes.subsumption import Subsumption


def looks(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often something is looked at while events are registered that share no classes."""
    found = 0

    def counted(name: str) -> None:
        plain = getattr(Subsumption, name)

        def counting(*arguments: Any) -> Any:
            nonlocal found
            found += 1
            return plain(*arguments)

        patch.setattr(Subsumption, name, counting)

    lines = [f"EVENT :E{each} AS (:A{each} and :r{each} some (:B{each} and :s some :C))" for each in range(count)]
    with monkeypatch.context() as patch:
        for name in ("_is_below", "told_below", "below"):
            counted(name)
        rw.Engine().register("\n".join(["PREFIX : <http://e/>", *lines, "RETURN ALL"]), language="obep")
    return found


@pytest.mark.filterwarnings("ignore")
def test_twice_the_definitions_are_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = looks(20, monkeypatch), looks(40, monkeypatch)
    assert 0 < two < 2.2 * one


@pytest.mark.filterwarnings("ignore")
def test_what_is_below_an_expression_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    plain = Subsumption.below

    def counting(self: Subsumption, expression: Any) -> Any:
        asked.append(expression)
        return plain(self, expression)

    monkeypatch.setattr(Subsumption, "below", counting)
    lines = [f"EVENT :E{each} AS (:A and :r{each} some (:B and :s some :C))" for each in range(5)]
    rw.Engine().register("\n".join(["PREFIX : <http://e/>", *lines, "RETURN ALL"]), language="obep")
    assert len(asked) == len(set(asked))
