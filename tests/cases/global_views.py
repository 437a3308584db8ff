"""Random views over all that comes: GROUP BY of something else than the key of their patterns, ORDER BY, LIMIT, ASK.

Rows that are cut are in an order that tells all of them apart, as far as they differ.
"""

from __future__ import annotations

from cases.keyed_views import E, KeyedViews

AGGREGATES = [
    "COUNT(*)", "COUNT(?y)", "SUM(?y)", "AVG(?y)", "MIN(?y)", "MAX(?x)", "COUNT(DISTINCT ?y)", "SUM(?y * 0.5e0)",
    "AVG(?y / 3.0)", "SUM(?y / 7e0)", "COUNT(DISTINCT *)",
]  # fmt: skip
BODIES = [
    "?x e:p ?y",
    "?x e:p ?y . ?y e:q ?z . ?x e:r ?z",
    "?x e:p ?z . ?z e:q ?y",
    "{ ?x e:p ?y } UNION { ?y e:q ?x }",
    "?x e:p ?y FILTER (?y != 2)",
    "?x e:p ?y OPTIONAL { ?x e:q ?z }",
    "?x e:p ?y MINUS { ?x e:q ?z }",
    "?x e:p ?y . BIND (?y + 1 AS ?z)",
    "{ SELECT ?x (COUNT(*) AS ?y) { ?x e:p ?o } GROUP BY ?x }",
    "{ SELECT ?y { ?x e:p ?y } } ?y e:q ?x",
]


class GlobalViews(KeyedViews):
    """Makes the text of views."""

    def view(self) -> str:
        """Return a whole view."""
        chance = self.random
        told = chance.choice(["RSTREAM", "RSTREAM", "ISTREAM", "DSTREAM"])
        body = chance.choice(BODIES) if chance.random() < 0.7 else self.group(1)
        head = f"PREFIX e: <{E}> REGISTER {told} e:out AS"
        form, tail = self.form([each for each in ("?x", "?y", "?z") if each in body])
        return f"{head} {form} {self.frame()} {{ {body} }}{tail}"

    def form(self, names: list[str]) -> tuple[str, str]:
        """Return the head of a view, and the clauses behind its pattern, which has variables of these names."""
        chance, pick = self.random, self.random.random()
        cut = chance.choice(["", " LIMIT 2", " LIMIT 3 OFFSET 1", " OFFSET 1"])
        if pick < 0.06:
            return "ASK", ""
        if pick < 0.12:
            return f"CONSTRUCT {{ {names[0]} e:of {names[-1]} }}", ""
        if pick < 0.6:
            return self.groups(names, cut)
        shown = chance.sample(names, chance.randint(1, len(names)))
        several = chance.choice(["", "DISTINCT "])
        order = list(shown)
        chance.shuffle(order)
        if not cut and chance.random() < 0.5:
            return f"SELECT {several}{' '.join(shown)}", ""
        keys = (chance.choice(["{}", "DESC({})"]).format(each) for each in order)
        return f"SELECT {several}{' '.join(shown)}", f" ORDER BY {' '.join(keys)}{cut}"

    def groups(self, names: list[str], cut: str) -> tuple[str, str]:
        """Return a head with aggregates."""
        chance = self.random
        key = chance.choice(["", "", "(STR(?y) AS ?k)", *names])
        name = "?k" if "AS" in key else key
        values = [f"({each} AS ?n{n})" for n, each in enumerate(chance.sample(AGGREGATES, chance.randint(1, 3)))]
        having = " HAVING (COUNT(*) > 1)" if chance.random() < 0.3 else ""
        grouped = f" GROUP BY {key}" if key else ""
        order = " ".join(each for each in (name, *(f"?n{n}" for n in range(len(values)))) if each)
        tail = f" ORDER BY DESC(?n0) {order}{cut}" if cut and key else ""
        return f"SELECT {name} {' '.join(values)}", f"{grouped}{having}{tail}"
