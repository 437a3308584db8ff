"""State by identity: what a node or a query remembers is its own, whatever is planned beside it, and is never lost.

A kind of node of these tests counts all rows that have ever come to it: like what later kinds will remember, that is no
function of the rows that are alive.  Its patterns keep their constants, as those of any such kind have to.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from cases.engine import Case, case_of, engine_for, pushed_one_by_one, written
from cases.many import many
from cases.shards import Cluster, instants, job_for, streamed
from helpers.found import LAW
from helpers.inside import network_of
from helpers.telling import changes_kept
from hypothesis import given, settings
from hypothesis import strategies as st

import retewave as rw
from retewave.compiler.lower import Lowered
from retewave.compiler.plan import shape
from retewave.compiler.plan.identity import Identity
from retewave.compiler.plan.producers import AlphaTest
from retewave.engine import node_states
from retewave.engine.node_states import nodes_of
from retewave.engine.registry import CartesianWarning, UnboundedWarning
from retewave.engine.states import State
from retewave.rete.counters import slot_counters
from retewave.rete.runtime import Runtime
from retewave.rete.words import layout

FEW = settings(LAW, max_examples=many(50))

P, Q, R = (f"<http://e/{name}>" for name in "pqr")


class Seen:
    """How many rows have ever come to the slots of a node that triples feed."""

    follows = False
    terms: frozenset[str] = frozenset()

    def __init__(self, runtime: Runtime, slots: Sequence[int]) -> None:
        runtime.arena[layout.A_COUNTING] = 1
        self.runtime, self.slots = runtime, slots
        self.before = np.zeros(len(slots), np.int64)  # in other networks

    def here(self) -> np.ndarray:
        return np.array([slot_counters(self.runtime.arena, slot).came for slot in self.slots], np.int64)

    def advance(self, now: int) -> None: ...

    def mark(self, marks: np.ndarray) -> None: ...

    def state(self) -> Mapping[str, np.ndarray]:
        return {"came": self.before + self.here()}

    def put(self, state: Mapping[str, np.ndarray]) -> None:
        self.before = state["came"] - self.here()


def seen(
    lowered: Lowered, runtime: Runtime, identities: Callable[[], Sequence[Identity]], _: object
) -> Mapping[str, State]:
    found = {}
    for name, _, slots in nodes_of(lowered, identities()):
        fed = [slot for slot in slots if isinstance(lowered.plan.producers[lowered.slots[slot].producer], AlphaTest)]
        found[f"seen {name}"] = Seen(runtime, fed)
    return found


@contextmanager
def nodes_that_count() -> Iterator[None]:
    """Let all nodes be of the kind that counts, and no query share a shape with another one."""
    plain = shape._key
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        for each in (CartesianWarning, UnboundedWarning):
            warnings.simplefilter("ignore", each)
        patch.setattr(node_states, "KINDS", (seen,))
        patch.setattr(shape, "_key", lambda found: (found.listener.number, *plain(found)))
        yield


def remembered(engine: rw.Engine) -> list[dict[str, list[int]]]:
    """Return what the nodes of each network of an engine have counted, by identity."""
    networks = engine.matcher.networks
    assert networks is not None
    states = [each.states for each in networks.all]
    return [{k: v.state()["came"].tolist() for k, v in each.items() if k.startswith("seen")} for each in states]


@FEW
@given(case_of(), case_of(), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_queries_that_come_and_go_change_nothing_of_what_other_nodes_have_seen(
    case: Case, other: Case, comes: int, goes: int, joins: int, apart: bool
) -> None:
    with nodes_that_count(), changes_kept(apart):
        alone, _ = engine_for(case)
        engine, _ = engine_for(case)
        pushed_one_by_one(alone, case)
        engine.flush()
        guest = None
        for arrival, item in enumerate(case.stream):
            if arrival == comes:
                guest = engine.register(other.text)
            if arrival == goes and guest is not None:
                engine.remove(guest)
            if arrival == joins:
                network_of(engine)
            engine.push(written(item.triple), time=(item.start / 1e6, item.end / 1e6), stream=item.stream)
        (wanted,) = remembered(alone)
        for merged in (False, True):
            if merged:
                network_of(engine)
            networks = remembered(engine)
            assert set(wanted) <= set().union(*networks)
            assert all(wanted[name] == found[name] for found in networks for name in wanted.keys() & found.keys())


@FEW
@given(case=case_of(), stop=st.integers(0, 12))
def test_a_restored_engine_remembers_what_its_nodes_have_seen(
    case: Case, stop: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with nodes_that_count():
        engine, _ = engine_for(case)
        pushed_one_by_one(engine, Case(case.query, case.text, case.stream[:stop], case.static))
        engine.matcher.renew()  # what was counted before is no longer in the memories' own counters
        path = tmp_path_factory.getbasetemp() / "seen.snapshot"
        engine.snapshot(path)
        restored = rw.Engine.restore(path)
        assert remembered(restored) == remembered(engine)
        for each in (engine, restored):
            pushed_one_by_one(each, Case(case.query, case.text, case.stream[stop:], case.static))
        assert remembered(restored) == remembered(engine)


class Never(random.Random):
    """A chance that never strikes."""

    getrandbits = random.Random.getrandbits  # else what is drawn would be made of `random`

    def random(self) -> float:
        return 1.0


def in_stores(cluster: Cluster) -> list[object]:
    return [None if store.state is None else json.loads(store.state)["remembered"] for store in cluster.stores]


@FEW
@given(case_of(), st.integers(1, 3), st.lists(st.integers(0, 12), max_size=4), st.integers(0, 99), st.booleans())
def test_a_shard_that_goes_on_elsewhere_remembers_what_its_nodes_have_seen(
    case: Case, shards: int, cuts: list[int], seed: int, ahead: bool
) -> None:
    with nodes_that_count():
        case = instants(case)
        job = job_for(case, shards)
        lost, kept = (
            streamed(job, case.stream, cuts, 2000, chance(seed), ahead=ahead) for chance in (random.Random, Never)
        )
        assert in_stores(lost) == in_stores(kept)


# ---- identities ----
def names_of(engine: rw.Engine) -> dict[str, str]:
    """Return the identity of the join, or the test, at the end of each query."""
    compiled = network_of(engine)
    ends = {member.listener.number: end.producer for end in compiled.plan.ends for member in end.shape.members}
    return {query.text: compiled.identities[ends[query.number]].digest for query in engine.queries}


JOINS = [
    f"SELECT * {{ ?x {P} ?y . ?y {Q} ?z . ?z {R} ?w }}",
    f"SELECT * {{ ?z {R} ?x . ?x {P} ?y . ?y {Q} ?w }}",
    f"SELECT * {{ ?x {Q} ?y . ?x {P} ?z FILTER(?y > 3) }}",
    f"SELECT * {{ ?x {R} ?y . ?x {P} ?z FILTER(?y > 3) }}",
    f"SELECT * {{ ?x {R} ?y . ?x {Q} ?z FILTER(?z > 3) }}",
    f"SELECT * {{ ?x {Q} ?y . ?y {Q} ?x . ?x {P} 1 }}",
    f"SELECT * FROM STREAM <http://e/s> {{ ?x {Q} ?y . ?x {R} ?z . VALUES ?z {{ 1 2 }} }}",
    f"SELECT * FROM STREAM <http://e/t> {{ ?x {Q} ?y . ?x {R} ?z . VALUES ?z {{ 1 2 }} }}",
]


def test_what_a_node_is_does_not_depend_on_what_is_planned_before_it() -> None:
    found = []
    for order in (JOINS, JOINS[::-1], [*JOINS[3:], *JOINS[:3]]):
        engine = rw.Engine()
        for text in order:
            engine.register(text)
        found.append(names_of(engine))
    assert found[0] == found[1] == found[2]
    assert len(set(found[0].values())) == len(JOINS)


def test_what_a_node_is_does_not_depend_on_the_process() -> None:
    engine = rw.Engine()
    engine.register(JOINS[6])
    assert names_of(engine) == {JOINS[6]: "8736a4f97265985b567af62187b877ae"}


# ---- what is carried by identity ----
def push(engine: rw.Engine, predicate: str, time: float) -> int:
    return len(engine.push(("<http://e/a>", predicate, "<http://e/a>"), time=time))


def test_counters_go_on_when_queries_come_and_go() -> None:
    def counts(engine: rw.Engine) -> list[object]:
        arena, slots = network_of(engine).runtime.arena, network_of(engine).lowered.nodes[2]
        return [slot_counters(arena, slot) for slot in network_of(engine).lowered.network.nodes[slots].slots]

    alone, engine = rw.Engine(stats=True, seed=1), rw.Engine(stats=True, seed=1)
    for each in (alone, engine):
        each.register(f"SELECT * {{ ?x {P} ?y . ?x {Q} ?z FILTER(?z != <http://e/a>) }}")
    for time in range(6):
        if time == 3:
            guest = engine.register(f"SELECT * {{ ?x {R} ?y . ?y {R} ?z }}")
        if time == 5:
            engine.remove(guest)
        for each in (alone, engine):
            push(each, P, time), push(each, Q, time)
    assert counts(alone) == counts(engine)


def test_a_query_that_is_registered_again_under_its_name_has_told_nothing_yet() -> None:
    engine, text = rw.Engine(), f"SELECT DISTINCT ?x {{ ?x {P} ?y }}"
    query = engine.register(text, name="one")
    assert (push(engine, P, 0), push(engine, P, 1)) == (1, 0)
    engine.remove(query)
    engine.register(text, name="one")
    assert push(engine, P, 2) == 1


def test_what_a_query_has_told_is_found_in_a_snapshot_by_its_name_and_text(tmp_path: Path) -> None:
    engine = rw.Engine()
    engine.register(f"SELECT * {{ ?x {Q} ?y }}")
    engine.register(f"SELECT DISTINCT ?x {{ ?x {P} ?y }}", name="one")
    push(engine, P, 0)
    engine.remove(engine.queries[0])
    engine.snapshot(tmp_path / "it")
    restored = rw.Engine.restore(tmp_path / "it")
    assert list(network_of(restored).states) == list(network_of(engine).states)
    assert (push(restored, P, 1), push(restored, Q, 1)) == (0, 0)
