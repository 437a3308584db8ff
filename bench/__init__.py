"""The benches: data of the Berlin SPARQL Benchmark, what must match in it, the sweeps, the peers, the report.

`python -m retewave.bench` runs them, `python -m retewave.bench.generate` writes the data alone.
Importing this package loads nothing; each module says what it needs.
"""

__all__: list[str] = []
