"""From the algebra as it is written to conjunctions that a network can run."""
