"""Lower a plan: the columns that each producer keeps, the records of the network, the keys of its dispatch."""

from retewave.compiler.lower.endless import kept_for_ever
from retewave.compiler.lower.lowered import AlphaMemory, AskedCall, AskedFilter, Lowered, Output, OutputRuns, SlotPlan
from retewave.compiler.lower.lowering import lower

__all__ = [
    "AlphaMemory",
    "AskedCall",
    "AskedFilter",
    "Lowered",
    "Output",
    "OutputRuns",
    "SlotPlan",
    "kept_for_ever",
    "lower",
]
