"""The shard plan as text: what each query is spread by, and what that sends.

Data's way: shapes, schemes -> **text**.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from retewave.compiler.algebra import Query
from retewave.compiler.explain_names import MOST_LISTED, Prefixes, listed, pattern_parts
from retewave.compiler.plan import tested
from retewave.compiler.shape import Shape
from retewave.compiler.shares import Scheme

__all__ = ["explain_shares"]


def explain_shares(
    shapes: Sequence[Shape], spread: Sequence[Scheme], queries: Mapping[int, tuple[str, Query]], shards: int
) -> str:
    """Return how queries, by number (name, query), are spread over shards."""
    prefixes = Prefixes.of(pair for _, query in queries.values() for pair in query.prefixes)
    lines = [f"{shards} shard{'s' if shards > 1 else ''}"]
    for shape, scheme in zip(shapes, spread, strict=True):
        lines += _of_shape(shape, scheme, {number: name for number, (name, _) in queries.items()}, shards, prefixes)
    lines[1:1] = [f"  PREFIX {label}: <{namespace}>" for label, namespace in sorted(prefixes.used.items())]
    return "\n".join(lines) + "\n"


def _of_shape(shape: Shape, scheme: Scheme, names: Mapping[int, str], shards: int, prefixes: Prefixes) -> Iterator[str]:
    users = list(dict.fromkeys(names[member.listener.number] for member in shape.members))
    yield ""
    yield f"{'query' if len(users) == 1 else 'queries'} {listed(users[:MOST_LISTED], len(users))}"
    variables = {number: str(variable) for variable, number in shape.members[0].numbers.items()}
    yield f"  {_spread(scheme, variables, shards)}"
    for pattern, copies in zip(shape.patterns, scheme.copies, strict=True):
        of = tested(pattern)
        places = {place: variables[number] for number, place in of.columns.items()}
        places |= {place: f"${number + 1}" for number, place in of.parameters.items()}
        missing = [variables[v] for v, _ in scheme.shares if v not in of.columns]
        why = f", it has no {' and no '.join(missing)}" if missing else ""
        many = f"{copies:,.0f} shard{'s' if copies > 1 else ''}"
        yield f"    {' '.join(pattern_parts(of.test, places, prefixes))}  -> {many}{why}"


def _spread(scheme: Scheme, variables: Mapping[int, str], shards: int) -> str:
    if scheme.reason is not None:
        return f"in shard {scheme.first} only: {scheme.reason}"
    if not scheme.shares:
        return "in one shard"
    told = " × ".join(f"{variables[variable]} in {parts:,} parts" for variable, parts in scheme.shares)
    idle = f" ({shards - scheme.cells} without work)" if scheme.cells < shards else ""
    return (
        f"by {told}: {scheme.cells:,} of {shards:,} shards{idle}; "
        f"the busiest gets {scheme.share_of_stream:.0%} of what the patterns take, a triple goes to "
        f"{scheme.replication:.2f} shards"
    )
