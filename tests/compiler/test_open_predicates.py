"""Logical events that differ in roles alone: many of them are one shape, with the roles left open."""

from __future__ import annotations

import retewave as rw

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def registered(count: int, form: str) -> rw.Engine:
    """Return an engine with some events; `%` in their form stands for the event's number."""
    engine = rw.Engine()
    lines = [f"EVENT :E{number} AS ({form.replace('%', str(number))})" for number in range(count)]
    engine.register(
        "\n".join(["PREFIX : <http://e/>", *lines, "RETURN ALL"]), language="obep", name="events", keep=None
    )
    return engine


def shapes(engine: rw.Engine) -> int:
    """Return how many shapes have joins."""
    return engine.explain().count("\n  joins\n")


def test_roles_of_a_chain_are_open_where_many_events_differ_in_them() -> None:
    engine = registered(6, ":A% and :r% some (:B% and :s% some :C%)")
    assert shapes(engine) == 1
    assert "$2 is open: 6 terms (:r0, :r1" in engine.explain()


def test_roles_of_a_few_events_stay_what_they_are() -> None:
    assert shapes(registered(3, ":A% and :r% some :B%")) == 3


def test_roles_that_one_thing_has_beside_each_other_stay_what_they_are() -> None:
    assert shapes(registered(6, ":r% some :B% and :s% some :C%")) == 6


def test_roles_with_conditions_on_their_values_stay_what_they_are() -> None:
    assert shapes(registered(6, ":A% and :r% some xsd:integer[> 3]")) == 6


def test_an_event_of_other_roles_than_its_classes_go_with_is_not_found() -> None:
    engine = registered(6, ":A% and :r% some :B%")
    for time, role in enumerate("121"):
        one, other = "http://e/a", "http://e/b"
        link = one, f"http://e/r{role}", other
        engine.push([(one, TYPE, "http://e/A1"), link, (other, TYPE, "http://e/B1")], time=time)
    engine.flush()
    assert [(str(match.event), match.start) for match in engine.queries[0].matches] == [
        ("http://e/E1", 0),
        ("http://e/E1", 2),
    ]
