"""What queries mean, by sets and nested loops, and nothing of the engine's speed.

`meaning` and `temporal` follow the algebra, node by node; `detectors` says what a detector tells, and when, `reports`
which of it is reported when DISTINCT is asked for.
"""
