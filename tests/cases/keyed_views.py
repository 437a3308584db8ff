"""Random views whose parts have a variable in common, ?x, and what comes on their streams.

Most of them can be spread over shards by ?x; others cannot, for a reason that is not seen at once: a subquery or a
join that has no ?x, a limit, a window that counts.
"""

from __future__ import annotations

import random
from itertools import count

from cases.sharded import Event

SECOND = 1_000_000
E = "http://e/"


def keyed_stream(chance: random.Random) -> list[Event]:
    """Return what comes on two streams."""
    time, found = chance.randint(0, 3), list[Event]()
    for _ in range(chance.randint(4, 24)):
        time += chance.choice([0, 0, 1, 1, 2, 5])
        value = f'"{chance.randint(1, 3)}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        object_ = f"<{E}{chance.choice('ab')}>" if chance.random() < 0.5 else value
        triple = (
            f"<{E}{chance.choice('abcdefg')}>".encode(),
            f"<{E}{chance.choice('pqr')}>".encode(),
            object_.encode(),
        )
        found.append(Event(time * SECOND, [triple], f"{E}s{chance.randint(0, 1)}"))
    return found


class KeyedViews:
    """Makes the text of views."""

    def __init__(self, chance: random.Random) -> None:
        self.random = chance
        self.numbers = count()

    def view(self) -> str:
        """Return a whole view."""
        told = self.random.choice(["RSTREAM", "RSTREAM", "ISTREAM", "DSTREAM"])
        body, shown = self.group(2), self.random.choice(["?x", "?x ?y", "*"])
        pick = self.random.random()
        if pick < 0.5:
            select = f"{self.random.choice(['?x', '?x', ''])} (COUNT(*) AS ?n) (MAX(?y) AS ?most)"
            tail = " GROUP BY ?x" + self.random.choice(["", " HAVING (COUNT(*) > 1)"])
        elif pick < 0.6:
            select, tail = shown, " ORDER BY ?x LIMIT 2"
        else:
            select, tail = self.random.choice(["", "DISTINCT "]) + shown, ""
        form = "CONSTRUCT { ?x e:t ?y }" if self.random.random() < 0.1 else f"SELECT {select}"
        if form.startswith("C"):
            tail = ""
        return f"PREFIX e: <{E}> REGISTER {told} e:out AS {form} {self.frame()} {{ {body} }}{tail}"

    def frame(self) -> str:
        """Return windows and when they are reported."""
        chance, step = self.random, self.random.choice([1, 2, 3])
        windows = [
            f"RANGE {chance.randint(1, 8)}s STEP {step}s STARTING AT {chance.choice([0, 0, 1])}s",
            f"FROM NOW-{chance.randint(3, 8)}s TO NOW-{chance.randint(0, 2)}s STEP {step}s",
            f"LND {chance.randint(0, 5)}",
            f"TRIPLES {chance.randint(1, 5)}",
        ]
        first, second = chance.choice(windows[:2]), chance.choices(windows, [3, 3, 2, 1])[0]
        both = f"FROM STREAM e:s0 [{first}]" + (f" FROM STREAM e:s1 [{second}]" if chance.random() < 0.4 else "")
        reports = ["", "", " REPORT WINDOW CLOSE NON EMPTY", f" REPORT PERIODIC {step}s", " REPORT CONTENT CHANGE"]
        return both + chance.choices(reports, [6, 6, 3, 3, 1])[0]

    def group(self, depth: int) -> str:
        """Return a group graph pattern."""
        base = self.triples("?y")
        for _ in range(self.random.randint(0, depth)):
            fresh = f"?o{next(self.numbers)}"
            inner = self.triples(fresh) if depth < 2 or self.random.random() < 0.7 else self.group(depth - 1)
            base = self.random.choice(
                [
                    f"{base} OPTIONAL {{ {inner} }}",
                    f"{base} MINUS {{ {inner} }}",
                    f"{base} FILTER NOT EXISTS {{ {inner} }}",
                    f"{base} FILTER EXISTS {{ {inner} }}",
                    f"{{ {base} }} UNION {{ {inner} }}",
                    f"{base} {{ SELECT ?x (COUNT(*) AS {fresh}n) {{ {inner} }} GROUP BY ?x }}",
                    f"{base} {{ SELECT (COUNT(*) AS {fresh}n) {{ {inner} }} }}",
                    f"{base} VALUES {fresh} {{ 1 2 }}",
                    f"{base} BIND (STR(?x) AS {fresh}s)",
                ]
            )
        return base

    def triples(self, other: str) -> str:
        """Return a basic graph pattern, mostly with ?x."""
        chance, predicates = self.random, [f"e:{each}" for each in "pqr"]
        one, two = chance.choice(predicates), chance.choice(predicates)
        return chance.choices(
            [
                f"?x {one} {other} .",
                f"?x {one} {other} . ?x {two} {other} .",
                f"?x {one} ?m . ?m {two} {other} .",
                f"{other} {one} ?x .",
                f"?x {one} {other} . FILTER ({other} != 2)",
                f"{other} {one} {other}b .",
            ],
            [6, 2, 2, 1, 2, 1],
        )[0]
