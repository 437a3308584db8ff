"""The network: integers in arrays, and the kernel that runs over them.

Data's way: rows `[s p o start end stream event]` -> `dispatch` (ε and α in one look-up) -> `memory` and `operators`
(rows under keys, joined as they arrive) -> output rows -> `reports`.  `terms` gives terms their numbers, `filters`
decides over them; `words` has every word of the arrays, `network` makes them of records, `kernel` runs, `runtime`
drives it, and `counters` tells others what is there.
Invariant: nothing here knows of RDF syntax, of query languages or of rdflib: a term is a number.
"""
