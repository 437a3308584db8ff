"""The result of lowering a plan: the records of a network, and how they relate to the plan.

Data's way: plan + dispatch tables -> **network records** -> the kernel's array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from retewave.compiler.expressions.tree import Call, Expression, Variable
from retewave.compiler.plan.producers import AlphaTest, Plan, Rival, SlotFilter, Told
from retewave.compiler.plan.shape import Member
from retewave.compiler.rewrite.branch import Branch, Decided, ExtendStep, Step, is_timed
from retewave.compiler.rewrite.runs import RunState
from retewave.rete.network.records import Network

__all__ = [
    "AlphaMemory",
    "AskedCall",
    "AskedFilter",
    "Lowered",
    "Output",
    "OutputRuns",
    "SlotPlan",
    "columns_told",
    "output_of",
]


@dataclass(frozen=True)
class Output:
    """The columns of the output rows of one branch of one query."""

    names: tuple[str, ...]  # the variables, column by column
    steps: tuple[Step, ...]  # the branch's steps, for rows that the kernel leaves to Python
    always: bool  # every row goes through the steps in Python, which assign variables
    by_deadline: bool  # they are told at a deadline
    told: Mapping[Told, int] = field(default_factory=dict)  # what is told of triples (`Told`) -> column behind `names`
    runs: OutputRuns | None = None  # how the events of its run are found


@dataclass(frozen=True)
class SlotPlan:
    """The rows of a slot, in the plan's terms."""

    producer: int  # the producer that feeds it
    keys: tuple[int, ...]  # the producer's columns in the group's key
    payload: tuple[int, ...]  # the producer's columns in the row
    filters: tuple[SlotFilter, ...]  # the filters that its rows have passed


@dataclass(frozen=True)
class AlphaMemory:
    """A slot that an α test feeds."""

    slot: int  # its number
    test: AlphaTest  # the test that its rows have passed
    filters: tuple[SlotFilter, ...]  # the filters that its rows have passed
    window: int  # how long it keeps its rows


@dataclass(frozen=True)
class AskedCall:
    """A call that looks at all repetitions of a step, where a condition has it."""

    name: str  # COUNT, SUM, …
    separator: Expression | None  # the text that GROUP_CONCAT puts between values
    event: int | None  # the tuple's column with the value in the event that is tested
    counts: bool  # whether that event is a repetition
    states: Mapping[int, int]  # the numbers of the states whose rows are repetitions -> the column of the value
    link: tuple[int, int | None]  # the tuple's column with the place of the run's row, and the number of its state;
    # None: the column has the link to the row


@dataclass(frozen=True)
class OutputRuns:
    """The content of the rows that tell the parts of a match's run."""

    states: Mapping[int, tuple[RunState, Mapping[Variable, int], int]]  # by number: variable -> column; that of WAY
    calls: tuple[tuple[Variable, Call], ...]  # calls that look at all repetitions, each with its hidden variable
    groups: bool  # whether the match tells of each repetition
    told: Mapping[int, Mapping[Told, int]] = field(
        default_factory=dict
    )  # of the triples of an event -> column, by state


@dataclass(frozen=True)
class AskedFilter:
    """A filter that must be decided where it stands: by Python, if the kernel cannot."""

    expressions: tuple[Expression, ...]  # all must be true
    columns: Mapping[Variable, int]  # variable -> column of the tuple
    calls: tuple[tuple[Variable, AskedCall], ...] = ()  # variables that are calls


@dataclass
class Lowered:
    """A network, and how its parts relate to the plan."""

    plan: Plan  # the plan that was lowered
    network: Network = field(default_factory=Network)  # the records
    alphas: dict[int, int] = field(default_factory=dict)  # producer (an α test or a table) -> number of its α record
    nodes: dict[int, int] = field(default_factory=dict)  # producer (a join) -> number of its node
    probes: dict[int, int] = field(default_factory=dict)  # producer (a probe) -> number of its record
    states: dict[int, int] = field(default_factory=dict)  # producer (a state) -> number of its record
    steps: dict[int, int] = field(default_factory=dict)  # producer (a step) -> number of its record
    instants: dict[int, int] = field(default_factory=dict)  # producer (instants) -> its slot
    rivals: dict[int, list[tuple[Rival, ...]]] = field(default_factory=dict)  # producer (a state) -> its runs' marks
    asked: dict[tuple[int, int], AskedFilter] = field(default_factory=dict)  # (ASKED_*, number) -> its filter
    spent: dict[str, int] = field(default_factory=dict)  # query that uses events up -> slot of these events
    slots: list[SlotPlan] = field(default_factory=list)  # by slot number
    outputs: dict[tuple[int, int], Output] = field(default_factory=dict)  # (query, branch) -> its rows
    fed: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # by rules: `compiler/lower/levels.py`
    levels: list[int] = field(default_factory=list)  # by producer

    @cached_property
    def memories(self) -> dict[bytes | None, list[AlphaMemory]]:
        """Return the α-memories by the predicates that they ask for (None: any).

        Of memories with equal rows, that with the widest window is returned.  The memory of a query that uses events up
        is left out: it does not hold all that has come.
        """
        found: dict[tuple[AlphaTest, tuple[SlotFilter, ...]], AlphaMemory] = {}
        for number, slot in enumerate(self.slots):
            test = self.plan.producers[slot.producer]
            record = self.network.slots[number]
            node = self.network.nodes[record.node]
            if (
                isinstance(test, AlphaTest)
                and not test.background
                and not self.network.passes(number)
                and node.spent < 0
            ):
                window = min(node.window, record.length)
                former = found.get((test, slot.filters))
                if former is None or window > former.window:
                    found[test, slot.filters] = AlphaMemory(number, test, slot.filters, window)
        grouped: dict[bytes | None, list[AlphaMemory]] = {}
        for memory in found.values():
            for predicate in memory.test.atom.predicate or (None,):
                grouped.setdefault(predicate, []).append(memory)
        return grouped


def output_of(member: Member, told: Mapping[Told, int]) -> Output:
    """Return the output rows of a member: the variables that are shown, compared, or mentioned in its steps.

    Behind them stand the columns about triples: `told` gives them as columns of the end's producer, START or END.
    """
    branch, sure = member.steps, member.steps.bound
    bound = {variable.name for variable in sure}
    listener = member.listener
    names = dict.fromkeys(name for name in (*listener.projection, *listener.compared) if name in bound)
    names.update(dict.fromkeys(v.name for step in branch.steps for v in sorted(step.scope, key=str) if v.name in bound))
    steps = tuple(step for step in branch.steps if isinstance(step, ExtendStep) or not is_timed(step))  # decided before
    always = any(isinstance(step, ExtendStep) or not step.scope <= sure for step in steps)
    places = {column: len(names) + i for i, column in enumerate(columns_told(told))}
    columns = {each: places.get(column, column) for each, column in told.items()}
    return Output(tuple(names), steps, always, _has_deadline(branch), columns)


def columns_told(told: Mapping[Told, int]) -> tuple[int, ...]:
    """Return the columns about triples, in the order in which an output row has them."""
    return tuple(sorted({column for column in told.values() if column >= 0}))


def _has_deadline(branch: Branch) -> bool:
    """Tell whether the solutions of a branch wait for a deadline."""
    late = any(probe.decided is Decided.AT_DEADLINE for probe in branch.probes)
    late = late or (branch.runs is not None and branch.runs.late)
    return late or any(_has_deadline(part.branch) for part in branch.parts)
