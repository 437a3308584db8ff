"""What the kernel sees of the terms: the value side table and the memo of filters, as bare words."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["TermView"]


class TermView(NamedTuple):
    """Tables by TermId, and the filter interpreter's stack."""

    kind: Any  # uint8 a term: retewave.rete.values
    number: Any  # float64 a term
    exact: Any  # uint8 a term: comparing `number` decides
    memo: Any  # uint8 a filter and a term: what Python said of the filter on this term (0: not asked yet)
    memo_width: int  # terms a filter in `memo`
    scratch: Any  # float64: the interpreter's stack
