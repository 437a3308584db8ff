"""What queries mean, by sets and nested loops, and nothing of the engine's speed: `MEANING.md`, section by section.

* Detectors: `meaning` and `temporal` follow the algebra, node by node, with `order` and `absence`; `policies` and
  `rules` are what their names say; `detectors` says what a detector tells, and when, `reports` which of it is reported
  when DISTINCT is asked for.
* Sequences: `events` finds the solutions of steps, `runs` grows runs of them, with `partitions` and `negation`.
* Views: `views`, with its windows, report times and MATCH.
* Events of ontologies: `detections`, with `classes` and `justifications`; `epsilon` is what a schema entails.
"""
