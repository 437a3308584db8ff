"""Instructions a triple: a count that no neighbour changes, so a network that has become slower fails here.

The number is recorded in `tests/golden/instructions.json`, with the versions of numba and of Python whose code it
counts.  To renew it after a change that is meant, or with others:

    RETEWAVE_GOLDEN=renew pytest tests/bench/test_instructions.py

It takes some twenty seconds of a core, and a minute more where the kernels are not compiled yet.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import numba
import pytest

from retewave.bench.instructions import instructions, missing
from retewave.bench.question import Question
from retewave.bench.sweeps import SECOND, TARGET
from retewave.bench.workload import Workload, prepare

RECORD = Path(__file__).parents[1] / "golden" / "instructions.json"
STREAM = Workload(Question(1, TARGET, 5 * SECOND), offers=1_000)
MOST_RISE = 1.02  # runs of the same code differ by half a percent


@pytest.mark.slow
@pytest.mark.jit
def test_the_network_takes_no_more_instructions_a_triple_than_recorded(tmp_path: Path) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the recorded instructions are those of x86_64")
    if missing():
        pytest.skip(missing())
    renewed = os.environ.get("RETEWAVE_GOLDEN") == "renew"
    record = {} if renewed else json.loads(RECORD.read_text())
    here = {"numba": numba.__version__, "python": ".".join(platform.python_version_tuple()[:2])}
    other = {name: version for name, version in here.items() if not renewed and record[name] != version}
    for name, version in other.items():
        pytest.skip(f"the recorded instructions are those of {name} {record[name]}, this is {version}")
    counted = instructions(*prepare(STREAM, tmp_path))
    if renewed:
        RECORD.write_text(json.dumps({"instructions a triple": round(counted, 1), **here}) + "\n")
        return
    recorded = record["instructions a triple"]
    assert counted <= MOST_RISE * recorded, f"{counted:.1f} instructions a triple; {recorded} are recorded in {RECORD}"
